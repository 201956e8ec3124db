"""A caller of the MCP endpoint without an SDK, for tests of the wire itself."""

import json
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpResponse
from django.test import Client

PATH = "/sourcegraph/mcp"
STATELESS = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientCapabilities": {},
}


@dataclass
class Rpc:
    """Speaks JSON-RPC as a handshake-era client does; `stateless` makes it one of 2026."""

    token: str = ""
    query: str = ""
    stateless: bool = False
    client: Client = field(default_factory=Client)

    def post(self, body: Any, **headers: str) -> HttpResponse:
        data = body if isinstance(body, bytes | str) else json.dumps(body)
        given = {"Accept": "application/json, text/event-stream"}
        if self.token:
            given["Authorization"] = f"Bearer {self.token}"
        return self.client.post(
            PATH + self.query,
            data=data,
            content_type=headers.pop("content_type", "application/json"),
            headers={**given, **{k.replace("_", "-"): v for k, v in headers.items()}},
        )

    def send(self, method: str, params: dict[str, Any] | None = None) -> HttpResponse:
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": method}
        if not self.stateless:
            if params is not None:
                message["params"] = params
            return self.post(message)
        message["params"] = {**(params or {}), "_meta": META}
        headers = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": method}
        if method == "tools/call":
            headers["Mcp-Name"] = (params or {})["name"]
        return self.post(message, **headers)

    def result(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        response = self.send(method, params)
        assert response.status_code == 200, response.content
        body = response.json()
        assert "error" not in body, body
        return body["result"]

    def tools(self) -> dict[str, dict[str, Any]]:
        return {tool["name"]: tool for tool in self.result("tools/list")["tools"]}

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        return self.result("tools/call", {"name": name, "arguments": arguments})

    def texts(self, name: str, **arguments: Any) -> list[str]:
        result = self.call(name, **arguments)
        assert not result.get("isError"), result
        return [block["text"] for block in result["content"]]

    def text(self, name: str, **arguments: Any) -> str:
        (only,) = self.texts(name, **arguments)
        return only

    def data(self, name: str, **arguments: Any) -> Any:
        return json.loads(self.text(name, **arguments))

    def error(self, name: str, **arguments: Any) -> dict[str, Any]:
        result = self.call(name, **arguments)
        assert result["isError"] is True, result
        (block,) = result["content"]
        return json.loads(block["text"])
