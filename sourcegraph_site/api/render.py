"""JSON out: `kernel/wire.dumps`, or bytes that are JSON already (cached answers)."""

from collections.abc import Mapping
from typing import Any

from rest_framework.renderers import BaseRenderer

from sourcegraph_site.kernel.wire import dumps


class WireRenderer(BaseRenderer):
    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return data if isinstance(data, bytes) else dumps(data)
