"""The commands that look into an index: what they print, and how they end."""

import json
import re
from dataclasses import replace
from io import StringIO
from pathlib import Path
from shutil import rmtree

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from repos.gitstore.layout import mirror_path
from repos.models import Version
from repos.revisions import resolve_commit
from repos.work import queue_sync
from search.serving import generation_of, store_of
from sourcegraph_site.jobs.models import Job
from tests.support.jobs import run_pending_jobs

pytestmark = pytest.mark.django_db

FILES = {
    "src/parse.py": "def parse_header(line):\n    return line.split(':')\n",
    "src/show.py": "from parse import parse_header\nprint(parse_header('a:b'))\n",
    "README.md": "Reads headers.\n",
}


@pytest.fixture
def repo(make_repository):
    return make_repository(files=FILES)[0]


def printed(name, *args, **options) -> str:
    out = StringIO()
    call_command(name, *args, stdout=out, **options)
    return out.getvalue()


def segment_files(repo):
    return sorted((store_of(repo.storage_key).root / "segments").iterdir())


def repairs() -> int:
    return Job.objects.filter(kind="search.repair").count()


def test_explain_shows_plan_trigrams_and_the_cost_of_each_step(repo):
    text = printed("explain_search", "acme/tools", r"parse_\w+\(")
    assert text.startswith(f"acme/tools at {resolve_commit(repo, None).commit}: 3 paths\n")
    assert '  "par": 2\n' in text
    assert "Strategy: lines" in text
    for step in ("candidates", "scan", "page", "in all"):
        assert f"\n  {step}" in text
    assert text.endswith("Answer: 2 matches in 2 lines of 2 files\n")


def test_explain_as_json_has_the_same(repo):
    found = json.loads(printed("explain_search", "acme/tools", "parse_header", "--json", "-F"))
    assert found["plan"]["Strategy"] == "literal"
    assert (found["file_count"], found["line_count"], found["match_count"]) == (2, 3, 3)
    assert [step["Step"] for step in found["steps"]] == ["candidates", "scan", "page"]
    assert {each["text"]: each["blocks"] for each in found["trigrams"]}["hea"] == 3
    (segment,) = found["segments"]
    assert (segment["documents"], segment["blocks"], segment["live_blocks"]) == (3, 3, 3)


def test_explain_takes_the_options_of_a_search(repo):
    args = ["acme/tools", "HEADER", "-i", "-g", "*.py", "--path", "src", "--output", "files"]
    text = printed("explain_search", *args, "--language", "python", "--revision", "main")
    assert text.endswith("of 2 files\n")


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["acme/absent", "x"], "REPOSITORY_NOT_FOUND"),
        (["acme/tools", "(x"], "INVALID_PATTERN"),
        (["acme/tools", "x", "--revision", "other"], "BRANCH_NOT_MONITORED"),
    ],
)
def test_explain_names_what_is_wrong(repo, args, code):
    with pytest.raises(CommandError, match=code):
        printed("explain_search", *args)


@pytest.mark.parametrize("deep", [False, True])
def test_a_sound_index_verifies(repo, deep):
    assert printed("verify_index", deep=deep) == "acme/tools: ok (1 generations, 1 segments)\n"
    assert repairs() == 0


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "remove"])
def test_damage_is_told_and_the_repair_mends_it(repo, damage):
    (path,) = segment_files(repo)
    data = path.read_bytes()
    middle = len(data) // 2
    if damage == "remove":
        path.unlink()
    else:
        flipped = data[:100] + bytes([data[100] ^ 1]) + data[101:]
        path.write_bytes({"flip": flipped, "cut": data[:middle], "empty": b""}[damage])
    with pytest.raises(CommandError, match="Problems in 1 of the indexes"):
        printed("verify_index", "acme/tools")
    assert repairs() == 1
    run_pending_jobs()
    assert printed("verify_index", deep=True).startswith("acme/tools: ok")


def test_a_manifest_that_differs_from_git_is_replaced_although_it_is_whole(repo):
    store, commit = store_of(repo.storage_key), resolve_commit(repo, None).commit
    manifest = store.read_manifest(store.manifest_path(commit))
    with store.writing():
        store.publish_manifest(replace(manifest, path_document=manifest.path_document[::-1]))
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("verify_index", stdout=out)
    assert "blobs differ from the tree of the commit" in out.getvalue()
    run_pending_jobs()
    assert printed("verify_index", deep=True).startswith("acme/tools: ok")


def test_a_commit_whose_blobs_are_gone_is_a_problem(make_repository):
    repo, remote = make_repository(files={"a.txt": "one\n"})
    remote.commit({"a.txt": "two\n"})
    queue_sync(repo)
    run_pending_jobs()
    store = store_of(repo.storage_key)
    old = Version.objects.get(repository=repo, commit=remote.tip("main"))
    newest = generation_of(repo, resolve_commit(repo, old.commit)).segments[0].path
    (store.manifest_path(old.commit)).unlink()
    newest.unlink()
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("verify_index", stdout=out)
    assert f"{old.commit}.manifest: some of its blobs are in no segment" in out.getvalue()


def test_without_a_mirror_there_is_nothing_to_repair_from(repo):
    rmtree(mirror_path(repo.storage_key))
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("verify_index", stdout=out)
    assert "its mirror is not on the disk" in out.getvalue()
    assert repairs() == 0


def test_verifying_an_unknown_repository_checks_nothing(repo):
    with pytest.raises(CommandError, match="REPOSITORY_NOT_FOUND"):
        printed("verify_index", "acme/tools", "acme/absent")
    assert repairs() == 0


CHANGES = "".join(f"- release {number}: small parts repaired\n" for number in range(1, 401))
GUIDE = Path(__file__).resolve().parents[2] / "docs" / "engine.md"


def without_what_varies(text: str) -> str:
    """Times and the names of segments."""
    return re.sub(r"\d+\.\d{3} ms", "ms", re.sub(r"segment [0-9a-f]{8}", "segment", text))


def test_the_example_of_the_guide_is_what_the_command_prints(make_repository):
    files = {
        "CHANGES": CHANGES,
        "README.md": "Reads headers. Old parsers are gone.\n",
        "src/parse.py": FILES["src/parse.py"],
        "src/show.py": FILES["src/show.py"],
    }
    repo, remote = make_repository(files=files)
    show = "from parse import parse_header\nfor line in open('x'):\n    print(parse_header(line))\n"
    remote.commit({"src/show.py": show})
    queue_sync(repo)
    run_pending_jobs()
    guide = GUIDE.read_text(encoding="utf-8")
    _, shown = guide.split("$ manage.py explain_search acme/tools 'parse_\\w+\\('\n")
    ours = printed("explain_search", "acme/tools", r"parse_\w+\(")
    spaces = re.compile(r" +")
    expected, found = (
        spaces.sub(" ", without_what_varies(text)) for text in (shown.split("```")[0], ours)
    )
    assert found == expected
    for line in show.splitlines():
        assert line.strip() in guide
