"""`?plugins=` of the connection URL: which read plugins a call uses that names none itself."""

import re
from dataclasses import dataclass
from typing import Literal

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
