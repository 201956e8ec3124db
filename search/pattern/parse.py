"""RE2 syntax → tree. Errors carry the character position and a way out.

A search matches inside one line, so `^`, `\\A` and `$`, `\\z` mean the start and the end of the
line whatever `m` says, and `.` never matches a newline whatever `s` says.
"""

from dataclasses import dataclass, field, replace
from functools import cache, lru_cache

from search.errors import PatternInvalid
from search.pattern.classes import (
    NEWLINE,
    PERL_CLASSES,
    Source,
    matchable,
    parse_bracket,
    parse_class_escape,
    parse_escape,
)
from search.pattern.ranges import Ranges, complement, normalised
from search.pattern.tree import (
    EMPTY,
    Alternate,
    Chars,
    Concat,
    LineEnd,
    LineStart,
    Node,
    Repeat,
    WordBoundary,
    fold_up,
)
from search.pattern.unicode import case_orbit, perl_class

MAX_REPEAT = 1_000
MAX_NESTING = 250

_ANY = Chars(matchable(complement(NEWLINE), 0))
_OPERATORS = "*+?{"

# What may follow "(?" and is not ours, longest first: the construct and the way out.
_LOOK = (
    "cannot be matched in linear time. Search for what must be there, and exclude the rest with "
    "globs, or filter the results"
)
_FOREIGN_GROUPS = {
    "(?<=": f"Lookbehind (?<=...) {_LOOK}.",
    "(?<!": f"Negative lookbehind (?<!...) {_LOOK}.",
    "(?=": f"Lookahead (?=...) {_LOOK}.",
    "(?!": f"Negative lookahead (?!...) {_LOOK}.",
    "(?>": "Atomic groups (?>...) are not needed: matching never backtracks. Write (?:...).",
    "(?P=": "Backreferences are not supported: they cannot be matched in linear time. Spell out "
    "the alternatives.",
    "(?P>": "Recursion (?P>...) is not supported. Write the group out where it is needed.",
    "(?#": "Comments (?#...) are not supported. Leave the comment out.",
    "(?(": "Conditional groups (?(...)...) are not supported. Write both branches with |.",
    "(?|": "Branch reset groups (?|...) are not supported. Write (?:...).",
    "(?&": "Recursion (?&...) is not supported. Write the group out where it is needed.",
    "(?R": "Recursion (?R) is not supported. Write the pattern out as deep as it is needed.",
}


@dataclass(frozen=True, slots=True)
class Flags:
    ignore_case: bool = False
    ungreedy: bool = False


@dataclass(slots=True)
class _Group:
    """A group that is still open."""

    flags: Flags  # to restore when it closes
    start: int
    branches: list[Node] = field(default_factory=list)
    parts: list[Node] = field(default_factory=list)

    def node(self) -> Node:
        self.end_branch()
        return self.branches[0] if len(self.branches) == 1 else Alternate(tuple(self.branches))

    def end_branch(self) -> None:
        parts = tuple(self.parts)
        self.branches.append(parts[0] if len(parts) == 1 else Concat(parts) if parts else EMPTY)
        self.parts = []


@cache
def _perl_chars(letter: str) -> Chars:
    return Chars(matchable(perl_class(letter), 0))


@lru_cache(maxsize=2_048)
def _plain_node(code: int, ignore_case: bool) -> Chars:
    codes = case_orbit(code) if ignore_case else (code,)
    return Chars(normalised((member, member) for member in codes))


def literal_node(code: int, ignore_case: bool, position: int) -> Chars:
    if code == 0x0A or 0xD800 <= code < 0xE000:
        return Chars(matchable(((code, code),), position))
    return _plain_node(code, ignore_case)


def parse_literal(text: str, *, ignore_case: bool) -> Node:
    """The tree of a text that is meant as it stands."""
    return Concat(tuple(literal_node(ord(c), ignore_case, i) for i, c in enumerate(text)))


def parse_pattern(text: str, *, ignore_case: bool) -> Node:
    """The tree of an expression.

    Raises:
        PatternInvalid: not RE2 syntax; a construct that is not linear; a newline; counted
            repeats that multiply to more than MAX_REPEAT; groups nested deeper than MAX_NESTING.
    """
    tree = _Parser(text, Flags(ignore_case=ignore_case)).parse()
    _check_counts(tree)
    return tree


