"""Import from code hosts: lists of their APIs, what is registered, and what is not reached."""

import socket
import ssl
import threading

import pytest
from django.core.management import CommandError, call_command

from repos.errors import (
    GitAccessDenied,
    GitAuthFailed,
    GitFetchFailed,
    GitRepositoryUnavailable,
    InvalidCodeProvider,
    InvalidRemote,
    InvalidRetention,
    RegistrationDisabled,
)
from repos.gitstore import remote_url
from repos.models import Repository
from repos.sources.http import get_json
from repos.usecases.import_repositories import (
    ImportRepositories,
    ListAccount,
    import_repositories,
    list_account,
)
from repos.usecases.manage_code_sources import SetCodeSources, set_code_sources
from repos.usecases.manage_code_tokens import (
    SetCodeToken,
    set_own_code_token,
    set_site_code_token,
)
from sourcegraph_site.accounts import policy
from sourcegraph_site.accounts.models import SettingsSection
from sourcegraph_site.audit.models import AuditEvent
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel.actor import ANONYMOUS, OPERATOR, Actor, ActorKind
from sourcegraph_site.kernel.deadline import Deadline
from sourcegraph_site.kernel.errors import (
    AccessDenied,
    AuthenticationRequired,
    InvalidCursor,
    InvalidRequest,
)
from sourcegraph_site.kernel.inputs import parse
from tests.support.host_api import SHAPES, HostApi

pytestmark = pytest.mark.django_db

TOKEN = "token-of-sixteen"


@pytest.fixture(scope="module")
def one_host():
    host = HostApi()
    yield host
    host.stop()


@pytest.fixture
def host(one_host, settings):
    """A code host with an API; the code source `corp` is at it."""
    fresh = {
        "kind": "github",
        "per_page": 2,
        "authorization": "",
        "groups": True,
        "status": 0,
        "login": "somebody",
    }
    vars(one_host).update(fresh, body=None, headers={}, seen=[])
    settings.ALLOWED_REMOTES = [*settings.ALLOWED_REMOTES, one_host.origin]
    source = {"id": "corp", "name": "Corp", "host": one_host.origin, "kind": "github"}
    body = {"revision": 0, "sources": [source]}
    set_code_sources(OPERATOR, parse(SetCodeSources, body))
    return one_host


@pytest.fixture
def may_register():
    values = {"allow_user_repositories": True}
    SettingsSection.objects.create(name="access", values=values)
    policy.forget()


def turn_to(kind: str, host: HostApi) -> None:
    host.kind = kind
    source = {"id": "corp", "name": "Corp", "host": host.origin, "kind": kind}
    revision = SettingsSection.objects.get(name="code_sources").revision
    body = {"revision": revision, "sources": [source]}
    set_code_sources(OPERATOR, parse(SetCodeSources, body))


def names(actor: Actor = OPERATOR, **fields: object) -> list[str]:
    """All pages, as a caller walks them."""
    found, after = [], ""
    for _ in range(20):
        page = list_account(
            actor, ListAccount(source="corp", account="acme", after=after, **fields)
        )
        found += [row.name for row in page.items]
        if page.next_cursor is None:
            return found
        after = page.next_cursor
    raise AssertionError("the pages have no end")


@pytest.mark.parametrize("kind", SHAPES)
def test_all_pages_of_an_account_with_filters(host, kind):
    turn_to(kind, host)
    plain = ["acme/app", "acme/secret", "acme/.github", "acme/fresh"]
    if kind == "bitbucket":  # knows no archived repositories
        plain.insert(1, "acme/old")
    assert names() == plain
    assert len(names(forks=True, archived=True)) == 6
    assert names(query="SEC") == ["acme/secret"]
    host.groups = False
    assert names(query="app") == ["acme/app"]
    rows = {
        row.name: row
        for after in ("", "2", "3")
        for row in list_account(
            OPERATOR, ListAccount(source="corp", account="acme", after=after)
        ).items
    }
    assert rows["acme/secret"].private and not rows["acme/app"].private
    assert rows["acme/fresh"].empty and rows["acme/app"].default_branch == "main"
    assert rows["acme/.github"].code == "INVALID_REPO"


