"""The engine finds exactly what a scan of every line finds, and counts it right."""

import random
from itertools import islice

import pytest

from search.engine.languages import language_of
from search.engine.plan import make_plan
from sourcegraph_site.kernel.errors import AppError
from tests.search.against_rg.corpus import files as corpus
from tests.search.against_rg.generate import queries
from tests.search.engine.world import Files, World, all_rows, ask, counts_of, rows, run, scan, shown

QUERIES = 120


def histories(seed: int) -> list[Files]:
    """Three commits that share most blobs: some at other paths, some twice, some gone."""
    rnd = random.Random(seed)
    first = corpus()
    second = dict(first)
    for path in rnd.sample(sorted(first), 8):
        second[f"moved/{path}"] = second.pop(path)
    for path in rnd.sample(sorted(second), 6):
        second[f"copy-of-{path.replace('/', '-')}"] = second[path]
    second["a/new.py"] = b"import foo\nfoo.bar(foo)\n"
    third = {path: blob for path, blob in second.items() if rnd.random() < 0.6}
    third["a/new.py"] = second["a/new.py"]
    for path in rnd.sample(sorted(third), 6):
        third[path] += b"\none line more: foo bar\n"
    return [first, second, third]


@pytest.fixture(scope="module")
def commits(tmp_path_factory):
    world = World.at(tmp_path_factory.mktemp("world"))
    made = [(world.commit(files), files) for files in histories(7)]
    return [(world.generation(commit), files) for commit, files in made]


def test_the_commits_share_segments(commits):
    newest, _ = commits[-1]
    assert len(newest.segments) == 3
    assert not newest.live_blocks(0).all()


@pytest.mark.parametrize("seed", range(4))
def test_random_queries_find_what_a_scan_finds(commits, seed):
    rnd = random.Random(seed)
    tried = found_some = 0
    strategies = set()
    for query in islice(queries(seed + 1000), QUERIES):
        generation, files = rnd.choice(commits)
        try:
            request = ask(
                query.pattern,
                fixed=query.fixed_strings,
                ignore_case=query.ignore_case,
                globs=query.globs,
            )
        except AppError:
            continue
        expected = scan(files, request)
        result = run(generation, request)
        assert all_rows(generation, request) == shown(expected), query
        assert result.counts == counts_of(expected), query
        tried += 1
        found_some += bool(expected)
        strategies.add((make_plan(request.pattern).strategy, request.pattern.literals is not None))
    assert tried > QUERIES // 2 and found_some > tried // 4
    assert len(strategies) >= 3


@pytest.mark.parametrize(
    "text", ["if", "é", "K", "ss", "kelvin", "straße", "foo", "café", "e-x", "["]
)
@pytest.mark.parametrize("ignore_case", [False, True])
def test_literals_find_what_a_scan_finds(commits, text, ignore_case):
    for generation, files in commits:
        request = ask(text, fixed=True, ignore_case=ignore_case)
        assert all_rows(generation, request) == shown(scan(files, request))


@pytest.mark.parametrize("pattern", ["foo", "zz_nothing", r"\bfoo\b", "[a-z]+"])
def test_a_language_keeps_to_its_files(commits, pattern):
    for generation, files in commits:
        request = ask(pattern, language="Python")
        expected = scan(files, request)
        assert all_rows(generation, request) == shown(expected)
        assert {language_of(path) for path, *_ in expected} <= {"Python"}


@pytest.mark.parametrize("paths", [["src"], ["test", "src/lib"], ["nowhere"], ["faults.txt"]])
def test_paths_keep_to_their_directories(commits, paths):
    for generation, files in commits:
        request = ask("foo", paths=paths)
        assert all_rows(generation, request) == shown(scan(files, request))


@pytest.mark.parametrize("pattern", ["foo", "if", "(?i)foo", r"\w+"])
def test_files_are_those_with_a_line(commits, pattern):
    for generation, files in commits:
        result = run(generation, ask(pattern, output="files"))
        expected = scan(files, ask(pattern))
        assert [file.path for file in result.files] == sorted({path for path, *_ in expected})
        assert not rows(result.files)
        assert result.counts == counts_of(expected)
