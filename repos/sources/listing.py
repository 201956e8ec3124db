"""The code sources: hosts that repositories come from, by a short id.

Three kinds stand in one list. *Locked* ones are in SOURCEGRAPH_CODE_SOURCES and only change
there. Administrators edit the others; until they first do, there is one, `github`, at
SOURCEGRAPH_CODE_HOST. Last comes `git`, built in: any other server, by clone address, without
a token.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from repos.errors import InvalidCodeProvider, InvalidRemote
from repos.gitstore.remote_url import Remote, check_remote
from sourcegraph_site.accounts.errors import InvalidSettings
from sourcegraph_site.accounts.models import SettingsSection
from sourcegraph_site.kernel.inputs import Field, Input, parse

SECTION = "code_sources"
MAX_SOURCES = 32
KINDS = ("github", "gitlab", "gitea", "bitbucket", "git")
# What each host takes beside a token when nothing else is said.
USERNAMES = {"bitbucket": "x-token-auth"}
DEFAULT_USERNAME = "oauth2"

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,31}", re.ASCII)
_USERNAME = re.compile(r"[A-Za-z0-9._@+-]{1,100}", re.ASCII)


class CodeSourceInput(Input):
    """One source, as administrators write it. `editable` and `locked` are only read back."""

    id: str
    name: str
    host: str = Field(description="host[:port]; http://host:port if the operator allows it")
    username: str = ""
    anonymous: bool = True
    kind: str = ""
    api: str = Field("", description="Address of its API, where it is not the usual one.")
    editable: bool = True
    locked: bool = False


@dataclass(frozen=True, slots=True)
class CodeSource:
    """`anonymous`: repositories may be read without a token when there is none."""

    id: str
    name: str
    host: str
    username: str
    anonymous: bool
    editable: bool
    locked: bool
    kind: str
    api: str

    @property
    def origin(self) -> str:
        """scheme://host[:port], "" for the built-in source without a host."""
        if not self.host:
            return ""
        return self.host if "://" in self.host else f"https://{self.host}"

    @property
    def takes_token(self) -> bool:
        return bool(self.host)

    @property
    def bound_to(self) -> str:
        """Where a token given now may be sent; see `CodeToken.bound_to`."""
        return f"{self.origin} {self.api}".strip()


GIT = CodeSource("git", "Git", "", "", True, editable=False, locked=False, kind="git", api="")


def sources() -> list[CodeSource]:
    """All sources in display order."""
    locked = locked_sources()
    taken = {source.id for source in locked}
    return [*locked, *(source for source in saved()[1] if source.id not in taken), GIT]


def saved() -> tuple[int, list[CodeSource]]:
    """The revision of the editable list, and the list."""
    row = SettingsSection.objects.filter(name=SECTION).first()
    if row is None:
        return 0, [_first_source()]
    return row.revision, [_stored(each) for each in row.values.get("sources", [])]


def _stored(row: dict[str, Any]) -> CodeSource:
    return CodeSource(**row, editable=True, locked=False)


def as_stored(source: CodeSource) -> dict[str, Any]:
    names = ("id", "name", "host", "username", "anonymous", "kind", "api")
    return {name: getattr(source, name) for name in names}


def _first_source() -> CodeSource:
    parts = urlsplit(settings.CODE_HOST)
    host = parts.netloc if parts.scheme == "https" else settings.CODE_HOST
    name = "GitHub" if parts.hostname == "github.com" else parts.netloc
    return CodeSource(
        "github", name, host, DEFAULT_USERNAME, True, True, False, kind="github", api=""
    )


def locked_sources() -> list[CodeSource]:
    return [
        replace(checked(parse(CodeSourceInput, row)), editable=False, locked=True)
        for row in settings.CODE_SOURCES
    ]


def source_of(source_id: str) -> CodeSource:
    """Raises InvalidCodeProvider."""
    for source in sources():
        if source.id == source_id:
            return source
    raise InvalidCodeProvider("There is no code source of this id.")


def source_at(remote: Remote, preferred: str) -> CodeSource | None:
    """The source on whose host a remote lies: the preferred one if it does, else the first."""
    found = [source for source in sources() if source.host and _lies_at(remote, source)]
    return next((each for each in found if each.id == preferred), found[0] if found else None)


def _lies_at(remote: Remote, source: CodeSource) -> bool:
    try:
        there = check_remote(f"{source.origin}/a/b.git")
    except InvalidRemote:  # the operator has withdrawn it
        return False
    return (there.scheme, there.host, there.port) == (remote.scheme, remote.host, remote.port)


def checked(given: CodeSourceInput) -> CodeSource:
    """One source after all rules.

    Raises:
        InvalidSettings: names the source and what is wrong with it.
    """
    if not _ID.fullmatch(given.id) or given.id == GIT.id:
        raise InvalidSettings(
            "An id is 1 to 32 small letters, digits and '-', and not git.", field="id"
        )
    name = given.name.strip()
    if not 1 <= len(name) <= 64 or not name.isprintable():
        raise InvalidSettings(f"{given.id}: a name is 1 to 64 characters.", field="name")
    kind = given.kind or kind_of(given.host)
    if kind not in KINDS:
        raise InvalidSettings(f"{given.id}: `kind` is one of {', '.join(KINDS)}.", field="kind")
    username = given.username or USERNAMES.get(kind, DEFAULT_USERNAME)
    if not _USERNAME.fullmatch(username):
        raise InvalidSettings(f"{given.id}: this user name is not accepted.", field="username")
    source = CodeSource(
        given.id,
        name,
        given.host.strip().lower().removeprefix("https://").rstrip("/"),
        username,
        given.anonymous,
        editable=True,
        locked=False,
        kind=kind,
        api=given.api.strip().rstrip("/"),
    )
    _check_addresses(source)
    return source


def _check_addresses(source: CodeSource) -> None:
    try:
        parts = urlsplit(source.origin)
        if not source.host or parts.path or parts.scheme not in ("https", "http"):
            raise InvalidRemote("`host` is a host with an optional port, such as git.example.org.")
        check_remote(f"{source.origin}/a/b.git")
    except (InvalidRemote, ValueError) as exc:
        raise InvalidSettings(f"{source.id}: {exc}", field="host") from None
    try:
        if source.api:
            check_remote(f"{source.api}/x")
    except InvalidRemote as exc:
        raise InvalidSettings(f"{source.id}: {exc}", field="api") from None


def kind_of(host: str) -> str:
    """A guess from the host's name; `git` has no API."""
    for kind in ("github", "gitlab", "bitbucket", "gitea"):
        if kind in host.lower():
            return kind
    return "gitea" if "codeberg" in host.lower() else "git"


def check_all(given: Iterable[CodeSourceInput]) -> list[CodeSource]:
    """The editable ones among the given; others may be sent back, but unchanged.

    Raises:
        InvalidSettings: a source that is not acceptable, twice there, or locked and changed.
    """
    fixed = {source.id: source for source in (*locked_sources(), GIT)}
    found: dict[str, CodeSource] = {}
    for each in given:
        if each.id in fixed:
            if each != as_input(fixed[each.id]):
                raise InvalidSettings(f"{each.id} is defined by the server and cannot be changed.")
            continue
        if each.id in found:
            raise InvalidSettings(f"{each.id} stands twice.")
        found[each.id] = checked(each)
    if len(found) > MAX_SOURCES:
        raise InvalidSettings(f"There may be at most {MAX_SOURCES} code sources.")
    return list(found.values())


def as_input(source: CodeSource) -> CodeSourceInput:
    return CodeSourceInput(**{name: getattr(source, name) for name in CodeSource.__slots__})