class _Parser:
    def __init__(self, text: str, flags: Flags) -> None:
        self._source = Source(text)
        self._flags = flags
        self._groups = [_Group(flags, 0)]
        self._names: set[str] = set()
        # Where the last operator ended: another one right there is an error, not a repeat.
        self._operator_end = -1

    def parse(self) -> Node:
        source = self._source
        while source.peek():
            self._step(source.peek())
        if len(self._groups) > 1:
            raise PatternInvalid(
                "This group is not closed: a ) is missing. Write \\( for a parenthesis.",
                self._groups[-1].start,
            )
        return self._groups[0].node()

    def _step(self, char: str) -> None:
        source, start = self._source, self._source.at
        if char == "(":
            self._open()
        elif char == ")":
            self._close()
        elif char == "|":
            source.at += 1
            self._groups[-1].end_branch()
        elif char == "[":
            self._push(Chars(matchable(parse_bracket(source, self._flags.ignore_case), start)))
        elif char == "\\":
            self._escape()
        elif char in _OPERATORS and self._operator():
            return
        elif char in ".^$":
            source.at += 1
            self._push(_ANY if char == "." else LineStart() if char == "^" else LineEnd())
        else:
            source.at += 1
            self._push(literal_node(ord(char), self._flags.ignore_case, start))

    def _push(self, node: Node) -> None:
        self._groups[-1].parts.append(node)

    def _escape(self) -> None:
        source, start = self._source, self._source.at
        if source.take("\\Q"):
            end = source.text.find("\\E", source.at)
            stop = len(source.text) if end < 0 else end
            for at in range(source.at, stop):
                self._push(literal_node(ord(source.text[at]), self._flags.ignore_case, at))
            source.at = stop if end < 0 else stop + 2
            return
        for name, node in (
            ("\\A", LineStart()),
            ("\\z", LineEnd()),
            ("\\b", WordBoundary(negated=False)),
            ("\\B", WordBoundary(negated=True)),
        ):
            if source.take(name):
                self._push(node)
                return
        perl = source.peek(1)
        if perl and perl in PERL_CLASSES:
            source.at += 2
            self._push(_perl_chars(perl))
            return
        ranges: Ranges | None = parse_class_escape(source, self._flags.ignore_case)
        if ranges is not None:
            self._push(Chars(matchable(ranges, start)))
        else:
            self._push(literal_node(parse_escape(source), self._flags.ignore_case, start))

    def _open(self) -> None:
        source, start = self._source, self._source.at
        if len(self._groups) > MAX_NESTING:
            raise PatternInvalid(
                f"Groups are nested deeper than {MAX_NESTING} levels. Write the pattern flatter.",
                start,
            )
        inner = self._flags
        source.at += 1
        if source.peek() == "?":
            source.at = start
            flags = self._group_head()
            if flags is None:
                return
            inner = flags
        self._groups.append(_Group(self._flags, start))
        self._flags = inner

    def _group_head(self) -> Flags | None:
        """Read `(?...` up to where the group's content starts; None for `(?flags)`."""
        source, start = self._source, self._source.at
        for prefix, message in _FOREIGN_GROUPS.items():
            if source.rest_starts_with(prefix):
                raise PatternInvalid(message, start)
        if source.take("(?P<") or source.take("(?<"):
            end = source.text.find(">", source.at)
            name = source.text[source.at : max(end, source.at)]
            # RE2's rule for names: word characters only.
            if not name or not name.replace("_", "a").isalnum():
                raise PatternInvalid("A group name is letters, digits and _: (?P<name>...).", start)
            if name in self._names:
                raise PatternInvalid(f"There are two groups named {name}. Rename one.", start)
            self._names.add(name)
            source.at = end + 1
            return self._flags
        source.at += len("(?")
        return self._group_flags(start)

    def _group_flags(self, start: int) -> Flags | None:
        source, flags, on = self._source, self._flags, True
        seen = False
        while source.peek():
            char = source.next()
            if char == "i":
                flags = replace(flags, ignore_case=on)
            elif char == "U":
                flags = replace(flags, ungreedy=on)
            elif char == "-" and on:
                on, seen = False, False
                continue
            elif char == ":" and (on or seen):
                return flags
            elif char == ")" and seen:
                self._flags = flags
                return None
            elif char not in "ms":
                break
            seen = True
        raise PatternInvalid(
            "After (? only the flags i, m, s, U and a name (?P<name>...) are known. "
            "Write (?:...) for a plain group.",
            start,
        )

    def _close(self) -> None:
        if len(self._groups) == 1:
            raise PatternInvalid(
                "This ) closes nothing. Write \\) for a parenthesis.", self._source.at
            )
        self._source.at += 1
        group = self._groups.pop()
        self._flags = group.flags
        self._push(group.node())

    def _operator(self) -> bool:
        """Read `*`, `+`, `?` or `{n,m}` and a `?` behind it; False if a `{` is just a brace."""
        source, start = self._source, self._source.at
        if source.peek() == "{":
            counts = _parse_counts(source)
            if counts is None:
                return False
            least, most = counts
        else:
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[source.next()]
        if start == self._operator_end:
            raise PatternInvalid(
                f"{source.text[start : source.at]} follows another repeat. Group the first one "
                "with (?:...); possessive repeats such as a++ are not needed here.",
                start,
            )
        parts = self._groups[-1].parts
        if not parts:
            raise PatternInvalid(
                f"There is nothing to repeat before {source.text[start : source.at]}. "
                f"Write \\{source.text[start]} for the character itself.",
                start,
            )
        lazy = source.take("?")
        parts[-1] = Repeat(parts[-1], least, most, lazy == self._flags.ungreedy, start)
        self._operator_end = source.at
        return True


def _parse_counts(source: Source) -> tuple[int, int | None] | None:
    """Read `{n}`, `{n,}` or `{n,m}`; None, and nothing read, when it is something else."""
    start = source.at
    end = source.text.find("}", start)
    low, comma, high = source.text[start + 1 : max(end, start + 1)].partition(",")
    if end < 0 or not _is_number(low) or (high and not _is_number(high)):
        return None
    # Five digits are already too many; longer ones are not worth converting.
    least = int(low[:5])
    most = (int(high[:5]) if high else None) if comma else least
    source.at = end + 1
    if least > MAX_REPEAT or (most is not None and most > MAX_REPEAT):
        raise PatternInvalid(f"A repeat count may be at most {MAX_REPEAT}.", start)
    if most is not None and most < least:
        raise PatternInvalid("The counts of this repeat run backwards.", start)
    return least, most


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _check_counts(tree: Node) -> None:
    """Nested counts multiply: refuse what would unfold to more than MAX_REPEAT copies."""

    def visit(node: Node, below: list[int]) -> int:
        copies = max(below, default=1)
        if isinstance(node, Repeat):
            copies *= max(node.least if node.most is None else node.most, 1)
            if copies > MAX_REPEAT:
                raise PatternInvalid(
                    f"Nested repeats multiply to more than {MAX_REPEAT} copies. "
                    "Use smaller counts, or * and + instead.",
                    node.position,
                )
        return copies

    fold_up(tree, visit)
