"""Run by the second environment: what SDK 1.30, which knows only the handshake, sees of us.

Prints one JSON object. `python old_client.py URL [KEY]`.
"""

import asyncio
import json
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client


async def main(url: str, key: str = "") -> dict[str, object]:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with (
        streamablehttp_client(url, headers=headers) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        hello = await session.initialize()
        tools = await session.list_tools()
        arguments = {"repo": "acme/tools", "path": "a.py"}
        good = await session.call_tool("read", arguments)
        bad = await session.call_tool("read", {**arguments, "path": "gone"})
        return {
            "version": hello.protocolVersion,
            "server": hello.serverInfo.name,
            "tools": [tool.name for tool in tools.tools],
            "read_only": all(tool.annotations.readOnlyHint for tool in tools.tools),
            "text": good.content[0].text,
            "is_error": bad.isError,
            "error": json.loads(bad.content[0].text)["code"],
        }


print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
