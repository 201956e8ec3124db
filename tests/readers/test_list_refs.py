"""Branches and tags: what is listed, filtered, sorted and paged, and in which state."""

import os
import subprocess
import sys
import textwrap
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.conf import settings as django_settings

from readers.errors import (
    RefsCatalogPreparing,
    RefsFilterUnavailable,
    RemoteAccessDenied,
    RemoteUnavailable,
)
from readers.refs import check_selection, select
from readers.remote import catalog as catalogs
from readers.remote import catalog_refresh
from readers.remote.catalog_file import Catalog, Header, Row, write
from readers.remote.conversation import target_of
from readers.remote.describe import Described
from readers.remote.shared import folder
from readers.usecases.list_refs import ListRefs, list_refs
from readers.usecases.resolve_revision import ResolveRevision, resolve_revision
from repos.gitstore.layout import repository_path, scratch_root
from repos.models import Version
from sourcegraph_site.kernel.actor import SYSTEM
from sourcegraph_site.kernel.errors import InvalidCursor, InvalidLimit, InvalidQueryParameters
from tests.support.git_remote import git
from tests.support.http_remote import wait_until


@pytest.fixture
def remote(http_remote):
    found = http_remote.repository("acme/widgets")
    git(found.path, "config", "uploadpack.allowFilter", "true")
    return found


@pytest.fixture
def far(make_shelf, remote, http_remote):
    shelf = make_shelf(remote_url=http_remote.url("acme/widgets"))
    shelf.commit({"a": "1\n"})
    yield shelf
    wait_until(lambda: not catalogs._running)


@pytest.fixture
def refs(far):
    def call(**fields):
        return list_refs(SYSTEM, ListRefs(repo=far.name, **fields))

    return call


def names(page):
    return [row.name for row in page.refs]


def expire(shelf):
    """Make the stored catalog an hour old."""
    path = folder("catalogs") / shelf.repo.storage_key
    old = Catalog(path)
    header = Header(len(old), time.time() - 3600, 1.0, old.header.reason, old.header.truncated)
    write(path, header, [old.row(number) for number in range(len(old))])


def test_branches_come_newest_first_with_who_when_and_what(far, remote, refs):
    main = remote.commit({"a": "1\n"}, message="First")
    topic = remote.commit({"b": "2\n"}, branch="topic", message="Topic\n\nBody")
    Version.objects.create(repository=far.repo, commit=topic, committer_time="2026-01-01T00:00Z")
    Version.objects.filter(commit=topic).update(indexed=True)
    page = refs()
    assert names(page) == ["topic", "main"]
    new, old = page.refs
    assert (new.ref, new.kind, new.commit, new.title) == (
        "refs/heads/topic",
        "branch",
        topic,
        "Topic",
    )
    assert (new.monitored, new.indexed) == (False, True)
    assert (old.commit, old.monitored, old.indexed) == (main, True, False)
    assert new.created_at == new.committer_time > old.created_at
    assert (new.author, new.annotated, new.object) == ("Ada Example", None, None)
    assert (page.catalog.state, page.sort, page.has_more) == ("ready", "created", False)
    assert list(scratch_root().iterdir()) == []


def test_tags_say_what_they_are(remote, refs):
    commit = remote.commit({"d/a": "1\n", "e/b": "2\n"}, message="First")
    remote.tag("light", commit)
    remote.tag("v1", commit, message="Release one\nNotes")
    tree = remote.tag("tree", "main:d", message="A tree")
    blob = remote.tag("blob", "main:d/a")
    bare = remote.tag("bare", "main:e")
    page = refs(kind="tag", sort="name")
    rows = {row.name: row for row in page.refs}
    assert names(page) == ["bare", "blob", "light", "tree", "v1"]
    assert (rows["bare"].object, rows["bare"].commit, rows["bare"].target_type) == (
        bare,
        None,
        "tree",
    )
    assert (rows["light"].commit, rows["light"].annotated) == (commit, None)
    assert (rows["v1"].commit, rows["v1"].annotated, rows["v1"].title) == (
        commit,
        True,
        "Release one",
    )
    assert rows["v1"].created_at > rows["v1"].committer_time
    assert (rows["tree"].object, rows["tree"].target_type, rows["tree"].commit) == (
        tree,
        "tree",
        None,
    )
    assert (rows["blob"].object, rows["blob"].target_type) == (blob, "blob")
    assert names(refs(kind="all", sort="name"))[0] == "main"
    assert refs().refs[0].name == "main"


