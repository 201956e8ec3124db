"""Every child process of the index: Git, and workers that build parts of a segment.

A worker is a fresh Python process with this module as its program. It reads one request a
line on its standard input, as JSON, and answers each with one line. It ends when that input
ends, and the kernel kills it when its parent dies, so a killed builder leaves no process.

    {"op": "extract", "staging", "number", "parts", "git_dir", "oids": file, "oid_bytes"}
    {"op": "extract", "staging", "number", "parts", "segments": [paths], "documents": file}
    {"op": "join", "target": file, "offset", "runs": [[path, …]], "ranges": [[lo, hi, at]]}
"""

import ctypes
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

GIT_ENV = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_NO_REPLACE_OBJECTS": "1",  # a commit is what its id says
}
_PACKAGE_ROOT = Path(__file__).resolve().parents[2]
_PIPE_BYTES = 1 << 20
_TICK_S = 0.5
_F_SETPIPE_SZ = 1031
_PR_SET_PDEATHSIG = 1


class GitFailed(Exception):
    """Git exited with an error. Internal: `stderr` can hold paths of the server."""

    def __init__(self, verb: str, status: int, stderr: str = "") -> None:
        super().__init__(f"git {verb} exited with {status}: {stderr.strip()[:300]}")
        self.verb = verb


class WorkerFailed(Exception):
    """A worker process ended, or met an error that it could not name."""


def git_output(git_dir: Path, verb: str, *arguments: str, stdin: bytes = b"") -> bytes:
    """Standard output of one Git command. Raises GitFailed."""
    done = subprocess.run(
        ["git", *_safe(git_dir), verb, *arguments], input=stdin, capture_output=True, env=GIT_ENV
    )
    if done.returncode:
        raise GitFailed(verb, done.returncode, done.stderr.decode(errors="replace"))
    return done.stdout


@contextmanager
def git_stream(git_dir: Path, verb: str, *arguments: str, stdin: Path) -> Iterator[int]:
    """Descriptor of the standard output of a Git command that reads the file `stdin`.

    Raises:
        GitFailed: it exited with an error; raised when the block has ended without one.
    """
    with stdin.open("rb") as source:
        child = subprocess.Popen(
            ["git", *_safe(git_dir), verb, *arguments],
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env=GIT_ENV,
        )
    assert child.stdout is not None
    try:
        yield child.stdout.fileno()
        child.stdout.close()
        if child.wait():
            raise GitFailed(verb, child.returncode)
    finally:
        child.stdout.close()
        if child.poll() is None:
            child.kill()
            child.wait()


def _safe(git_dir: Path) -> tuple[str, ...]:
    # A mirror may belong to another user than this process; it is ours all the same.
    return "-c", f"safe.directory={git_dir}", f"--git-dir={git_dir}"


class Workers:
    """Some worker processes. Use as a context manager: they are gone afterwards."""

    def __init__(self, count: int) -> None:
        self._processes = [_start_worker() for _ in range(count)]

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                pipe.close()

    def __len__(self) -> int:
        return len(self._processes)

    def send(self, requests: Sequence[dict[str, Any]]) -> None:
        """Give each worker one request. Raises WorkerFailed."""
        for process, request in zip(self._processes, requests, strict=True):
            try:
                _stdin(process).write(json.dumps(request).encode() + b"\n")
                _stdin(process).flush()
            except BrokenPipeError as exc:
                raise WorkerFailed("a worker has ended") from exc

    def answers(self, tick: Callable[[], None]) -> list[dict[str, Any]]:
        """Wait for the answers to what was sent.

        Calls `tick` about twice a second meanwhile; an error that it raises ends the wait.

        Raises:
            OSError: a worker met one, for instance a full disk.
            WorkerFailed: anything else.
        """
        return [_answer(process, tick) for process in self._processes]


def _stdin(process: "subprocess.Popen[bytes]") -> IO[bytes]:
    assert process.stdin is not None
    return process.stdin


def _start_worker() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "search.index.workers", str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=_PACKAGE_ROOT,
        env=os.environ | {"PYTHONPATH": str(_PACKAGE_ROOT)},
    )


def _answer(process: "subprocess.Popen[bytes]", tick: Callable[[], None]) -> dict[str, Any]:
    assert process.stdout is not None
    while not select.select([process.stdout], [], [], _TICK_S)[0]:
        tick()
    line = process.stdout.readline()
    if not line:
        raise WorkerFailed(f"a worker ended with {process.wait()}")
    answer: dict[str, Any] = json.loads(line)
    if "errno" in answer:
        raise OSError(answer["errno"], os.strerror(answer["errno"]), answer["file"])
    if "error" in answer:
        raise WorkerFailed(answer["error"])
    return answer


def widen_pipe(descriptor: int) -> None:
    """Let a pipe hold 1 MiB, so that writer and reader switch less often."""
    import fcntl

    try:
        fcntl.fcntl(descriptor, _F_SETPIPE_SZ, _PIPE_BYTES)
    except OSError:
        return  # beyond the user's quota of pipe memory: slower, not wrong


def _die_with(parent: int) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(1)  # it died before the line above


def main() -> None:
    """The program of a worker process."""
    _die_with(int(sys.argv[1]))
    # Here and not above: Git's callers need neither, and the import takes 0.2 s.
    from search.index.tasks import Tasks, no_tick

    answers = sys.stdout.buffer
    tasks = Tasks()
    for line in sys.stdin.buffer:
        request = json.loads(line)
        try:
            answer = tasks.run(request, no_tick)
        except OSError as exc:
            answer = {"errno": exc.errno or 5, "file": exc.filename}
        except Exception as exc:
            # The parent reports it; this process is of no use beyond that.
            answer = {"error": f"{type(exc).__name__}: {exc}"}
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    main()
