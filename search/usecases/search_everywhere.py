"""Search the default-branch heads of all repositories that the caller may see.

Pinned per repository: the answer names the commit of each, and the cursor keeps them, so that
the pages of one search never mix snapshots, whatever the branches do meanwhile.
"""

import base64
import binascii
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from repos.access import visible_to
from repos.errors import DefaultBranchNotObserved, RevisionNotEligible
from repos.models import BranchHead, Repository, Version
from repos.revisions import Resolved, check_serving, default_branch
from search.answer import SearchAnswer, SearchedRepository, SearchMeta, SearchResult
from search.cursor import binding, position_data, position_of
from search.engine.many import ManyPosition, ManyResult, Outcome, Target, search_many
from search.engine.request import EngineRequest
from search.globs import MAX_GLOBS, compile_globs
from search.index.format import CorruptIndex
from search.index.generation import Generation
from search.render import everything_fits, file_matches
from search.requests import SearchEverywhere, compiled
from search.serving import Known, damaged, generation_of, known, remember
from search.usecases.search_code import PROTOCOL, coverage_of, language_of, search_place
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.deadline import Deadline
from sourcegraph_site.kernel.errors import AppError, InvalidCursor, InvalidRequest
from sourcegraph_site.kernel.paging import decode_cursor, encode_cursor

# More would not fit the cursor, which holds a commit for each.
MAX_REPOSITORIES = 1000


@dataclass(frozen=True, slots=True)
class Candidate:
    """One repository: its commit, or why it cannot be searched."""

    repo: Repository
    at: Resolved | None
    failure: AppError | None = None

    def open(self) -> Generation:
        if self.at is None:
            assert self.failure is not None
            raise self.failure
        generation = generation_of(self.repo, self.at)
        remember(self.repo, generation)
        return generation


def search_everywhere(actor: Actor, params: SearchEverywhere) -> SearchAnswer:
    """Search all visible repositories under one deadline, in the order of their names.

    A repository that cannot be searched is listed with its code; a hidden one never appears.

    Raises:
        PatternInvalid, GlobInvalid, InvalidPaths, OutputInvalid, InvalidLimit,
        InvalidRevision, InvalidCursor, InvalidRequest: the request.
        ServerBusy: too many searches at once.
    """
    params.check_revision()
    pattern, path_filter = compiled(params)
    language = language_of(params)
    after, commits = _unpack(params)
    candidates = _candidates(chosen(actor, params.repos), commits)
    request = EngineRequest(
        pattern=pattern,
        path_filter=path_filter,
        output="files" if params.output == "files" else "content",
        context=params.context,
        max_files=params.max_files,
        max_lines=params.max_matches,
        language=language,
    )
    facts = {
        each.repo.name: fact
        for each in candidates
        if each.at is not None and (fact := known(each.repo, each.at)) is not None
    }
    targets = [
        Target(name, each.open, facts[name].signature if name in facts else None)
        for each in candidates
        for name in [each.repo.name]
    ]
    with search_place():
        began = time.perf_counter_ns()
        found = search_many(
            targets,
            request,
            Deadline.after(settings.SEARCH_SECONDS),
            after=after,
            fits=everything_fits,
        )
    return _answer(found, candidates, facts, params, time.perf_counter_ns() - began)


def chosen(actor: Actor, globs: Sequence[str]) -> list[Repository]:
    """The repositories that a search without `repo` looks at, by name.

    Raises:
        GlobInvalid: one of `globs`, or too many.
        InvalidRequest: more repositories than one search takes.
    """
    wanted = compile_globs(list(globs)[: MAX_GLOBS + 1], [])
    found = list(visible_to(actor).filter(deleted_at=None).order_by("name"))
    if not wanted.is_all:
        found = [repo for repo in found if wanted.matches(repo.name.encode())]
    if len(found) > MAX_REPOSITORIES:
        raise InvalidRequest(
            f"{len(found)} repositories match; name at most {MAX_REPOSITORIES} by Repos."
        )
    # Python's order, which is that of the engine, not the database's collation.
    return sorted(found, key=lambda repo: repo.name)


