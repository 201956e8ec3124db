"""Tools that the conformance suite calls by name; they exist only while it runs."""

from sourcegraph_site.kernel.errors import InvalidRequest
from sourcegraph_site.kernel.inputs import Input
from sourcegraph_site.mcp.registry import Caller, tool


class Nothing(Input):
    pass


@tool(title="Text", description="Simple text.", input=Nothing, read_only=True)
def test_simple_text(caller: Caller, params: Nothing) -> str:
    return "This is a simple text response for testing."


@tool(title="Error", description="An error as a result.", input=Nothing, read_only=True)
def test_error_handling(caller: Caller, params: Nothing) -> str:
    raise InvalidRequest("This tool intentionally returns an error for testing")
