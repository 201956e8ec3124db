"""An HTTP server whose answers a test writes; for clients that must cope with odd ones."""

import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Asked:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes


class Answers:
    """`status`, `body`, `headers` are what the next requests get; `asked` is what came."""

    def __init__(self) -> None:
        self.status = 200
        self.body: bytes = b"{}\n"
        self.headers: dict[str, str] = {"Content-Type": "application/json"}
        self.asked: list[Asked] = []
        answers = self

        class Handler(BaseHTTPRequestHandler):
            def _answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                headers = {name.lower(): value for name, value in self.headers.items()}
                body = self.rfile.read(length)
                answers.asked.append(Asked(self.command, self.path, headers, body))
                self.send_response(answers.status)
                for name, value in answers.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answers.body)))
                self.end_headers()
                self.wfile.write(answers.body)

            do_GET = do_POST = _answer

            def log_message(self, format: str, *args: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