def _candidates(repos: Sequence[Repository], commits: dict[int, str] | None) -> list[Candidate]:
    """The commit of each: of the cursor, else the head of its default branch."""
    heads: dict[tuple[int, str], str] = {}
    if commits is None:
        rows = BranchHead.objects.filter(repository__in=repos)
        heads = {
            (pk, branch): commit
            for pk, branch, commit in rows.values_list("repository_id", "branch", "commit")
        }
    wanted = set(heads.values()) if commits is None else set(commits.values())
    versions = {
        (version.repository_id, version.commit): version
        for version in Version.objects.filter(repository__in=repos, commit__in=wanted)
    }
    found = []
    for repo in repos:
        if commits is not None and repo.pk not in commits:
            continue  # it came after the first page
        commit = _commit_of(repo, heads) if commits is None else commits[repo.pk]
        if isinstance(commit, AppError):
            found.append(Candidate(repo, None, commit))
            continue
        version = versions.get((repo.pk, commit))
        if version is None:
            found.append(Candidate(repo, None, RevisionNotEligible("No longer kept.")))
        else:
            found.append(Candidate(repo, Resolved(commit, None, version)))
    return found


def _commit_of(repo: Repository, heads: dict[tuple[int, str], str]) -> str | AppError:
    try:
        check_serving(repo)
        branch = default_branch(repo)
    except AppError as exc:
        return exc
    return heads.get((repo.pk, branch)) or DefaultBranchNotObserved("Not synchronised yet.")


def _answer(
    found: ManyResult,
    candidates: Sequence[Candidate],
    facts: Mapping[str, Known],
    params: SearchEverywhere,
    nanoseconds: int,
) -> SearchAnswer:
    by_name = {each.repo.name: each for each in candidates}
    files = [
        file
        for page in found.pages
        for file in file_matches(page.files, page.name, _commit(by_name[page.name]))
    ]
    rows = [
        _row(outcome, by_name[outcome.name], facts.get(outcome.name), params)
        for outcome in found.outcomes
    ]
    partial = found.partial_reason is not None or any(row.partial for row in rows)
    return SearchAnswer(
        result=SearchResult(
            duration=nanoseconds,
            file_count=found.counts.files,
            match_count=found.counts.matches,
            line_count=found.counts.lines,
            files=files,
        ),
        meta=SearchMeta(
            protocol=PROTOCOL,
            status="partial" if partial else "ok",
            partial=partial,
            truncated=found.truncated,
            has_more=found.next is not None,
            next_cursor=_pack(params, candidates, found.next),
            repositories=rows,
            partial_reason=found.partial_reason.value if found.partial_reason else None,
            files_only=found.files_only if found.shrunk else None,
            truncation_reason="response_bytes" if found.shrunk else None,
        ),
    )


def _row(
    outcome: Outcome, candidate: Candidate, fact: Known | None, params: SearchEverywhere
) -> SearchedRepository:
    failure, result = outcome.failure, outcome.result
    coverage = None
    if result is not None:
        coverage = coverage_of(candidate.repo, params, result.indexed_documents, result.skipped)
    elif fact is not None:
        coverage = coverage_of(candidate.repo, params, fact.indexed_documents, fact.skipped)
    if isinstance(failure, CorruptIndex):
        failure = damaged(candidate.repo, _commit(candidate) or "", str(failure))
    return SearchedRepository(
        repository=outcome.name,
        commit=_commit(candidate),
        partial=outcome.partial,
        coverage=coverage,
        code=failure.code if failure else None,
    )


def _commit(candidate: Candidate) -> str | None:
    return candidate.at.commit if candidate.at else None


def _pack(
    params: SearchEverywhere, candidates: Sequence[Candidate], position: ManyPosition | None
) -> str | None:
    if position is None:
        return None
    kept = [each for each in candidates if each.at is not None]
    commits = b"".join(bytes.fromhex(each.at.commit) for each in kept if each.at)
    data = [
        [each.repo.pk for each in kept],
        base64.b64encode(commits).decode(),
        position.name,
        position_data(position.position),
        position.counting,
    ]
    return encode_cursor(binding(params), data)


def _unpack(params: SearchEverywhere) -> tuple[ManyPosition | None, dict[int, str] | None]:
    if not params.after:
        return None, None
    data: Any = decode_cursor(params.after, binding(params))
    try:
        keys, packed, name, position, counting = data
        raw = base64.b64decode(packed, validate=True)
        if len(raw) != 20 * len(keys) or not all(type(key) is int for key in keys):
            raise ValueError
        if not (isinstance(name, str) and isinstance(counting, str)):
            raise ValueError
        commits = {key: raw[20 * index : 20 * index + 20].hex() for index, key in enumerate(keys)}
    except (ValueError, TypeError, binascii.Error):
        raise InvalidCursor("The cursor is damaged; start again without it.") from None
    return ManyPosition(name, position_of(position), counting), commits