def test_filters_are_substrings_whatever_the_case(remote, refs):
    remote.commit({"a": "1\n"}, branch="Feature/One", message="Add the Thing")
    remote.commit({"a": "2\n"}, branch="feature/two", message="Fix the \u00c9tude")
    remote.commit({"a": "3\n"}, branch="other", message="feature flag")
    assert names(refs(query="FEATURE")) == ["feature/two", "Feature/One"]
    assert names(refs(title="the")) == ["feature/two", "Feature/One"]
    assert names(refs(title="\u00e9TUDE")) == ["feature/two"]
    assert names(refs(query="feature", title="thing")) == ["Feature/One"]
    assert len(refs(author="ada ex").refs) == 3
    for nothing in ({"query": "refs/heads"}, {"author": "example\nAda"}, {"title": "zzz"}):
        assert names(refs(**nothing)) == []


def test_since_and_until_are_included(remote, refs):
    for day in (1, 2, 3):
        when = int(datetime(2026, 3, day, 23, 59, 59, tzinfo=UTC).timestamp())
        remote.commit({"a": str(day)}, branch=f"d{day}", time=when)
    assert names(refs(since="2026-03-02")) == ["d3", "d2"]
    assert names(refs(until="2026-03-02")) == ["d2", "d1"]
    assert names(refs(since="2026-03-02T23:59:59Z", until="2026-03-02T23:59:59+00:00")) == ["d2"]
    assert names(refs(since="2026-03-02T23:59:59.5Z")) == ["d3"]
    assert names(refs(until="2026-03-02T21:59:59-02:00")) == ["d2", "d1"]


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "commit"},
        {"sort": "age"},
        {"since": "yesterday"},
        {"since": "2026-02-30"},
        {"until": "2026-01-01T00:00:00"},
        {"until": "20260101"},
        {"query": "x" * 1025},
    ],
)
def test_bad_words_are_refused_before_the_repository_is_looked_up(db, fields):
    with pytest.raises(InvalidQueryParameters):
        list_refs(SYSTEM, ListRefs(repo="no/such", **fields))


def test_pages_join_and_belong_to_their_arguments(remote, refs):
    commit = remote.commit({"a": "1\n"})
    for number in range(7):
        remote.tag(f"t{number}", commit)
    first = refs(kind="tag", first=3)
    rest = refs(kind="tag", first=100, after=first.next_cursor)
    # All were made at one moment: ties are in the order of their full names.
    assert names(first) + names(rest) == [f"t{number}" for number in range(7)]
    assert (first.has_more, rest.has_more, rest.next_cursor) == (True, False, None)
    with pytest.raises(InvalidCursor):
        refs(kind="all", after=first.next_cursor)
    for bad in (0, 101):
        with pytest.raises(InvalidLimit):
            refs(first=bad)


def test_an_empty_remote_has_no_refs(remote, refs):
    page = refs(kind="all")
    assert (page.refs, page.catalog.state) == ((), "ready")


def test_a_fresh_catalog_is_not_asked_for_again_and_resolves_names(far, remote, http_remote, refs):
    commit = remote.commit({"a": "1\n"}, branch="topic")
    refs()
    asked = http_remote.requests.total()
    refs(kind="all")
    found = resolve_revision(SYSTEM, ResolveRevision(repo=far.name, revision="topic"))
    assert (found.commit, found.source) == (commit, "catalog")
    assert http_remote.requests.total() == asked


def test_an_expired_catalog_is_served_while_one_refresh_runs_behind(far, remote, refs):
    remote.commit({"a": "1\n"}, branch="old")
    refs()
    remote.commit({"a": "2\n"}, branch="new")
    expire(far)
    page = refs()
    assert (page.catalog.state, names(page)) == ("stale", ["old"])
    assert page.catalog.refreshed_at < datetime.now(UTC) - timedelta(minutes=59)
    wait_until(lambda: refs().catalog.state == "ready")
    assert names(refs()) == ["new", "old"]
    found = resolve_revision(SYSTEM, ResolveRevision(repo=far.name, revision="new"))
    assert found.source == "catalog"


