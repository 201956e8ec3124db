"""Which tools there are.

An app offers a tool by decorating a function in its `mcp_tools.py`:

    @tool(
        title="Read lines of a file",
        description="…",
        input=ReadInput,
        read_only=True,
    )
    def read(caller: Caller, params: ReadInput) -> str:
        return file_text(read_file(caller.actor, ReadFile(...)))

The function's name is the tool's name. What it returns is the text that the model reads: one
block, or a list of blocks. Errors are raised as `AppError`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from django.utils.module_loading import autodiscover_modules

from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.inputs import Input
from sourcegraph_site.mcp.plugin_choice import AUTO, PluginChoice
from sourcegraph_site.mcp.schema import tool_schema


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, and with what connection. `writable`: a tool that writes is offered to them."""

    actor: Actor
    plugins: PluginChoice = AUTO
    writable: bool = False


Reply = str | list[str]
P = TypeVar("P", bound=Input)


def everyone(actor: Actor) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Tool:
    """`offered` decides per caller whether the tool is listed and can be called at all."""

    name: str
    title: str
    description: str
    input: type[Input]
    run: Callable[[Caller, Any], Reply]
    read_only: bool
    offered: Callable[[Actor], bool] = everyone

    def as_wire(self) -> dict[str, Any]:
        """The tool as `tools/list` shows it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": tool_schema(self.input),
            "annotations": {
                "title": self.title,
                "readOnlyHint": self.read_only,
                # A tool of ours that writes only adds work to a queue, once per key.
                "destructiveHint": False,
                "idempotentHint": True,
                "openWorldHint": False,
            },
        }


_TOOLS: dict[str, Tool] = {}


def tool(
    *,
    title: str,
    description: str,
    input: type[P],
    read_only: bool,
    offered: Callable[[Actor], bool] = everyone,
) -> Callable[[Callable[[Caller, P], Reply]], Callable[[Caller, P], Reply]]:
    """Offer the decorated function as a tool.

    Raises:
        ValueError: two tools of one name.
    """

    def add(run: Callable[[Caller, P], Reply]) -> Callable[[Caller, P], Reply]:
        name = run.__name__.rstrip("_")  # `list_` is the tool `list`
        if name in _TOOLS:
            raise ValueError(f"there are two tools called {name}")
        _TOOLS[name] = Tool(name, title, description, input, run, read_only, offered)
        return run

    return add


@lru_cache(maxsize=1)
def tools() -> dict[str, Tool]:
    """All tools by name, in alphabetical order, so that a client's cache of the list holds."""
    autodiscover_modules("mcp_tools")
    return dict(sorted(_TOOLS.items()))


def offered_to(actor: Actor) -> dict[str, Tool]:
    return {name: entry for name, entry in tools().items() if entry.offered(actor)}


def can_write(actor: Actor) -> bool:
    """Is any tool that writes offered to this caller?"""
    return any(not entry.read_only and entry.offered(actor) for entry in tools().values())
