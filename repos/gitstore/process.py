"""The one door to Git: a clean environment, argument lists, limits, no survivors.

Nothing of the server's own environment reaches Git: no user configuration, no netrc, no
proxy, no credential helper, no prompt. Untrusted values go behind `--end-of-options` or
`--`, so a branch named `--upload-pack=x` stays a branch name. No protocol is allowed unless
the caller names it, so a local command can never reach the network.

Every child leads its own process group, which is killed whole on timeout, cancellation and
on any error here, and dies with the thread that started it (`setpriv --pdeathsig`; done by
a program and not in the forked child, because web workers have threads).
"""

import contextlib
import hashlib
import os
import secrets
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from django.conf import settings

from repos.gitstore.credential import Credential
from repos.gitstore.layout import staging_root

MAX_STDERR_BYTES = 64 << 10  # the end is kept: that is where Git says what was fatal
MAX_STDOUT_BYTES = 64 << 20
CHUNK = 64 << 10

_GLOBAL_CONFIG = """\
[protocol]
\tversion = 2
[gc]
\tauto = 0
[maintenance]
\tauto = false
[core]
\thooksPath = /dev/null
\tfsync = all
[fetch]
\tunpackLimit = 1
\trecurseSubmodules = false
[http]
\tproxy =
\tfollowRedirects = false
\tlowSpeedLimit = 1
\tlowSpeedTime = 120
[credential]
\thelper =
[uploadpack]
\tallowFilter = true
[advice]
\tdetachedHead = false
"""
_PASSED_ON = ("SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH")


class GitFailed(Exception):
    """Git exited non-zero. Internal: callers turn it into an AppError (`diagnose.py`)."""

    def __init__(self, verb: str, status: int, stderr: str) -> None:
        super().__init__(f"git {verb} exited with {status}")
        self.verb = verb
        self.status = status
        self.stderr = stderr


class GitTimedOut(Exception):
    """Git did not finish in time; its process group was killed."""


class GitOutputTooLarge(Exception):
    """Git wrote more than was allowed; its process group was killed."""


@dataclass(frozen=True, slots=True)
class GitCall:
    """How one Git command is run; the defaults suit a local question.

    `config`: `key=value` pairs for `-c`. `protocols`: what GIT_ALLOW_PROTOCOL allows.
    `safe`: directories of other owners that this call may enter, on both ends of a pipe.
    `on_line`: gets each line of stderr, progress included. `each_second`: called about once
    a second; what it raises ends the call. `credential`: what to answer its host with.
    """

    timeout_s: float
    max_output: int = MAX_STDOUT_BYTES
    config: Sequence[str] = ()
    protocols: str = ""
    safe: Sequence[Path] = ()
    extra_env: Mapping[str, str] = field(default_factory=dict)
    stdin: bytes = b""
    pass_fds: Sequence[int] = ()
    on_line: Callable[[str], None] | None = None
    each_second: Callable[[], None] | None = None
    credential: Credential | None = None


def run_git(git_dir: Path | None, *args: str, call: GitCall) -> bytes:
    """Run one Git command and return its stdout.

    Args:
        git_dir: the bare repository, or None for commands that need none.

    Raises:
        GitFailed: exit status other than 0; holds the end of stderr.
        GitTimedOut, GitOutputTooLarge: limits of `call`.
    """
    child = start_git(git_dir, *args, call=call)
    try:
        stdout, stderr = _communicate(child, call)
    finally:
        end_group(child)
    if call.credential is not None:
        stderr = call.credential.scrubbed(stderr)
    if child.returncode:
        raise GitFailed(args[0], child.returncode, stderr.decode("utf-8", "replace"))
    return stdout


def start_git(git_dir: Path | None, *args: str, call: GitCall) -> subprocess.Popen[bytes]:
    """Start Git with pipes for stdout and stderr; the caller must `end_group` it."""
    command = [*_dies_with_us(), "git", "--no-pager"]
    config, descriptors = [*call.config], [*call.pass_fds]
    with contextlib.ExitStack() as stack:
        if call.credential is not None:
            pipe = call.credential.open_pipe()
            stack.callback(os.close, pipe)
            descriptors.append(pipe)
            config += call.credential.config(pipe)
        for pair in config:
            command += ["-c", pair]
        if git_dir is not None:
            command += ["-c", f"safe.directory={git_dir}", f"--git-dir={git_dir}"]
        stdin: IO[bytes] | int = subprocess.DEVNULL
        if call.stdin:
            stdin = stack.enter_context(tempfile.TemporaryFile())
            stdin.write(call.stdin)
            stdin.seek(0)
        return subprocess.Popen(
            [*command, *args],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**git_environment(call.safe), **_protocols(call), **call.extra_env},
            cwd=_neutral_directory(),
            start_new_session=True,
            pass_fds=tuple(descriptors),
        )


