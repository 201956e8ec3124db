"""A monorepo shows its registered directories only, once their group is prepared."""

import pytest

from readers.coverage import Coverage
from readers.errors import ContentNotReady, PathNotRegistered
from readers.usecases.diff_revisions import DiffRevisions, diff_revisions
from readers.usecases.find_files import FindFiles, find_files
from readers.usecases.list_tree import ListTree, list_tree
from readers.usecases.log_commits import LogCommits, log_commits
from readers.usecases.read_file import ReadFile, read_file
from repos.models import GroupVersion, Version
from sourcegraph_site.kernel.errors import InvalidRequest
from tests.readers.conftest import OBSERVED
from tests.support.git_remote import Link

FILES = {
    "libs/core/a.py": "a\n",
    "libs/core/deep/b.py": "b\n",
    "libs/corex/c.py": "c\n",
    "libs/out": Link("../README"),
    "libs/core/out": Link("../../README"),
    "libs/core/in": Link("../../apps/web/w.py"),
    "apps/web/w.py": "w\n",
    "apps/other/o.py": "o\n",
    "README": "r\n",
}


@pytest.fixture
def mono(make_shelf):
    return make_shelf(
        index_mode="monorepo",
        path_groups=[
            {"name": "apps", "paths": ["apps/web"]},
            {"name": "libs", "paths": ["libs/core", "libs/more"]},
        ],
    )


def prepare(commit, *groups):
    version = Version.objects.get(commit=commit)
    for group in groups:
        GroupVersion.objects.create(version=version, group=group, indexed_at=OBSERVED)


def test_reads_need_the_group_of_their_path(mono, actor):
    commit = mono.commit(FILES)

    def read(path):
        return read_file(actor, ReadFile(repo=mono.name, path=path, start_line=1, end_line=1))

    with pytest.raises(ContentNotReady):
        read("libs/core/a.py")
    prepare(commit, "libs")
    assert read("libs/core/a.py").content == "a\n"
    with pytest.raises(ContentNotReady):
        read("apps/web/w.py")
    for path in ("README", "libs/corex/c.py", "apps/other/o.py"):
        with pytest.raises(PathNotRegistered):
            read(path)
    assert read("libs/core/out").follow_error == "PATH_NOT_INDEXED"
    with pytest.raises(ContentNotReady):
        read("libs/core/in")


def test_lists_show_what_leads_to_registered_directories(mono, actor):
    commit = mono.commit(FILES)
    prepare(commit, "libs", "apps")

    def names(path=""):
        page = list_tree(actor, ListTree(repo=mono.name, path=path, first=100))
        return [row.name for row in page.entries]

    assert names() == ["apps", "libs"]
    assert names("libs") == ["core"]
    assert names("libs/core") == ["a.py", "deep", "in", "out"]
    with pytest.raises(PathNotRegistered):
        names("apps/other")
    with pytest.raises(InvalidRequest):
        list_tree(actor, ListTree(repo=mono.name, first=0))


def test_a_parent_is_listed_only_when_all_groups_below_are_prepared(mono, actor):
    commit = mono.commit(FILES)
    prepare(commit, "libs")
    assert list_tree(actor, ListTree(repo=mono.name, path="libs", first=9)).entries
    with pytest.raises(ContentNotReady):
        list_tree(actor, ListTree(repo=mono.name, first=9))


def test_differences_and_names_stay_inside_the_registered_directories(mono, actor):
    base = mono.commit(FILES)
    head = mono.commit({"README": "2", "libs/core/a.py": "2", "libs/corex/c.py": "2"})
    for commit in (base, head):
        prepare(commit, "libs", "apps")

    def changed(*paths):
        page = diff_revisions(
            actor,
            DiffRevisions(repo=mono.name, base=base, head=head, first=9, paths=list(paths)),
        )
        return [row.path for row in page.changes]

    assert changed() == ["libs/core/a.py"]
    assert changed("libs") == ["libs/core/a.py"]
    assert changed("libs/core/deep") == []
    with pytest.raises(PathNotRegistered):
        changed("README")
    found = find_files(actor, FindFiles(repo=mono.name, query="*.py"))
    assert [row.path for row in found.files] == [
        "apps/web/w.py",
        "libs/core/a.py",
        "libs/core/deep/b.py",
    ]
    with pytest.raises(PathNotRegistered):
        log_commits(actor, LogCommits(repo=mono.name, path="README"))


def test_paths_are_narrowed_by_segments():
    coverage = Coverage((("g", (b"a/b", b"a/c", b"d")),))
    assert coverage.narrow([]) == [b"a/b", b"a/c", b"d"]
    assert coverage.narrow([b"a"]) == [b"a/b", b"a/c"]
    assert coverage.narrow([b"a/b/x", b"a/bb"]) == [b"a/b/x"]
