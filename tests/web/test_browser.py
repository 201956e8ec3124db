"""Journeys in Chromium on a live server: what scripts add, and that the page stays calm."""

import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone
from playwright.sync_api import expect

from repos.models import RepositoryManager, Webhook
from repos.work import queue_sync
from tests.support.jobs import run_pending_jobs

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHONE = {"width": 390, "height": 844}
LIVE = re.compile(r"/sourcegraph/\?.*ui=1")
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


@pytest.fixture(autouse=True)
def shared_cache(cache_table):
    """Colours are kept there."""


def copied(page) -> str:
    expect(page.locator(".toast")).to_be_visible()
    return page.evaluate("navigator.clipboard.readText()")


def fits(page) -> bool:
    """Nothing of the page lies to the right of the window; code scrolls by itself."""
    return page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )


def test_first_visit_search_line_range_and_a_link_that_opens_the_same_lines(open_page, demo, head):
    page = open_page()
    expect(page.locator("#pattern")).to_be_focused()
    page.locator("#pattern").press_sequentially("def step_", delay=20)
    expect(page.locator("#found")).to_have_text("30 lines in 1 file")
    expect(page.locator("body.home")).to_have_count(0)
    assert "pattern=def%20step_" in page.url
    page.locator(".hot .lineno").nth(2).click()
    expect(page.locator("#L9")).to_have_class(re.compile("chosen"))
    assert f"commit={head}" in page.url
    page.locator("#L13 .lineno").click(modifiers=["Shift"])
    assert page.url.endswith("#L9-L13")
    expect(page.locator(".actions b")).to_have_text("Lines 9–13")
    page.keyboard.press("y")
    link = copied(page)
    assert link.endswith("#L9-L13") and f"commit={head}" in link and "pattern" not in link
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator(".chosen")).to_have_count(5)
    expect(page.locator("#L9")).to_be_in_viewport()


def test_the_citation_names_repository_short_sha_path_and_lines(open_page, demo, head):
    page = open_page(f"code?repo=acme/tools&path=README.md&commit={head}#L3")
    expect(page.locator(".actions")).to_be_visible()
    page.keyboard.press("c")
    text = copied(page)
    assert text.startswith(f"[acme/tools@{head[:8]}:README.md:L3](http")
    assert text.endswith(f"commit={head}#L3)")


def test_live_results_start_at_three_characters_and_old_ones_stay_until_new_ones_come(
    open_page, demo
):
    page = open_page("?repo=acme/tools&pattern=needle")
    before = page.locator("#found").inner_text()
    page.locator("#pattern").fill("ne")
    expect(page.locator("#keep-typing")).to_be_visible()
    page.wait_for_timeout(400)
    assert page.locator("#found").inner_text() == before
    page.locator("#pattern").fill("println")
    expect(page.locator("#found")).to_have_text("1 line in 1 file")
    expect(page.locator("#keep-typing")).to_be_hidden()


def test_a_late_reply_is_dropped(open_page, demo):
    page = open_page("?repo=acme/tools&pattern=needle")
    held = []

    def slow(route):
        if "println" in route.request.url:
            held.append(route)  # answered last, below
        else:
            route.continue_()

    page.route(LIVE, slow)
    page.locator("#pattern").fill("println")
    page.wait_for_timeout(400)
    page.locator("#pattern").fill("haystack")
    expect(page.locator("#found")).to_have_text("1 line in 1 file")
    assert len(held) == 1
    expect(page.locator("mark").first).to_have_text("haystack")
    page.wait_for_timeout(300)
    expect(page.locator("mark").first).to_have_text("haystack")


def test_enter_makes_history_and_back_shows_the_results_of_then(open_page, demo):
    page = open_page("?repo=acme/tools&pattern=needle")
    page.locator("#pattern").fill("println")
    expect(page.locator("#found")).to_have_text("1 line in 1 file")
    page.locator("#pattern").fill("haystack")
    page.locator("#pattern").press("Enter")
    expect(page.locator("mark").first).to_have_text("haystack")
    page.go_back()
    expect(page.locator("#pattern")).not_to_have_value("haystack")