def test_a_failed_refresh_leaves_the_stale_catalog_or_is_the_answer(far, remote, http_remote, refs):
    http_remote.status = 403
    with pytest.raises(RemoteAccessDenied):
        refs()
    with pytest.raises(RemoteAccessDenied) as again:
        refs()
    assert 0 < again.value.retry_after <= 10
    (folder("backoff") / far.repo.storage_key).unlink()
    http_remote.status = None
    remote.commit({"a": "1\n"})
    refs()
    expire(far)
    http_remote.status = 500
    for _ in range(3):
        assert refs().catalog.state == "stale"
        wait_until(lambda: not catalogs._running)
    with pytest.raises(RemoteUnavailable):
        resolve_revision(SYSTEM, ResolveRevision(repo=far.name, revision="other"))


def test_a_first_listing_that_takes_too_long_goes_on_behind(
    far, remote, http_remote, refs, settings
):
    remote.commit({"a": "1\n"})
    http_remote.hang_seconds = 0.7
    settings.REQUEST_SECONDS = 2.1
    with pytest.raises(RefsCatalogPreparing) as caught:
        refs()
    assert caught.value.retry_after == 5
    settings.REQUEST_SECONDS = 30.0
    assert names(refs()) == ["main"]
    assert http_remote.requests["refs"] == 2  # one listing, one download


def test_a_remote_without_filters_gives_names_only(far, remote, refs):
    git(remote.path, "config", "uploadpack.allowFilter", "false")
    for name in ("b", "a", "c"):
        remote.commit({name: "1\n"}, branch=name)
    page = refs()
    assert (page.catalog.state, page.catalog.reason) == ("names_only", "filter_unsupported")
    assert (page.sort, names(page)) == ("name", ["a", "b", "c"])
    assert page.refs[0].commit is None
    assert page.refs[0].object is None
    assert names(refs(query="B", sort="name")) == ["b"]
    for fields in ({"author": "a"}, {"title": "a"}, {"since": "2026-01-01"}, {"sort": "created"}):
        with pytest.raises(RefsFilterUnavailable):
            refs(**fields)
    found = resolve_revision(SYSTEM, ResolveRevision(repo=far.name, revision="a"))
    assert found.source == "remote"


def test_a_local_remote_answers_without_trees_whatever_its_own_settings(make_shelf, git_remote):
    source = git_remote("acme/local")
    commit = source.commit({"big": os.urandom(300_000)}, branch="topic", message="Topic")
    shelf = make_shelf("acme/local", remote_url=source.path.as_uri())
    page = list_refs(SYSTEM, ListRefs(repo=shelf.name))
    assert page.catalog.state == "ready"
    assert [(row.commit, row.title) for row in page.refs] == [(commit, "Topic")]


def test_too_many_refs_are_cut_and_too_large_a_download_is_dropped(far, remote, refs, monkeypatch):
    for number in range(5):
        remote.commit({"a": str(number)}, branch=f"b{number}")
    monkeypatch.setattr(catalog_refresh, "MAX_REFS", 3)
    page = refs()
    assert (page.catalog.state, page.catalog.reason) == ("names_only", "ref_limit")
    assert page.catalog.truncated
    assert names(page) == ["b0", "b1", "b2"]
    assert "first 3 names" in page.hint
    monkeypatch.setattr(catalog_refresh, "MAX_REFS", 5)
    monkeypatch.setattr(catalog_refresh, "CATALOG_BYTES", 100)
    (folder("catalogs") / far.repo.storage_key).unlink()
    page = refs()
    assert (page.catalog.reason, page.catalog.truncated) == ("size_limit", None)
    assert len(page.refs) == 5


def test_a_damaged_catalog_is_made_again(far, remote, refs):
    remote.commit({"a": "1\n"})
    refs()
    path = folder("catalogs") / far.repo.storage_key
    whole = path.read_bytes()
    for damaged in (b"", b"\x00\x01", whole[: len(whole) // 2], whole + b"x"):
        path.write_bytes(damaged)
        assert names(refs()) == ["main"]


def test_the_least_used_catalogs_go_when_there_are_too_many_refs(db, monkeypatch):
    monkeypatch.setattr(catalogs, "MAX_REFS_IN_ALL", 25)
    paths = []
    for number in range(4):
        key = f"{number}" * 32
        repository_path(key).mkdir(parents=True)
        path = folder("catalogs") / key
        rows = [Row(f"refs/heads/{n}", Described("0" * 40)) for n in range(10)]
        write(path, Header(10, time.time(), 1.0), rows)
        os.utime(path, (0, time.time() - 100 * number))
        paths.append(path)
    repository_path("0" * 32).rmdir()  # purged
    catalogs._drop_least_used(paths[3])
    assert [path.exists() for path in paths] == [False, True, False, True]


def test_another_process_sees_the_catalog(far, remote, http_remote, refs):
    remote.commit({"a": "1\n"}, branch="topic")
    refs()
    script = textwrap.dedent(f"""
        import django
        django.setup()
        from readers.remote.catalog import fresh_entries
        print(fresh_entries({far.repo.storage_key!r}, ["refs/heads/topic"])[0].described.commit)
    """)
    out = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        check=True,
        text=True,
        cwd=Path(__file__).parents[2],
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "SOURCEGRAPH_DATA_ROOT": str(django_settings.DATA_ROOT),
        },
    )
    assert out.stdout.strip() == remote.tip("topic")


