"""Loads what the first MCP call of a process would wait for."""

import threading
from importlib import import_module


def warm_up() -> threading.Thread:
    """Import the protocol's models, the SDK's classifier and all tools, beside the requests.

    They take a second or two, which neither the start of a web process nor `manage.py` should
    pay; a call that comes earlier waits for the import lock instead.
    """

    def load() -> None:
        import_module("mcp.shared.inbound")
        import_module("sourcegraph_site.mcp.protocol")
        from sourcegraph_site.mcp.registry import tools
        from sourcegraph_site.mcp.schema import tool_schema

        for entry in tools().values():
            tool_schema(entry.input)

    thread = threading.Thread(target=load, name="mcp-warm-up", daemon=True)
    thread.start()
    return thread
