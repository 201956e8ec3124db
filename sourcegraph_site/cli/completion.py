"""Completion scripts for bash, zsh and fish, made from the operations themselves."""

from sourcegraph_site.cli.errors import UsageError
from sourcegraph_site.cli.flags import Flag
from sourcegraph_site.cli.operations import OPERATIONS, OUTPUT, Operation

PROGRAM = "sourcegraph-cli"
SHELLS = ("bash", "zsh", "fish")
COMMANDS = {
    "login": "store a key for this server",
    "logout": "forget the stored key",
    "completion": "print a completion script",
    "version": "print the version",
    "help": "explain an operation",
}


def script(shell: str) -> str:
    """Raises UsageError for a shell that is not one of SHELLS."""
    if shell == "bash":
        return _bash()
    if shell == "zsh":  # zsh runs bash's completions
        return f"#compdef {PROGRAM}\nautoload -U +X bashcompinit && bashcompinit\n{_bash()}"
    if shell == "fish":
        return _fish()
    raise UsageError(f"completion is for {', '.join(SHELLS)}")


def _flags(operation: Operation) -> tuple[Flag, ...]:
    """Only those that have an effect: the others are accepted for old scripts."""
    return (*operation.flags, *OUTPUT)


def _bash() -> str:
    words = " ".join([*OPERATIONS, *COMMANDS])
    cases = []
    for name, operation in OPERATIONS.items():
        names = " ".join(f"-{flag.name}" for flag in _flags(operation))
        values = "".join(
            f'        {name},-{flag.name}) words="{" ".join(flag.choices)}" ;;\n'
            for flag in _flags(operation)
            if flag.choices
        )
        cases.append(f'{values}        {name},*) words="{names}" ;;\n')
    shells = " ".join(SHELLS)
    return (
        "_sourcegraph_cli() {\n"
        '    local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"\n'
        '    local words=""\n'
        '    if [ "$COMP_CWORD" -eq 1 ]; then\n'
        f'        words="{words}"\n'
        "    else\n"
        '        case "${COMP_WORDS[1]},$previous" in\n'
        + "".join(cases)
        + f'        completion,*) words="{shells}" ;;\n'
        f'        help,*) words="{" ".join(OPERATIONS)}" ;;\n'
        "        esac\n"
        "    fi\n"
        '    COMPREPLY=($(compgen -W "$words" -- "$current"))\n'
        "}\n"
        f"complete -F _sourcegraph_cli {PROGRAM}\n"
    )


def _fish() -> str:
    lines = [f"complete -c {PROGRAM} -f"]
    summaries = {name: operation.summary for name, operation in OPERATIONS.items()} | COMMANDS
    for name, summary in summaries.items():
        lines.append(
            f"complete -c {PROGRAM} -n __fish_use_subcommand -a {name} -d {_quoted(summary)}"
        )
    for name, operation in OPERATIONS.items():
        here = f"complete -c {PROGRAM} -n '__fish_seen_subcommand_from {name}'"
        for flag in _flags(operation):
            value = "" if flag.kind == "switch" else " -r"
            choices = f" -a {_quoted(' '.join(flag.choices))}" if flag.choices else ""
            lines.append(f"{here} -o {flag.name} -d {_quoted(flag.help)}{value}{choices}")
    shells = " ".join(SHELLS)
    lines.append(
        f"complete -c {PROGRAM} -n '__fish_seen_subcommand_from completion' -a {_quoted(shells)}"
    )
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
