"""A repository with a bit of everything, and Chromium on a live server."""

import os

import pytest

from repos.work import queue_sync
from tests.support.git_remote import Link, Submodule, lfs_pointer
from tests.support.jobs import run_pending_jobs

CHROMIUM = "/usr/bin/chromium"
SUBMODULE = "1111111111111111111111111111111111111111"

FILES = {
    "README.md": "# Tools\n\nThe needle is in the haystack.\n",
    "src/app/main.py": "".join(f"def step_{n}(needle):\n    return {n}\n\n\n" for n in range(30)),
    "src/main.go": 'package main\n\nfunc main() {\n\tprintln("needle")\n}\n',
    "docs/crlf.txt": "first needle\r\nsecond\r\n",
    "docs/latin.txt": b"caf\xe9 needle\n",
    "docs/empty.txt": "",
    "docs/wide.txt": "x" * 3000 + " needle\n",
    "docs/link.txt": Link("../README.md"),
    "docs/dangling.txt": Link("nowhere"),
    "data/large.txt": "".join(f"line {n}\n" for n in range(1, 5001)),
    "data/pointer.bin": lfs_pointer(),
    "data/raw.bin": b"\0\1\2needle",
    "vendor/lib": Submodule(SUBMODULE),
}


@pytest.fixture
def demo(make_repository):
    """acme/tools, indexed; its newest commit and the one before."""
    repo, remote = make_repository(files=FILES)
    remote.commit({"CHANGES": "needle, new\n"}, message="Say what changed")
    queue_sync(repo)
    run_pending_jobs()
    repo.refresh_from_db()
    return repo


@pytest.fixture
def head(demo):
    return demo.heads.get().commit


@pytest.fixture
def admin_client(client, administrator):
    client.force_login(administrator, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture(scope="session")
def chromium():
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=15_000)  # two browsers and a server share two busy cores
    # Playwright's loop runs in this thread, and tests ask the database in it too.
    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()
    if before is None:
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]
    else:
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = before


@pytest.fixture
def site(live_server, settings):
    """The address of the search page of a live server."""
    settings.ORIGIN = live_server.url
    settings.CSRF_TRUSTED_ORIGINS = [live_server.url]
    return f"{live_server.url}/sourcegraph/"


@pytest.fixture
def open_page(chromium, site):
    """Open pages by their path; fails at the end if the console said anything."""
    contexts, said = [], []

    def open_page(path: str = "", *, width: int = 1440, height: int = 900, **options):
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            permissions=["clipboard-read", "clipboard-write"],
            **options,
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(site + path)
        return page

    open_page.said = said
    yield open_page
    for context in contexts:
        context.close()
    assert said == []
