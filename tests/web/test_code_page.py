"""The code reader: addresses, lines, kinds of files, and ways on where something is missing."""

import re
from html import unescape

import pytest

from repos.models import Version
from repos.work import queue_sync
from tests.support.jobs import run_pending_jobs
from tests.web.markup import faults_of
from tests.web.test_search_page import links_of, text_of

pytestmark = pytest.mark.django_db

PAGE = "/sourcegraph/code"


@pytest.fixture(autouse=True)
def shared_cache(cache_table):
    """Colours are kept there."""


@pytest.fixture
def read(client, demo, head):
    def read(path="README.md", headers=None, **values):
        fixed = {"repo": "acme/tools", "path": path, "commit": head}
        return client.get(PAGE, {**fixed, **values}, headers=headers or {})

    return read


def numbers_of(response) -> list[int]:
    return [
        int(n) for n in re.findall(r'<a class="lineno" href="#L(\d+)"', response.content.decode())
    ]


# --- Addresses ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"commit": "main"},
        {"revision": "main"},
        {"branch": "main"},
        {"revision": "refs/heads/main"},
    ],
)
def test_any_other_spelling_leads_to_the_pinned_address(client, demo, head, given):
    response = client.get(PAGE, {"repo": "acme/tools", "path": "README.md", **given})
    assert response.status_code == 302
    assert response["Location"] == (
        f"/sourcegraph/code?repo=acme/tools&path=README.md&commit={head}&branch=main"
    )
    assert client.get(response["Location"]).status_code == 200


def test_a_full_sha_beats_a_revision_and_names_no_branch(client, demo, head):
    old = demo.versions.exclude(commit=head).get().commit
    response = client.get(
        PAGE, {"repo": "acme/tools", "path": "README.md", "commit": old, "revision": "main"}
    )
    assert response["Location"] == f"/sourcegraph/code?repo=acme/tools&path=README.md&commit={old}"


def test_a_branch_that_is_not_monitored_is_not_shown_beside_the_commit(read):
    assert '<span class="branch">main</span>' in read(branch="main").content.decode()
    assert "evil" not in re.sub(
        r"<form.*?</form>|next=[^\"]*", "", read(branch="evil").content.decode()
    )


def test_the_page_at_a_commit_is_kept_by_the_browser_and_asked_for_again(read):
    first = read()
    assert first["Cache-Control"] == "private, no-cache"
    again = read(headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_change_of_the_theme_is_a_new_page(client, read):
    tag = read()["ETag"]
    client.cookies["cs.theme"] = "dark"
    assert read(headers={"If-None-Match": tag}).status_code == 200


# --- Lines ---------------------------------------------------------------------------------------


def test_each_line_is_a_row_that_its_number_names(read):
    response = read("src/main.go")
    assert numbers_of(response) == [1, 2, 3, 4, 5]
    page = response.content.decode()
    assert 'id="L4"' in page and 'aria-label="Line 4"' in page
    assert '<span class="kn">package</span>' in page
    assert "Go · 5 lines · 49 B" in text_of(response)
    assert faults_of(page) == []


def test_crlf_ends_one_line(read):
    assert numbers_of(read("docs/crlf.txt")) == [1, 2]


def test_a_large_file_is_shown_in_windows(read):
    assert numbers_of(read("data/large.txt")) == list(range(1, 201))
    response = read("data/large.txt", **{"from": "4900"})
    assert numbers_of(response) == list(range(4900, 5001))
    assert "Lines 4,900–5,000 loaded." in text_of(response)
    assert "200 lines above" in text_of(response)


def test_more_lines_come_as_a_fragment(read):
    response = read(
        "data/large.txt",
        headers={"HX-Request": "true"},
        part="below",
        **{"from": "201", "to": "400"},
    )
    page = response.content.decode()
    assert numbers_of(response) == list(range(201, 401))
    assert "<html" not in page
    assert 'id="below" class="window" hx-swap-oob="true"' in page


def test_the_go_to_field_leads_to_the_lines(read, head):
    response = read("data/large.txt", line="3000-2990")
    assert response["Location"].endswith("&from=2980#L2990-L3000")
    response = read(line="end")
    assert "Write a line, or a range such as 20-40." in text_of(response)


def test_the_pattern_of_the_search_is_marked_and_counted(read):
    response = read("src/app/main.py", pattern="step_1\\d")
    page = response.content.decode()
    assert page.count("<mark>") == 10
    assert "10 lines" in text_of(response)
    assert 'value="step_1\\d"' in page


def test_the_find_field_is_literal_in_any_case(read):
    assert read("src/main.go", find="PRINTLN(").content.decode().count('class="line hot"') == 1
    assert "no match" in text_of(read(find="zebra"))


def test_a_match_outside_the_window_is_one_step_away(read):
    response = read("data/large.txt", find="line 4321")
    (there,) = {link for link in links_of(response) if link.endswith("#L4321")}
    assert "from=4311" in there


def test_links_keep_the_pattern_but_citations_and_permalinks_do_not(read, head):
    page = unescape(read("README.md", pattern="needle").content.decode())
    permalink = re.search(r'data-copy="([^"]*)" data-permalink', page)[1]
    assert permalink.endswith(f"/sourcegraph/code?repo=acme/tools&path=README.md&commit={head}")
    assert f'data-cite="acme/tools@{head[:8]}:README.md"' in page


def test_search_in_this_file_is_a_glob_of_this_path_alone(client, read):
    (there,) = {link for link in links_of(read("src/main.go")) if "glob=" in link}
    page = client.get(there + "&pattern=needle").content.decode()
    assert page.count("<article") == 1


# --- Kinds of files ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("data/raw.bin", "Binary file, 9 B. It is not shown as text and was not searched."),
        ("data/pointer.bin", "Git LFS pointer."),
        ("vendor/lib", "Submodule. Its content is another repository, at 11111111."),
        ("docs/empty.txt", "Empty file."),
        ("docs/latin.txt", "Not UTF-8. Bytes that are not text are shown as �."),
        ("docs/link.txt", "You followed a link. docs/link.txt points to README.md, shown here."),
        ("docs/dangling.txt", "This link leads nowhere. Its own text is shown. LINK_DANGLING"),
    ],
)
def test_what_is_special_about_a_file_is_said(read, path, words):
    response = read(path)
    assert response.status_code == 200
    assert words in text_of(response).replace(" .", ".")
    assert faults_of(response.content.decode()) == []


