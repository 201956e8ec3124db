"""The product's answers are ripgrep's: files, lines and spans, query by query."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import pytest

from tests.search.against_rg import corpus, ripgrep
from tests.search.against_rg.compare import chosen_queries, difference, first_spans, is_listed
from tests.search.against_rg.generate import queries
from tests.search.against_rg.query import Hits, Query, Refused
from tests.search.against_rg.subject import IndexedSearch, LinearScan, Subject

SEED = 2024

pytestmark = pytest.mark.needs_rg


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("corpus")
    corpus.write(root, corpus.without_crlf(corpus.files()))
    return root


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> IndexedSearch:
    return IndexedSearch(tmp_path_factory.mktemp("indexed"), corpus.files())


@pytest.fixture(scope="module", params=["pattern", "engine"])
def subject(request: pytest.FixtureRequest) -> Subject:
    """The matcher over every file, and the engine over an index of them."""
    if request.param == "pattern":
        return LinearScan(corpus.files())
    engine: IndexedSearch = request.getfixturevalue("indexed")
    return engine


Answered = Iterable[tuple[Query, Hits | Refused]]


def answered(tree: Path, asked: Iterable[Query]) -> Answered:
    """Queries with ripgrep's answers."""
    return ((query, ripgrep.search(tree, query)) for query in asked)


@pytest.fixture(scope="module")
def sample(tree: Path) -> Answered:
    asked = [*islice(chosen_queries(), 0, None, 8), *islice(queries(SEED), 80)]
    return list(answered(tree, asked))


def differences(subject: Subject, pairs: Answered) -> list[str]:
    found = []
    for query, theirs in pairs:
        seen = first_spans(theirs, subject.line_spans)
        told = difference(query, subject.search(query), seen)
        if told is not None:
            found.append(f"{query}: {told}")
    return found


def test_a_sample_of_queries_finds_what_ripgrep_finds(subject: Subject, sample: Answered) -> None:
    assert differences(subject, sample) == []


@pytest.mark.long
def test_chosen_queries_find_what_ripgrep_finds(subject: Subject, tree: Path) -> None:
    asked = list(chosen_queries())
    assert len(asked) >= 300
    assert differences(subject, answered(tree, asked)) == []


@pytest.mark.long
def test_random_queries_find_what_ripgrep_finds(subject: Subject, tree: Path) -> None:
    asked = islice(queries(SEED), 2_000)
    assert differences(subject, answered(tree, asked)) == []


@pytest.mark.long
def test_no_listed_difference_is_out_of_date(tree: Path) -> None:
    subject = LinearScan(corpus.files())
    listed = [query for query in chosen_queries() if is_listed(query)]
    same = [query for query in listed if subject.search(query) == ripgrep.search(tree, query)]
    assert same == []


def test_the_comparison_sees_a_lost_line_and_a_moved_span(tree: Path) -> None:
    query = Query("foo")
    theirs = ripgrep.search(tree, query)
    assert not isinstance(theirs, Refused)
    path = next(iter(theirs))
    number, line, spans = theirs[path][0]
    moved = ((spans[0][0] + 1, spans[0][1]), *spans[1:])
    assert difference(query, {**theirs, path: theirs[path][1:]}, theirs)
    assert difference(query, {**theirs, path: [(number, line, moved), *theirs[path][1:]]}, theirs)
    assert difference(query, Refused("no"), theirs)
