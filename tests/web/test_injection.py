"""Whatever a repository or a caller writes is shown as text, on every page."""

import re
from html import unescape

import pytest

from repos.work import queue_sync
from tests.support.jobs import run_pending_jobs
from tests.web.markup import Markup

pytestmark = pytest.mark.django_db

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"'><svg onload=alert(1)>",
    "</code></div></article><h1>free</h1>",
    "{{ 7 }}{% now 'Y' %}",
    "&lt;b&gt;&amp;amp;",
    "javascript:alert(1)",
    "\u202eright to left\u2066",
    "z" + "\u0301" * 5000,
]
PATHS = [
    "a<b>&\"'.py",
    "<script>alert(1)<_script>/x.js",
    "{{ 7 }}.txt",
    "javascript:alert(1)",
    "q?x=1&y=2#L3.txt",
    "50%41.txt",
    "\u202egnp.exe",
]


@pytest.fixture
def hostile(make_repository, cache_table):
    files = {f"f{n}.txt": f"needle {text}\n" for n, text in enumerate(HOSTILE)}
    files |= {f"f{n}.py": f"needle = '{text}'\n" for n, text in enumerate(HOSTILE)}
    files |= dict.fromkeys(PATHS, "needle\n")
    repo, remote = make_repository(files=files)
    remote.commit({"last": "needle\n"}, message=HOSTILE[0] + HOSTILE[2])
    queue_sync(repo)
    run_pending_jobs()
    repo.refresh_from_db()
    return repo


def tags_of(page: str) -> set[str]:
    """Elements and the names of their attributes: what hostile text must not add to."""
    return {f"{tag} {name}" for tag, attrs in Markup(page).tags for name in attrs}


def harmless(page: str) -> None:
    markup = Markup(page)
    assert [fault for fault in markup.faults if not fault.startswith("id ")] == []
    scripts = [attrs.get("src", "") for tag, attrs in markup.tags if tag == "script"]
    assert all(src.startswith("/sourcegraph/static/") for src in scripts)
    assert "<h1>free</h1>" not in page
    assert not any(tag == "img" for tag, _attrs in markup.tags)


def test_code_and_file_names_are_text_in_results(client, hostile):
    response = client.get("/sourcegraph/", {"repo": "acme/tools", "pattern": "needle"})
    page = response.content.decode()
    harmless(page)
    text = unescape(re.sub(r"</?mark>|</?span[^>]*>|</?b>", "", page))
    for words in [*HOSTILE[:8], *PATHS]:
        assert words.rpartition("/")[2] in text


def test_a_pattern_is_text_everywhere(client, hostile):
    for pattern in HOSTILE:
        for values in ({"pattern": pattern, "fixed_strings": "1"}, {"pattern": pattern + "("}):
            page = client.get("/sourcegraph/", {"repo": "acme/tools", **values}).content.decode()
            harmless(page)
            (field,) = [at for _tag, at in Markup(page).tags if at.get("id") == "pattern"]
            assert field["value"] == values["pattern"]


@pytest.mark.parametrize("name", ["repo", "revision", "glob", "branch", "after", "commit"])
def test_any_other_value_of_the_address_is_text(client, hostile, name):
    for text in HOSTILE:
        values = {"repo": "acme/tools", "pattern": "needle", name: text}
        harmless(client.get("/sourcegraph/", values).content.decode())
        values = {"repo": "acme/tools", "path": "last", "find": text, name: text}
        harmless(client.get("/sourcegraph/code", values, follow=True).content.decode())


@pytest.mark.parametrize("ending", ["txt", "py"])
def test_code_is_text_in_the_reader(client, hostile, ending):
    for number, text in enumerate(HOSTILE):
        values = {"repo": "acme/tools", "path": f"f{number}.{ending}", "find": "e"}
        page = client.get("/sourcegraph/code", values, follow=True).content.decode()
        harmless(page)
        rows = re.findall(r'id="L\d+">.*?<code>(.*?)</code>', page)
        assert text in unescape(re.sub(r"<[^>]*>", "", rows[0]))


def test_file_names_are_text_in_the_reader_and_their_links_lead_to_them(client, hostile):
    page = client.get("/sourcegraph/", {"repo": "acme/tools", "pattern": "needle"})
    links = [
        at["href"] for _t, at in Markup(page.content.decode()).tags if at.get("class") == "path"
    ]
    shown = {}
    for link in links:
        response = client.get(link)
        harmless(response.content.decode())
        shown[response.context["code"].path] = unescape(response.content.decode())
    for path in PATHS:
        assert f'data-copy="{path}"' in shown[path]


def test_commit_messages_are_text_in_lists(client, hostile):
    for tab in ("", "versions"):
        values = {"repo": "acme/tools", "tab": tab}
        page = client.get("/sourcegraph/repo", values).content.decode()
        harmless(page)
        assert HOSTILE[0] in unescape(page)


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_written_into_forms_comes_back_as_text(admin_client, text):
    fields = {"name": text, "url": text, "branches": text, "window": text}
    harmless(admin_client.post("/sourcegraph/repos/new", fields).content.decode())
    harmless(admin_client.get("/sourcegraph/repos", {"q": text}).content.decode())


@pytest.mark.parametrize("text", HOSTILE)
def test_the_sign_in_form_shows_text(client, db, text):
    page = client.post("/sourcegraph/login", {"login": text, "next": text}).content.decode()
    harmless(page)
    harmless(client.get("/sourcegraph/login", {"next": text}).content.decode())
