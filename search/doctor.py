"""What `manage.py doctor` looks at in the indexes: damage, and commits that lack theirs."""

from collections.abc import Iterator
from functools import partial

from repos import readiness, work
from repos.doctor import Finding
from repos.gitstore.layout import mirror_path
from repos.models import BranchHead, Repository, Version
from search.index.format import CorruptIndex
from search.index.store import GenerationMissing
from search.index.verify import verify
from search.index.workers import GitFailed
from search.serving import queue_repair, store_of
from search.usecases.index_commits import HISTORY, queue_history
from sourcegraph_site.jobs.models import Job

MAX_OPENED = 50  # commits of a repository whose index is opened, heads first


def examine(repos: list[Repository], *, deep: bool = False) -> Iterator[Finding]:
    for repo in repos:
        if repo.observed_at is None or not mirror_path(repo.storage_key).is_dir():
            continue  # nothing to index yet, or nothing to compare with
        damage = _damage(repo, deep=deep)
        if damage:
            yield Finding("index", repo.name, damage, partial(_repair, repo))
        yield from _not_indexed(repo)


def _damage(repo: Repository, *, deep: bool) -> str:
    """The first problem of an index and how many more there are; "" if it is whole."""
    store = store_of(repo.storage_key)
    problems = [f"{each.name}: {each.text}" for each in verify(store, deep=deep)]
    heads = set(repo.heads.values_list("commit", flat=True))
    indexed = repo.versions.filter(indexed=True).values_list("commit", flat=True)
    for commit in sorted(indexed, key=lambda each: each not in heads)[:MAX_OPENED]:
        for group in repo.group_names:
            try:
                store.open_generation(commit, group, repo.group_paths(group))
            except (GenerationMissing, CorruptIndex, GitFailed) as exc:
                problems.append(f"{commit[:12]} cannot be opened ({type(exc).__name__})")
    if not problems:
        return ""
    more = f" (and {len(problems) - 1:,} more)" if len(problems) > 1 else ""
    return problems[0] + more


def _repair(repo: Repository) -> str:
    queue_repair(repo.pk)
    return "its repair is queued"


def _not_indexed(repo: Repository) -> Iterator[Finding]:
    """Heads without an index and without a job for it; then the commits behind them."""
    if not repo.enabled or repo.deleted:
        return
    heads = set(BranchHead.objects.filter(repository=repo).values_list("commit", flat=True))
    active = work.active_jobs(repo.pk)
    for version in Version.objects.filter(repository=repo, indexed=False, commit__in=heads):
        ready = readiness.ready_groups(version)
        for group in repo.group_names:
            if group and group in ready:
                continue
            same = active.filter(kind=work.INDEX, commit=version.commit, group=group)
            if same.exists():
                continue
            failures = work.active_failures(repo, version.commit, group)
            tried = f", after {failures} failures" if failures else ""
            text = f"head {version.commit[:12]} is not indexed{tried}"
            yield Finding("versions", repo.name, text, partial(_index, repo, version, group))
    behind = Version.objects.filter(repository=repo, indexed=False).exclude(commit__in=heads)
    count = behind.count() if readiness.keeps_all_indexes(repo) else 0
    if count and not active.filter(kind__in=[work.INDEX, HISTORY]).exists():
        text = f"{count:,} commits behind the heads are not indexed"
        yield Finding("versions", repo.name, text, partial(_index_history, repo))


def _index(repo: Repository, version: Version, group: str) -> str:
    work.queue_index(repo, version.commit, group=group, source=Job.Source.MANUAL)
    return "its indexing is queued"


def _index_history(repo: Repository) -> str:
    queue_history(repo)
    return "their indexing is queued"
