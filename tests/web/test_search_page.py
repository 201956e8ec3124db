"""The search page, as a browser without a script and as our own script ask for it."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest

from repos.models import Repository
from tests.web.markup import faults_of

pytestmark = pytest.mark.django_db

PAGE = "/sourcegraph/"
LIVE = {"HX-Request": "true", "HX-Target": "results"}


def text_of(response) -> str:
    """The page's words, without markup."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", response.content.decode())))


def links_of(response) -> list[str]:
    return [unescape(href) for href in re.findall(r'href="([^"]*)"', response.content.decode())]


def search(client, pattern="needle", headers=None, **values):
    return client.get(
        PAGE, {"repo": "acme/tools", "pattern": pattern, **values}, headers=headers or {}
    )


# --- The first visit -----------------------------------------------------------------------


def test_without_a_repository_the_first_page_says_who_can_change_that(client):
    response = client.get(PAGE)
    assert "No repository yet." in text_of(response)
    assert "An administrator has not registered one yet." in text_of(response)
    assert faults_of(response.content.decode()) == []


def test_an_administrator_is_led_to_the_registration(admin_client):
    assert "/sourcegraph/repos/new" in links_of(admin_client.get(PAGE))


def test_the_first_page_shows_a_real_search_and_the_ready_repositories(client, demo, head):
    response = client.get(PAGE)
    words = text_of(response)
    assert "Repositories ready to search" in words
    assert "acme/tools" in words
    assert "Try func main\\( in acme/tools: 1 line in 1 file" in words
    assert head in response.content.decode()
    assert faults_of(response.content.decode()) == []


def test_the_first_page_works_while_the_first_clone_waits(client, make_repository):
    make_repository(run=False)
    words = text_of(client.get(PAGE))
    assert "Waiting" in words and "Cloning" in words
    assert 'hx-trigger="every 2s"' in client.get(PAGE).content.decode()


def test_both_toggles_are_off_at_first_and_the_last_choice_is_kept(client, demo):
    page = client.get(PAGE).content.decode()
    assert not re.search(r'name="(case|regex)"[^>]*checked', page)
    client.get(PAGE, {"ui": "1", "repo": "acme/tools", "pattern": "x", "regex": "1"})
    page = client.get(PAGE).content.decode()
    assert re.search(r'name="regex"[^>]*checked', page)
    assert not re.search(r'name="case"[^>]*checked', page)


def test_the_last_repository_is_chosen_again(client, demo):
    Repository.objects.create(
        name="aaa/first", remote_url="https://example.org/a.git", window_count=1
    )
    assert 'name="repo" value="aaa/first"' in client.get(PAGE).content.decode()
    client.cookies["cs.lastRepo"] = "acme/tools"
    assert 'name="repo" value="acme/tools"' in client.get(PAGE).content.decode()


# --- Addresses -------------------------------------------------------------------------------


def test_the_form_leads_to_the_canonical_address(client, demo):
    response = client.get(
        PAGE, {"ui": "1", "repo": "acme/tools", "pattern": "needle", "include": "*.py"}
    )
    assert response.status_code == 302
    assert response["Location"] == (
        "/sourcegraph/?repo=acme/tools&pattern=needle&fixed_strings=1&ignore_case=1&glob=%2A.py"
    )
    assert client.get(response["Location"]).status_code == 200


def test_typing_replaces_the_address_and_enter_makes_a_new_entry(client, demo):
    form = {"ui": "1", "regex": "1", "case": "1"}
    canonical = "/sourcegraph/?repo=acme/tools&pattern=needle"
    typed = search(client, headers={**LIVE, "X-Typed": "1"}, **form)
    assert typed["HX-Replace-Url"] == canonical
    entered = search(client, headers=LIVE, **form)
    assert entered["HX-Push-Url"] == canonical
    again = search(
        client, headers={**LIVE, "HX-Current-URL": f"http://testserver{canonical}"}, **form
    )
    assert "HX-Push-Url" not in again


def test_the_script_gets_the_results_alone(client, demo):
    page = search(client, headers=LIVE).content.decode()
    assert page.lstrip().startswith("<div")
    assert "<html" not in page and 'id="results"' in page


def test_fewer_than_three_typed_characters_are_not_searched(client, demo):
    typed = {**LIVE, "X-Typed": "1"}
    assert search(client, "ne", headers=typed).status_code == 204
    assert search(client, "ne", headers=LIVE).status_code == 200


