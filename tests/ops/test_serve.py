"""`manage.py serve` with real processes."""

import os
import signal
import subprocess
import sys

import pytest

from tests.ops.instance import (
    ROOT,
    Instance,
    alive,
    children_of,
    clean_environment,
    instance,
    until,
)

ENQUEUE = (
    "from sourcegraph_site.jobs import queue; "
    "queue.enqueue_once('test.slow', identity='slow', exclusive='slow')"
)
SLOW = {"DJANGO_SETTINGS_MODULE": "tests.ops.settings"}


@pytest.fixture(scope="module")
def running():
    with instance("--no-demo", **SLOW) as started:
        yield started


def serve(*options: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "serve", *options],
        cwd=ROOT,
        env=clean_environment(**env),
        capture_output=True,
        text=True,
        timeout=90,
    )


def job(started: Instance) -> dict:
    return started.rows("SELECT * FROM jobs_job WHERE kind = 'test.slow' ORDER BY id DESC")[0]


def runner(started: Instance, fence: int) -> int:
    """The process that runs the slow job under this fence."""
    path = started.data / f"running.{fence}"
    return int(until(f"claim {fence}", lambda: path.exists() and path.read_text()))


def test_it_prints_its_address_and_one_link_for_the_first_administrator(running):
    text = running.text()
    assert f"http://localhost:{running.port}/sourcegraph/ " in text
    assert text.count(f"http://localhost:{running.port}/sourcegraph/first-administrator?link=") == 1
    assert "Traceback" not in text


def test_it_is_alive_and_ready_and_answers_other_methods_with_405(running):
    assert running.ask("healthz") == (200, {"status": "alive"})
    ready = {"status": "ready", "scope": "authenticated-backend"}
    assert running.ask("readyz") == (200, ready)
    status, body = running.ask("healthz", "POST", {})
    assert (status, body["Meta"]["Code"]) == (405, "METHOD_NOT_ALLOWED")


def test_a_second_instance_on_the_same_data_is_refused_in_one_line(running):
    done = serve("--data", str(running.data))
    assert done.returncode == 1
    assert f"Another instance (process {running.process.pid}) is using" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_port_in_use_is_refused_in_one_line(running, tmp_path):
    done = serve("--data", str(tmp_path), "--port", str(running.port))
    assert done.returncode == 1
    assert f"Cannot listen on 127.0.0.1:{running.port}: Address already in use." in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("word", ["gunicorn", "jobs-1@", "jobs-2@", " beat "])
def test_a_killed_child_is_started_again(running, word):
    (before,) = until(word, lambda: running.pids(word))
    os.kill(before, signal.SIGKILL)
    until(f"another {word}", lambda: set(running.pids(word)) - {before})
    running.ready()
    assert not alive(before)


def test_a_job_whose_worker_is_killed_is_taken_over_and_finished_once(running):
    running.run(ENQUEUE)
    os.kill(runner(running, 1), signal.SIGKILL)
    runner(running, 2)
    (running.data / "go").touch()
    until("the end of the job", lambda: job(running)["state"] == "succeeded")
    assert (job(running)["attempt"], job(running)["recovery_reason"]) == (2, "LEASE_EXPIRED")
    assert job(running)["result"] == '{"fence": 2}'


def test_sigterm_stops_everything_and_a_job_in_hand_costs_no_attempt(tmp_path):
    with instance("--no-demo", data=tmp_path, **SLOW) as first:
        first.run(ENQUEUE)
        runner(first, 1)
        everyone = children_of(first.process.pid)
        assert first.stop() == 0
        assert [pid for pid in everyone if alive(pid)] == []
        assert (job(first)["state"], job(first)["stage"]) == ("queued", "interrupted")
        assert first.text().rstrip().endswith("Stopped.")
    (tmp_path / "go").touch()
    with instance("--no-demo", data=tmp_path, **SLOW) as second:
        until("the end of the job", lambda: job(second)["state"] == "succeeded")
        assert job(second)["attempt"] == 1


def test_a_killed_supervisor_leaves_no_process_behind_and_the_data_free(tmp_path):
    with instance("--no-demo", data=tmp_path, **SLOW) as first:
        first.run(ENQUEUE)
        runner(first, 1)
        everyone = children_of(first.process.pid)
        assert len(everyone) >= 5
        first.process.kill()
        first.process.wait()
        until("the end of all children", lambda: not any(map(alive, everyone)))
    (tmp_path / "go").touch()
    with instance("--no-demo", data=tmp_path, **SLOW) as second:
        until("the end of the job", lambda: job(second)["state"] == "succeeded")


@pytest.mark.servers
def test_on_postgresql_and_redis_a_killed_workers_job_is_finished_by_another(tmp_path):
    servers = {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL")}
    assert servers["DATABASE_URL"].startswith("postgres://")
    with instance("--no-demo", data=tmp_path, **SLOW, **servers) as started:
        assert not (tmp_path / "sourcegraph.db").exists()
        started.run(ENQUEUE)
        os.kill(runner(started, 1), signal.SIGKILL)
        runner(started, 2)
        (tmp_path / "go").touch()
        until("the end of the job", lambda: job(started)["state"] == "succeeded")
        assert job(started)["recovery_reason"] == "LEASE_EXPIRED"
        assert started.stop() == 0