@pytest.mark.parametrize(
    ("kind", "username", "header"),
    [
        ("github", "oauth2", f"Bearer {TOKEN}"),
        ("gitlab", "oauth2", f"Bearer {TOKEN}"),
        ("gitea", "oauth2", f"token {TOKEN}"),
        ("bitbucket", "x-token-auth", f"Bearer {TOKEN}"),
    ],
)
def test_the_token_goes_along_as_each_host_wants_it(
    host, kind, username, header, administrator, actor_for
):
    turn_to(kind, host)
    host.authorization = header
    root = actor_for(administrator)
    with pytest.raises(GitAuthFailed):
        names(root)
    set_site_code_token(root, SetCodeToken(source="corp", revision=0, token=TOKEN))
    assert "acme/app" in names(root)
    assert all(TOKEN not in path for path, _ in host.seen)


def test_a_person_lists_with_her_own_token_and_never_with_the_sites(
    host, make_user, actor_for, may_register
):
    set_site_code_token(OPERATOR, SetCodeToken(source="corp", revision=0, token=TOKEN))
    alice = actor_for(make_user())
    names(alice)
    assert {given for _, given in host.seen} == {""}
    set_own_code_token(alice, SetCodeToken(source="corp", revision=0, token="her-own-token"))
    host.seen.clear()
    names(alice)
    assert {given for _, given in host.seen} == {"Bearer her-own-token"}


def test_ones_own_account_at_github_is_listed_with_its_private_repositories(
    host, administrator, actor_for
):
    root = actor_for(administrator)
    set_own_code_token(root, SetCodeToken(source="corp", revision=0, token=TOKEN))
    assert "acme/app" in names(root)
    host.login = "Acme"
    assert names(root) == ["acme/secret"]
    assert all(path.startswith("/api/v3/user") for path, _ in host.seen[-4:])


def test_who_may_not_register_may_not_list(host, make_user, actor_for):
    alice = make_user()
    key = Actor(ActorKind.KEY, "alice sgk_", user_id=alice.pk)
    for caller, error in (
        (ANONYMOUS, AuthenticationRequired),
        (key, AccessDenied),
        (actor_for(alice), RegistrationDisabled),
    ):
        with pytest.raises(error):
            names(caller)
        with pytest.raises(error):
            import_repositories(caller, ImportRepositories(source="corp", names=["a/b"]))
    assert host.seen == []


def test_a_hidden_repository_is_not_told_by_the_list(host, make_user, actor_for, may_register):
    Repository.objects.create(
        name="acme/app", remote_url="https://x.example/a", public_read=False, window_count=1
    )

    def registered(actor: Actor) -> bool:
        page = list_account(actor, ListAccount(source="corp", account="acme"))
        return page.items[0].registered

    assert registered(OPERATOR)
    assert not registered(actor_for(make_user()))


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ({"status": 401}, GitAuthFailed),
        ({"status": 403}, GitAccessDenied),
        ({"status": 403, "headers": {"X-RateLimit-Remaining": "0"}}, GitFetchFailed),
        ({"status": 429}, GitFetchFailed),
        ({"status": 404}, GitRepositoryUnavailable),
        ({"status": 302, "headers": {"Location": "http://169.254.169.254/"}}, GitFetchFailed),
        ({"status": 500}, GitFetchFailed),
        ({"body": b"<html>"}, GitFetchFailed),
        ({"body": b"[" * 100_000}, GitFetchFailed),
        ({"body": b'{"message": "hello"}'}, GitFetchFailed),
        ({"body": b'[{"full_name": null}]'}, GitFetchFailed),
        ({"body": b"[1, 2]"}, GitFetchFailed),
        ({"body": b" " * (9 << 20)}, GitFetchFailed),
    ],
)
def test_answers_that_are_no_list(host, answer, error):
    vars(host).update(answer)
    with pytest.raises(error) as refusal:
        names()
    assert "127.0.0.1" not in refusal.value.message


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"account": ""}, InvalidRequest),
        ({"account": "../admin"}, InvalidRequest),
        ({"account": "a?b=c"}, InvalidRequest),
        ({"account": "a b"}, InvalidRequest),
        ({"after": "0"}, InvalidCursor),
        ({"after": "101"}, InvalidCursor),
        ({"after": "x"}, InvalidCursor),
        ({"source": "git"}, InvalidCodeProvider),
        ({"source": "nowhere"}, InvalidCodeProvider),
    ],
)
def test_questions_that_are_not_asked(host, fields, error):
    with pytest.raises(error):
        list_account(OPERATOR, ListAccount(**{"source": "corp", "account": "acme"} | fields))
    assert host.seen == []


