"""The entry: which operation, then one request, then the reply as JSON or for people.

Exit codes (contract 7): 0 success; 1 network, an invalid reply or an HTTP error; 2 usage or
configuration; 3 for 202 Accepted and for 409 with INDEX_NOT_READY. They are the same for
both forms of output.
"""

import contextlib
import os
import sys
from importlib.metadata import PackageNotFoundError, version

from sourcegraph_site.cli import completion, human, login
from sourcegraph_site.cli.client import Reply, send
from sourcegraph_site.cli.config import server
from sourcegraph_site.cli.errors import FAILURE, NOT_READY, SUCCESS, USAGE, CliError, UsageError
from sourcegraph_site.cli.flags import HelpWanted, Parsed, parse
from sourcegraph_site.cli.operations import OPERATIONS, OUTPUT, Operation
from sourcegraph_site.cli.paint import Paint, clean, wanted


def main() -> None:
    # Bytes of repositories can be any text; a terminal that cannot show some must not stop us.
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
    except CliError as exc:
        sys.stderr.write(f"sourcegraph-cli: {clean(exc.message)}\n")
        code = exc.exit_code
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        # The reader has had enough (`| head`). Python would complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = SUCCESS
    sys.exit(code)


def run(words: list[str]) -> int:
    """Run one command line; returns the exit code. Raises CliError."""
    if not words or words[0] in ("-h", "-help", "--help"):
        (sys.stdout if words else sys.stderr).write(usage())
        return SUCCESS if words else USAGE
    name, rest = words[0], words[1:]
    if name in ("version", "-version", "--version"):
        sys.stdout.write(f"sourcegraph-cli {_version()}\n")
        return SUCCESS
    if name == "help":
        operation = OPERATIONS.get(rest[0]) if rest else None
        sys.stdout.write(explain(operation) if operation else usage())
        return SUCCESS
    if name == "completion":
        sys.stdout.write(completion.script(rest[0] if len(rest) == 1 else ""))
        return SUCCESS
    if name in ("login", "logout"):
        with contextlib.suppress(HelpWanted):
            return (login.login if name == "login" else login.logout)(rest)
        sys.stdout.write(usage())
        return SUCCESS
    operation = OPERATIONS.get(name)
    if operation is None:
        raise UsageError(f"unknown operation: {name} (try: sourcegraph-cli -help)")
    return perform(operation, rest)


def perform(operation: Operation, words: list[str]) -> int:
    """Raises CliError."""
    try:
        parsed = parse(operation.accepted, words)
    except HelpWanted:
        sys.stdout.write(explain(operation))
        return SUCCESS
    for name in operation.without_effect(parsed):
        sys.stderr.write(f"sourcegraph-cli: -{name} has no effect on {operation.name}\n")
    request = operation.build(parsed)
    reply = send(server(), request)
    if sys.stdout.isatty() and not parsed["json"]:
        _show(operation, reply, parsed)
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(reply.raw if reply.raw.endswith(b"\n") else reply.raw + b"\n")
        sys.stdout.buffer.flush()
    return exit_code(reply)


def exit_code(reply: Reply) -> int:
    if reply.status == 202 or (reply.status == 409 and b"INDEX_NOT_READY" in reply.raw):
        return NOT_READY
    return SUCCESS if reply.ok else FAILURE


def _show(operation: Operation, reply: Reply, parsed: Parsed) -> None:
    paint = Paint(wanted(parsed["color"], terminal=True))
    if not reply.ok:
        sys.stderr.write(f"{_error_text(reply)}\n")
        return
    try:
        for line in human.render(operation.name, reply.data, parsed, paint):
            sys.stdout.write(line + "\n")
    except (KeyError, TypeError, AttributeError, IndexError):
        # A server of another version: its own words are better than none.
        sys.stdout.write(clean(reply.raw.decode("utf-8", "replace").rstrip("\n")) + "\n")


def _error_text(reply: Reply) -> str:
    """`CODE: message`, with when to come back; the envelope of contract 1.1."""
    data = reply.data if isinstance(reply.data, dict) else {}
    found = data.get("Meta")
    meta = found if isinstance(found, dict) else {}
    code = meta.get("Code") or data.get("error") or f"HTTP_{reply.status}"
    text = f"{code}: {data.get('Error', '')}".rstrip(": ")
    if meta.get("RetryAfterSeconds"):
        text += f" (try again in {meta['RetryAfterSeconds']} s)"
    return clean(text)


def usage() -> str:
    """All operations, one line each."""
    entries = {name: entry.summary for name, entry in OPERATIONS.items()} | completion.COMMANDS
    rows = "".join(f"  {name:<14}{summary}\n" for name, summary in entries.items())
    return (
        "usage: sourcegraph-cli OPERATION [flags] [arguments]\n\n"
        f"{rows}\n"
        "sourcegraph-cli help OPERATION explains its flags.\n"
        "SOURCEGRAPH_URL and SOURCEGRAPH_API_TOKEN name the server and the key.\n"
    )


def explain(operation: Operation) -> str:
    arguments = f" {operation.arguments}" if operation.arguments else ""
    lines = [f"usage: sourcegraph-cli {operation.name} [flags]{arguments}", "", operation.summary]
    for flag in (*operation.flags, *OUTPUT):
        value = {"switch": "", "number": " N", "list": " VALUE..."}.get(flag.kind, " VALUE")
        default = f" (default {flag.default})" if flag.default else ""
        lines.append(f"  {f'-{flag.name}{value}':<22}{flag.help}{default}")
    return "\n".join(lines) + "\n"


def _version() -> str:
    try:
        return version("sourcegraph-cli")
    except PackageNotFoundError:  # run from a checkout
        return "development"


if __name__ == "__main__":
    main()
