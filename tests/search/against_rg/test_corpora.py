"""The engine over the index of real repositories finds what ripgrep finds in their files.

Runs over the bundles of `SOURCEGRAPH_CORPORA`, or of `../shared/corpora`. Without any, a
repository of our own generated files stands in for them.
"""

import random
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from pathlib import Path

import pytest

from search.engine.budget import MAX_LINE_SPANS, PartialReason
from search.engine.request import MATCH_CAP
from sourcegraph_site.kernel.errors import AppError
from tests.search.against_rg import corpus, ripgrep
from tests.search.against_rg.bundles import Bundled, bundles, unpack
from tests.search.against_rg.compare import chosen_queries, difference, first_spans, is_listed
from tests.search.against_rg.generate import queries
from tests.search.against_rg.query import Hits, Query, Refused
from tests.search.against_rg.subject import hits_of, request_of
from tests.search.engine.world import run
from tests.support.git_remote import GitRemote, git

SEED = 31
GENERATED = 2_000
_FILES_LOOKED_AT = 20
_MAX_SLOW_SHARE = 0.05
_ALL_FILES = 1_000_000  # on one page; paging is tested elsewhere

pytestmark = pytest.mark.needs_rg


def made_bundle(root: Path) -> Path:
    """A bundle of the files that the tests without corpora search."""
    remote = GitRemote(root / "made.git")
    remote.commit(dict(corpus.files()))
    bundle = root / "made.bundle"
    git(remote.path, "bundle", "create", str(bundle), "--all")
    return bundle


def difference_at(place: Bundled, query: Query) -> str | None:
    """What is different between the two answers to a query, for people.

    Of an answer of more than 10,000 matches the files are compared, and all lines of a few.
    """
    try:
        request = request_of(query, output="files", max_files=_ALL_FILES)
    except AppError as exc:
        return difference(query, Refused(exc.message), ripgrep.search(place.tree, query))
    theirs = ripgrep.matches_by_file(place.tree, query)
    if isinstance(theirs, Refused):
        return difference(query, {}, theirs)
    answer = run(place.generation, request)
    ours = [file.path.decode() for file in answer.files]
    if is_listed(query):
        return None
    if ours != sorted(theirs, key=str.encode):
        return f"only one of us finds something in {sorted(set(ours) ^ set(theirs))[:3]}"
    total = sum(theirs.values())
    if total <= MATCH_CAP:
        return difference(query, hits_of(place.generation, query), all_lines(place, query))
    if answer.partial_reason is not PartialReason.MATCH_CAP:
        return f"{total} matches, and the answer does not say that it stopped counting"
    some = random.Random(query.pattern).sample(ours, min(len(ours), _FILES_LOOKED_AT))
    found = hits_of(place.generation, query, paths=some)
    return difference(query, found, all_lines(place, query, some))


def all_lines(place: Bundled, query: Query, paths: Sequence[str] = (".",)) -> Hits | Refused:
    return first_spans(ripgrep.search(place.tree, query, tuple(paths)), MAX_LINE_SPANS)


def differences(place: Bundled, asked: Iterable[Query], number: int) -> list[str]:
    """The differences of the first so many queries that ripgrep can answer in time."""
    found, answered, slow = [], 0, 0
    for query in asked:
        try:
            text = difference_at(place, query)
        except ripgrep.TooSlow:
            slow += 1
            assert slow <= _MAX_SLOW_SHARE * number, "too many were not compared"
            continue
        answered += 1
        if text is not None:
            found.append(f"{query}: {text}")
        if answered == number:
            return found
    raise AssertionError(f"only {answered} queries were compared")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Bundled:
    root = tmp_path_factory.mktemp("made")
    return unpack(made_bundle(root), root)


def test_a_repository_answers_as_ripgrep_does(made: Bundled) -> None:
    asked = chain([Query("."), Query("o", True)], queries(SEED, made.words, made.globs))
    assert differences(made, asked, 60) == []


@pytest.mark.long
@pytest.mark.parametrize("bundle", bundles(), ids=lambda path: path.stem)
def test_a_corpus_answers_as_ripgrep_does(
    bundle: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = unpack(bundle, tmp_path_factory.mktemp(bundle.stem))
    share = len(bundles())
    number = bundles().index(bundle)
    chosen = list(islice(chosen_queries(), number, None, share))
    asked = chain(chosen, queries(SEED + number, place.words, place.globs))
    assert differences(place, asked, len(chosen) + -(-GENERATED // share)) == []


def test_counts_are_ripgreps(made: Bundled) -> None:
    for query in [Query("foo"), Query(r"\w+", globs=("*.md",)), Query("K", ignore_case=True)]:
        theirs = ripgrep.matches_by_file(made.tree, query)
        assert not isinstance(theirs, Refused)
        counts = run(made.generation, request_of(query)).counts
        assert (counts.files, counts.matches) == (len(theirs), sum(theirs.values()))
