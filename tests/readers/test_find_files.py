"""Finding files by name: globs as in a search, letters as a person types them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readers.errors import InvalidQuery
from readers.filenames import fuzzy_ranking, glob_matcher
from readers.usecases.find_files import FindFiles, find_files
from sourcegraph_site.kernel.errors import InvalidCursor, InvalidLimit
from tests.support.git_remote import Link, Submodule


@pytest.fixture
def find(shelf, actor):
    def call(query, mode="glob", **fields):
        return find_files(
            actor,
            FindFiles.model_validate({"repo": shelf.name, "query": query, "mode": mode, **fields}),
        )

    return call


def paths(page):
    return [row.path for row in page.files]


@pytest.mark.parametrize(
    ("glob", "yes", "no"),
    [
        ("*.ts", "a.ts src/a.ts .hid.ts", "a.tsx a.ts/b"),
        ("src/*.ts", "src/a.ts", "src/x/a.ts a/src/a.ts"),
        ("/c.ts", "c.ts", "a/c.ts"),
        ("**/a.ts", "a.ts x/a.ts x/y/a.ts", "ba.ts"),
        ("src/**", "src/a src/x/y", "src a/src/b"),
        ("src/**/z", "src/z src/a/z src/a/b/z", "src/az z"),
        ("a**b", "ab axxb", "a/b"),
        ("[!a].ts", "c.ts x/c.ts", "a.ts cc.ts"),
        ("[^a-c]x", "dx", "ax bx"),
        ("[]-]", "] -", "a"),
        ("[a/]b", "ab", "a/b"),
        ("{a,b}.{x,y}", "a.x b.y", "c.x a.z"),
        ("test{,2}", "test test2", "test3"),
        ("a?c", "abc", "a/c ac"),
        ("\\*.md", "*.md", "a.md"),
        ("a,b}", "a,b}", "a b"),
        ("SRC/**", "SRC/x", "src/x"),
        ("caf\u00e9*", "caf\u00e9.txt", "cafe.txt"),
        ("a.b+c(d)|$^", "a.b+c(d)|$^", "axb+c(d)|$^"),
    ],
)
def test_globs_match_whole_paths(glob, yes, no):
    fits = glob_matcher(glob)
    assert [path for path in yes.split() if not fits(path.encode())] == []
    assert [path for path in no.split() if fits(path.encode())] == []


@pytest.mark.parametrize(
    "glob", ["[a", "{a", "a\\", "{a,{b}}", "[z-a]", "", "  ", "a\nb", "x" * 1025]
)
def test_a_glob_that_cannot_be_read_is_refused_before_the_repository_is_looked_up(actor, db, glob):
    with pytest.raises(InvalidQuery):
        find_files(actor, FindFiles(repo="no/such", query=glob))


@given(st.text(alphabet="ab/.*?[]{},!\\-^$()é", max_size=12), st.text(alphabet="ab/.é", max_size=8))
@settings(max_examples=400, deadline=None)
def test_any_glob_either_answers_or_is_refused(glob, path):
    try:
        fits = glob_matcher(glob)
    except InvalidQuery:
        return
    assert fits(path.encode()) in (True, False)


def test_files_and_links_are_found_by_path_with_their_sizes(shelf, find):
    commit = shelf.commit(
        {
            "src/app.py": "12345",
            "app.py": "",
            "link.py": Link("app.py"),
            "sub.py": Submodule("ab" * 20),
            b"bad\xff.py": "x",
            "readme.md": "",
        }
    )
    page = find("*.py")
    assert page.commit == commit
    assert [(row.path, row.size) for row in page.files] == [
        ("app.py", 0),
        ("link.py", 6),
        ("src/app.py", 5),
    ]
    assert paths(find("nothing*")) == []


def test_letters_find_the_closest_name_first(shelf, find):
    names = [
        "search/usecases/search_code.py",
        "search_code",
        "docs/search_code.md",
        "my_search_code.py",
        "s/e/a/r/c/h_code/x.py",
        "Search_Code/inner.txt",
        "unrelated.py",
    ]
    shelf.commit(dict.fromkeys(names, ""))
    assert paths(find("Search code", "fuzzy"))[-1] == "s/e/a/r/c/h_code/x.py"
    ranked = paths(find("search_code", "fuzzy"))
    assert ranked[:3] == ["search_code", "docs/search_code.md", "search/usecases/search_code.py"]
    assert ranked.index("my_search_code.py") < ranked.index("Search_Code/inner.txt")
    assert "unrelated.py" not in ranked


def test_letters_match_whatever_their_case():
    assert fuzzy_ranking("RDME")(b"docs/readme.md") is not None
    assert fuzzy_ranking("\u00c9t")("\u00e9t\u00e9".encode()) is not None
    assert fuzzy_ranking("mr")(b"readme.md") is None
    assert fuzzy_ranking(".*")(b"readme.md") is None


def test_pages_are_bound_to_query_mode_and_commit(shelf, find):
    shelf.commit({f"f{n}": "" for n in range(7)})
    first = find("f*", first=3)
    rest = find("f*", first=100, after=first.next_cursor)
    assert paths(first) + paths(rest) == [f"f{n}" for n in range(7)]
    assert (rest.next_cursor, rest.has_more_results) == (None, False)
    for query, mode in (("f?", "glob"), ("f*", "fuzzy")):
        with pytest.raises(InvalidCursor):
            find(query, mode, after=first.next_cursor)
    for number in (0, 101):
        with pytest.raises(InvalidLimit):
            find("f*", first=number)
