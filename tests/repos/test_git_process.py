import os
import subprocess
import time
from pathlib import Path

import pytest

from repos.gitstore.process import (
    GitCall,
    GitFailed,
    GitOutputTooLarge,
    GitTimedOut,
    git_environment,
    run_git,
)
from sourcegraph_site.kernel.errors import InsufficientStorage
from tests.support.http_remote import wait_until


def alias(body: str) -> tuple[str, ...]:
    """Git arguments that run a shell command as Git's child."""
    return ("-c", f"alias.x=!{body}", "x")


def running(mark: str) -> bool:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in command:
                return True
    return False


def test_environment_of_the_server_does_not_reach_git(monkeypatch):
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    monkeypatch.setenv("https_proxy", "http://proxy.example")
    monkeypatch.setenv("HOME", "/root")

    out = run_git(None, *alias("env"), call=GitCall(timeout_s=20)).decode()

    names = {line.partition("=")[0]: line.partition("=")[2] for line in out.splitlines()}
    assert names["HOME"] == "/nonexistent"
    assert names["GIT_TERMINAL_PROMPT"] == "0"
    assert "https_proxy" not in names and names.get("GIT_DIR") != "/elsewhere"


def test_a_checkout_around_the_data_root_is_not_found(settings):
    subprocess.run(["git", "init", "-q", str(settings.DATA_ROOT.parent)], check=True)

    with pytest.raises(GitFailed) as failure:
        run_git(None, "rev-parse", "--git-dir", call=GitCall(timeout_s=20))

    assert "not a git repository" in failure.value.stderr


@pytest.mark.parametrize("url", ["ext::sh -c touch% /tmp/x", "file:///", "https://127.0.0.1/x.git"])
def test_no_protocol_is_allowed_unless_named(url):
    with pytest.raises(GitFailed) as failure:
        run_git(None, "ls-remote", "--end-of-options", url, call=GitCall(timeout_s=20))

    assert "not allowed" in failure.value.stderr


def test_timeout_kills_the_children_of_git_too():
    mark = f"1{os.getpid()}.25"

    with pytest.raises(GitTimedOut):
        run_git(None, *alias(f"sleep {mark} & sleep {mark}"), call=GitCall(timeout_s=0.5))

    wait_until(lambda: not running(f"sleep\0{mark}"))


def test_a_check_that_raises_ends_git_and_its_children():
    mark = f"2{os.getpid()}.25"

    def full() -> None:
        raise InsufficientStorage("full")

    call = GitCall(timeout_s=60, each_second=full)
    started = time.monotonic()
    with pytest.raises(InsufficientStorage):
        run_git(None, *alias(f"sleep {mark}"), call=call)

    assert time.monotonic() - started < 30
    wait_until(lambda: not running(f"sleep\0{mark}"))


def test_git_dies_with_the_process_that_runs_it(settings):
    mark = f"3{os.getpid()}.25"
    code = (
        "import django; django.setup()\n"
        "from repos.gitstore.process import GitCall, run_git\n"
        f"run_git(None, '-c', 'alias.x=!exec sleep {mark}', 'x', call=GitCall(timeout_s=99))\n"
    )
    child = subprocess.Popen(
        [os.sys.executable, "-c", code],
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"},
    )
    wait_until(lambda: running(f"alias.x=!exec sleep {mark}"))

    child.kill()
    child.wait()

    wait_until(lambda: not running(f"git\0--no-pager\0-c\0alias.x=!exec sleep {mark}"))


def test_output_beyond_the_limit_stops_git():
    call = GitCall(timeout_s=30, max_output=1000)
    with pytest.raises(GitOutputTooLarge):
        run_git(None, *alias("yes"), call=call)


def test_only_the_end_of_a_long_stderr_is_kept():
    script = "head -c 300000 /dev/zero | tr '\\\\0' x >&2; echo the-end >&2; exit 3"
    with pytest.raises(GitFailed) as failure:
        run_git(None, *alias(script), call=GitCall(timeout_s=30))

    assert failure.value.status == 3
    assert failure.value.stderr.rstrip().endswith("the-end")
    assert len(failure.value.stderr) <= 64 << 10


def test_lines_of_stderr_are_reported_as_they_come():
    lines: list[str] = []
    call = GitCall(timeout_s=30, on_line=lines.append)

    run_git(None, *alias("printf 'a 1\\ra 2\\rdone\\n' >&2"), call=call)

    assert lines == ["a 1", "a 2", "done"]


def test_branch_that_looks_like_an_option_stays_an_operand(git_remote):
    remote = git_remote()
    remote.commit({"a": "1"})

    with pytest.raises(GitFailed) as failure:
        run_git(
            remote.path,
            *("rev-parse", "--verify", "--end-of-options", "--upload-pack=touch /tmp/x"),
            call=GitCall(timeout_s=20),
        )

    assert "Needed a single revision" in failure.value.stderr


def test_directories_of_other_owners_are_safe_only_for_the_call_that_names_them(tmp_path):
    plain = Path(git_environment()["GIT_CONFIG_GLOBAL"]).read_text()
    named = Path(git_environment([tmp_path])["GIT_CONFIG_GLOBAL"]).read_text()

    assert "safe" not in plain
    assert f'directory = "{tmp_path}"' in named
