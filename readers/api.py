"""REST routes for reading at one commit: `/v1/repo/…`."""

import re

from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response

from readers.usecases.blame_file import BlameFile, blame_file
from readers.usecases.diff_revisions import DiffRevisions, diff_revisions
from readers.usecases.find_files import FindFiles, find_files
from readers.usecases.list_refs import ListRefs, list_refs
from readers.usecases.list_tree import ListTree, list_tree
from readers.usecases.log_commits import LogCommits, log_commits
from readers.usecases.read_file import ReadFile, read_file
from readers.usecases.read_many import ReadMany, read_many
from readers.usecases.resolve_revision import ResolveRevision, resolve_revision
from sourcegraph_site.api.pinned import PinnedView
from sourcegraph_site.api.views import ApiView, QueryView
from sourcegraph_site.kernel.errors import InvalidLimit
from sourcegraph_site.kernel.inputs import parse
from sourcegraph_site.kernel.wire import to_wire


class ResolveView(QueryView):
    """Which commit a revision means."""

    input = ResolveRevision
    use_case = staticmethod(resolve_revision)
    reply_casing = "snake"


class ReadView(PinnedView):
    """Lines of one file."""

    input = ReadFile
    use_case = staticmethod(read_file)


class ReadManyView(QueryView):
    """Several files or line ranges at one commit."""

    input = ReadMany
    use_case = staticmethod(read_many)


class ListView(PinnedView):
    """The direct children of a directory."""

    input = ListTree
    use_case = staticmethod(list_tree)


class DiffView(PinnedView):
    """The paths that differ between two commits."""

    input = DiffRevisions
    use_case = staticmethod(diff_revisions)
    pinned_by = ("base", "head")


class FindView(QueryView):
    """Files by their names."""

    input = FindFiles
    use_case = staticmethod(find_files)


class LogView(QueryView):
    """The commits behind one commit."""

    input = LogCommits
    use_case = staticmethod(log_commits)


class BlameView(QueryView):
    """The commit that each line comes from."""

    input = BlameFile
    use_case = staticmethod(blame_file)


class RefsView(ApiView):
    """Branches and tags of the remote."""

    public = True
    keys = True
    parameters = frozenset(ListRefs.model_fields)
    use_case = staticmethod(list_refs)

    def get(self, request: Request) -> Response:
        values: dict[str, str | int] = {"repo": "", **self.query}
        if "first" in values:
            values["first"] = _number(str(values["first"]))
        result = list_refs(self.actor, parse(ListRefs, values))
        return Response(to_wire(result, "snake"))


def _number(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text, re.ASCII):
        raise InvalidLimit("first is a number from 1 to 100.")
    return int(text)


routes = [
    path("v1/repo/refs", RefsView.as_view()),
    path("v1/repo/resolve", ResolveView.as_view()),
    path("v1/repo/read", ReadView.as_view()),
    path("v1/repo/read_many", ReadManyView.as_view()),
    path("v1/repo/list", ListView.as_view()),
    path("v1/repo/diff", DiffView.as_view()),
    path("v1/repo/find", FindView.as_view()),
    path("v1/repo/log", LogView.as_view()),
    path("v1/repo/blame", BlameView.as_view()),
]
