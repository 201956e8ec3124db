"""REST views that only translate: request → `Actor` and `Input`, result → JSON.

Most operations are a few lines:

    class ReadView(QueryView):
        input = ReadFile
        use_case = staticmethod(read_file)
"""

from collections.abc import Callable
from typing import Any, ClassVar, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from rest_framework.authentication import CSRFCheck
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from sourcegraph_site.accounts.authentication import actor_of, client_address
from sourcegraph_site.accounts.policy import public_read
from sourcegraph_site.api import limits
from sourcegraph_site.api.errors import handle
from sourcegraph_site.kernel.actor import Actor, ActorKind
from sourcegraph_site.kernel.errors import (
    AccessDenied,
    AuthenticationRequired,
    CsrfRequired,
    InvalidQueryParameters,
    InvalidRequest,
)
from sourcegraph_site.kernel.inputs import MAX_BODY_BYTES, Input, parse, parse_json
from sourcegraph_site.kernel.wire import Casing, dumps, to_wire

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class ApiView(APIView):
    """Base of every REST view: caller, rate limit, CSRF, query parameters, error envelope.

    `public`: anonymous callers may use it while the site allows public reading.
    `keys`: personal keys and OAuth tokens may use it.
    `browser_only`: a signed-in session and nothing else.
    """

    public: ClassVar[bool] = False
    keys: ClassVar[bool] = False
    browser_only: ClassVar[bool] = False
    parameters: ClassVar[frozenset[str]] = frozenset()

    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()
    actor: Actor

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Our checks in the contract's order, in place of DRF's."""
        http = request._request
        if self.browser_only and http.META.get("HTTP_AUTHORIZATION"):
            # Whatever it is, and whether it is valid: not looked at.
            raise AccessDenied("Only a person who is signed in on the website may do this.")
        self.actor = actor_of(http)
        self._admit(http)
        self.query = query_parameters(http, self.parameters)

    def _admit(self, http: HttpRequest) -> None:
        kind = self.actor.kind
        if kind is ActorKind.ANONYMOUS:
            if not (self.public and public_read()):
                raise AuthenticationRequired("Sign in, or send a key.")
            limits.anonymous(client_address(http))
        elif self.browser_only and kind is not ActorKind.SESSION:
            raise AccessDenied("Only a person who is signed in on the website may do this.")
        elif kind in (ActorKind.KEY, ActorKind.OAUTH) and not self.keys:
            raise AccessDenied("A personal key cannot be used here.")
        elif kind is ActorKind.SESSION and http.method not in SAFE_METHODS:
            _check_origin(http)

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """DRF's dispatch without what we do not use: parsers, negotiation, renderers.

        They would cost as much as a small search. The request stays Django's; it stands in
        for DRF's, whose `_request` it therefore has.
        """
        request._request = request
        self.request, self.args, self.kwargs = request, args, kwargs
        try:
            self.initial(request, *args, **kwargs)
            answer = self._handler(request)(request, *args, **kwargs)
        except Exception as exc:
            answer = handle(exc, {"request": request, "view": self})
        return _rendered(answer) if isinstance(answer, Response) else answer

    def _handler(self, request: HttpRequest) -> Callable[..., Any]:
        name = (request.method or "").lower()
        handler = getattr(self, name, None) if name in self.http_method_names else None
        if handler is None:
            raise MethodNotAllowed(name.upper())
        return cast(Callable[..., Any], handler)

    def options(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Response:
        return Response(status=204, headers={"Allow": ", ".join(self.allowed_methods)})


def _rendered(answer: Response) -> HttpResponse:
    body = b"" if answer.data is None else answer.data
    made = HttpResponse(
        body if isinstance(body, bytes) else dumps(body),
        status=answer.status_code,
        content_type="application/json",
    )
    for name, value in answer.headers.items():
        if name != "Content-Type":
            made[name] = value
    return made


def _answered(request: HttpRequest) -> HttpResponse:
    return HttpResponse()


def _check_origin(http: HttpRequest) -> None:
    """A signed-in write carries our Origin and the CSRF token; Django compares the token."""
    origin = http.META.get("HTTP_ORIGIN")
    ours = f"{http.scheme}://{http.get_host()}"
    if origin is None or origin not in (settings.ORIGIN, ours):
        raise CsrfRequired("Send Origin and X-CSRF-Token with a signed-in write.")
    check = CSRFCheck(_answered)
    check.process_request(http)
    if check.process_view(http, _answered, (), {}):
        raise CsrfRequired("Send Origin and X-CSRF-Token with a signed-in write.")


def query_parameters(http: HttpRequest, allowed: frozenset[str]) -> dict[str, str]:
    """The query string as a mapping; unknown and repeated names are refused.

    Raises:
        InvalidQueryParameters: names the parameter.
    """
    found = {}
    for name, values in http.GET.lists():
        if name not in allowed:
            raise InvalidQueryParameters(f"Unknown query parameter {name!r}.")
        if len(values) > 1:
            raise InvalidQueryParameters(f"Query parameter {name!r} stands twice.")
        found[name] = values[0]
    return found


def json_body(request: Request) -> dict[str, Any]:
    """The request's body as one JSON object, strictly (`kernel.inputs.parse_json`)."""
    http = request._request
    length = http.META.get("CONTENT_LENGTH") or "0"
    if length.isdigit() and int(length) > MAX_BODY_BYTES:
        return parse_json(b" " * (MAX_BODY_BYTES + 1))  # refuses, without reading it
    return parse_json(http.read(MAX_BODY_BYTES + 1))


def if_match(request: Request) -> int | None:
    """The revision of `If-Match: "<number>"`; None if there is none, or it is not a revision.

    The use case refuses None, after it has seen to the caller's rights.
    """
    value = request.headers.get("If-Match", "").strip()
    number = value.removeprefix('"').removesuffix('"')
    if not number.isdigit() or len(number) > 18:
        return None
    return int(number)


class QueryView(ApiView):
    """POST with `?repo=` and a JSON body → use case → JSON.

    The repository of the query string becomes the input's field `repo`; a body cannot name it.
    """

    public = True
    keys = True
    parameters = frozenset({"repo"})
    input: ClassVar[type[Input]]
    use_case: ClassVar[Callable[..., Any]]
    input_casing: ClassVar[Casing] = "pascal"
    reply_casing: ClassVar[Casing] = "pascal"
    status_code: ClassVar[int] = 200

    def read_input(self, request: Request) -> Input:
        body = json_body(request)
        field = "Repo" if self.input_casing == "pascal" else "repo"
        return parse(self.input, with_repo(body, self.query, field), casing=self.input_casing)

    def post(self, request: Request) -> Response:
        result = type(self).use_case(self.actor, self.read_input(request))
        return Response(to_wire(result, self.reply_casing), status=self.status_code)


def with_repo(body: dict[str, Any], query: dict[str, str], field: str) -> dict[str, Any]:
    """`body` with the repository of the query string; it may not stand in the body itself."""
    if field in body:
        raise InvalidRequest(f"Unknown field {field!r}.")
    return {**body, field: query.get("repo", "")}
