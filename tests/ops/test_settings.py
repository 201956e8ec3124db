"""A bad value stops the start with its name and what is wrong, in one line."""

import subprocess
import sys

import pytest

from tests.ops.instance import ROOT, clean_environment

NUMBERS = {
    "SOURCEGRAPH_MIN_FREE_BYTES": ("0", str(1 << 50)),
    "SOURCEGRAPH_MAX_INDEXED_FILE_BYTES": ("1024", str(16 << 20)),
    "SOURCEGRAPH_INDEX_WORKERS": ("1", "64"),
    "SOURCEGRAPH_ANONYMOUS_PER_CLIENT": ("0", "1000000000"),
    "SOURCEGRAPH_ANONYMOUS_TOTAL": ("0", "1000000000"),
    "SOURCEGRAPH_TRUSTED_PROXIES": ("0", "16"),
    "SOURCEGRAPH_SEARCH_CONCURRENCY": ("1", "256"),
    "SOURCEGRAPH_ANSWER_CACHE_BYTES": ("0", str(1 << 34)),
    "SOURCEGRAPH_JOB_LEASE_SECONDS": ("1", "3600"),
    "SOURCEGRAPH_WEB_PROCESSES": ("1", "64"),
    "SOURCEGRAPH_WEB_THREADS": ("1", "64"),
    "SOURCEGRAPH_JOB_PROCESSES": ("1", "64"),
}
BAD = [
    *[(name, "many", "write a whole number") for name in NUMBERS],
    *[
        (name, str(int(high) + 1), f"write a number from {low} to {high}")
        for name, (low, high) in NUMBERS.items()
    ],
    ("SOURCEGRAPH_LISTEN", "8080", "write host:port"),
    ("SOURCEGRAPH_LISTEN", "127.0.0.1:70000", "write host:port, port 1 to 65535"),
    ("SOURCEGRAPH_ORIGIN", "code.example", "write an address like https://"),
    ("SOURCEGRAPH_ORIGIN", "https://code.example:99999", "write an address like https://"),
    ("SOURCEGRAPH_ORIGIN", "https://code.example/path", "scheme, host and port only"),
    ("SOURCEGRAPH_CODE_HOST", "ftp://code.example", "write an address like https://"),
    ("SOURCEGRAPH_SECRET_KEY", "short", "at least 32 characters"),
    ("SOURCEGRAPH_API_TOKEN", "short", "at least 32 characters"),
    ("SOURCEGRAPH_DEBUG", "perhaps", "write true or false"),
    ("SOURCEGRAPH_LOG_LEVEL", "loud", "must be debug, info, warning or error"),
    ("SOURCEGRAPH_DATA_ROOT", "/dev/null/data", "cannot be made a directory"),
    ("SOURCEGRAPH_API_TOKEN_FILE", "/nowhere/token", "cannot be read"),
    ("DATABASE_URL", "mysql://localhost/x", "must be sqlite:///… or postgres://…"),
    ("DATABASE_URL", "nonsense", "DATABASE_URL"),
    ("REDIS_URL", "http://localhost", "must start with redis://"),
]


@pytest.mark.parametrize(("name", "value", "problem"), BAD)
def test_a_bad_value_is_named_with_its_problem_and_its_range(name, value, problem, tmp_path):
    env = clean_environment(**{"SOURCEGRAPH_DATA_ROOT": str(tmp_path), name: value})
    done = subprocess.run(
        [sys.executable, "manage.py", "serve"],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert done.returncode == 1
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith(f"manage.py: {name}")
    assert problem in line


def test_a_secret_value_is_not_repeated_in_the_complaint(tmp_path):
    from sourcegraph_site.env import secret_key

    secret = "too-short-to-show"
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Exception) as caught:
        patch.setenv("SOURCEGRAPH_SECRET_KEY", secret)
        secret_key("SOURCEGRAPH_SECRET_KEY", tmp_path)
    assert secret not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "before", "after"),
    [
        (["--port", "9"], {}, {"SOURCEGRAPH_LISTEN": "127.0.0.1:9"}),
        (["--host=0.0.0.0"], {}, {"SOURCEGRAPH_LISTEN": "0.0.0.0:8080"}),
        (
            ["--port=9"],
            {"SOURCEGRAPH_LISTEN": "0.0.0.0:80"},
            {"SOURCEGRAPH_LISTEN": "0.0.0.0:9"},
        ),
        (["--data", "/srv/x"], {}, {"SOURCEGRAPH_DATA_ROOT": "/srv/x"}),
        (["--no-demo"], {}, {"SOURCEGRAPH_LOCAL_REMOTES": None}),
        ([], {}, {"SOURCEGRAPH_LOCAL_REMOTES": str(ROOT)}),
        (
            [],
            {"SOURCEGRAPH_LOCAL_REMOTES": "/srv/git"},
            {"SOURCEGRAPH_LOCAL_REMOTES": f"/srv/git:{ROOT}"},
        ),
        (["--port", "nine"], {}, {"SOURCEGRAPH_LISTEN": None}),
    ],
)
def test_options_of_serve_become_settings_before_these_are_read(
    options, before, after, monkeypatch
):
    import os

    from sourcegraph_site.management.commands.serve import to_environment

    for name in ("SOURCEGRAPH_LISTEN", "SOURCEGRAPH_DATA_ROOT", "SOURCEGRAPH_LOCAL_REMOTES"):
        # Set first, so that what the code under test sets is undone as well.
        monkeypatch.setenv(name, "")
        if name in before:
            monkeypatch.setenv(name, before[name])
        else:
            monkeypatch.delenv(name)
    to_environment(options)
    assert {name: os.environ.get(name) for name in after} == after
