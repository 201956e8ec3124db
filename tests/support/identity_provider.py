"""A small OpenID Connect provider over HTTP on 127.0.0.1, strict about codes and PKCE."""

import base64
import hashlib
import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt

CLIENT, SECRET = "our-client", "a-secret-of-the-client-0123456789abcdef"


class IdentityProvider:
    """`person` holds the claims of whoever is sitting at the browser; None refuses."""

    def __init__(self) -> None:
        self.person: dict[str, Any] | None = {"sub": "1"}
        self.codes: dict[str, tuple[dict[str, str], dict[str, Any]]] = {}
        self.tokens: dict[str, dict[str, Any]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def discovery(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "jwks_uri": f"{self.url}/keys",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }

    def authorize(self, asked: dict[str, str]) -> str:
        """Where the browser goes next."""
        assert asked["client_id"] == CLIENT and asked["code_challenge_method"] == "S256"
        answer = {"state": asked["state"]}
        if self.person is None:
            answer["error"] = "access_denied"
        else:
            answer["code"] = secrets.token_hex(8)
            self.codes[answer["code"]] = (asked, self.person)
        return f"{asked['redirect_uri']}?{urlencode(answer)}"

    def token(self, sent: dict[str, str]) -> dict[str, Any] | None:
        asked, person = self.codes.pop(sent.get("code", ""), ({}, {}))
        digest = hashlib.sha256(sent.get("code_verifier", "").encode()).digest()
        proof = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if (
            not asked
            or asked["code_challenge"] != proof
            or asked["redirect_uri"] != sent.get("redirect_uri")
            or sent.get("client_secret") != SECRET
        ):
            return None
        token, now = secrets.token_hex(8), int(time.time())
        self.tokens[token] = person
        claims = person | {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 60}
        signed = jwt.encode(claims, SECRET, algorithm="HS256")
        return {"access_token": token, "token_type": "Bearer", "id_token": signed}


def _handler(provider: IdentityProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            return None

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/.well-known/openid-configuration":
                self._answer(provider.discovery())
            elif parts.path == "/authorize":
                asked = {key: values[0] for key, values in parse_qs(parts.query).items()}
                self.send_response(302)
                self.send_header("Location", provider.authorize(asked))
                self.end_headers()
            elif parts.path == "/userinfo":
                token = self.headers.get("Authorization", "").removeprefix("Bearer ")
                self._answer(provider.tokens.get(token))
            else:
                self._answer(None)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._answer(provider.token({k: v[0] for k, v in parse_qs(body).items()}))

        def _answer(self, value: dict[str, Any] | None) -> None:
            body = json.dumps(value or {"error": "invalid_grant"}).encode()
            self.send_response(200 if value else 400)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler
