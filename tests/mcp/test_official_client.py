"""The official Python client of the newest SDK against a running server, in every mode.

`mode="2026-07-28"` and the assertion on the version matter: `auto` falls back to the
handshake in silence when anything is wrong with the stateless era.
"""

import json
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

MODES = {"auto": "2026-07-28", "legacy": "2025-11-25", "2026-07-28": "2026-07-28"}
REPO = "acme/tools"


@pytest.fixture
def remote(make_repository):
    return make_repository(REPO, files={"a.py": "needle\n"})[1]


@pytest.fixture
def session(live_server):
    """Run a coroutine with a connected client."""

    def run(work: Callable[[Client], Awaitable[Any]], mode: str, query="", token="") -> Any:
        async def connected() -> Any:
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            url = f"{live_server.url}/sourcegraph/mcp{query}"
            async with (
                httpx2.AsyncClient(headers=headers) as http,
                Client(streamable_http_client(url, http_client=http), mode=mode) as client,
            ):
                return await work(client)

        # A thread of its own: a browser's tests leave an event loop running in this one.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(anyio.run, connected).result()

    return run


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.django_db(transaction=True)
def test_the_client_lists_calls_and_reads_errors(session, remote, mode):
    async def work(client: Client) -> None:
        assert client.protocol_version == MODES[mode]
        assert client.server_info is None or client.server_info.name == "context-sourcegraph"
        names = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert names["search"].annotations.read_only_hint is True
        assert "prepare" not in names
        found = await client.call_tool("search", {"repo": REPO, "pattern": "needle"})
        assert found.is_error is not True
        assert "1: needle" in found.content[0].text
        assert found.structured_content is None
        failed = await client.call_tool("read", {"repo": REPO, "path": "gone"})
        assert failed.is_error is True
        assert json.loads(failed.content[0].text)["code"] == "FILE_NOT_FOUND"
        bad = await client.call_tool("read", {"repo": REPO})
        assert json.loads(bad.content[0].text)["code"] == "INVALID_REQUEST"
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("nope", {})

    session(work, mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.django_db(transaction=True)
def test_the_credential_of_the_deployment_may_write(session, remote, service_token, mode):
    async def work(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    assert "prepare" in session(work, mode, "?plugins=off", service_token)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.django_db(transaction=True)
def test_a_wrong_key_does_not_connect(session, mode):
    async def work(client: Client) -> None:
        await client.list_tools()

    with pytest.RaisesGroup(MCPError, flatten_subgroups=True):
        session(work, mode, token="wrong" * 10)
