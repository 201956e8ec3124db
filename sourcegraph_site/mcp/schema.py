"""An `Input` as the JSON schema that a model sees.

Kept small and plain, because every listing costs the model tokens and some clients know only
a part of JSON Schema: references are written out, titles and null alternatives are dropped (a
null argument is read as an omitted one).
"""

from functools import lru_cache
from typing import Any

from sourcegraph_site.kernel.inputs import Input


@lru_cache(maxsize=64)
def tool_schema(model: type[Input]) -> dict[str, Any]:
    """The schema of the arguments object, with snake_case names."""
    full = model.model_json_schema(by_alias=False)
    definitions = full.pop("$defs", {})
    schema: dict[str, Any] = _plain(full, definitions)
    schema.pop("description", None)  # the docstring of the class; the tool has its own
    return schema


def _plain(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_plain(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = dict(definitions[node["$ref"].rsplit("/", 1)[1]])
        target.pop("description", None)
        return _plain({**target, **{k: v for k, v in node.items() if k != "$ref"}}, definitions)
    alternatives = node.get("anyOf")
    if alternatives is not None:
        kept = [item for item in alternatives if item != {"type": "null"}]
        if len(kept) == 1:
            rest = {k: v for k, v in node.items() if k != "anyOf"}
            return _plain({**kept[0], **rest}, definitions)
    return {
        key: _properties(value, definitions) if key == "properties" else _plain(value, definitions)
        for key, value in node.items()
        if key != "title" and not (key == "default" and value in (None, "", [], False))
    }


def _properties(properties: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Here the keys are names of fields, of which one may well be called `title`."""
    return {name: _plain(value, definitions) for name, value in properties.items()}
