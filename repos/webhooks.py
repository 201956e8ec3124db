"""POST /webhooks/<id>: deliveries of code hosts. Translates; the use case decides."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from repos.pushes import HEADERS
from repos.usecases.receive_push import PushReceived, receive_push
from sourcegraph_site.accounts.authentication import client_address
from sourcegraph_site.api import limits
from sourcegraph_site.api.views import ApiView, query_parameters
from sourcegraph_site.kernel.errors import InvalidRequest
from sourcegraph_site.kernel.wire import to_wire

MAX_DELIVERY_BYTES = 25 << 20  # GitHub sends no more


class WebhookView(ApiView):
    """A push to a registered repository, signed or with the webhook's secret."""

    reply = PushReceived
    status_code = 202

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """No caller is known here: the delivery itself is what is checked."""
        http = request._request
        limits.anonymous(client_address(http))
        query_parameters(http, frozenset())

    def post(self, request: Request, webhook_id: str) -> Response:
        http = request._request
        body = http.read(MAX_DELIVERY_BYTES + 1)
        if len(body) > MAX_DELIVERY_BYTES:
            raise InvalidRequest("The delivery is too large.")
        sent = {name: http.headers[name] for name in HEADERS if name in http.headers}
        return Response(to_wire(receive_push(webhook_id, sent, body)), status=202)
