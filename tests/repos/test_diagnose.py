import logging

import pytest

from repos.gitstore.diagnose import diagnose
from repos.gitstore.process import GitFailed, GitOutputTooLarge, GitTimedOut

URL = "https://code.example/acme/widgets.git"


@pytest.mark.parametrize(
    ("stderr", "code"),
    [
        (f"fatal: repository '{URL}/' not found", "GIT_REPOSITORY_UNAVAILABLE"),
        ("remote: Repository not found.\nfatal: …", "GIT_REPOSITORY_UNAVAILABLE"),
        ("ERROR: Repository not found.\nfatal: Could not read from remote repository.",)
        + ("GIT_REPOSITORY_UNAVAILABLE",),
        ("fatal: '/srv/x' does not appear to be a git repository", "GIT_REPOSITORY_UNAVAILABLE"),
        (f"fatal: unable to access '{URL}/': The requested URL returned error: 404",)
        + ("GIT_REPOSITORY_UNAVAILABLE",),
        ("remote: The project you were looking for could not be found or you",)
        + ("GIT_REPOSITORY_UNAVAILABLE",),
        (f"fatal: unable to access '{URL}/': The requested URL returned error: 403",)
        + ("GIT_ACCESS_DENIED",),
        ("remote: Permission to acme/widgets.git denied to ada.", "GIT_ACCESS_DENIED"),
        ("fatal: detected dubious ownership in repository at '/srv/x'", "GIT_ACCESS_DENIED"),
        (f"fatal: Authentication failed for '{URL}/'", "GIT_AUTH_FAILED"),
        ("fatal: could not read Username for 'https://github.com': terminal prompts disabled",)
        + ("GIT_AUTH_FAILED",),
        ("remote: HTTP Basic: Access denied", "GIT_AUTH_FAILED"),
        ("git@forge: Permission denied (publickey).", "GIT_AUTH_FAILED"),
        ("fatal: mismatched algorithms: client sha1; server sha256",)
        + ("UNSUPPORTED_REPOSITORY_FORMAT",),
        ("fatal: write error: No space left on device", "INSUFFICIENT_STORAGE"),
        ("error: unable to write file: Disk quota exceeded", "INSUFFICIENT_STORAGE"),
        (f"fatal: unable to access '{URL}/': Could not resolve host: code.example",)
        + ("GIT_FETCH_FAILED",),
        (f"fatal: unable to access '{URL}/': Failed to connect to code.example port 443",)
        + ("GIT_FETCH_FAILED",),
        ("fatal: unable to access: SSL certificate problem: self-signed", "GIT_FETCH_FAILED"),
        ("Host key verification failed.", "GIT_FETCH_FAILED"),
        ("error: RPC failed; curl 92 HTTP/2 stream 5", "GIT_FETCH_FAILED"),
        ("fatal: early EOF\nfatal: index-pack failed", "GIT_FETCH_FAILED"),
        ("fatal: couldn't find remote ref refs/heads/gone", "GIT_FETCH_FAILED"),
        ("something that nobody has seen before", "GIT_FETCH_FAILED"),
        ("", "GIT_FETCH_FAILED"),
    ],
)
def test_what_git_says_becomes_a_code_and_stays_out_of_the_message(stderr, code):
    error = diagnose(GitFailed("fetch", 128, stderr))

    assert error.code == code
    assert "code.example" not in error.message and "/srv" not in error.message


def test_a_time_out_and_a_flood_are_failed_fetches():
    assert diagnose(GitTimedOut()).code == "GIT_FETCH_FAILED"
    assert diagnose(GitOutputTooLarge()).code == "GIT_FETCH_FAILED"


def test_the_log_shows_no_credential(caplog):
    with caplog.at_level(logging.WARNING):
        diagnose(GitFailed("fetch", 128, "fatal: unable to access 'https://ada:s3cret@x.example/'"))

    assert "x.example" in caplog.text and "s3cret" not in caplog.text
