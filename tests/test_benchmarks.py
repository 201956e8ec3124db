"""The benchmark itself: it reads its queries and runs from end to end; no number is judged."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.queries import parse, read_queries
from tests.benchmarks.report import table
from tests.support.git_remote import GitRemote

ROOT = Path(__file__).resolve().parent.parent
CORPORA = ("git_200", "kafka_200", "linux-source-6.1")


@pytest.mark.parametrize("corpus", CORPORA)
def test_a_corpus_has_at_least_forty_queries_and_two_for_load(corpus):
    queries = read_queries(corpus)
    assert len(queries) >= 40
    assert len({(query.kind, query.label) for query in queries}) == len(queries)
    assert sum(query.load for query in queries) == 2


def test_sections_of_other_corpora_are_left_out():
    patterns = {query.pattern for query in read_queries("kafka_200")}
    assert "KafkaProducer" in patterns
    assert "xdl_recmatch" not in patterns


def test_a_query_is_said_to_every_contestant_with_its_options():
    query = parse(r'some class | -i -F -g *.h | a|"b" (')
    assert query.pattern == 'a|"b" ('
    assert query.rg()[-6:] == ["-F", "-g", "*.h", "-e", 'a|"b" (', "."]
    assert query.git_grep()[-2:] == ["--", "*.h"]
    assert query.csearch() == ["csearch", "-n", "-i", "-f", r"\.h$", r'a\|"b"\ \(']
    words = r'content:"a\\|\"b\"\\ \\(" case:no file:\.h$'
    assert json.loads(query.zoekt())["Q"] == words
    assert json.loads(query.source_graph("main"))["Glob"] == ["*.h"]


@pytest.mark.parametrize("line", ["no bars", "class | -x | a", "class | -g src/*.c | a", "a || "])
def test_a_line_that_is_not_understood_is_refused(line):
    with pytest.raises(ValueError, match="options|option|glob"):
        parse(line)


def test_a_table_keeps_its_columns():
    lines = table(["name", "ms"], [["a", "1.00"], ["longer", "12.0"]])
    assert lines == [
        "| name   |   ms |",
        "|--------|-----:|",
        "| a      | 1.00 |",
        "| longer | 12.0 |",
    ]


def test_a_run_on_a_small_repository_prints_ratios_and_writes_json(tmp_path):
    remote = GitRemote(tmp_path / "small.git")
    remote.commit({f"src/{n}.py": f"def name_{n}():\n    return {n}  # todo\n" for n in range(60)})
    remote.commit({"src/more.py": "import os\n"})
    file = tmp_path / "results.json"
    words = ["--only", "engine,git grep", "--rounds", "1", "--build-rounds", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.compare", str(remote.path), *words]
        + ["--load-seconds", "0", "--json", str(file)],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "git grep ÷ engine" in done.stdout
    assert "csearch" in done.stdout.split("absent:")[1].splitlines()[0]
    assert "Lines found, where contestants differ" not in done.stdout
    results = json.loads(file.read_text())
    found = {row["query"]["pattern"]: row["lines"] for row in results["rows"]}
    assert found["return"] == {"engine": 60, "git grep": 60}
    assert found["^import"] == {"engine": 1, "git grep": 1}
    built = results["builds"]["small"]
    assert built["history_commits"] == 2
    assert built["one_more_seconds"]["engine"] > 0