def test_the_same_catalog_is_refreshed_once_for_many_callers(far, remote, http_remote):
    remote.commit({"a": "1\n"})
    http_remote.hang_seconds = 0.2
    key, target, seen = far.repo.storage_key, target_of(far.repo), []

    def ask():
        seen.append(len(catalogs.current(key, lambda: target, catalogs.Deadline.after(20))))

    threads = [threading.Thread(target=ask) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [1] * 5
    assert http_remote.requests["refs"] == 2


def test_200_000_refs_are_filtered_and_paged_as_a_plain_loop_would(tmp_path):
    start = datetime(2020, 1, 1, tzinfo=UTC)
    rows = []
    for n in range(200_000):
        kind = "heads" if n % 4 else "tags"
        when = start + timedelta(seconds=(n * 7919) % 100_003)
        oid, author, title = f"{n:040x}", f"Person {n % 97}", f"Change number {n}"
        described = Described(oid, oid, None, False, when, when, author, title)
        rows.append(Row(f"refs/{kind}/team{n % 13}/item-{n}", described))
    path = tmp_path / "catalog"
    write(path, Header(len(rows), time.time(), 1.0), rows)
    found = Catalog(path)
    assert path.stat().st_size < 256 << 20
    wanted = check_selection("branch", "TEAM7/", "son 5", "8", "2020-01-01T02:00:00Z", "", "")
    sort, numbers = select(found, wanted)
    expected = sorted(
        (
            row
            for row in rows
            if row.ref.startswith("refs/heads/")
            and "team7/" in row.name
            and "son 5" in row.described.author.lower()
            and "8" in row.described.title
            and row.described.created_at >= start + timedelta(hours=2)
        ),
        key=lambda row: (-row.described.created_at.timestamp(), row.ref),
    )
    assert sort == "created"
    assert len(expected) > 100
    assert [found.row(int(n)) for n in numbers] == expected
    assert found.row(found.find("refs/tags/team0/item-52")).described.title == "Change number 52"
    assert found.find("refs/tags/team0/item-53") is None


def test_refs_answer_in_snake_case_over_rest(far, remote, client, cache_table):
    commit = remote.commit({"a": "1\n"}, message="First")
    remote.tag("v1", commit, message="One")

    def get(query=""):
        return client.get(f"/sourcegraph/v1/repo/refs?repo={far.name}{query}")

    answer = get("&kind=all&sort=name&first=1")
    assert answer.status_code == 200
    body = answer.json()
    assert set(body) == {"repo", "catalog", "sort", "refs", "next_cursor", "has_more"}
    assert body["catalog"] == {"state": "ready"}
    assert body["refs"] == [
        {
            "name": "main",
            "ref": "refs/heads/main",
            "kind": "branch",
            "monitored": True,
            "indexed": False,
            "commit": commit,
            "created_at": "2026-01-01T00:01:00Z",
            "committer_time": "2026-01-01T00:01:00Z",
            "author": "Ada Example",
            "title": "First",
        }
    ]
    last = get(f"&kind=all&sort=name&first=1&after={body['next_cursor']}").json()
    assert last["refs"][0]["annotated"] is True
    assert (last["next_cursor"], last["has_more"]) == (None, False)
    for query, code in (
        ("&kind=x", "INVALID_QUERY_PARAMETERS"),
        ("&first=0", "INVALID_LIMIT"),
        ("&first=x", "INVALID_LIMIT"),
        ("&first=-1", "INVALID_LIMIT"),
        ("&after=x", "INVALID_CURSOR"),
        ("&nope=1", "INVALID_QUERY_PARAMETERS"),
        ("&kind=tag&kind=tag", "INVALID_QUERY_PARAMETERS"),
    ):
        refused = get(query)
        assert (refused.status_code, refused.json()["Meta"]["Code"]) == (400, code)
