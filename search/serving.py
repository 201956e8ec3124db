"""The open indexes of this process, and how a commit's generation is found or missed."""

import logging
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db import DatabaseError

from readers.errors import PathNotRegistered
from readers.paths import covers
from repos import readiness
from repos.gitstore.layout import index_path, mirror_path
from repos.models import Repository, Version
from repos.revisions import Resolved
from search.engine.signature import signature_of
from search.errors import IndexCorrupt, IndexNotReady, ScopeNotReady
from search.index.combine import combine
from search.index.format import CorruptIndex
from search.index.generation import Generation
from search.index.options import IndexOptions
from search.index.store import GenerationMissing, IndexStore
from sourcegraph_site.jobs import queue

log = logging.getLogger(__name__)

OPEN_STORES = 256
KEPT_SIGNATURES = 1000  # of 32 KiB each
REPAIR = "search.repair"

_mutex = threading.Lock()
_stores: OrderedDict[str, IndexStore] = OrderedDict()
_known: OrderedDict[tuple[str, str], "Known"] = OrderedDict()


def index_options() -> IndexOptions:
    return IndexOptions(
        max_blob_bytes=settings.MAX_INDEXED_FILE_BYTES,
        large_file_globs=tuple(settings.INDEX_LARGE_GLOBS),
    )


def store_of(storage_key: str) -> IndexStore:
    """The index of one repository, opened once per process; the least used ones are closed."""
    with _mutex:
        store = _stores.get(storage_key)
        if store is None:
            # A removed index keeps its disk space for as long as somebody has it mapped.
            for key in [key for key, old in _stores.items() if not old.root.is_dir()]:
                del _stores[key]
            store = _stores[storage_key] = IndexStore(
                index_path(storage_key),
                mirror_path(storage_key),
                index_options(),
                workers=settings.INDEX_WORKERS,
            )
        _stores.move_to_end(storage_key)
        while len(_stores) > OPEN_STORES:
            _stores.popitem(last=False)
    return store


def forget(storage_key: str) -> None:
    """Drop what this process remembers of an index; the next search opens it anew."""
    with _mutex:
        _stores.pop(storage_key, None)
        for key in [key for key in _known if key[0] == storage_key]:
            del _known[key]


def generation_of(repo: Repository, at: Resolved, paths: Sequence[str] = ()) -> Generation:
    """What is indexed of the commit; in a monorepo, of the groups that `paths` meet.

    Raises:
        PathNotRegistered: a path meets no group of the monorepo.
        ScopeNotReady: a group has never been indexed, at no commit.
        IndexNotReady: the commit is kept, but not indexed (yet).
        IndexCorrupt: its index is damaged or gone; the rebuild is queued.
    """
    groups = groups_for(repo, paths)
    for group in groups:
        if not readiness.group_ready(at.version, group):
            if group and not readiness.group_ever_ready(repo, group):
                raise ScopeNotReady(f"The path group {group!r} has not been indexed yet.")
            raise IndexNotReady("This commit is not indexed yet; it can be read, not searched.")
    store = store_of(repo.storage_key)
    try:
        parts = [
            store.open_generation(at.commit, group, repo.group_paths(group)) for group in groups
        ]
        generation = combine(parts)
    except CorruptIndex as exc:
        raise damaged(repo, at.commit, str(exc)) from exc
    except GenerationMissing as exc:
        raise damaged(repo, at.commit, "its segments are gone") from exc
    if groups == repo.group_names:
        _record_size(at.version, generation)
    return generation


def _record_size(version: Version, generation: Generation) -> None:
    """Commits behind the heads are indexed together, and counted when first searched."""
    try:
        readiness.record_size(version, files=len(generation.paths), shards=len(generation.segments))
    except DatabaseError as exc:
        log.warning("the size of %s was not recorded: %s", version.commit, exc)


@dataclass(frozen=True, slots=True)
class Known:
    """What a search over many repositories remembers of one commit that it has opened."""

    signature: bytes
    indexed_documents: int
    skipped: dict[str, int]


def known(repo: Repository, at: Resolved) -> Known | None:
    """What is remembered of this commit in this process; it spares opening its index."""
    with _mutex:
        return _known.get((repo.storage_key, at.commit))


def remember(repo: Repository, generation: Generation) -> None:
    """Keep the signature of a generation, unless it is about to be rebuilt differently."""
    key = (repo.storage_key, generation.commit)
    if repo.monorepo or key in _known or generation.options != index_options().digest:
        return
    fact = Known(signature_of(generation), len(generation.paths), dict(generation.skipped))
    with _mutex:
        _known[key] = fact
        while len(_known) > KEPT_SIGNATURES:
            _known.popitem(last=False)


def groups_for(repo: Repository, paths: Sequence[str]) -> list[str]:
    """The path groups that a search of these paths looks at; [""] in full mode."""
    if not repo.monorepo or not paths:
        return repo.group_names
    coverage = {group["name"]: group["paths"] for group in repo.path_groups}
    chosen: set[str] = set()
    for path in paths:
        meets = {
            name
            for name, dirs in coverage.items()
            if any(
                covers(d.encode(), path.encode()) or covers(path.encode(), d.encode()) for d in dirs
            )
        }
        if not meets:
            raise PathNotRegistered(f"{path!r} meets no directory of this monorepo's groups.")
        chosen |= meets
    return sorted(chosen)


def damaged(repo: Repository, commit: str, what: str) -> IndexCorrupt:
    """Log the damage, queue the repair, and return the error for the caller."""
    log.error("index of %s at %s is damaged: %s", repo.name, commit, what)
    queue_repair(repo.pk)
    return IndexCorrupt(
        "The index is damaged and is being rebuilt; an answer would not be whole.",
        retry_after=10,
    )


def queue_repair(repository_id: int, files: Sequence[str] = ()) -> None:
    """Queue the repair of an index; `files` of it are wrong although their checksums are right."""
    queue.enqueue_once(
        REPAIR,
        identity=f"repair:{repository_id}",
        exclusive=f"repair:{repository_id}",
        repository_id=repository_id,
        # One that is running has not been told of these files.
        join_running=not files,
        params={"files": list(files)},
    )
