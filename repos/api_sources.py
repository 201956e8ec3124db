"""REST of code sources: the list, their tokens, and imports from them."""

from typing import Any, ClassVar

from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response

from repos.sources.listing import CodeSource
from repos.sources.tokens import TokenState
from repos.usecases.import_repositories import (
    AccountPage,
    ImportReport,
    ImportRepositories,
    ListAccount,
    import_repositories,
    list_account,
)
from repos.usecases.manage_code_sources import (
    CodeSourceList,
    SetCodeSources,
    get_code_sources,
    list_code_sources,
    set_code_sources,
)
from repos.usecases.manage_code_tokens import (
    SetCodeToken,
    own_code_tokens,
    set_own_code_token,
    set_site_code_token,
    site_code_tokens,
)
from sourcegraph_site.api.views import ApiView, json_body
from sourcegraph_site.kernel.inputs import Input, parse
from sourcegraph_site.kernel.wire import Casing, to_wire

SHOWN = ("id", "name", "host", "username", "anonymous", "editable", "locked", "kind")


class CodeSourcesView(ApiView):
    """The configured code sources in display order."""

    public: ClassVar[bool] = True
    keys: ClassVar[bool] = True
    reply: ClassVar[type] = list[CodeSource]

    def get(self, request: Request) -> Response:
        found = list_code_sources(self.actor)
        return Response([{name: getattr(each, name) for name in SHOWN} for each in found])


class CodeSourceSettingsView(ApiView):
    """The code sources with all fields (GET), and their replacement (PUT)."""

    browser_only: ClassVar[bool] = True
    input: ClassVar[type[Input]] = SetCodeSources
    input_casing: ClassVar[Casing] = "snake"
    reply: ClassVar[type] = CodeSourceList

    def get(self, request: Request) -> Response:
        return Response(to_wire(get_code_sources(self.actor)))

    def put(self, request: Request) -> Response:
        params = parse(SetCodeSources, json_body(request))
        return Response(to_wire(set_code_sources(self.actor, params)))


class OwnCodeTokensView(ApiView):
    """The states of one's tokens by source (GET); saves, changes or clears one (PUT)."""

    browser_only: ClassVar[bool] = True
    input: ClassVar[type[Input]] = SetCodeToken
    input_casing: ClassVar[Casing] = "snake"
    reply: ClassVar[type] = TokenState

    def get(self, request: Request) -> Response:
        return Response(to_wire(own_code_tokens(self.actor)))

    def put(self, request: Request) -> Response:
        params = parse(SetCodeToken, json_body(request))
        return Response(to_wire(set_own_code_token(self.actor, params)))


class SiteCodeTokensView(OwnCodeTokensView):
    """The states of the site's tokens by source (GET); saves, changes or clears one (PUT)."""

    def get(self, request: Request) -> Response:
        return Response(to_wire(site_code_tokens(self.actor)))

    def put(self, request: Request) -> Response:
        params = parse(SetCodeToken, json_body(request))
        return Response(to_wire(set_site_code_token(self.actor, params)))


class AccountView(ApiView):
    """The repositories of an account at a code source, a page at a time."""

    parameters: ClassVar[frozenset[str]] = frozenset(
        {"source", "account", "query", "forks", "archived", "after"}
    )
    reply: ClassVar[type] = AccountPage

    def get(self, request: Request) -> Response:
        given: dict[str, Any] = {"account": "", **self.query}
        for name in ("forks", "archived"):
            if name in given:
                given[name] = {"true": True, "false": False}.get(given[name])
        return Response(to_wire(list_account(self.actor, parse(ListAccount, given))))


class ImportView(ApiView):
    """Registers chosen repositories of a code source, or says what would become of them."""

    input: ClassVar[type[Input]] = ImportRepositories
    input_casing: ClassVar[Casing] = "snake"
    reply: ClassVar[type] = ImportReport

    def post(self, request: Request) -> Response:
        params = parse(ImportRepositories, json_body(request))
        return Response(to_wire(import_repositories(self.actor, params)))


routes = [
    path("v1/code-sources", CodeSourcesView.as_view()),
    path("api/admin/settings/code-sources", CodeSourceSettingsView.as_view()),
    path("api/admin/settings/code-credentials", SiteCodeTokensView.as_view()),
    path("auth/code-credentials", OwnCodeTokensView.as_view()),
    path("api/admin/v1/repos/account", AccountView.as_view()),
    path("api/admin/v1/repos/import", ImportView.as_view()),
]
