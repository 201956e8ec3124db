"""The scripts say in one line what is missing, and do nothing twice."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.ops.instance import ROOT

TOOLS = [
    "sh",
    "sed",
    "cat",
    "mkdir",
    "dirname",
    "mv",
    "chmod",
    "flock",
    "id",
    "env",
    "sort",
    "tail",
    "ls",
    "printf",
]


def shell(code: str, cwd: Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    env = {"PATH": str(path) if path else os.environ["PATH"], "HOME": str(cwd)}
    return subprocess.run(
        ["/bin/sh", "-euc", code], cwd=cwd, env=env, capture_output=True, text=True, timeout=60
    )


@pytest.fixture
def bare(tmp_path):
    """A PATH with little on it, in a directory with the scripts."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        if found:
            (folder / tool).symlink_to(found)
    shutil.copytree(ROOT / "script", tmp_path / "script")
    return folder


def fake(folder: Path, name: str, body: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{body}\n")
    (folder / name).chmod(0o755)


def test_serve_explains_its_options_without_installing_anything(tmp_path, bare):
    done = shell("script/serve --help", tmp_path, bare)
    assert done.returncode == 0
    for option in ("--host", "--port", "--data", "--no-demo", "--logs"):
        assert option in done.stdout
    assert not (tmp_path / ".venv").exists()


def test_missing_git_is_one_line(tmp_path, bare):
    done = shell("script/serve", tmp_path, bare)
    assert done.returncode == 1
    assert done.stderr == "script/serve: git is missing. Debian: apt-get install git\n"


@pytest.mark.parametrize(
    ("python", "line"),
    [
        (None, "Python 3.11 or newer is missing."),
        ("exit 1", "Python 3.11 or newer is missing."),
        ('case "$2" in *ensurepip*) exit 1;; esac', "Python's venv module is missing."),
    ],
)
def test_missing_python_or_venv_is_one_line(tmp_path, bare, python, line):
    fake(bare, "git", "")
    if python:
        fake(bare, "python3", python)
    done = shell("script/serve", tmp_path, bare)
    assert done.returncode == 1
    assert done.stderr.startswith(f"script/serve: {line}")
    assert len(done.stderr.splitlines()) == 1


def test_packages_are_installed_once_per_content_of_the_requirements(tmp_path, bare):
    (tmp_path / "requirements.txt").write_text("x==1\n")
    venv = tmp_path / ".venv" / "bin"
    venv.mkdir(parents=True)
    fake(
        venv,
        "python",
        'case "$*" in -V) echo Python 3.11.2;; *" install "*) echo installed >>log;; esac',
    )
    run = "me=x; . script/lib.sh; install requirements.txt"
    for _ in range(2):
        assert shell(run, tmp_path, bare).returncode == 0
    assert (tmp_path / "log").read_text() == "installed\n"
    (tmp_path / "requirements.txt").write_text("x==2\n")
    shell(run, tmp_path, bare)
    assert (tmp_path / "log").read_text() == "installed\n" * 2


def test_a_failed_installation_leaves_no_stamp(tmp_path, bare):
    (tmp_path / "requirements.txt").write_text("x==1\n")
    venv = tmp_path / ".venv" / "bin"
    venv.mkdir(parents=True)
    fake(venv, "python", 'case "$*" in *" install "*) exit 1;; esac')
    done = shell("me=x; . script/lib.sh; install requirements.txt", tmp_path, bare)
    assert done.returncode == 1
    assert "x: pip could not install requirements.txt" in done.stderr
    assert list((tmp_path / ".venv").glob(".installed*")) == []


def test_without_root_the_missing_tools_are_named_in_one_line_and_it_fails(tmp_path, bare):
    (bare / "id").unlink()
    fake(bare, "id", "echo 1000")
    code = "me=script/test; . script/lib.sh; . script/servers.sh; need_tools redis-server rg sh"
    done = shell(code, tmp_path, bare)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    names = "redis-server ripgrep"
    assert line == f"script/test: missing: {names}. As root: apt-get install {names}"


def test_as_root_the_missing_tools_are_installed_by_the_names_of_their_packages(tmp_path, bare):
    (bare / "id").unlink()
    fake(bare, "id", "echo 0")
    fake(bare, "apt-get", f'echo "$*" >>{tmp_path}/log')
    code = "me=script/test; . script/lib.sh; . script/servers.sh; need_tools redis-server rg sh"
    assert shell(code, tmp_path, bare).returncode == 0
    update, install = (tmp_path / "log").read_text().splitlines()
    assert update.startswith("update")
    assert install.endswith("redis-server ripgrep")


def test_settings_of_the_person_who_tests_do_not_reach_the_tests(tmp_path):
    code = (
        "me=x; export SOURCEGRAPH_ORIGIN=https://x DATABASE_URL=y; . script/lib.sh;"
        " . script/servers.sh; clean_environment; env"
    )
    done = shell(f"cd '{ROOT}'; {code}", tmp_path)
    assert "SOURCEGRAPH_" not in done.stdout
    assert "DATABASE_URL" not in done.stdout


@pytest.mark.parametrize(
    ("log", "line"),
    [
        ("...\n12 passed in 3.0s\n", "12 passed in 3.0s"),
        ("=== 1 failed, 2 passed in 1s ===\n", "=== 1 failed, 2 passed in 1s ==="),
    ],
)
def test_the_closing_line_of_pytest_is_found(tmp_path, log, line):
    (tmp_path / "log").write_text(log)
    code = f". '{ROOT}/script/servers.sh'; closing_line log"
    assert shell(code, tmp_path).stdout == f"{line}\n"
