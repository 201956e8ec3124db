"""Git over HTTP on 127.0.0.1, by the real `git http-backend`, with faults on request."""

import base64
import subprocess
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from tests.support.git_remote import ENVIRONMENT, GitRemote


class HttpRemote:
    """A server whose repositories lie below `root`; `url("a/b")` serves root/a/b.git.

    Faults, changed at any time and in force from the next request on:
    `credentials`: (user, password) to be asked for; `status`: answer this instead;
    `redirect_to`: 302 to this address; `hang_seconds`: wait before answering, `hang_after`
    so many requests (counted in `requests`, which may be cleared);
    `cut_after`: break the connection after so many bytes of a pack.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.credentials: tuple[str, str] | None = None
        self.status: int | None = None
        self.redirect_to: str | None = None
        self.hang_seconds = 0.0
        self.hang_after = 0
        self.cut_after: int | None = None
        self.requests: Counter[str] = Counter()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def url(self, name: str) -> str:
        return f"{self.origin}/{name}.git"

    def repository(self, name: str, **options: Any) -> GitRemote:
        """Make an empty repository and serve it."""
        return GitRemote(self.root / f"{name}.git", **options)

    def wait(self, seconds: float) -> None:
        self._stopping.wait(seconds)

    def stop(self) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(remote: HttpRemote) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 60

        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def log_message(self, *args: Any) -> None:
            return

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            remote.requests[parts.path.rpartition("/")[2]] += 1
            self.close_connection = True
            body = self._body()
            if remote.hang_seconds and remote.requests.total() > remote.hang_after:
                remote.wait(remote.hang_seconds)
            if remote.redirect_to:
                return self._plain(302, Location=remote.redirect_to)
            if remote.status:
                return self._plain(remote.status)
            if remote.credentials and not self._authorised(*remote.credentials):
                return self._plain(401, **{"WWW-Authenticate": 'Basic realm="git"'})
            self._backend(parts.path, parts.query, body)

        def _authorised(self, user: str, password: str) -> bool:
            expected = base64.b64encode(f"{user}:{password}".encode()).decode()
            return self.headers.get("Authorization") == f"Basic {expected}"

        def _plain(self, status: int, **headers: str) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
                return _read_chunks(self.rfile)
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))

        def _backend(self, path: str, query: str, body: bytes) -> None:
            child = subprocess.Popen(
                ["git", "http-backend"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={
                    **ENVIRONMENT,
                    "GIT_PROJECT_ROOT": str(remote.root),
                    "GIT_HTTP_EXPORT_ALL": "1",
                    "PATH_INFO": path,
                    "QUERY_STRING": query,
                    "REQUEST_METHOD": self.command,
                    "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                    "CONTENT_LENGTH": str(len(body)),
                    "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                    "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                    "REMOTE_ADDR": "127.0.0.1",
                },
            )
            assert child.stdin is not None and child.stdout is not None
            feeder = threading.Thread(target=_feed, args=(child.stdin, body))
            feeder.start()
            try:
                self._relay(child.stdout)
            finally:
                child.kill()
                child.wait()
                feeder.join()
                child.stdout.close()

        def _relay(self, out: BinaryIO) -> None:
            status, headers = 200, []
            while line := out.readline().strip():
                name, _, value = line.decode().partition(": ")
                if name == "Status":
                    status = int(value.split()[0])
                else:
                    headers.append((name, value))
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            sent = 0
            while chunk := out.read1(16 << 10):  # type: ignore[attr-defined]
                if remote.cut_after is not None and sent + len(chunk) > remote.cut_after:
                    self.wfile.write(chunk[: remote.cut_after - sent])
                    return
                try:
                    self.wfile.write(chunk)
                except (BrokenPipeError, ConnectionResetError):
                    return
                sent += len(chunk)

    return Handler


def _feed(stdin: BinaryIO, body: bytes) -> None:
    try:
        stdin.write(body)
        stdin.close()
    except (BrokenPipeError, OSError):
        return


def _read_chunks(stream: BinaryIO) -> bytes:
    body = bytearray()
    while size := int(stream.readline().split(b";")[0], 16):
        body += stream.read(size)
        stream.readline()
    stream.readline()
    return bytes(body)


def wait_until(condition: Any, seconds: float = 20.0) -> None:
    """Poll until `condition()` is true; fails after `seconds`."""
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, "the condition did not become true"
        time.sleep(0.02)
