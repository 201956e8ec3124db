"""List a repository's branches and tags, as its remote has them."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from django.conf import settings

from readers.pages import check_first, decode_offset, next_cursor
from readers.refs import check_selection, select
from readers.remote import catalog as catalogs
from readers.remote.catalog_file import TAGS, Catalog, Header, Row, short
from readers.remote.conversation import target_of
from repos.access import get_visible
from repos.models import Repository, Version
from repos.revisions import check_serving
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.deadline import Deadline
from sourcegraph_site.kernel.inputs import Field, Input
from sourcegraph_site.kernel.paging import binding_of
from sourcegraph_site.kernel.wire import optional

MAX_FIRST = 100


class ListRefs(Input):
    repo: str
    kind: str = Field("branch", description="branch, tag or all.")
    query: str = Field("", description="Part of the name, whatever its case.")
    author: str = Field("", description="Part of the author's or tagger's name.")
    title: str = Field("", description="Part of the commit's title or the tag's first line.")
    since: str = Field("", description="RFC 3339 time or YYYY-MM-DD; included.")
    until: str = Field("", description="RFC 3339 time or YYYY-MM-DD; included.")
    sort: str = Field("", description="created (newest first, the default) or name.")
    first: int = Field(30, description="Page size, 1 to 100.")
    after: str = Field("", description="next_cursor of the page before.")


@dataclass(frozen=True, slots=True)
class CatalogState:
    """`state`: ready, stale (a refresh runs behind), or names_only for the `reason` given."""

    state: str
    reason: str | None = optional()
    refreshed_at: datetime | None = optional()
    truncated: bool | None = optional()


@dataclass(frozen=True, slots=True)
class RefRow:
    """One branch or tag; `commit` and what follows only when it is verified."""

    name: str
    ref: str
    kind: str
    monitored: bool
    indexed: bool
    commit: str | None = optional()
    created_at: datetime | None = optional()
    committer_time: datetime | None = optional()
    author: str | None = optional()
    title: str | None = optional()
    annotated: bool | None = optional()
    object: str | None = optional()
    target_type: str | None = optional()


@dataclass(frozen=True, slots=True)
class RefPage:
    repo: str
    catalog: CatalogState
    sort: str
    refs: tuple[RefRow, ...]
    next_cursor: str | None
    has_more: bool
    hint: str | None = optional()


def list_refs(actor: Actor, params: ListRefs) -> RefPage:
    """Branches and tags of the remote, in pages; indexes nothing and downloads no code.

    They come from a catalog that is refreshed behind, so they may lag. The cursor is an
    offset: a refresh between two pages can repeat or skip entries.

    Raises:
        InvalidQueryParameters, InvalidLimit, InvalidCursor: the request.
        InvalidRepo, RepositoryNotFound, RepositoryStorageMissing, RepositoryDisabled.
        RefsCatalogPreparing: the first listing takes longer than this request may.
        RefsFilterUnavailable: only names are known, and more is asked.
        RemoteUnavailable, RemoteAccessDenied, InsufficientStorage: there is no listing yet.
    """
    wanted = check_selection(
        params.kind,
        params.query,
        params.author,
        params.title,
        params.since,
        params.until,
        params.sort,
    )
    check_first(params.first, MAX_FIRST)
    binding = binding_of("refs", params.repo, params.model_dump(exclude={"repo", "first", "after"}))
    offset = decode_offset(params.after, binding)
    deadline = Deadline.after(settings.REQUEST_SECONDS)
    repo = get_visible(actor, params.repo)
    check_serving(repo)
    catalog = catalogs.current(repo.storage_key, partial(target_of, repo), deadline)
    sort, numbers = select(catalog, wanted)
    page = [catalog.row(int(number)) for number in numbers[offset : offset + params.first]]
    cursor = next_cursor(binding, offset + len(page), len(numbers))
    return RefPage(
        repo=repo.name,
        catalog=_state(catalog),
        sort=sort,
        refs=_rows(repo, catalog.header, page),
        next_cursor=cursor,
        has_more=cursor is not None,
        hint=_hint(catalog.header),
    )


def _state(catalog: Catalog) -> CatalogState:
    header, fresh = catalog.header, catalogs.is_fresh(catalog)
    state = "names_only" if header.reason else "ready" if fresh else "stale"
    return CatalogState(
        state=state,
        reason=header.reason or None,
        refreshed_at=None if fresh else datetime.fromtimestamp(int(header.refreshed_at), UTC),
        truncated=True if header.truncated else None,
    )


def _hint(header: Header) -> str | None:
    if not header.truncated:
        return None
    return (
        f"Only the first {header.count} names are listed and searched;"
        " resolve finds any other by its complete name."
    )


def _rows(repo: Repository, header: Header, page: list[Row]) -> tuple[RefRow, ...]:
    commits = {row.described.commit or row.described.object for row in page}
    indexed = set(
        Version.objects.filter(repository=repo, commit__in=commits, indexed=True).values_list(
            "commit", flat=True
        )
    )
    monitored = set(repo.monitored_branches)
    return tuple(_row(row, header, indexed, monitored) for row in page)


def _row(row: Row, header: Header, indexed: set[str], monitored: set[str]) -> RefRow:
    described, tag = row.described, row.ref.startswith(TAGS)
    verified = described.commit is not None
    return RefRow(
        name=short(row.ref),
        ref=row.ref,
        kind="tag" if tag else "branch",
        monitored=not tag and row.name in monitored,
        indexed=(described.commit or described.object) in indexed,
        commit=described.commit,
        created_at=described.created_at,
        committer_time=described.committer_time,
        author=described.author if verified else None,
        title=described.title if verified else None,
        annotated=True if described.annotated else None,
        object=None if verified or header.reason else described.object,
        target_type=described.target_type,
    )
