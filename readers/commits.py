"""Commit and tag objects → their fields, parsed from the objects themselves. Pure.

No format strings of `git log`: an object has one form, and nothing in a name or a subject can
be mistaken for a separator.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

# Git stores any number; datetime ends with the year 9999.
_LAST_SECOND = 253_402_300_799
_PERSON = re.compile(rb"(?P<name>[^<]*?) ?<[^>]*>(?: (?P<time>-?\d+)(?: [+-]\d{4})?)?")
MAX_HEADER_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Commit:
    """`title` is the first paragraph of the message on one line, as in `git log --oneline`."""

    tree: str
    parents: tuple[str, ...]
    author: str
    author_time: datetime
    committer_time: datetime
    title: str


@dataclass(frozen=True, slots=True)
class Tag:
    """An annotated tag; `title` is the first line of its message."""

    target: str
    target_type: str
    tagger: str
    time: datetime | None
    title: str


def parse_commit(data: bytes) -> Commit:
    """Raises ValueError when `data` is not a commit object."""
    headers, message = _split(data)
    trees = headers.get(b"tree")
    if not trees:
        raise ValueError("not a commit object")
    encoding = headers.get(b"encoding", [b"utf-8"])[0].decode("ascii", "replace")
    author, author_time = _person(headers, b"author", encoding)
    _, committer_time = _person(headers, b"committer", encoding)
    return Commit(
        tree=trees[0].decode("ascii"),
        parents=tuple(parent.decode("ascii") for parent in headers.get(b"parent", [])),
        author=author,
        author_time=author_time or committer_time or _time(0),
        committer_time=committer_time or _time(0),
        title=_subject(message, encoding),
    )


def parse_tag(data: bytes) -> Tag:
    """Raises ValueError when `data` is not a tag object."""
    headers, message = _split(data)
    if b"object" not in headers or b"type" not in headers:
        raise ValueError("not a tag object")
    tagger, time = _person(headers, b"tagger", "utf-8")
    return Tag(
        target=headers[b"object"][0].decode("ascii"),
        target_type=headers[b"type"][0].decode("ascii"),
        tagger=tagger,
        time=time,
        title=_text(message.lstrip(b"\n").split(b"\n", 1)[0], "utf-8").strip(),
    )


def _split(data: bytes) -> tuple[dict[bytes, list[bytes]], bytes]:
    """Headers by name, and the message; continued lines (signatures) are left out."""
    head, _, message = data.partition(b"\n\n")
    headers: dict[bytes, list[bytes]] = {}
    for line in head.split(b"\n"):
        name, space, value = line.partition(b" ")
        if name and space:
            headers.setdefault(name, []).append(value)
    return headers, message


def _person(
    headers: dict[bytes, list[bytes]], key: bytes, encoding: str
) -> tuple[str, datetime | None]:
    found = _PERSON.match(headers.get(key, [b""])[0])
    if found is None:
        return "", None
    time = _time(int(found["time"])) if found["time"] else None
    return _text(found["name"], encoding).strip(), time


def _time(seconds: int) -> datetime:
    return datetime.fromtimestamp(min(max(seconds, 0), _LAST_SECOND), UTC)


def _text(data: bytes, encoding: str) -> str:
    """Text for people: what cannot be decoded becomes U+FFFD; control characters, blanks."""
    try:
        text = data.decode(encoding, "replace")
    except LookupError:
        text = data.decode("utf-8", "replace")
    return re.sub("[\x00-\x1f\x7f-\x9f]", " ", text)


def _subject(message: bytes, encoding: str) -> str:
    paragraph = re.split(rb"\n[ \t]*\n", message.lstrip(b"\n"), maxsplit=1)[0]
    return " ".join(_text(paragraph, encoding).split())
