"""Keeps the processes of one instance alive: web server, job workers, clock (beat).

    manage.py serve ─┬─ gunicorn ─ web processes
                     ├─ celery worker, one process per running job
                     └─ celery beat

A child that ends is started again, with growing pauses while it keeps failing. SIGTERM or
SIGINT stops all: each child is asked first and killed after `STOP_SECONDS`. Should the
supervisor itself be killed, the kernel kills its children (PR_SET_PDEATHSIG), theirs follow.

Children write into pipes that are read here, so their logs are bounded files, and a terminal
shows only what an operator must see.
"""

import contextlib
import ctypes
import logging
import logging.handlers
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

STOP_SECONDS = 15.0
STEADY_SECONDS = 30.0  # a child that lived so long failed for a new reason
MAX_PAUSE_SECONDS = 30.0
LOOK_SECONDS = 0.5
LOG_BYTES, LOG_FILES = 5 << 20, 3
PR_SET_PDEATHSIG = 1

Say = Callable[[str], None]


def die_with(parent: int) -> Callable[[], None]:
    """For a fresh process of `parent`: be killed when it dies.

    Linux ties this to the parent's *thread*, so only a main thread may start such children.
    """
    libc = ctypes.CDLL(None)

    def setup() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return setup


@dataclass
class Child:
    """One process to keep alive. `log` is its file; None passes its lines to the terminal."""

    name: str
    argv: Sequence[str]
    log: Path | None
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    failures: int = 0
    start_at: float = 0.0
    writer: logging.Handler | None = field(default=None, repr=False)
    rest: bytes = b""

    def start(self, env: dict[str, str]) -> IO[bytes]:
        """Start it in its own session, so that Ctrl-C reaches the supervisor alone."""
        self.process = subprocess.Popen(
            self.argv,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=die_with(os.getpid()),
        )
        self.started = time.monotonic()
        assert self.process.stdout is not None
        os.set_blocking(self.process.stdout.fileno(), False)
        return self.process.stdout

    def pause(self) -> float:
        """How long to wait before the next start, after one more end."""
        assert self.process is not None
        if self.process.returncode == 0 or time.monotonic() - self.started > STEADY_SECONDS:
            self.failures = 0
        self.failures += 1
        return min(MAX_PAUSE_SECONDS, 0.5 * float(2 ** (self.failures - 1)))

    def signal(self, number: signal.Signals) -> None:
        """Send to the child alone (to its whole session when it is to be killed)."""
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            if number is signal.SIGKILL:
                os.killpg(self.process.pid, number)
            else:
                self.process.send_signal(number)

    def write(self, line: str, say: Say) -> None:
        if self.log is None:
            say(f"{self.name}: {line}")
            return
        if self.writer is None:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            self.writer = logging.handlers.RotatingFileHandler(
                self.log, maxBytes=LOG_BYTES, backupCount=LOG_FILES, encoding="utf-8"
            )
        self.writer.emit(logging.LogRecord(self.name, logging.INFO, "", 0, line, None, None))


class Supervisor:
    """`run` returns after everything has stopped."""

    def __init__(
        self, children: Sequence[Child], *, env: dict[str, str], say: Say, look: Callable[[], None]
    ) -> None:
        """`look` is called about twice a second, for the terminal's progress."""
        self.children = children
        self.env = env
        self.say = say
        self.look = look
        self.stopping = False
        self.selector = selectors.DefaultSelector()

    def run(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._stop)
        try:
            while not self.stopping:
                self._start_due()
                self._read(LOOK_SECONDS)
                self._reap()
                self.look()
        finally:
            self._stop_all()

    def _stop(self, _number: int, _frame: object) -> None:
        self.stopping = True

    def _start_due(self) -> None:
        for child in self.children:
            if child.process is None and child.start_at <= time.monotonic():
                self.selector.register(child.start(self.env), selectors.EVENT_READ, child)

    def _read(self, seconds: float) -> None:
        """Pass on what the children wrote, for at most so long."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and not self.stopping:
            for key, _ in self.selector.select(min(left, 0.1)):
                self._drain(key.data, key.fd)

    def _drain(self, child: Child, fd: int) -> bool:
        """Pass on what is in the pipe now; False if there was nothing, and at its end."""
        try:
            data = os.read(fd, 65_536)
        except BlockingIOError:
            return False
        if not data:
            self._close(child)
            return False
        *lines, child.rest = (child.rest + data).split(b"\n")
        if len(child.rest) > 65_536:
            lines, child.rest = [*lines, child.rest], b""
        for line in lines:
            child.write(line.decode("utf-8", "replace"), self.say)
        return True

    def _close(self, child: Child) -> None:
        assert child.process is not None and child.process.stdout is not None
        if not child.process.stdout.closed:
            self.selector.unregister(child.process.stdout)
            child.process.stdout.close()

    def _reap(self) -> None:
        for child in self.children:
            process = child.process
            if process is None or process.poll() is None:
                continue
            self._last_words(child)
            pause = child.pause()
            child.process, child.start_at = None, time.monotonic() + pause
            # A worker ends by itself now and then; what failed says so.
            if process.returncode != 0 and not self.stopping:
                where = f"; see {child.log}" if child.log else ""
                self.say(
                    f"{child.name} ended ({ending(process.returncode)}),"
                    f" starting it again in {pause:g} s{where}"
                )
            # Whatever the child had started must not meet its successor.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    def _last_words(self, child: Child) -> None:
        """Read the rest; a grandchild may hold the pipe open, so not to its end."""
        assert child.process is not None and child.process.stdout is not None
        out = child.process.stdout
        while not out.closed and self._drain(child, out.fileno()):
            pass
        self._close(child)

    def _stop_all(self) -> None:
        alive = [child for child in self.children if child.process is not None]
        for child in alive:
            child.signal(signal.SIGTERM)
        until = time.monotonic() + STOP_SECONDS
        while any(c.process and c.process.poll() is None for c in alive):
            if time.monotonic() > until:
                break
            for key, _ in self.selector.select(0.1):
                self._drain(key.data, key.fd)
        for child in alive:
            child.signal(signal.SIGKILL)
            if child.process is not None:
                child.process.wait()


def ending(code: int) -> str:
    """How a process ended, in words."""
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        return signal.Signals(-code).name
    return f"signal {-code}"


def instance_children(*, jobs: int, data_root: Path, log_folder: Path | None) -> Iterator[Child]:
    """The processes of one instance, in the order in which they start."""

    def child(name: str, *argv: str) -> Child:
        log = log_folder / f"{name}.log" if log_folder else None
        return Child(name, [sys.executable, "-m", *argv], log)

    yield child(
        "web",
        "gunicorn",
        "--config=python:sourcegraph_site.webserver",
        "sourcegraph_site.wsgi:application",
    )
    celery = ("celery", "--skip-checks", "--app=sourcegraph_site.celery")
    for number in range(1, jobs + 1):
        yield child(
            f"jobs-{number}",
            *celery,
            "worker",
            f"--hostname=jobs-{number}@%h",
            "--loglevel=info",
            "--without-gossip",
            "--without-mingle",
            "--without-heartbeat",
        )
    schedule = data_root / "beat" / "schedule"
    schedule.parent.mkdir(exist_ok=True)
    yield child("beat", *celery, "beat", "--pidfile=", f"--schedule={schedule}")
