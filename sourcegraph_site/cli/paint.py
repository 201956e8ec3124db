"""Colours and the cleaning of text that goes to a terminal."""

import os
import re
from dataclasses import dataclass

# Bytes of a repository must not move the cursor, rename the window or answer for the user.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def clean(text: object) -> str:
    """Text without control and direction characters; they show as their code points.

    >>> clean("a\\x1b[31mb")
    'a<1b>[31mb'
    """
    return _CONTROL.sub(lambda match: f"<{ord(match[0]):02x}>", str(text))


@dataclass(frozen=True, slots=True)
class Paint:
    """ripgrep's colours for paths, lines and matches."""

    on: bool

    def _wrap(self, code: str, text: object) -> str:
        shown = clean(text)
        return f"\x1b[{code}m{shown}\x1b[0m" if self.on and shown else shown

    def path(self, text: object) -> str:
        return self._wrap("35", text)

    def line(self, text: object) -> str:
        return self._wrap("32", text)

    def match(self, text: object) -> str:
        return self._wrap("1;31", text)

    def key(self, text: object) -> str:
        return self._wrap("36", text)

    def dim(self, text: object) -> str:
        return self._wrap("2", text)

    def bold(self, text: object) -> str:
        return self._wrap("1", text)

    def added(self, text: object) -> str:
        return self._wrap("32", text)

    def removed(self, text: object) -> str:
        return self._wrap("31", text)


def wanted(choice: str, terminal: bool) -> bool:
    """Whether to colour; `auto` obeys NO_COLOR and dumb terminals (https://no-color.org)."""
    if choice in ("always", "never"):
        return choice == "always"
    return terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
