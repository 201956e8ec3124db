"""OpenAPI from the declarations that the views use anyway."""

from typing import Any

from drf_spectacular.openapi import AutoSchema


class OperationSchema(AutoSchema):  # type: ignore[misc]
    """Adds what every view of ours has: query parameters, body, the error envelope."""

    def get_request_serializer(self) -> Any:
        model = getattr(self.view, "input", None)
        if model is None or self.method in ("GET", "HEAD", "DELETE"):
            return None
        return model

    def get_operation_id(self) -> str:
        return f"{self.method.lower()}_{self.path.removeprefix('/sourcegraph/').replace('/', '_')}"
