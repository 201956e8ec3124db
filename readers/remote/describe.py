"""What a downloaded ref is: its commit, who, when, what; read from the objects themselves."""

from dataclasses import dataclass, replace
from datetime import datetime

from readers.commits import MAX_HEADER_BYTES, parse_commit, parse_tag
from readers.objects import ObjectData, Objects

MAX_TAG_CHAIN = 10
BATCH = 5000  # objects for which one answer of the Git child is waited


@dataclass(frozen=True, slots=True)
class Described:
    """`commit` is None for what ends at a tree or a blob (`target_type`), or was not verified.

    `created_at`, `author` and `title` are those of the tag if it is an annotated one.
    """

    object: str
    commit: str | None = None
    target_type: str | None = None
    annotated: bool = False
    created_at: datetime | None = None
    committer_time: datetime | None = None
    author: str = ""
    title: str = ""


def describe(objects: Objects, oids: list[str]) -> list[Described]:
    """Describe what each id ends at, following annotated tags. Missing objects: not verified."""
    return [
        each
        for start in range(0, len(oids), BATCH)
        for each in _batch(objects, oids[start : start + BATCH])
    ]


def _batch(objects: Objects, oids: list[str]) -> list[Described]:
    found = [Described(oid) for oid in oids]
    pending = list(range(len(oids)))
    targets = dict(enumerate(oids))
    for _ in range(MAX_TAG_CHAIN):
        datas = objects.many([targets[n] for n in pending], MAX_HEADER_BYTES)
        following = []
        for number, data in zip(pending, datas, strict=True):
            try:
                found[number], target = _step(found[number], targets[number], data)
            except ValueError:
                continue  # damaged: stays unverified
            if target:
                targets[number] = target
                following.append(number)
        pending = following
        if not pending:
            break
    return found


def _step(so_far: Described, oid: str, data: ObjectData | None) -> tuple[Described, str]:
    """One object further; the id that a tag points to, or nothing at the end."""
    if data is None:
        return so_far, ""
    if data.kind == "tag":
        tag = parse_tag(data.data)
        if not so_far.annotated:
            so_far = Described(
                so_far.object,
                annotated=True,
                created_at=tag.time,
                author=tag.tagger,
                title=tag.title,
            )
        if tag.target_type in ("tree", "blob"):
            return replace(so_far, target_type=tag.target_type), ""
        return so_far, tag.target
    if data.kind != "commit":
        return replace(so_far, target_type=data.kind), ""
    commit = parse_commit(data.data)
    if so_far.annotated:
        return replace(so_far, commit=oid, committer_time=commit.committer_time), ""
    return (
        Described(
            so_far.object,
            commit=oid,
            created_at=commit.committer_time,
            committer_time=commit.committer_time,
            author=commit.author,
            title=commit.title,
        ),
        "",
    )