def test_chosen_repositories_are_registered_private_each_for_itself(host, actor_for, make_user):
    root = actor_for(make_user("root", admin=True))
    chosen = ["acme/app", "acme/.github", "acme/secret", "acme/app"]
    request = {"source": "corp", "names": chosen, "policy": {"default_branch": True, "count": 3}}
    dry = import_repositories(root, parse(ImportRepositories, {**request, "dry_run": True}))
    assert [(row.name, row.outcome, row.code) for row in dry.items] == [
        ("acme/app", "would_register", None),
        ("acme/.github", "refused", "INVALID_REPO"),
        ("acme/secret", "would_register", None),
    ]
    assert not Repository.objects.exists() and not Job.objects.exists()
    assert not AuditEvent.objects.filter(action="repository.registered").exists()

    done = import_repositories(root, parse(ImportRepositories, request))
    assert [row.outcome for row in done.items] == ["registered", "refused", "registered"]
    made = list(Repository.objects.values_list("name", "remote_url", "public_read", "window_count"))
    assert made == [
        ("acme/app", f"{host.origin}/acme/app.git", False, 3),
        ("acme/secret", f"{host.origin}/acme/secret.git", False, 3),
    ]
    again = import_repositories(root, parse(ImportRepositories, {**request, "dry_run": True}))
    assert again.items[0].outcome == "exists"
    assert (
        import_repositories(root, parse(ImportRepositories, request)).items[2].outcome == "exists"
    )
    assert Job.objects.count() == 2
    with pytest.raises(InvalidRetention):
        import_repositories(
            root,
            parse(
                ImportRepositories,
                {**request, "policy": {"default_branch": True, "days": 1, "count": 1}},
            ),
        )
    with pytest.raises(InvalidRequest):
        import_repositories(root, ImportRepositories(source="corp", names=[]))


# --- The surfaces ------------------------------------------------------------------------

ADMIN = "/sourcegraph/api/admin/v1/repos"


def test_an_import_over_rest(host, client, service_token):
    bearer = {"Authorization": f"Bearer {service_token}"}
    first = client.get(f"{ADMIN}/account?source=corp&account=acme&forks=true", headers=bearer)
    assert first.json() == {
        "source": "corp",
        "account": "acme",
        "items": [
            {
                "name": name,
                "private": False,
                "fork": fork,
                "archived": False,
                "empty": False,
                "default_branch": "main",
                "description": "",
                "registered": False,
            }
            for name, fork in (("acme/app", False), ("acme/fork", True))
        ],
        "next_cursor": "2",
    }
    bad = client.get(f"{ADMIN}/account?source=corp&account=acme&forks=yes", headers=bearer)
    assert bad.json()["Meta"]["Code"] == "INVALID_REQUEST"
    body = {"source": "corp", "names": ["acme/app", "nope"], "dry_run": True}
    done = client.post(f"{ADMIN}/import", body, "application/json", headers=bearer).json()
    assert done["items"][0] == {"name": "acme/app", "outcome": "would_register"}
    assert done["items"][1]["code"] == "INVALID_REPO"
    assert client.get(f"{ADMIN}/account?account=acme").status_code == 401