def test_a_file_with_very_long_lines_is_shown_without_colours(client, make_repository):
    repo, _remote = make_repository(files={"a.js": "var x = 1;" * 700 + "\n"})
    commit = repo.heads.get().commit
    response = client.get(PAGE, {"repo": repo.name, "path": "a.js", "commit": commit})
    assert "Shown without colours" in text_of(response)
    assert '<span class="kd">' not in response.content.decode()


# --- The tree ------------------------------------------------------------------------------------


def test_the_tree_opens_the_way_to_the_file(read):
    page = read("src/app/main.py").content.decode()
    tree = page[page.index('<nav class="tree"') : page.index("</nav></aside>")]
    opened = re.findall(r'aria-expanded="true" data-path="([^"]*)"', tree)
    assert opened == ["src", "src/app"]
    assert re.search(r'aria-current="page">.*?main\.py', tree)


def test_a_directory_lists_what_is_in_it(read):
    response = read("src")
    assert numbers_of(response) == []
    assert "app" in text_of(response) and "main.go" in text_of(response)
    assert faults_of(response.content.decode()) == []


def test_a_directory_opens_in_the_tree_on_request(client, demo, head):
    values = {"repo": "acme/tools", "commit": head, "path": "src"}
    page = client.get("/sourcegraph/code/tree", values).content.decode()
    assert page.startswith("<ul>")
    assert "main.go" in page and 'data-path="src/app"' in page
    assert client.get("/sourcegraph/code/tree", {**values, "path": "README.md"}).status_code == 404
    assert client.get("/sourcegraph/code/tree", {**values, "commit": "main"}).status_code == 400


def test_a_long_directory_comes_in_steps(client, make_repository):
    repo, _remote = make_repository(files={f"many/f{n:03}": "x\n" for n in range(250)})
    commit = repo.heads.get().commit
    values = {"repo": repo.name, "commit": commit}
    response = client.get(PAGE, {**values, "path": "many/f120"})
    assert "Show 100 earlier entries" in text_of(response)
    assert "Show 50 more entries" in text_of(response)
    step = client.get("/sourcegraph/code/tree", {**values, "path": "many", "start": "200"})
    assert step.content.decode().count("<li>") == 50


# --- What is not there ---------------------------------------------------------------------------


def test_a_missing_path_names_the_cause_and_leads_on(read):
    response = read("no/such")
    assert response.status_code == 404
    words = text_of(response)
    assert "There is nothing at this path at this commit." in words
    assert "FILE_NOT_FOUND" in words
    assert "Files at this commit" in words


@pytest.mark.parametrize("path", ["../etc/passwd", "a//b", "a\\b", "a\x00b", "x" * 5000])
def test_paths_that_cannot_be_are_refused(read, path):
    assert read(path).status_code == 400


def test_an_expired_pin_offers_the_default_branch_and_names_both_commits(client, demo, head):
    gone = "f" * 40
    response = client.get(PAGE, {"repo": "acme/tools", "path": "README.md", "commit": gone})
    assert response.status_code == 404
    words = text_of(response)
    assert "This commit is no longer kept." in words
    assert "Line numbers may differ." in words
    assert gone in words
    (there,) = {
        link
        for link in links_of(response)
        if "path=README.md" in link and "code?" in link and "login" not in link
    }
    assert f"commit={head}" in there


def test_an_expired_pin_of_a_path_that_is_gone_too_offers_nothing(client, demo):
    response = client.get(PAGE, {"repo": "acme/tools", "path": "never", "commit": "f" * 40})
    assert response.status_code == 404
    assert "Open it there" not in text_of(response)
    assert "REVISION_NOT_ELIGIBLE" in text_of(response)


def test_a_pin_that_leaves_the_window_is_offered_at_the_new_head(client, make_repository):
    repo, remote = make_repository(window_count=1)
    old = repo.heads.get().commit
    remote.commit({"README.md": "# New\n"})
    queue_sync(repo)
    run_pending_jobs()
    assert not Version.objects.filter(repository=repo, commit=old).exists()
    response = client.get(PAGE, {"repo": repo.name, "path": "README.md", "commit": old})
    assert "Open it there" in text_of(response)


def test_an_unknown_and_a_hidden_repository_look_alike(client, demo, head):
    absent = client.get(PAGE, {"repo": "acme/none", "path": "README.md", "commit": head})
    demo.public_read = False
    demo.save()
    hidden = client.get(PAGE, {"repo": "acme/tools", "path": "README.md", "commit": head})
    assert absent.status_code == hidden.status_code == 404
    assert text_of(absent) == text_of(hidden)
    assert "There is no such page, or you may not see it." in text_of(hidden)
