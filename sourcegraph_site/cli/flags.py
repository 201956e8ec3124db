"""Flags in the syntax of Go's `flag` package: `-x v`, `-x=v`, `--x`; the first word that is
no flag ends them, and so does `--`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sourcegraph_site.cli.errors import UsageError

Kind = Literal["text", "number", "switch", "list"]
_TRUE = frozenset(("1", "t", "T", "TRUE", "true", "True"))
_FALSE = frozenset(("0", "f", "F", "FALSE", "false", "False"))


@dataclass(frozen=True, slots=True)
class Flag:
    """`choices` are checked by the server, not here: they serve usage and completion."""

    name: str
    help: str
    kind: Kind = "text"
    default: Any = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parsed:
    """`given` holds the names of the flags that were written; `rest` what follows them."""

    values: dict[str, Any]
    given: frozenset[str]
    rest: list[str]

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


class HelpWanted(Exception):
    """`-h` or `-help` was given."""


def parse(flags: Sequence[Flag], words: Sequence[str]) -> Parsed:
    """Raises UsageError for an unknown flag or a value that does not fit; HelpWanted."""
    known = {flag.name: flag for flag in flags}
    values = {flag.name: [] if flag.kind == "list" else _default(flag) for flag in flags}
    given: set[str] = set()
    left = list(words)
    while left:
        word = left[0]
        if len(word) < 2 or word[0] != "-":
            break
        left.pop(0)
        if word == "--":
            break
        name, equals, value = word[2 if word[1] == "-" else 1 :].partition("=")
        if not name or name[0] == "-":
            raise UsageError(f"bad flag syntax: {word}")
        flag = known.get(name)
        if flag is None:
            if name in ("h", "help"):
                raise HelpWanted
            raise UsageError(f"flag provided but not defined: -{name}")
        if not equals and flag.kind == "switch":
            value = "true"
        elif not equals:
            if not left:
                raise UsageError(f"flag needs an argument: -{name}")
            value = left.pop(0)
        given.add(name)
        if flag.kind == "list":
            values[name].append(value)
        else:
            values[name] = _value(flag, value)
    return Parsed(values, frozenset(given), left)


def _default(flag: Flag) -> Any:
    return False if flag.kind == "switch" and flag.default == "" else flag.default


def _value(flag: Flag, text: str) -> Any:
    if flag.kind == "number":
        try:
            return int(text, 10)
        except ValueError:
            raise UsageError(
                f'invalid value "{text}" for flag -{flag.name}: not a number'
            ) from None
    if flag.kind == "switch":
        if text in _TRUE or text in _FALSE:
            return text in _TRUE
        raise UsageError(f'invalid boolean value "{text}" for -{flag.name}')
    return text
