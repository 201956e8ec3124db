"""The MCP server: one path, Streamable HTTP, stateless, JSON replies (contract 2).

A plain Django view on the types and validators of the `mcp` package; no event loop and no
session. Both protocol eras are served on the one path:

- handshake (2024-11-05 to 2025-11-25): `initialize`, then requests that name the version in
  a header at most;
- stateless (2026-07-28): every request carries version and client capabilities in `_meta`,
  and routing headers that must equal the body.

Layers, top down: `views` (HTTP: host, origin, credential, limits), `protocol` (JSON-RPC and
the methods), `call` (one tool call: arguments → use case → text), `registry` (which tools
there are). A tool is a function in an app's `mcp_tools.py`. Who calls is passed down as data
(`registry.Caller`), never kept in a variable of the process or the thread.
"""
