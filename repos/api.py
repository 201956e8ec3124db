"""REST routes of repositories: catalog, records, registration, settings, preparation."""

from typing import Any, ClassVar

from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response

from repos import api_sources
from repos.idempotency import check_key
from repos.records import CatalogRow, JobRecord, RepositoryRecord
from repos.usecases.cancel_job import CancelJob, cancel_job
from repos.usecases.get_repository import GetRepository, get_repository
from repos.usecases.list_repositories import ListRepositories, list_repositories
from repos.usecases.manage_managers import ManageManagers, manage_managers
from repos.usecases.manage_webhooks import (
    RevokeWebhook,
    WebhookList,
    WebhooksOf,
    create_webhook,
    list_webhooks,
    revoke_webhook,
)
from repos.usecases.prepare import Prepare, Prepared, prepare
from repos.usecases.register_repository import RegisterRepository, register_repository
from repos.usecases.remove_repository import (
    Operation,
    Purged,
    Removal,
    RemovalPreview,
    RemovalTarget,
    Removed,
    apply_removal,
    preview_removal,
    purge_repository,
)
from repos.usecases.select_index import (
    CommitOptions,
    CommitOptionsReply,
    IndexPreview,
    IndexRequested,
    PreviewIndex,
    RequestIndex,
    commit_options,
    preview_index,
    request_index,
)
from repos.usecases.update_repository import (
    PreviewUpdate,
    UpdatePreview,
    UpdateRepository,
    preview_update,
    update_repository,
)
from repos.webhooks import WebhookView
from sourcegraph_site.api import limits
from sourcegraph_site.api.views import ApiView, if_match, json_body, with_repo
from sourcegraph_site.kernel.inputs import Input, T, parse
from sourcegraph_site.kernel.wire import Casing, to_wire


class RepositoryView(ApiView):
    """Base of the routes with `?repo=` and a snake_case body."""

    parameters = frozenset({"repo"})
    input_casing: ClassVar[Casing] = "snake"

    def read(self, request: Request, model: type[T]) -> T:
        return parse(model, with_repo(json_body(request), self.query, "repo"))


def rendered(result: Any, status: int = 200) -> Response:
    """A result as snake_case JSON; a repository's record carries its revision as ETag."""
    answer = Response(to_wire(result), status=status)
    if isinstance(result, RepositoryRecord):
        answer["ETag"] = f'"{result.revision}"'
    return answer


class CatalogView(ApiView):
    """The repositories that the caller sees, 100 a page, in the order of `repo_id`."""

    public = True
    keys = True
    parameters = frozenset({"after"})
    reply = list[CatalogRow]

    def get(self, request: Request) -> Response:
        params = parse(ListRepositories, dict(self.query))
        return rendered(list_repositories(self.actor, params))


class RegisterView(CatalogView):
    """The catalog (GET), and the registration of a repository (POST)."""

    input = RegisterRepository
    input_casing: ClassVar[Casing] = "snake"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if request.method == "POST":
            self.public = self.keys = False  # type: ignore[misc]
            self.parameters = frozenset()  # type: ignore[misc]
        super().initial(request, *args, **kwargs)

    def post(self, request: Request) -> Response:
        params = parse(RegisterRepository, json_body(request))
        key = check_key(request.headers.get("Idempotency-Key"))
        return rendered(register_repository(self.actor, params, idempotency_key=key), 202)


class AvailabilityView(RepositoryView):
    """One repository: policy, heads, versions with readiness, jobs, recent failures."""

    public = True
    keys = True
    reply = RepositoryRecord

    def get(self, request: Request) -> Response:
        params = parse(GetRepository, {"repo": self.query.get("repo", "")})
        return rendered(get_repository(self.actor, params))


class RepositorySettingsView(AvailabilityView):
    """One repository (GET), and a previewed change of its settings (PATCH, If-Match)."""

    input = UpdateRepository

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if request.method == "PATCH":
            self.public = self.keys = False  # type: ignore[misc]
        super().initial(request, *args, **kwargs)

    def patch(self, request: Request) -> Response:
        params = self.read(request, UpdateRepository)
        return rendered(update_repository(self.actor, params, revision=if_match(request)))


class PreviewView(RepositoryView):
    """What new settings would keep."""

    input = PreviewUpdate
    reply = UpdatePreview

    def post(self, request: Request) -> Response:
        return rendered(preview_update(self.actor, self.read(request, PreviewUpdate)))


class PrepareView(RepositoryView):
    """Queue a sync, or the indexing of one commit."""

    public = True  # anonymous callers get this operation's own refusal
    keys = True
    input = Prepare
    reply = JobRecord
    status_code = 202

    def post(self, request: Request) -> Response:
        params = self.read(request, Prepare)
        limits.preparation(self.actor)
        key = check_key(request.headers.get("Idempotency-Key"))
        return accepted(prepare(self.actor, params, idempotency_key=key))


def accepted(result: Prepared | IndexRequested) -> Response:
    """202: the one job itself, otherwise all of them in a list."""
    if len(result.jobs) == 1:
        return rendered(result.jobs[0], 202)
    return Response({"jobs": to_wire(result.jobs), "status": result.status}, status=202)