def test_an_import_on_the_page(host, client, administrator, make_user):
    page = "/sourcegraph/repos/import"
    assert client.get(page).status_code == 302
    client.force_login(make_user())
    assert client.get(page).status_code == 403
    client.force_login(administrator)
    assert "Corp (http://127.0.0.1" in client.get(page).content.decode()
    shown = client.get(f"{page}?source=corp&account=acme&forks=on").content.decode()
    assert 'value="acme/app"' in shown and "account=acme&amp;forks=on&amp;after=2" in shown
    chosen = {"source": "corp", "name": ["acme/app", "acme/.github"], "count": "5"}
    done = client.post(page, chosen).content.decode()
    assert "/sourcegraph/repo?repo=acme%2Fapp" in done or "/sourcegraph/repo?repo=acme/app" in done
    assert "Not registered" in done
    assert Repository.objects.get().public_read is False
    assert (
        "Choose at least one"
        in client.post(page, {"source": "corp", "count": "5"}).content.decode()
    )
    assert client.get(f"{page}?source=corp&account=").status_code == 400
    host.status = 401
    failed = client.get(f"{page}?source=corp&account=acme")
    assert failed.status_code == 502 and "GIT_AUTH_FAILED" in failed.content.decode()


def test_an_import_at_the_terminal(host, capsys):
    call_command("import_repositories", "corp", "acme", "--match", "acme/*e*", "--dry-run")
    assert capsys.readouterr().out.splitlines() == [
        "would_register  acme/secret",
        "would_register  acme/fresh",
        "2 repositories: 2 would_register.",
    ]
    call_command("import_repositories", "corp", "acme", "--match", "acme/app", "--count", "2")
    repo = Repository.objects.get()
    assert (repo.name, repo.public_read, repo.window_count) == ("acme/app", False, 2)
    host.status = 404
    with pytest.raises(CommandError, match="GIT_REPOSITORY_UNAVAILABLE"):
        call_command("import_repositories", "corp", "acme")


# --- Where requests go -------------------------------------------------------------------


def test_a_private_address_behind_a_name_is_not_reached(monkeypatch):
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.5", 443))]
    monkeypatch.setattr(remote_url.socket, "getaddrinfo", lambda *args, **kwargs: found)
    with pytest.raises(InvalidRemote):
        get_json("https://api.example/x", {}, Deadline.after(5))


def test_the_connection_goes_to_the_checked_address_and_demands_the_names_certificate(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)
        port = server.getsockname()[1]
        found = [  # nobody answers at the first
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (text, port))
            for text in ("127.0.0.2", "127.0.0.1")
        ]
        monkeypatch.setattr(remote_url, "is_public", lambda address: True)
        real = socket.getaddrinfo

        asked: list[str] = []

        def look_up(host, *args, **kwargs):
            asked.append(host)
            return found if host == "rebound.invalid" else real(host, *args, **kwargs)

        monkeypatch.setattr(remote_url.socket, "getaddrinfo", look_up)
        hello: list[bytes] = []

        def serve() -> None:
            connection, _ = server.accept()
            hello.append(connection.recv(4096))
            connection.close()

        serving = threading.Thread(target=serve)
        serving.start()
        with pytest.raises(GitFetchFailed):
            get_json(f"https://rebound.invalid:{port}/x", {}, Deadline.after(10))
        serving.join()
    assert asked.count("rebound.invalid") == 1  # a second answer could have been another
    assert b"rebound.invalid" in hello[0]
    assert ssl.create_default_context().verify_mode == ssl.CERT_REQUIRED
