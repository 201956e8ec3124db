"""OpenAPI from the declarations that the views use anyway.

A view says `input` (its body), `reply` or a use case with a typed result (its answer) and
`parameters` (its query string); nothing is written twice for the schema.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, cast, get_type_hints

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from pydantic import TypeAdapter

from sourcegraph_site.kernel.wire import Casing, pascal

Schema = dict[str, Any]

PARAMETERS = {
    "repo": "Repository, as owner/name.",
    "after": "Cursor of the previous page.",
    "limit": "Rows a page, 1 to 100.",
    "revision": "Monitored branch or full commit SHA; empty means the default branch.",
    "branch": "Monitored branch.",
    "kind": "branch, tag or all.",
    "query": "Case-insensitive part of the name.",
    "author": "Case-insensitive part of the author or tagger.",
    "title": "Case-insensitive part of the commit title or of the tag's first line.",
    "since": "Not before: RFC 3339 time or YYYY-MM-DD (UTC).",
    "until": "Not after: RFC 3339 time or YYYY-MM-DD (UTC, the whole day).",
    "sort": "created (newest first) or name.",
    "first": "Rows a page.",
    "source": "Id of a code source.",
    "account": "User, organisation, group or workspace there.",
    "forks": "true: forks too.",
    "archived": "true: archived ones too.",
}

ERROR: Schema = {
    "type": "object",
    "required": ["Error", "Meta"],
    "properties": {
        "Error": {"type": "string"},
        "Meta": {
            "type": "object",
            "required": ["Protocol", "RequestID", "Status", "Code"],
            "properties": {
                "Protocol": {"type": "string"},
                "RequestID": {"type": "string"},
                "Status": {"type": "string", "enum": ["error"]},
                "Code": {"type": "string"},
                "Retryable": {"type": "boolean"},
                "RetryAfterSeconds": {"type": "integer"},
            },
        },
    },
}


class OperationSchema(AutoSchema):
    """Adds what every view of ours has: query parameters, body, reply, the error envelope."""

    def get_description(self) -> str:  # type: ignore[override]
        doc = type(self.view).__doc__ or ""
        use_case = getattr(type(self.view), "use_case", None)
        return cast(str, (getattr(use_case, "__doc__", None) or doc).strip().split("Raises:")[0])

    def get_override_parameters(self) -> list[Any]:
        return [
            OpenApiParameter(name, OpenApiTypes.STR, description=PARAMETERS.get(name, ""))
            for name in sorted(getattr(self.view, "parameters", ()))
        ]

    def get_request_serializer(self) -> Any:
        model = getattr(self.view, "input", None)
        if model is None or self.method in ("GET", "HEAD", "DELETE"):
            return None
        casing = getattr(self.view, "input_casing", "pascal")
        schema = _inlined(model.model_json_schema(by_alias=casing == "pascal"))
        # The repository stands in the query string.
        for name in ("repo", "Repo"):
            if name in schema["properties"] and "repo" in getattr(self.view, "parameters", ()):
                del schema["properties"][name]
                schema["required"] = [r for r in schema.get("required", []) if r != name]
        return {"application/json": schema}

    def get_response_serializers(self) -> Any:
        status = str(getattr(self.view, "status_code", 200))
        return {status: self._reply(), "default": ERROR}

    def _reply(self) -> Schema:
        view = type(self.view)
        reply = getattr(view, "reply", None)
        use_case: Callable[..., Any] | None = getattr(view, "use_case", None)
        if reply is None and use_case is not None:
            reply = get_type_hints(use_case).get("return")
        if reply is None:
            return {"type": "object"}
        return reply_schema(reply, getattr(view, "reply_casing", "snake"))

    def get_operation_id(self) -> str:
        path = self.path.removeprefix("/sourcegraph/").strip("/").replace("/", "_")
        return f"{self.method.lower()}_{path}"


def reply_schema(kind: Any, casing: Casing) -> Schema:
    """The schema of what `to_wire(value, casing)` makes of a result of this type."""
    if isinstance(kind, type) and not dataclasses.is_dataclass(kind):
        return {"type": "object"}
    schema = _inlined(TypeAdapter(kind).json_schema(mode="serialization"))
    return _renamed(schema) if casing == "pascal" else schema


def _inlined(schema: Schema) -> Schema:
    """Local references replaced by what they name; our types do not recurse."""
    definitions = schema.get("$defs", {})

    def walk(node: Any) -> Any:
        if isinstance(node, list):
            return [walk(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            return walk(definitions[node["$ref"].rpartition("/")[2]])
        return {key: walk(value) for key, value in node.items() if key != "$defs"}

    return cast(Schema, walk(schema))


def _renamed(node: Any) -> Any:
    if isinstance(node, list):
        return [_renamed(item) for item in node]
    if not isinstance(node, dict):
        return node
    found = {key: _renamed(value) for key, value in node.items()}
    if isinstance(node.get("properties"), dict):
        found["properties"] = {pascal(k): _renamed(v) for k, v in node["properties"].items()}
        found["required"] = [pascal(name) for name in node.get("required", [])]
    return found
