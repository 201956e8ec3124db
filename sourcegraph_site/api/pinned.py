"""Answers at a fixed commit may be kept by the client, and asked for again cheaply.

An answer that depends on nothing but a full SHA never changes, so it carries an `ETag` and
`private, no-cache`: the client asks each time, because its rights or the commit's eligibility
may have ended, and gets 304 without a body when it has the answer already.
"""

import hashlib
from typing import Any, ClassVar

from django.http import HttpResponseBase, HttpResponseNotModified
from rest_framework.request import Request
from rest_framework.response import Response

from sourcegraph_site.api.views import QueryView
from sourcegraph_site.kernel.inputs import Input
from sourcegraph_site.kernel.wire import dumps, to_wire

CACHE_CONTROL = "private, no-cache"


class PinnedView(QueryView):
    """A query whose answer is fixed once `pinned_by` (fields of the input) hold full SHAs."""

    pinned_by: ClassVar[tuple[str, ...]] = ("revision",)

    def is_pinned(self, params: Input, result: Any) -> bool:
        """Can this answer never change?"""
        partial = bool(getattr(result, "partial", False))
        return not partial and all(_full_sha(getattr(params, name)) for name in self.pinned_by)

    def post(self, request: Request) -> Response | HttpResponseBase:  # type: ignore[override]
        params = self.read_input(request)
        # The use case runs first, also for 304: it is what checks rights and eligibility.
        result = type(self).use_case(self.actor, params)
        body = dumps(to_wire(result, self.reply_casing))
        if not self.is_pinned(params, result):
            return Response(body, status=self.status_code)
        tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        headers = {"ETag": tag, "Cache-Control": CACHE_CONTROL}
        if matches(request.headers.get("If-None-Match", ""), tag):
            return HttpResponseNotModified(headers=headers)
        return Response(body, status=self.status_code, headers=headers)


def _full_sha(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 40 and set(value) <= set("0123456789abcdef")


def matches(header: str, tag: str) -> bool:
    """Does `If-None-Match` name this tag? Weak comparison."""
    known = [part.strip().removeprefix("W/") for part in header.split(",")]
    return tag.removeprefix("W/") in known or known == ["*"]
