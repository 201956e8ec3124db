"""Each start-up check complains about its fault, and about nothing in a sound environment."""

import os

import pytest

from sourcegraph_site import checks


def ids() -> set[str]:
    return {message.id for message in checks.environment()}


@pytest.fixture(autouse=True)
def sound(settings, tmp_path):
    settings.DATA_ROOT = tmp_path
    settings.MIN_FREE_BYTES = 0


def test_a_sound_environment_has_no_complaint():
    assert ids() == set()


def test_git_that_is_missing_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(checks, "run_git", _raising(FileNotFoundError()))
    assert ids() == {"site.E001"}


def test_git_that_is_too_old_is_said(monkeypatch):
    monkeypatch.setattr(checks, "run_git", lambda *args, **kw: b"git version 2.30.2\n")
    assert ids() == {"site.E002"}


@pytest.mark.parametrize(
    ("text", "version"),
    [("git version 2.39.5", (2, 39)), ("git version 2.50.GIT (x)", (2, 50)), ("nothing", None)],
)
def test_the_version_is_read_from_what_git_prints(text, version):
    assert checks.git_version(text) == version


def test_a_data_root_that_cannot_be_written_is_said(settings):
    settings.DATA_ROOT = "/nowhere"
    assert "site.E003" in {message.id for message in checks.data_root()}


def test_several_file_systems_below_the_data_root_are_said(settings, tmp_path):
    other = next(
        path
        for path in ("/dev/shm", "/run", "/proc")
        if os.stat(path).st_dev != tmp_path.stat().st_dev
    )
    (tmp_path / "staging").symlink_to(other)
    assert ids() == {"site.E004"}


def test_less_free_space_than_the_reserve_is_a_warning(settings):
    settings.MIN_FREE_BYTES = 1 << 60
    assert ids() == {"site.W001"}


def test_a_secret_that_others_can_read_is_said(tmp_path):
    path = tmp_path / "secret.key"
    path.write_text("x" * 64)
    path.chmod(0o600)
    assert ids() == set()
    path.chmod(0o644)
    assert ids() == {"site.E005"}


def test_another_kernel_than_the_locked_one_is_said(monkeypatch, tmp_path):
    (tmp_path / "kernel.wasm").write_bytes(b"\0asm other")
    (tmp_path / "kernel.lock").write_bytes((checks.KERNEL / "kernel.lock").read_bytes())
    monkeypatch.setattr(checks, "KERNEL", tmp_path)
    assert ids() == {"site.E006"}


def test_a_local_remote_that_is_no_directory_is_said(settings, tmp_path):
    settings.LOCAL_REMOTES = [tmp_path, tmp_path / "absent"]
    assert ids() == {"site.E007"}


def test_a_code_source_of_the_environment_that_cannot_be_used_is_said(settings):
    settings.CODE_SOURCES = [{"id": "corp", "name": "Corp", "host": "10.0.0.1"}]
    assert ids() == {"site.E020"}
    settings.CODE_SOURCES = [{"id": "corp", "nmae": "Corp"}]
    assert ids() == {"site.E020"}


def test_listening_for_others_under_a_name_that_only_this_machine_has_is_a_warning(settings):
    settings.LISTEN_HOST, settings.LOOPBACK = "0.0.0.0", True
    assert ids() == {"site.W002"}


def test_an_unencrypted_address_for_others_is_a_warning(settings):
    settings.ORIGIN, settings.LOOPBACK, settings.SECURE = "http://code.example", False, False
    assert ids() == {"site.W003"}


def _raising(error):
    def fail(*args, **kwargs):
        raise error

    return fail