def test_toggles_and_filters_search_at_once(open_page, demo):
    page = open_page("?repo=acme/tools&pattern=NEEDLE")
    expect(page.locator("#found")).to_have_text("No line matches")
    page.keyboard.press("Alt+C")
    expect(page.locator("#found")).to_have_text("36 lines in 7 files")
    page.locator('[name="include"]').fill("*.go")
    page.locator('[name="include"]').press("Tab")
    expect(page.locator("#found")).to_have_text("1 line in 1 file")
    page.locator(".more").get_by_text("Files", exact=True).click()
    expect(page.locator("mark")).to_have_count(0)
    assert "ignore_case=1" in page.url and "glob=%2A.go" in page.url and "output=files" in page.url


def test_a_bad_pattern_keeps_the_field_and_says_why(open_page, demo):
    page = open_page("?repo=acme/tools&pattern=needle")
    page.locator("#pattern").fill("need(le")
    expect(page.locator(".note.bad")).to_contain_text("INVALID_PATTERN")
    expect(page.locator("#pattern")).to_be_focused()
    page.get_by_role("link", name="Search as plain text").click()
    expect(page.locator("#found")).to_have_text("No line matches")
    assert [text for text in open_page.said if "400" not in text] == []
    open_page.said.clear()


def test_a_server_that_does_not_answer_leaves_the_old_results(open_page, demo):
    page = open_page("?repo=acme/tools&pattern=needle")
    before = page.locator("#found").inner_text()
    page.route(LIVE, lambda route: route.abort())
    page.locator("#pattern").fill("println")
    expect(page.locator(".toast")).to_have_text("No connection. What you see may be old.")
    assert page.locator("#found").inner_text() == before
    open_page.said.clear()


