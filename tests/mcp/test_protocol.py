"""JSON-RPC and both protocol eras on the one path."""

import json

import pytest

from tests.support.mcp import META, STATELESS, Rpc

HANDSHAKE = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
INIT = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
ALWAYS = ["availability", "blame", "diff", "find", "list", "log", "read", "read_many"]
ALWAYS += ["refs", "repositories", "resolve", "search"]


def error_of(response):
    return response.json()["error"]["code"]


@pytest.fixture
def stateless(db) -> Rpc:
    return Rpc(stateless=True)


@pytest.mark.parametrize("version", HANDSHAKE)
def test_the_handshake_agrees_on_the_clients_version(rpc, version):
    result = rpc.result("initialize", {"protocolVersion": version, **INIT})
    assert result["protocolVersion"] == version
    assert result["serverInfo"]["name"] == "context-sourcegraph"
    assert result["serverInfo"]["version"] == "0.1.0"
    assert set(result["capabilities"]) == {"tools"}
    assert "never substitute" in result["instructions"]


@pytest.mark.parametrize("version", ["1999-01-01", STATELESS])
def test_an_unknown_version_in_the_handshake_gets_the_newest(rpc, version):
    result = rpc.result("initialize", {"protocolVersion": version, **INIT})
    assert result["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize("version", HANDSHAKE)
def test_no_handshake_and_no_session_is_needed(rpc, version):
    message = {"jsonrpc": "2.0", "id": "a", "method": "tools/list"}
    response = rpc.post(message, MCP_Protocol_Version=version, Mcp_Session_Id="made-up")
    assert response.json()["id"] == "a"
    assert [tool["name"] for tool in response.json()["result"]["tools"]] == ALWAYS


def test_an_unknown_version_in_the_header_is_refused(rpc):
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert rpc.post(message, MCP_Protocol_Version="1999-01-01").status_code == 400


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/cancelled"])
def test_notifications_are_taken_without_an_answer(rpc, method):
    response = rpc.post({"jsonrpc": "2.0", "method": method})
    assert (response.status_code, response.content) == (202, b"")


def test_an_answer_to_a_request_of_ours_is_taken(rpc):
    assert rpc.post({"jsonrpc": "2.0", "id": 1, "result": {}}).status_code == 202


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("{", -32700),
        (" ", -32700),
        ('{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ping"}', -32700),
        ('{"a":' * 40 + "1" + "}" * 40, -32700),
        ('[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
        ('{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":1}', -32600),
        ('{"jsonrpc":"2.0","method":5}', -32600),
    ],
)
def test_what_is_no_message_is_refused(rpc, body, code):
    response = rpc.post(body)
    assert response.status_code == 400
    assert error_of(response) == code
    assert response.json()["id"] is None


@pytest.mark.parametrize("method", ["resources/list", "prompts/list", "logging/setLevel", "nope"])
def test_methods_that_we_do_not_offer_are_not_found(rpc, stateless, method):
    params = {"level": "info"} if method.startswith("logging") else None
    old, new = rpc.send(method, params), stateless.send(method, params)
    assert (old.status_code, error_of(old)) == (200, -32601)
    assert (new.status_code, error_of(new)) == (404, -32601)


@pytest.mark.parametrize("method", ["ping", "initialize"])
def test_the_handshake_is_gone_in_the_stateless_era(stateless, method):
    response = stateless.send(method, {"protocolVersion": STATELESS, **INIT})
    assert (response.status_code, error_of(response)) == (404, -32601)


def test_a_tool_that_does_not_exist_is_a_protocol_error(rpc, stateless):
    params = {"name": "format_disk", "arguments": {}}
    assert error_of(rpc.send("tools/call", params)) == -32602
    assert error_of(stateless.send("tools/call", params)) == -32602


def test_a_cursor_of_the_tool_list_is_refused(rpc):
    assert error_of(rpc.send("tools/list", {"cursor": "x"})) == -32602


def test_discovery_replaces_the_handshake(stateless):
    result = stateless.result("server/discover")
    assert result["supportedVersions"] == [STATELESS]
    assert result["resultType"] == "complete"
    assert (result["ttlMs"], result["cacheScope"]) == (0, "private")
    stamp = result["_meta"]["io.modelcontextprotocol/serverInfo"]
    assert stamp["name"] == "context-sourcegraph"


def test_the_stateless_list_and_call_carry_what_their_era_requires(stateless):
    listed = stateless.result("tools/list")
    assert (listed["resultType"], listed["cacheScope"]) == ("complete", "private")
    called = stateless.call("repositories")
    assert called["resultType"] == "complete"
    assert "ttlMs" not in called
    assert json.loads(called["content"][0]["text"]) == {"repositories": []}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Mcp-Method": "tools/list", "Mcp-Name": "repositories"},
        {"Mcp-Method": "tools/call", "Mcp-Name": "read"},
        {"Mcp-Method": "tools/call"},
        {"Mcp-Method": "tools/call,tools/call", "Mcp-Name": "repositories"},
    ],
)
def test_stateless_routing_headers_must_equal_the_body(stateless, headers):
    params = {"name": "repositories", "arguments": {}, "_meta": META}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    response = stateless.post(message, **{"MCP-Protocol-Version": STATELESS, **headers})
    assert (response.status_code, error_of(response)) == (400, -32020)


def test_a_stateless_request_without_its_envelope_is_refused(stateless):
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": "tools/list"}
    response = stateless.post(message, **headers)
    assert (response.status_code, error_of(response)) == (400, -32602)
    assert response.json()["id"] == 1


def test_a_version_of_the_future_is_told_what_we_speak(stateless):
    future = {**META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": future}}
    headers = {"MCP-Protocol-Version": "2099-01-01", "Mcp-Method": "tools/list"}
    response = stateless.post(message, **headers)
    assert (response.status_code, error_of(response)) == (400, -32022)
    assert response.json()["error"]["data"]["supported"] == [STATELESS]


def test_prepare_is_offered_only_to_those_who_may(rpc, service):
    assert sorted(set(service.tools()) - set(rpc.tools())) == ["prepare"]
    arguments = {"repo": "acme/tools", "idempotency_key": "12345678"}
    refused = rpc.send("tools/call", {"name": "prepare", "arguments": arguments})
    assert error_of(refused) == -32602


def test_two_callers_in_turn_on_one_thread_keep_their_own_identity(rpc, service, make_repository):
    make_repository("acme/private", public_read=False)
    make_repository("acme/public")

    def seen(caller):
        return [row["repo"] for row in caller.data("repositories")["repositories"]]

    for _ in range(2):
        assert sorted(seen(service)) == ["acme/private", "acme/public"]
        assert seen(rpc) == ["acme/public"]
        assert "prepare" in service.tools()
        assert "prepare" not in rpc.tools()
        hidden = rpc.error("read", repo="acme/private", path="README.md")
        assert hidden["code"] == "REPOSITORY_NOT_FOUND"
        assert "Tools" in service.text("read", repo="acme/private", path="README.md")
