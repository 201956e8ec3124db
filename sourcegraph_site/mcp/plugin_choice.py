"""Which read plugins a call uses: what it names itself, else `?plugins=` of the connection."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sourcegraph_site.kernel.inputs import Field, Input
from sourcegraph_site.mcp.errors import InvalidPlugins

MAX_NAMES = 16
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}", re.ASCII)


@dataclass(frozen=True, slots=True)
class PluginChoice:
    """`auto`: each plugin's own default. `off`: never, even when a call names plugins.

    `named`: `names`, in this order, unless a call names its own.
    """

    mode: Literal["auto", "off", "named"] = "auto"
    names: tuple[str, ...] = ()


AUTO = PluginChoice()


def plugin_choice(values: list[str]) -> PluginChoice:
    """What the values of the query parameter mean; none is `auto`.

    Raises:
        InvalidPlugins: repeated or empty, a bad or repeated name, more than 16 names.
    """
    if not values:
        return AUTO
    if len(values) > 1:
        raise InvalidPlugins("The parameter plugins stands twice.")
    if values[0] in ("auto", "off"):
        return PluginChoice("off" if values[0] == "off" else "auto")
    names = tuple(values[0].split(","))
    for name in names:
        if not _NAME.fullmatch(name):
            raise InvalidPlugins(
                f"{name!r} is not a plugin name: write auto, off, or names separated by commas."
            )
    if len(set(names)) != len(names):
        raise InvalidPlugins("A plugin is named twice.")
    if len(names) > MAX_NAMES:
        raise InvalidPlugins(f"At most {MAX_NAMES} plugins can be named.")
    return PluginChoice("named", names)


class PluginArgument(Input):
    """One plugin that a call names."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$", description="Name of the plugin.")
    args: dict[str, Any] | None = Field(None, description="Arguments, as the plugin defines them.")


def plugin_blocks(choice: PluginChoice, named: Sequence[PluginArgument] | None) -> list[str]:
    """What plugins add to an answer, as further text blocks.

    This server runs no plugins, and says so to a call that relies on some; the read itself
    is answered all the same.

    Raises:
        InvalidPlugins: a call names a plugin twice.
    """
    names = [plugin.name for plugin in named] if named is not None else list(choice.names)
    if len(set(names)) != len(names):
        raise InvalidPlugins("A plugin is named twice.")
    if choice.mode == "off" or not names:
        return []
    return ["PluginDiagnostics:\nPLUGINS_DISABLED: This server runs no read plugins.\n"]
