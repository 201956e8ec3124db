"""The address of the search page and the form that writes it."""

import pytest
from django.http import QueryDict

from search.page_query import PageQuery, glob_of_path, read_query, split_globs


def query_of(text: str) -> PageQuery:
    return read_query(QueryDict(text))


def test_an_address_without_fields_means_regex_and_match_case():
    query = query_of("repo=a/b&pattern=x")
    assert (query.fixed_strings, query.ignore_case) == (False, False)


def test_an_absent_toggle_of_the_form_means_off():
    query = query_of("ui=1&repo=a/b&pattern=x")
    assert (query.fixed_strings, query.ignore_case) == (True, True)
    query = query_of("ui=1&repo=a/b&pattern=x&case=1&regex=1")
    assert (query.fixed_strings, query.ignore_case) == (False, False)


def test_the_form_becomes_the_canonical_address():
    query = query_of(
        "ui=1&repo=a/b&pattern=a+b&include=*.c,+src/**&exclude=po/&context=2&output=files&name=z"
    )
    assert query.address == (
        "/sourcegraph/?repo=a/b&pattern=a%20b&fixed_strings=1&ignore_case=1"
        "&glob=%2A.c&glob=src/%2A%2A&glob=%21po/&context=2&output=files"
    )


def test_the_canonical_address_reads_back_as_the_same_query():
    query = PageQuery(
        repo="a/b",
        pattern='x & "y"\t%20',
        ignore_case=True,
        globs=("*.{c,h}", "!po/"),
        commit="0123456789abcdef0123456789abcdef01234567",
        branch="main",
        context=5,
        after="cursor",
        seen=100,
        tail="a/b c",
    )
    assert query_of(query.address.partition("?")[2]) == query


@pytest.mark.parametrize(
    ("text", "globs"),
    [
        ("*.c, *.h", ["*.c", "*.h"]),
        ("*.{c,h},x[,]y", ["*.{c,h}", "x[,]y"]),
        (r"a\,b,c", [r"a\,b", "c"]),
        (" , ,", []),
        ("a},b", ["a}", "b"]),
    ],
)
def test_a_comma_separates_globs_unless_it_belongs_to_one(text, globs):
    assert split_globs(text) == globs


def test_two_fields_show_includes_and_excludes_while_their_order_does_not_matter():
    query = query_of("repo=a/b&pattern=x&glob=*.c&glob=!po/")
    assert (query.include, query.exclude) == ("*.c", "po/")


def test_rules_whose_order_matters_stand_in_one_field_and_survive_the_form():
    query = query_of("repo=a/b&pattern=x&glob=!po/&glob=po/de.po")
    assert (query.include, query.exclude) == ("!po/, po/de.po", "")
    form = QueryDict(mutable=True)
    form.update({"ui": "1", "repo": "a/b", "pattern": "x", "include": query.include})
    assert read_query(form).globs == query.globs


def test_a_commit_that_is_no_full_sha_is_read_as_a_revision():
    query = query_of("repo=a/b&pattern=x&commit=main")
    assert (query.commit, query.revision) == ("", "main")


def test_a_full_sha_beats_a_revision():
    sha = "a" * 40
    query = query_of(f"repo=a/b&pattern=x&commit={sha}&revision=main")
    assert query.wanted == sha
    assert "revision" not in query.address


@pytest.mark.parametrize(
    ("text", "commit", "revision"), [("b" * 40, "b" * 40, ""), ("next", "", "next")]
)
def test_what_is_written_into_the_revision_picker_wins(text, commit, revision):
    query = query_of(f"ui=1&repo=a/b&pattern=x&revision=main&pick_revision={text}")
    assert (query.commit, query.revision) == (commit, revision)


def test_a_further_page_is_left_when_the_query_changes():
    query = query_of("repo=a/b&pattern=x&after=c&seen=100&tail=z")
    changed = query.first_page(ignore_case=True)
    assert (changed.after, changed.seen, changed.tail) == ("", 0, "")


@pytest.mark.parametrize("value", ["99", "-1", "two", "1e1", ""])
def test_nonsense_numbers_mean_the_default(value):
    assert query_of(f"repo=a/b&pattern=x&context={value}").context == 1


def test_the_glob_of_a_path_escapes_what_globs_would_read():
    assert glob_of_path("a/[x]*{y,z}?.c") == r"/a/\[x\]\*\{y\,z\}\?.c"
    assert split_globs(glob_of_path("a,b.c")) == [r"/a\,b.c"]
