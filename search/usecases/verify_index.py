"""Check indexes against Git, and queue the repair of what is wrong."""

from collections.abc import Iterator
from dataclasses import dataclass

from repos.access import get_visible, visible_to
from repos.gitstore.layout import index_path, mirror_path
from repos.models import Repository
from repos.revisions import storage_missing
from search.index.format import CorruptIndex
from search.index.store import GenerationMissing, IndexStore
from search.index.verify import Problem, verify
from search.index.workers import GitFailed
from search.serving import index_options, queue_repair
from search.usecases.collect_indexes import searchable_generations
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.inputs import Field, Input


class VerifyIndex(Input):
    repos: list[str] = Field(default_factory=list, description="owner/name; none: all of them.")
    deep: bool = Field(False, description="Read every blob again, and compute all postings anew.")


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found in one repository; without problems all is well."""

    repository: str
    generations: int
    segments: int
    problems: list[str]
    repair_queued: bool


def verify_index(actor: Actor, params: VerifyIndex) -> Iterator[Verified]:
    """Check every generation of these repositories, one after the other.

    Of a repository with problems the repair is queued; what is damaged is built anew.

    Raises:
        InvalidRepo, RepositoryNotFound: before anything is checked.
    """
    if params.repos:
        chosen = [get_visible(actor, name) for name in params.repos]
    else:
        chosen = list(visible_to(actor).filter(deleted_at=None).order_by("name"))
    return (_verified(repo, params.deep) for repo in chosen)


def _verified(repo: Repository, deep: bool) -> Verified:
    # A store of its own, so that nothing counts as checked because it once was.
    store = IndexStore(index_path(repo.storage_key), mirror_path(repo.storage_key), index_options())
    wanted = searchable_generations(repo)
    if storage_missing(repo):
        # Nothing to compare with, and nothing to build from.
        problems = [Problem(repo.name, "its mirror is not on the disk")]
        return _result(repo, store, wanted, problems, repair_queued=False)
    problems = _problems(repo, store, wanted, deep)
    if problems:
        queue_repair(repo.pk, files=sorted({problem.name for problem in problems}))
    return _result(repo, store, wanted, problems, repair_queued=bool(problems))


def _result(
    repo: Repository,
    store: IndexStore,
    wanted: set[tuple[str, str]],
    problems: list[Problem],
    *,
    repair_queued: bool,
) -> Verified:
    return Verified(
        repository=repo.name,
        generations=len(wanted),
        segments=len(store.segment_files()),
        problems=[f"{problem.name}: {problem.text}" for problem in problems],
        repair_queued=repair_queued,
    )


def _problems(
    repo: Repository, store: IndexStore, wanted: set[tuple[str, str]], deep: bool
) -> list[Problem]:
    # Git may already have dropped the commit of a manifest that waits for its collection.
    waiting = {path.name for path in store.manifest_files()}
    waiting -= {store.manifest_path(commit, group).name for commit, group in wanted}
    found = [problem for problem in verify(store, deep=deep) if problem.name not in waiting]
    for commit, group in sorted(wanted):
        name = store.manifest_path(commit, group).name
        try:
            store.open_generation(commit, group, repo.group_paths(group))
        except GenerationMissing:
            found.append(Problem(name, "some of its blobs are in no segment"))
        except CorruptIndex as exc:
            found.append(Problem(exc.name, exc.problem))
        except GitFailed as exc:
            found.append(Problem(name, str(exc)))
    return list(dict.fromkeys(found))