def end_group(child: subprocess.Popen[bytes]) -> None:
    """Kill the child's whole process group, reap the child and close its pipes."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for pipe in (child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()


def git_environment(safe: Iterable[Path] = ()) -> dict[str, str]:
    """The whole environment of a Git child."""
    passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {
        **passed_on,
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/nonexistent",  # curl would read ~/.netrc
        "LC_ALL": "C",  # we match on Git's messages, so they must not be translated
        "GIT_TERMINAL_PROMPT": "0",  # a private remote fails at once and never waits
        "GIT_ASKPASS": "/bin/false",
        "GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oConnectTimeout=20",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": str(_global_config(tuple(safe))),
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",  # an object id means the object of that id
        "GIT_NO_LAZY_FETCH": "1",
        # The data root may lie inside a checkout; Git must not find that one.
        "GIT_CEILING_DIRECTORIES": str(settings.DATA_ROOT),
    }


def _protocols(call: GitCall) -> dict[str, str]:
    return {"GIT_ALLOW_PROTOCOL": call.protocols}


def _neutral_directory() -> Path:
    root = staging_root()
    root.mkdir(parents=True, exist_ok=True)
    return root


_SETPRIV = shutil.which("setpriv", path="/usr/sbin:/usr/bin:/sbin:/bin")


def dies_with_parent() -> bool:
    """Is there a program that lets Git die with the thread that started it?"""
    return _SETPRIV is not None


def _dies_with_us() -> list[str]:
    return [_SETPRIV, "--pdeathsig", "KILL", "--"] if _SETPRIV else []


def _global_config(safe: tuple[Path, ...]) -> Path:
    """Our private configuration file for this set of safe directories.

    A file, because upload-pack on the other end of a local remote does not get `-c`. Named
    by its content, so it is written once and never changes.
    """
    lines = "".join(f"\tdirectory = {_quoted(path)}\n" for path in safe)
    text = _GLOBAL_CONFIG + (f"[safe]\n{lines}" if lines else "")
    name = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    path = Path(settings.DATA_ROOT) / "gitconfig" / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        mine = path.with_name(f".{name}.{secrets.token_hex(4)}")
        mine.write_text(text, encoding="utf-8", errors="surrogateescape")
        mine.replace(path)
    return path


def _quoted(path: Path) -> str:
    text = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def _communicate(child: subprocess.Popen[bytes], call: GitCall) -> tuple[bytes, bytes]:
    """Read both pipes to their end within the limits; the child has exited on return."""
    assert child.stdout is not None and child.stderr is not None
    out, err = bytearray(), _Tail(call.on_line)
    ends_at = time.monotonic() + call.timeout_s
    next_tick = time.monotonic() + 1.0
    with selectors.DefaultSelector() as waiting:
        waiting.register(child.stdout, selectors.EVENT_READ)
        waiting.register(child.stderr, selectors.EVENT_READ)
        while waiting.get_map():
            now = time.monotonic()
            if now >= ends_at:
                raise GitTimedOut
            if call.each_second and now >= next_tick:
                call.each_second()
                next_tick = now + 1.0
            wait = min(ends_at, next_tick) - now if call.each_second else ends_at - now
            for key, _ in waiting.select(max(0.0, wait)):
                chunk = os.read(key.fd, CHUNK)
                if not chunk:
                    waiting.unregister(key.fileobj)
                elif key.fileobj is child.stderr:
                    err.add(chunk)
                else:
                    out += chunk
                    if len(out) > call.max_output:
                        raise GitOutputTooLarge
    try:
        # A helper may have closed its pipes and linger; Git itself waits for helpers.
        child.wait(timeout=max(0.1, ends_at - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise GitTimedOut from None
    return bytes(out), err.text


class _Tail:
    """The end of stderr, and its lines as they come (progress lines end in CR)."""

    def __init__(self, on_line: Callable[[str], None] | None) -> None:
        self.text = b""
        self._on_line = on_line
        self._open = b""

    def add(self, chunk: bytes) -> None:
        self.text = (self.text + chunk)[-MAX_STDERR_BYTES:]
        if self._on_line is None:
            return
        *lines, self._open = (self._open + chunk).replace(b"\r", b"\n").split(b"\n")
        self._open = self._open[-CHUNK:]
        for line in lines:
            if line.strip():
                self._on_line(line.decode("utf-8", "replace"))