# --- Results ---------------------------------------------------------------------------------


def test_results_name_the_commit_count_whole_lines_and_mark_matches(client, demo, head):
    response = search(client)
    page, words = response.content.decode(), text_of(response)
    assert "36 lines in 7 files" in words
    assert head in page
    assert "<mark>needle</mark>" in page
    assert "ms engine" in words
    assert faults_of(page) == []


def test_a_line_leads_to_the_reader_at_that_line_and_commit(client, demo, head):
    (link,) = {link for link in links_of(search(client)) if link.endswith("README.md")} or {""}
    lines = [
        link for link in links_of(search(client)) if "path=README.md" in link and "#L3" in link
    ]
    assert lines and all(f"commit={head}" in link for link in lines)
    assert client.get(lines[0].partition("#")[0]).status_code == 200


def test_a_file_with_many_lines_shows_five_and_leads_to_the_rest(client, demo):
    response = search(client, "needle", glob="/src/app/main.py")
    assert response.content.decode().count('class="line hot"') == 30  # the only file: all
    response = search(client)
    assert "Show 25 more lines in this file" in text_of(response)
    (rest,) = {link for link in links_of(response) if "glob=/src/app/main.py" in link}
    assert client.get(rest).content.decode().count('class="line hot"') == 30


def test_files_output_lists_names_without_lines(client, demo):
    page = search(client, output="files").content.decode()
    assert "src/main.go" in page
    assert "<mark>" not in page


def test_globs_narrow_and_stand_in_their_fields(client, demo):
    page = client.get(
        PAGE, {"repo": "acme/tools", "pattern": "needle", "glob": ["*.py", "!docs/"]}
    ).content.decode()
    assert 'name="include" value="*.py"' in page
    assert 'name="exclude" value="docs/"' in page
    assert "src/main.go" not in page


def test_the_outline_leads_to_the_cards_of_this_page(client, demo):
    page = search(client).content.decode()
    anchors = re.findall(r'<li><a href="#(f-\w+)"', page)
    assert len(anchors) == 7
    assert set(anchors) == set(re.findall(r'<article class="hit" id="(f-\w+)"', page))


def test_the_pinned_link_and_the_curl_command_carry_the_full_sha(client, demo, head):
    copies = [
        unescape(text)
        for text in re.findall(
            r'class="item" type="button" data-copy="([^"]*)"', search(client).content.decode()
        )
    ]
    link = next(text for text in copies if "?repo=acme/tools&pattern=needle&commit=" in text)
    assert head in link
    curl = next(text for text in copies if text.startswith("curl"))
    assert f'"Revision":"{head}"' in curl


def test_every_page_of_a_long_result_is_reached_and_counts_stay(client, make_repository):
    make_repository(files={f"d{n % 3}/f{n:03}.txt": "needle\nneedle\n" for n in range(130)})
    response = search(client, context="0")
    assert "260 lines in 130 files" in text_of(response)
    assert "The first 100 of 130 files are shown." in text_of(response)
    (following,) = {link for link in links_of(response) if "after=" in link}
    rest = client.get(following)
    assert "260 lines in 130 files" in text_of(rest)
    assert "All 130 files are shown." in text_of(rest)
    assert rest.content.decode().count("<article") == 30
    added = client.get(following, headers={"HX-Request": "true", "HX-Target": "more"})
    assert added.content.decode().count("<article") == 30
    assert 'id="paged" hx-swap-oob="true"' in added.content.decode()


# --- What was not seen -------------------------------------------------------------------------


def test_nothing_found_says_what_was_searched_and_offers_what_would_change_it(client, demo):
    response = search(client, "No.Such")
    words = text_of(response)
    assert "No line matches in acme/tools at" in words
    assert "so this is not proof of absence" in words
    assert "1 binary" in words and "1 submodule" in words
    assert "Ignore case" in words and "Search as plain text" in words
    words = text_of(search(client, "no such", fixed_strings="1", ignore_case="1"))
    assert "Ignore case" not in words and "Search as plain text" not in words


