"""The address of the search page, and the form that writes it (website.md, section 12).

The form posts positive toggles (`case`, `regex`) and two fields of globs, marked by `ui=1`; an
address that people keep has the contract's spelling (`ignore_case=1`, `fixed_strings=1`,
repeated `glob`). One `PageQuery` is made of either, and written in the canonical spelling.
"""

from dataclasses import dataclass, replace

from django.http import QueryDict

from repos.naming import is_object_id
from sourcegraph_site.web.addresses import Parameter, address

CONTEXT_CHOICES = (0, 1, 2, 5)
DEFAULT_CONTEXT = 1
LIVE_FROM_CHARACTERS = 3


@dataclass(frozen=True, slots=True)
class PageQuery:
    """What the page shows. Without `commit`, `revision` names a branch; empty is the default.

    `after`, `seen` and `tail` belong to a further page: its cursor, the number of files on the
    pages before it, and the path of the last of them.
    """

    repo: str = ""
    pattern: str = ""
    fixed_strings: bool = False
    ignore_case: bool = False
    globs: tuple[str, ...] = ()
    revision: str = ""
    commit: str = ""
    branch: str = ""
    context: int = DEFAULT_CONTEXT
    files_only: bool = False
    after: str = ""
    seen: int = 0
    tail: str = ""

    @property
    def wanted(self) -> str:
        """The revision as use cases take it; a full SHA beats a name."""
        return self.commit or self.revision

    def parameters(self) -> list[Parameter]:
        """The canonical address's parameters, in the contract's order; defaults are left out."""
        return [
            ("repo", self.repo),
            ("pattern", self.pattern),
            ("fixed_strings", "1" if self.fixed_strings else ""),
            ("ignore_case", "1" if self.ignore_case else ""),
            *(("glob", glob) for glob in self.globs),
            ("commit", self.commit),
            ("revision", "" if self.commit else self.revision),
            ("branch", self.branch if self.commit else ""),
            ("context", "" if self.context == DEFAULT_CONTEXT else str(self.context)),
            ("output", "files" if self.files_only else ""),
            ("after", self.after),
            ("seen", str(self.seen) if self.after else ""),
            ("tail", self.tail if self.after else ""),
        ]

    @property
    def address(self) -> str:
        return address("", self.parameters())

    @property
    def reader_parameters(self) -> list[Parameter]:
        """What links into the reader carry on, so that it marks the same matches."""
        return [
            ("pattern", self.pattern),
            ("fixed_strings", "1" if self.fixed_strings else ""),
            ("ignore_case", "1" if self.ignore_case else ""),
        ]

    def first_page(self, **changes: object) -> "PageQuery":
        """The same query with changes; never a further page, whose cursor would not fit."""
        return replace(self, after="", seen=0, tail="", **changes)  # type: ignore[arg-type]

    def at(self, commit: str, branch: str | None) -> "PageQuery":
        """The same query, pinned to the commit that answered it."""
        return replace(self, commit=commit, revision="", branch=branch or "")

    # --- The two fields of the form ------------------------------------------------------

    @property
    def include(self) -> str:
        """What stands in the field "In". Rules whose order matters all stand here, in order."""
        return ", ".join(self.globs if self._mixed else _without_mark(self.globs, False))

    @property
    def exclude(self) -> str:
        """What stands in the field "Not in"."""
        return "" if self._mixed else ", ".join(_without_mark(self.globs, True))

    @property
    def _mixed(self) -> bool:
        """Does an include follow an exclude? The two fields could not keep that order."""
        marks = [glob.startswith("!") for glob in self.globs]
        return marks != sorted(marks)


def _without_mark(globs: tuple[str, ...], excluded: bool) -> list[str]:
    return [glob.removeprefix("!") for glob in globs if glob.startswith("!") == excluded]


def split_globs(text: str) -> list[str]:
    r"""Globs between commas; a comma inside `{}` or `[]`, or after `\`, belongs to the glob.

    >>> split_globs("*.{c,h}, po/")
    ['*.{c,h}', 'po/']
    """
    found, start, depth, escaped = [], 0, 0, False
    for at, char in enumerate(text):
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth = max(0, depth - 1)
        elif char == "," and not depth:
            found.append(text[start:at])
            start = at + 1
    found.append(text[start:])
    return [part.strip() for part in found if part.strip()]


def glob_of_path(path: str) -> str:
    """The glob that matches exactly this path: anchored, with its special characters escaped."""
    return "/" + "".join(f"\\{char}" if char in "\\*?[]{}!," else char for char in path)


def read_query(values: QueryDict) -> PageQuery:
    """The query of an address or, with `ui=1`, of the form. Nonsense values mean the default."""
    commit = values.get("commit", "")
    revision = values.get("revision", "")
    if commit and not is_object_id(commit):  # section 0, row 10: it is read as a revision
        commit, revision = "", commit
    query = PageQuery(
        repo=values.get("repo", ""),
        pattern=values.get("pattern", ""),
        revision="" if commit else revision,
        commit=commit,
        branch=values.get("branch", "") if commit else "",
        context=_choice(values.get("context", "")),
        files_only=values.get("output") == "files",
    )
    if values.get("ui"):
        return _from_form(query, values)
    return replace(
        query,
        fixed_strings=values.get("fixed_strings") == "1",
        ignore_case=values.get("ignore_case") == "1",
        globs=tuple(values.getlist("glob")),
        after=values.get("after", ""),
        seen=_count(values.get("seen", "")),
        tail=values.get("tail", ""),
    )


def _from_form(query: PageQuery, values: QueryDict) -> PageQuery:
    picked = values.get("pick_revision", "").strip()
    if picked:
        sha = is_object_id(picked)
        query = replace(
            query, commit=picked if sha else "", revision="" if sha else picked, branch=""
        )
    included = split_globs(values.get("include", ""))
    excluded = [glob.removeprefix("!") for glob in split_globs(values.get("exclude", ""))]
    return replace(
        query,
        fixed_strings="regex" not in values,
        ignore_case="case" not in values,
        globs=(*included, *(f"!{glob}" for glob in excluded)),
    )


def _choice(text: str) -> int:
    return int(text) if text in map(str, CONTEXT_CHOICES) else DEFAULT_CONTEXT


def _count(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 8 else 0