def test_the_keyboard_alone_reaches_a_line(open_page, demo):
    page = open_page("?repo=acme/tools&pattern=needle")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator(".hit.is-on")).to_have_attribute("aria-label", "README.md")
    page.keyboard.press("k")
    expect(page.locator(".hit.is-on")).to_have_attribute("aria-label", "CHANGES")
    page.keyboard.press("/")
    expect(page.locator("#pattern")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#pattern")).not_to_be_focused()
    page.keyboard.press("?")
    expect(page.locator("dialog.keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("dialog.keys")).to_be_hidden()
    page.locator(".hit.is-on").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#L1")).to_have_class(re.compile("chosen"))
    page.keyboard.press("g")
    page.keyboard.press("r")
    expect(page.get_by_role("heading", level=1)).to_have_text("Repositories")


def test_show_more_adds_files_and_moves_the_focus_to_the_first(open_page, make_repository):
    make_repository(files={f"f{n:03}.txt": "needle\n" for n in range(130)})
    page = open_page("?repo=acme/tools&pattern=needle")
    page.get_by_role("link", name="Show the other 30 files").first.click()
    expect(page.locator(".hit")).to_have_count(130)
    expect(page.locator(".hit").nth(100)).to_be_focused()
    expect(page.locator("#paged")).to_contain_text("All 130 files are shown.")
    expect(page.locator("#more")).to_have_count(0)


def test_the_lines_of_a_file_open_in_place(open_page, demo):
    page = open_page("?repo=acme/tools&pattern=needle")
    page.get_by_text("Show 25 more lines in this file").click()
    expect(page.locator('.hit[aria-label="src/app/main.py"] .hot')).to_have_count(30)


def test_the_repository_picker_filters_and_keeps_what_is_typed(open_page, demo, make_repository):
    make_repository("acme/other", {"x.txt": "needle\n"})
    page = open_page("?repo=acme/tools&pattern=needle")
    page.locator("#pattern").fill("need")
    page.locator(".pick summary").first.click()
    expect(page.locator(".pick[open] input").first).to_be_focused()
    page.keyboard.type("oth")
    expect(page.locator("#picked-repos a")).to_have_count(1)
    page.keyboard.press("Enter")
    page.wait_for_url("**repo=acme/other&pattern=need**")
    expect(page.locator("#found")).to_have_text("1 line in 1 file")


def test_a_directory_opens_in_the_tree_without_leaving_the_page(open_page, demo, head):
    page = open_page(f"code?repo=acme/tools&path=README.md&commit={head}")
    folder = page.locator('.side a[data-path="src"]')
    folder.click()
    expect(page.locator(".side").get_by_text("main.go")).to_be_visible()
    expect(folder).to_have_attribute("aria-expanded", "true")
    folder.click()
    expect(page.locator(".side").get_by_text("main.go")).to_be_hidden()
    assert "path=README.md" in page.url


def test_a_line_outside_the_window_is_loaded_and_more_lines_come_in_place(open_page, demo, head):
    page = open_page(f"code?repo=acme/tools&path=data/large.txt&commit={head}#L3000")
    expect(page.locator("#L3000")).to_be_in_viewport()
    expect(page.locator("#L2989")).to_have_count(0)
    page.get_by_text("200 lines above").click()
    expect(page.locator("#L2800")).to_have_count(1)
    page.get_by_text("200 lines below").click()
    expect(page.locator("#L3300")).to_have_count(1)
    numbers = page.locator("#lines .line").evaluate_all("lines => lines.map(l => +l.id.slice(1))")
    assert numbers == list(range(numbers[0], numbers[-1] + 1))


def test_the_matches_of_the_search_are_stepped_through(open_page, demo, head):
    page = open_page(f"code?repo=acme/tools&path=src/app/main.py&commit={head}&pattern=step_")
    for shown in ("1 of 30", "2 of 30"):
        page.keyboard.press("n")
        expect(page.locator("#find-count")).to_have_text(shown)
    page.keyboard.press("Shift+N")
    expect(page.locator("#find-count")).to_have_text("1 of 30")


def test_copied_code_has_no_line_numbers(open_page, demo, head):
    page = open_page(f"code?repo=acme/tools&path=src/main.go&commit={head}#L3-L4")
    page.get_by_role("button", name="Code").click()
    assert copied(page) == 'func main() {\n\tprintln("needle")\n'


def test_the_theme_changes_without_a_new_page_and_stays(open_page, site):
    page = open_page()
    page.evaluate("window.same = true")
    page.locator('summary[title="Theme"]').click()
    with page.expect_response("**/preferences"):
        page.get_by_role("button", name="Dark").first.click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("window.same") is True
    page.goto(site)
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_the_language_changes_where_one_is(open_page, demo):
    page = open_page("?repo=acme/tools&pattern=needle")
    page.locator('summary[title="Language"]').click()
    page.get_by_role("button", name="简体中文").first.click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
    expect(page.locator("#found")).to_have_text("7 个文件，36 行")
    assert "pattern=needle" in page.url


def test_an_administrator_signs_in_registers_and_watches_it_become_ready(
    open_page, administrator, data_root, http_remote
):
    http_remote.repository("acme/fresh").commit({"a.txt": "needle\n"})
    page = open_page("repos/new")
    page.get_by_label("Name").fill("root")
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("Name").fill("acme/fresh")
    page.get_by_label("Clone address").fill(http_remote.url("acme/fresh"))
    page.locator("form").get_by_role("button", name="Register repository").click()
    expect(page.locator("h1")).to_contain_text("acme/fresh")
    expect(page.locator(".badge").first).to_have_text("Waiting")
    run_pending_jobs()
    expect(page.locator(".badge").first).to_have_text("Ready", timeout=15_000)
    page.get_by_role("link", name="Search", exact=True).last.click()
    page.locator("#pattern").fill("needle")
    expect(page.locator("#found")).to_have_text("1 line in 1 file")


def test_a_failed_fetch_is_repaired_from_the_page(open_page, demo, administrator, client, site):
    client.force_login(administrator, backend="django.contrib.auth.backends.ModelBackend")
    demo.last_error, demo.consecutive_failures = "GIT_FETCH_FAILED", 2
    demo.save()
    page = open_page("keys")
    page.context.add_cookies(
        [
            {
                "name": "sourcegraph_session",
                "value": client.cookies["sourcegraph_session"].value,
                "url": site,
            }
        ]
    )
    page.goto(site + "repos")
    expect(page.locator(".note.bad")).to_contain_text("Fetching failed.")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("link", name="Jobs", exact=True)).to_have_attribute(
        "aria-current", "page"
    )
    run_pending_jobs()
    page.goto(site + "repos")
    expect(page.locator(".badge").first).to_have_text("Ready")


# --- The look --------------------------------------------------------------------------------


def pages_of(head: str) -> list[str]:
    reader = f"code?repo=acme/tools&commit={head}&branch=main"
    return [
        "",
        "?repo=acme/tools&pattern=needle",
        "?repo=acme/tools&pattern=nothing.here",
        f"{reader}&path=src/app/main.py&pattern=step#L9-L13",
        f"{reader}&path=data/large.txt",
        f"{reader}&path=data/raw.bin",
        f"{reader}&path=src",
        "repos",
        "repo?repo=acme/tools",
        "repo?repo=acme/tools&tab=versions",
        "repo?repo=acme/tools&tab=jobs",
        "login",
        "keys",
        "connect",
    ]


def faults_of(axe: Axe, page) -> list[tuple[str, list[str]]]:
    """Violations of WCAG 2.2 AA, with the elements.

    Lines of code are 20 px high, so their numbers are smaller than 24 px; the field "Go to line
    or range" does the same, which is the exception of success criterion 2.5.8.
    """
    found = axe.run(page, options={"runOnly": {"type": "tag", "values": WCAG}})
    faults = []
    for fault in found.response["violations"]:
        nodes = [node["html"] for node in fault["nodes"]]
        if fault["id"] == "target-size":
            nodes = [html for html in nodes if 'class="lineno"' not in html]
        if nodes:
            faults.append((fault["id"], [html[:200] for html in nodes[:3]]))
    return faults


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(open_page, site, demo, head, theme):
    page = open_page(color_scheme=theme)
    axe = Axe()
    for path in pages_of(head):
        page.goto(site + path)
        faults = faults_of(axe, page)
        assert faults == [], (path, json.dumps(faults, indent=1))


ADMINISTRATION = [
    "repos/new",
    "repos/import",
    "user-settings",
    "user-settings/code-tokens",
    "settings/code-sources",
    "settings/code-sources/edit?id=github",
    "repo?repo=acme/tools&tab=settings&find=ada",
]


def test_pages_for_those_who_signed_in_are_accessible_and_fit(
    open_page, site, client, administrator, demo, make_user
):
    make_user("ada")
    RepositoryManager.objects.create(repository=demo, user=administrator)
    Webhook.objects.create(repository=demo, created_at=timezone.now())
    client.force_login(administrator)
    session = client.cookies["sourcegraph_session"].value
    page, axe = open_page("keys"), Axe()
    page.context.add_cookies([{"name": "sourcegraph_session", "value": session, "url": site}])
    for path in ADMINISTRATION:
        page.set_viewport_size({"width": 1440, "height": 900})
        page.goto(site + path)
        assert page.url == site + path  # not the sign-in page
        assert faults_of(axe, page) == [], path
        page.set_viewport_size({"width": 320, "height": 844})
        assert fits(page), path
    assert faults_of(axe, page) == []  # the header of a phone


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("width", [390, 320, 1440])
def test_no_page_scrolls_sideways(open_page, site, demo, head, language, width):
    page = open_page("keys", width=width, height=844)
    page.context.add_cookies([{"name": "cs.lang", "value": language, "url": site}])
    for path in pages_of(head):
        page.goto(site + path)
        assert fits(page), path


def test_on_a_phone_the_files_open_as_a_drawer(open_page, demo, head):
    page = open_page(f"code?repo=acme/tools&path=README.md&commit={head}", **PHONE)
    expect(page.locator("#tree")).to_be_hidden()
    page.get_by_role("button", name="Files").click()
    expect(page.locator("#tree")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#tree")).to_be_hidden()


def test_without_a_script_search_and_reading_work(open_page, demo, head):
    page = open_page(java_script_enabled=False)
    page.locator("#pattern").fill("println")
    page.locator(".ask-go").click()
    expect(page.locator("#found")).to_have_text("1 line in 1 file")
    page.locator(".hot .lineno").click()
    assert page.url.endswith("#L4") and f"commit={head}" in page.url
    expect(page.locator("#L4 mark")).to_have_text("println")
    page.get_by_label("Find in file").last.fill("package")
    page.get_by_label("Find in file").last.press("Enter")
    expect(page.locator("#L1 mark")).to_have_text("package")
    page.locator(".side").get_by_text("README.md").click()
    expect(page.locator(".crumbs b")).to_have_text("README.md")


def test_results_do_not_shift_the_page(open_page, demo):
    page = open_page("?repo=acme/tools&pattern=needle")
    page.evaluate(
        "new PerformanceObserver(list => { window.shift = (window.shift ?? 0) +"
        " list.getEntries().reduce((sum, e) => sum + (e.hadRecentInput ? 0 : e.value), 0) })"
        ".observe({ type: 'layout-shift', buffered: true })"
    )
    page.wait_for_timeout(500)
    assert page.evaluate("window.shift ?? 0") < 0.01


def test_a_new_commit_does_not_move_a_pinned_page(open_page, demo, head, site):
    page = open_page(f"code?repo=acme/tools&path=README.md&commit={head}&branch=main")
    before = page.locator("#lines").inner_text()
    queue_sync(demo)
    run_pending_jobs()
    page.reload()
    assert page.locator("#lines").inner_text() == before
