"""Which rows of a catalog a request asks for, and in which order. Pure."""

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Any

import numpy as np
import numpy.typing as npt

from readers.errors import RefsFilterUnavailable
from readers.remote.catalog_file import NO_TIME, Catalog
from sourcegraph_site.kernel.errors import InvalidQueryParameters

KINDS = ("branch", "tag", "all")
SORTS = ("created", "name")
MAX_FILTER_CHARS = 1024

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Selection:
    """A checked request. `since` and `until` are seconds since 1970, both included."""

    kind: str = "branch"
    query: str = ""
    author: str = ""
    title: str = ""
    since: int | None = None
    until: int | None = None
    sort: str = ""  # empty: not asked for

    @property
    def needs_details(self) -> bool:
        """Can it not be answered from names alone?"""
        dated = self.since is not None or self.until is not None
        return bool(self.author or self.title or dated or self.sort == "created")


def check_selection(
    kind: str, query: str, author: str, title: str, since: str, until: str, sort: str
) -> Selection:
    """Raises InvalidQueryParameters: a word that is not offered, or a time of another form."""
    kind = kind or "branch"
    if kind not in KINDS:
        raise InvalidQueryParameters("kind is branch, tag or all.")
    if sort and sort not in SORTS:
        raise InvalidQueryParameters("sort is created or name.")
    if max(len(query), len(author), len(title)) > MAX_FILTER_CHARS:
        raise InvalidQueryParameters(f"A filter has at most {MAX_FILTER_CHARS} characters.")
    first = math.ceil(_moment(since, "since", time.min)) if since else None
    last = math.floor(_moment(until, "until", time(23, 59, 59))) if until else None
    return Selection(kind, query, author, title, first, last, sort)


def _moment(text: str, name: str, of_day: time) -> float:
    try:
        if _DATE.fullmatch(text):
            day = datetime.fromisoformat(text).date()
            return datetime.combine(day, of_day, UTC).timestamp()
        if _TIME.fullmatch(text):
            return datetime.fromisoformat(text.upper()).timestamp()
    except (ValueError, OverflowError):
        pass  # a day or an hour that does not exist
    raise InvalidQueryParameters(f"{name} is an RFC 3339 time or YYYY-MM-DD.")


def select(catalog: Catalog, wanted: Selection) -> tuple[str, npt.NDArray[Any]]:
    """The order used, and the numbers of the rows in it.

    Raises:
        RefsFilterUnavailable: the catalog has names only, and more is asked.
    """
    names_only = bool(catalog.header.reason)
    if names_only and wanted.needs_details:
        raise RefsFilterUnavailable(
            "Only names are known of this remote; filter by query and sort by name."
        )
    sort = wanted.sort or ("name" if names_only else "created")
    keep = np.ones(len(catalog), np.bool_)
    if wanted.kind != "all":
        keep &= catalog.tags == (wanted.kind == "tag")
    for field, part in (
        ("name", wanted.query),
        ("author", wanted.author),
        ("title", wanted.title),
    ):
        if part:
            keep &= catalog.containing(field, part)
    if wanted.since is not None or wanted.until is not None:
        keep &= catalog.created > NO_TIME
    if wanted.since is not None:
        keep &= catalog.created >= wanted.since
    if wanted.until is not None:
        keep &= catalog.created <= wanted.until
    if sort == "created":
        order = catalog.by_created
        return sort, order[keep[order]]
    return sort, np.flatnonzero(keep)
