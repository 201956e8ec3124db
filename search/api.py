"""POST /api/search: one repository with `?repo=`, all visible ones without."""

import hashlib
from typing import cast

from django.http import HttpResponseBase, HttpResponseNotModified
from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response

from search.answers import rendered
from search.render import answer_body
from search.requests import SearchCode, SearchEverywhere
from search.usecases.search_code import prepare_search, search_code
from search.usecases.search_everywhere import search_everywhere
from sourcegraph_site.api.pinned import CACHE_CONTROL, matches
from sourcegraph_site.api.views import QueryView, json_body
from sourcegraph_site.kernel.inputs import parse


class SearchView(QueryView):
    """Search the text of one repository at exactly one commit."""

    input = SearchCode
    use_case = staticmethod(search_code)

    def post(self, request: Request) -> Response | HttpResponseBase:  # type: ignore[override]
        if "repo" not in self.query:
            params = parse(SearchEverywhere, json_body(request), casing="pascal")
            return Response(answer_body(search_everywhere(self.actor, params)))
        prepared = prepare_search(self.actor, cast(SearchCode, self.read_input(request)))
        headers = {}
        if prepared.pinned:
            # Durations differ from run to run, so the tag names the question, not the bytes.
            tag = hashlib.sha256(repr(prepared.cache_key).encode()).hexdigest()[:32]
            headers = {"ETag": f'W/"{tag}"', "Cache-Control": CACHE_CONTROL}
            if matches(request.headers.get("If-None-Match", ""), headers["ETag"]):
                return HttpResponseNotModified(headers=headers)
        body, final = rendered(prepared, "json", answer_body)
        return Response(body, headers=headers if final else {})


routes = [path("api/search", SearchView.as_view())]
