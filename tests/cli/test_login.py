"""Where a key is kept, and to whom it is sent."""

import json
import stat
from pathlib import Path

import pytest

KEY = "sgk_" + "k" * 43


@pytest.fixture
def server(program, http_server):
    program.environment["SOURCEGRAPH_URL"] = http_server.url
    return http_server


def key_file(program):
    return Path(program.environment["HOME"]) / ".config/sourcegraph-cli/keys.json"


def test_a_key_is_kept_for_its_owner_alone_and_sent_from_then_on(program, server):
    done = program("login", stdin=KEY + "\n")
    assert done.code == 0, done.err
    assert KEY not in done.out + done.err
    path = key_file(program)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert json.loads(path.read_text()) == {server.url: KEY}
    program("repositories")
    assert server.asked[-1].headers["authorization"] == f"Bearer {KEY}"


def test_a_key_is_sent_to_no_other_server(program, server):
    program("login", stdin=KEY)
    program("repositories", SOURCEGRAPH_URL=server.url + "/other")
    assert "authorization" not in server.asked[-1].headers


def test_the_environment_beats_a_stored_key(program, server):
    program("login", stdin=KEY)
    program("repositories", SOURCEGRAPH_API_TOKEN="e" * 32)
    assert server.asked[-1].headers["authorization"] == "Bearer " + "e" * 32


def test_a_key_that_the_server_refuses_is_not_kept(program, server):
    server.status = 401
    done = program("login", stdin=KEY)
    assert done.code == 1
    assert "does not know this key" in done.err
    assert not key_file(program).exists()


def test_a_key_file_that_others_can_read_is_not_used(program, server):
    program("login", stdin=KEY)
    key_file(program).chmod(0o640)
    done = program("repositories")
    assert done.code == 2
    assert "chmod 600" in done.err


def test_a_damaged_key_file_is_said_to_be_one(program, server):
    program("login", stdin=KEY)
    key_file(program).write_text("[")
    assert program("repositories").code == 2


def test_logout_forgets_the_key(program, server):
    program("login", stdin=KEY)
    assert "Forgot the key" in program("logout").out
    program("repositories")
    assert "authorization" not in server.asked[-1].headers
    assert "There was no key" in program("logout").out


def test_a_keyring_is_preferred_to_the_file(program, server, tmp_path):
    ring = {
        "PYTHON_KEYRING_BACKEND": "tests.support.file_keyring.FileKeyring",
        "TEST_KEYRING": str(tmp_path / "ring.json"),
    }
    done = program("login", stdin=KEY, **ring)
    assert "the system keyring" in done.out
    assert not key_file(program).exists()
    program("repositories", **ring)
    assert server.asked[-1].headers["authorization"] == f"Bearer {KEY}"
    assert "Forgot the key" in program("logout", **ring).out
    assert "There was no key" in program("logout", **ring).out


def test_the_file_can_be_asked_for_although_there_is_a_keyring(program, server, tmp_path):
    ring = {
        "PYTHON_KEYRING_BACKEND": "tests.support.file_keyring.FileKeyring",
        "TEST_KEYRING": str(tmp_path / "ring.json"),
    }
    program("login", "-file", stdin=KEY, **ring)
    assert key_file(program).exists()


@pytest.mark.parametrize("key", ["", "short", "k" * 31])
def test_what_cannot_be_a_key_is_refused_before_it_is_sent(program, server, key):
    assert program("login", stdin=key).code == 2
    assert not server.asked