def test_a_bad_pattern_is_explained_in_place_and_kept_in_the_field(client, demo):
    response = search(client, "need(le")
    assert response.status_code == 400
    assert "INVALID_PATTERN" in text_of(response)
    assert 'value="need(le"' in response.content.decode()
    plain = next(link for link in links_of(response) if "fixed_strings=1" in link)
    assert client.get(plain).status_code == 200


def test_a_bad_glob_is_explained(client, demo):
    response = search(client, glob="[")
    assert response.status_code == 400
    assert "INVALID_GLOB" in text_of(response)


def test_a_live_error_is_the_same_banner(client, demo):
    response = search(client, "need(le", headers=LIVE)
    assert response.status_code == 400
    assert "<html" not in response.content.decode()
    assert "INVALID_PATTERN" in text_of(response)


def test_a_damaged_cursor_leads_back_to_the_first_page(client, demo):
    response = search(client, after="nonsense")
    assert response.status_code == 400
    assert "First page" in text_of(response)


def test_an_unknown_and_a_hidden_repository_look_alike(client, demo):
    Repository.objects.filter(pk=demo.pk).update(public_read=False)
    absent, hidden = search(client, repo="acme/none"), search(client)
    assert absent.status_code == hidden.status_code == 404
    assert text_of(absent).replace("acme/none", "X") == text_of(hidden).replace("acme/tools", "X")


def test_a_hidden_repository_is_not_in_the_pickers(client, demo):
    Repository.objects.filter(pk=demo.pk).update(public_read=False)
    assert "acme/tools" not in client.get(PAGE).content.decode()
    assert "acme/tools" not in client.get("/sourcegraph/pick/repositories").content.decode()


def test_a_commit_without_index_can_be_searched_nowhere_but_says_where_to(client, demo, head):
    demo.versions.filter(commit=head).update(indexed=False)
    response = search(client, commit=head)
    assert response.status_code == 409
    assert "This commit is not indexed yet." in text_of(response)
    other = demo.versions.get(indexed=True).commit
    assert f"Search the newest indexed commit, {other[:8]}" in text_of(response)


def test_who_may_prepare_is_offered_the_index_of_the_commit(admin_client, demo, head):
    demo.versions.filter(commit=head).update(indexed=False)
    page = search(admin_client, commit=head).content.decode()
    assert f"/sourcegraph/repo/index?repo=acme/tools&amp;commit={head}" in page


def test_a_repository_that_is_being_cloned_shows_the_progress_and_asks_again(
    client, make_repository
):
    make_repository(run=False)
    response = search(client)
    assert response.status_code == 409
    assert 'hx-trigger="every 2s"' in response.content.decode()
    assert "Cloning" in text_of(response)


def test_a_branch_that_is_not_monitored_leads_to_the_default_one(client, demo):
    response = search(client, revision="other")
    assert response.status_code == 404
    assert "BRANCH_NOT_MONITORED" in text_of(response)
    assert "Search the default branch" in text_of(response)


def test_a_branch_is_searched_at_its_head(client, demo, head):
    assert head in search(client, revision="main").content.decode()


def test_the_repository_picker_filters_by_name(client, demo):
    found = client.get("/sourcegraph/pick/repositories", {"name": "TOOL"})
    assert "acme/tools" in found.content.decode()
    none = client.get("/sourcegraph/pick/repositories", {"name": "zebra"})
    assert "No repository matches." in text_of(none)


def test_a_closed_site_leads_to_the_sign_in_and_back(client, demo, monkeypatch):
    from sourcegraph_site.accounts.models import SettingsSection

    SettingsSection.objects.create(name="access", values={"public_read": False})
    response = client.get(PAGE, {"pattern": "x"})
    assert response.status_code == 302
    parts = urlsplit(response["Location"])
    assert parts.path == "/sourcegraph/login"
    assert parse_qs(parts.query)["next"] == ["/sourcegraph/?pattern=x"]
    live = client.get(PAGE, {"pattern": "x"}, headers=LIVE)
    assert live["HX-Redirect"].startswith("/sourcegraph/login")


def test_anonymous_readers_are_limited(client, demo, settings):
    settings.ANONYMOUS_PER_CLIENT = 1
    client.get(PAGE)
    response = client.get(PAGE)
    assert response.status_code == 429
    assert response["Retry-After"] == "60"
    assert "Too many requests." in text_of(response)


def test_only_reading_methods_are_answered(client, demo):
    assert client.post(PAGE).status_code == 405