class CancelJobView(RepositoryView):
    """Cancel a queued or running job."""

    input = CancelJob
    reply = JobRecord

    def post(self, request: Request) -> Response:
        return rendered(cancel_job(self.actor, self.read(request, CancelJob)))


class ManagersView(RepositoryView):
    """Add or remove one manager (If-Match)."""

    input = ManageManagers
    reply = RepositoryRecord

    def post(self, request: Request) -> Response:
        params = self.read(request, ManageManagers)
        return rendered(manage_managers(self.actor, params, revision=if_match(request)))


class RemovalPreviewView(RepositoryView):
    """What a cleanup or a deletion would take away."""

    input = RemovalTarget
    reply = RemovalPreview
    operation: Operation = "cleanup"

    def post(self, request: Request) -> Response:
        params = self.read(request, RemovalTarget)
        return rendered(preview_removal(self.actor, params, self.operation))


class RemovalView(RepositoryView):
    """Clean up old indexes, or take the repository out of service (If-Match, preview)."""

    input: ClassVar[type[Input]] = Removal
    reply = Removed
    operation: Operation = "cleanup"

    def post(self, request: Request) -> Response:
        params = self.read(request, Removal)
        return rendered(
            apply_removal(self.actor, params, self.operation, revision=if_match(request))
        )


class PurgeView(RepositoryView):
    """Remove every trace of a deleted repository (If-Match)."""

    input: ClassVar[type[Input]] = RemovalTarget
    reply = Purged

    def post(self, request: Request) -> Response:
        params = self.read(request, RemovalTarget)
        return rendered(purge_repository(self.actor, params, revision=if_match(request)))


class CommitOptionsView(RepositoryView):
    """The newest commits of a branch."""

    parameters = frozenset({"repo", "branch"})
    reply = CommitOptionsReply

    def get(self, request: Request) -> Response:
        given = {"repo": self.query.get("repo", ""), "branch": self.query.get("branch", "")}
        return rendered(commit_options(self.actor, parse(CommitOptions, given)))


class IndexPreviewView(RepositoryView):
    """What indexing one commit of a branch would queue."""

    input = PreviewIndex
    reply = IndexPreview

    def post(self, request: Request) -> Response:
        return rendered(preview_index(self.actor, self.read(request, PreviewIndex)))


class IndexView(RepositoryView):
    """Index one commit of a branch (If-Match, Idempotency-Key, preview)."""

    input: ClassVar[type[Input]] = RequestIndex
    reply = JobRecord
    status_code = 202

    def post(self, request: Request) -> Response:
        params = self.read(request, RequestIndex)
        key = check_key(request.headers.get("Idempotency-Key"))
        result = request_index(self.actor, params, revision=if_match(request), idempotency_key=key)
        return accepted(result)


class WebhooksView(RepositoryView):
    """The webhooks of a repository (GET), and a new one (POST)."""

    input: ClassVar[type[Input]] = WebhooksOf
    reply: ClassVar[type] = WebhookList

    def get(self, request: Request) -> Response:
        params = parse(WebhooksOf, {"repo": self.query.get("repo", "")})
        return rendered(list_webhooks(self.actor, params))

    def post(self, request: Request) -> Response:
        return rendered(create_webhook(self.actor, self.read(request, WebhooksOf)), 201)


class RevokeWebhookView(RepositoryView):
    """Refuse the deliveries of one webhook from now on."""

    input = RevokeWebhook
    reply = WebhookList

    def post(self, request: Request) -> Response:
        return rendered(revoke_webhook(self.actor, self.read(request, RevokeWebhook)))


ADMIN = "api/admin/v1"
routes = [
    path("v1/repos", CatalogView.as_view()),
    path("v1/repo/availability", AvailabilityView.as_view()),
    path("v1/repo/commits", AvailabilityView.as_view()),
    path(f"{ADMIN}/repos", RegisterView.as_view()),
    path(f"{ADMIN}/repo", RepositorySettingsView.as_view()),
    path(f"{ADMIN}/repo/preview", PreviewView.as_view()),
    path(f"{ADMIN}/repo/prepare", PrepareView.as_view()),
    path(f"{ADMIN}/repo/commit-options", CommitOptionsView.as_view()),
    path(f"{ADMIN}/repo/index/preview", IndexPreviewView.as_view()),
    path(f"{ADMIN}/repo/index", IndexView.as_view()),
    path(f"{ADMIN}/repo/jobs/cancel", CancelJobView.as_view()),
    path(f"{ADMIN}/repo/managers", ManagersView.as_view()),
    path(f"{ADMIN}/repo/cleanup/preview", RemovalPreviewView.as_view(operation="cleanup")),
    path(f"{ADMIN}/repo/cleanup", RemovalView.as_view(operation="cleanup")),
    path(f"{ADMIN}/repo/delete/preview", RemovalPreviewView.as_view(operation="delete")),
    path(f"{ADMIN}/repo/delete", RemovalView.as_view(operation="delete")),
    path(f"{ADMIN}/repo/purge", PurgeView.as_view()),
    path(f"{ADMIN}/repo/webhooks", WebhooksView.as_view()),
    path(f"{ADMIN}/repo/webhooks/revoke", RevokeWebhookView.as_view()),
    path("webhooks/<str:webhook_id>", WebhookView.as_view()),
    *api_sources.routes,
]
