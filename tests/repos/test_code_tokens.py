"""Tokens of code sources: which one is used, and that none of them shows anywhere."""

import os
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import call_command

from repos.doctor import tokens as doctor
from repos.errors import GitCredentialUnavailable
from repos.gitstore.credential import Credential
from repos.gitstore.process import GitCall, run_git
from repos.models import CodeToken, Repository
from repos.sources import vault
from repos.sources.listing import CodeSource, source_of
from repos.sources.tokens import row_of, sealed_for, target_of, usable_token, warnings
from repos.usecases.manage_code_sources import SetCodeSources as Sources
from repos.usecases.manage_code_sources import get_code_sources, set_code_sources
from repos.usecases.manage_code_tokens import (
    SetCodeToken,
    own_code_tokens,
    set_own_code_token,
    set_site_code_token,
    site_code_tokens,
)
from sourcegraph_site.accounts.errors import (
    AdminRequired,
    InvalidCredential,
    InvalidCredentialKind,
    InvalidSettings,
    SettingsRevisionConflict,
)
from sourcegraph_site.audit.models import AuditEvent
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.actor import ANONYMOUS, Actor, ActorKind
from sourcegraph_site.kernel.errors import AccessDenied, AuthenticationRequired
from sourcegraph_site.kernel.inputs import parse
from sourcegraph_site.kernel.wire import time_text
from tests.support.syncs import sync_job, sync_now

pytestmark = pytest.mark.django_db

TOKEN = "glpat-S3cretS3cretS3cret"
OTHER = "glpat-AnotherSecretToken"


@pytest.fixture
def root(administrator, actor_for) -> Actor:
    return actor_for(administrator)


@pytest.fixture
def alice(make_user):
    return make_user("alice")


@pytest.fixture
def as_alice(alice, actor_for) -> Actor:
    return actor_for(alice)


@pytest.fixture
def set_sources(root):
    """Replace the editable sources by these rows."""

    def make(*rows: dict) -> None:
        revision = get_code_sources(root).revision
        set_code_sources(root, parse(Sources, {"revision": revision, "sources": list(rows)}))

    return make


@pytest.fixture
def corp(set_sources, http_remote) -> CodeSource:
    """A code source at the test's own Git server."""
    row = {"id": "corp", "name": "Corp", "host": http_remote.origin, "kind": "gitlab"}
    set_sources(row)
    return source_of("corp")


def save(actor: Actor, token: str = TOKEN, **fields) -> object:
    put = fields.pop("put", set_own_code_token)
    return put(actor, SetCodeToken(**{"source": "corp", "revision": 0, "token": token} | fields))


def of_alice(register, http_remote, alice, name: str = "acme/secret") -> Repository:
    repo = register(http_remote.url(name), name, code_provider="git")
    Repository.objects.filter(pk=repo.pk).update(creator=alice, code_provider="corp")
    repo.refresh_from_db()
    return repo


# --- Which token -------------------------------------------------------------------------


def test_the_creators_token_comes_before_the_sites_and_none_comes_last(
    corp, root, as_alice, alice, register, http_remote
):
    repo = of_alice(register, http_remote, alice)
    assert target_of(repo).credential is None
    save(root, OTHER, put=set_site_code_token)
    assert target_of(repo).credential.token == OTHER
    save(as_alice)
    assert target_of(repo).credential == Credential(http_remote.origin, "oauth2", TOKEN)
    assert TOKEN not in repr(target_of(repo))

    CodeToken.objects.filter(owner=alice).update(expires_at=clock.now())
    assert (target_of(repo).credential.token, target_of(repo).passed_over) == (OTHER, True)
    CodeToken.objects.filter(owner=alice).update(expires_at=None)
    alice.is_active = False
    alice.save()
    assert target_of(Repository.objects.get(pk=repo.pk)).credential.token == OTHER


def test_a_token_goes_only_to_the_host_that_it_was_given_for(
    corp, root, as_alice, alice, set_sources, register, http_remote
):
    save(as_alice)
    elsewhere = register(
        "https://github.com/acme/secret.git", "acme/elsewhere", code_provider="git"
    )
    Repository.objects.filter(pk=elsewhere.pk).update(creator=alice, code_provider="corp")
    elsewhere.refresh_from_db()
    assert target_of(elsewhere).credential is None

    # An administrator moves the source; the tokens that people gave do not follow.
    row = {"id": "corp", "name": "Corp", "host": "github.com", "anonymous": False}
    set_sources(row)
    assert own_code_tokens(as_alice)["corp"].state == "invalid"
    with pytest.raises(GitCredentialUnavailable):
        target_of(elsewhere)


def test_the_environments_token_is_the_sites_token_for_github(root, settings, make_user):
    settings.GIT_TOKEN = "ghp_from_the_environment"
    state = site_code_tokens(root)["github"]
    assert (state.source, state.state, state.configured) == ("environment", "ready", True)
    found, _ = usable_token(source_of("github"), None)
    assert found.token == "ghp_from_the_environment"
    with pytest.raises(InvalidCredential):
        save(root, source="github", put=set_site_code_token)


@pytest.mark.parametrize("change", [{"host": "evil.example"}, {"api": "https://evil.example/api"}])
def test_the_environments_token_does_not_follow_a_source_that_an_administrator_moves(
    settings, set_sources, change
):
    settings.GIT_TOKEN = "ghp_from_the_environment"
    set_sources({"id": "github", "name": "GitHub", "host": "github.com", **change})
    assert usable_token(source_of("github"), None) == (None, False)
    settings.CODE_SOURCES = [
        {"id": "github", "name": "GitHub", "host": "ghe.example", "kind": "github"}
    ]
    found, _ = usable_token(source_of("github"), None)
    assert found.token == "ghp_from_the_environment"


def test_states_of_a_token(corp, root, as_alice):
    def state() -> str:
        return own_code_tokens(as_alice)["corp"].state

    assert state() == "empty"
    save(as_alice, expires_at=time_text(clock.now() + timedelta(days=30)))
    assert state() == "ready"
    row = CodeToken.objects.get()
    for fields, expected in (
        ({"expires_at": clock.now() + timedelta(days=6)}, "expiring"),
        ({"expires_at": clock.now() - timedelta(seconds=1)}, "expired"),
        ({"expires_at": None, "refused_at": clock.now()}, "invalid"),
        ({"refused_at": None, "key_id": "0" * 16}, "invalid"),
    ):
        CodeToken.objects.filter(pk=row.pk).update(**fields)
        assert state() == expected
    assert warnings() == []  # one's own token warns nobody else
    save(root, put=set_site_code_token)
    CodeToken.objects.filter(owner=None).update(refused_at=clock.now())
    assert [(each.kind, each.state) for each in warnings()] == [("corp", "invalid")]


# --- Saving ------------------------------------------------------------------------------


def test_saving_compares_and_sets_and_clearing_removes(corp, as_alice, alice):
    assert save(as_alice).revision == 1
    with pytest.raises(SettingsRevisionConflict):
        save(as_alice, OTHER)
    later = time_text(clock.now() + timedelta(days=90))
    only_expiry = SetCodeToken(source="corp", revision=1, expires_at=later)
    assert set_own_code_token(as_alice, only_expiry).expires_at is not None
    assert usable_token(source_of("corp"), alice)[0].token == TOKEN
    cleared = set_own_code_token(as_alice, SetCodeToken(source="corp", revision=2, clear=True))
    assert (cleared.configured, cleared.state, cleared.revision) == (False, "empty", 3)
    assert not any(bytes(row.sealed) for row in CodeToken.objects.all())
    actions = list(AuditEvent.objects.values_list("action", flat=True).order_by("pk"))
    assert actions[-3:] == ["code_token.saved", "code_token.saved", "code_token.cleared"]
    assert TOKEN not in str(list(AuditEvent.objects.values()))


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"token": "short"}, InvalidCredential),
        ({"token": "x" * 4097}, InvalidCredential),
        ({"token": "with a space"}, InvalidCredential),
        ({"token": "line\nbreaks\nhere"}, InvalidCredential),
        ({"token": "кириллица-токен"}, InvalidCredential),
        ({"token": None}, InvalidCredential),
        ({"clear": True}, InvalidCredential),
        ({"expires_at": "tomorrow"}, InvalidCredential),
        ({"expires_at": "2020-01-01T00:00:00Z"}, InvalidCredential),
        ({"source": "git"}, InvalidCredentialKind),
        ({"source": "nowhere"}, InvalidCredentialKind),
    ],
)
def test_what_is_not_a_token_is_refused(corp, as_alice, fields, error):
    with pytest.raises(error) as refusal:
        save(as_alice, **fields)
    assert str(fields.get("token")) not in str(refusal.value)
    assert not CodeToken.objects.exclude(sealed=b"").exists()


def test_only_a_person_has_tokens_and_only_an_administrator_sets_the_sites(corp, as_alice, alice):
    key = Actor(ActorKind.KEY, "alice sgk_", user_id=alice.pk)
    for caller, error in (
        (ANONYMOUS, AuthenticationRequired),
        (key, AccessDenied),
        (Actor(ActorKind.SERVICE, "service"), AccessDenied),
    ):
        with pytest.raises(error):
            save(caller)
        with pytest.raises(error):
            save(caller, put=set_site_code_token)
    with pytest.raises(AdminRequired):
        save(as_alice, put=set_site_code_token)


# --- Sources -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {"id": "Git Hub"},
        {"id": "git"},
        {"name": " "},
        {"host": ""},
        {"host": "github.com/acme"},
        {"host": "user@github.com"},
        {"host": "127.0.0.1"},
        {"host": "localhost:3000"},
        {"host": "169.254.169.254"},
        {"host": "http://github.com"},
        {"host": "ssh://github.com"},
        {"host": "ext::sh"},
        {"host": "-oProxyCommand=x"},
        {"host": "git hub.com"},
        {"username": "a:b"},
        {"username": "a\nb"},
        {"kind": "svn"},
        {"api": "http://169.254.169.254/latest"},
        {"api": "file:///etc"},
    ],
)
def test_sources_that_are_not_acceptable(set_sources, change):
    good = {"id": "hub", "name": "Hub", "host": "github.com", "username": "oauth2"}
    with pytest.raises(InvalidSettings):
        set_sources(good | change)
    set_sources(good)


def test_locked_sources_come_from_the_environment_and_stay(settings, root, set_sources):
    settings.CODE_SOURCES = [{"id": "corp", "name": "Corp", "host": "git.example.org"}]
    shown = get_code_sources(root).sources
    assert [(s.id, s.locked, s.editable) for s in shown] == [
        ("corp", True, False),
        ("github", False, True),
        ("git", False, False),
    ]
    fields = ("id", "name", "host", "username", "anonymous", "kind", "api", "editable", "locked")
    unchanged = [{name: getattr(s, name) for name in fields} for s in shown]
    set_sources(*unchanged)
    assert get_code_sources(root).sources == shown
    unchanged[0]["host"] = "evil.example.org"
    with pytest.raises(InvalidSettings):
        set_sources(*unchanged)


def test_a_source_that_repositories_come_from_cannot_be_removed(
    corp, as_alice, alice, register, http_remote, set_sources
):
    save(as_alice)
    repo = of_alice(register, http_remote, alice)
    with pytest.raises(InvalidSettings, match="1 repositories"):
        set_sources()
    Repository.objects.filter(pk=repo.pk).delete()
    set_sources()
    assert not CodeToken.objects.exists()


# --- At rest -----------------------------------------------------------------------------


def test_tokens_are_sealed_for_their_record_and_survive_rotation(corp, as_alice, alice, data_root):
    save(as_alice)
    row = row_of(alice, corp)
    key_file = data_root / "code-credentials.key"
    assert key_file.stat().st_mode & 0o777 == 0o600
    assert TOKEN.encode() not in bytes(row.sealed)
    with pytest.raises(vault.Unreadable):
        vault.unseal(sealed_for(row) + "x", row.key_id, bytes(row.sealed))
    with pytest.raises(vault.Unreadable):
        vault.unseal(sealed_for(row), row.key_id, bytes(row.sealed)[:-1])

    first = key_file.read_text().split()
    call_command("rotate_credential_key", verbosity=0)
    assert key_file.read_text().split()[1:] == first
    rotated = row_of(alice, corp)
    assert rotated.key_id != row.key_id
    call_command("rotate_credential_key", verbosity=0)
    assert first[0] not in key_file.read_text()
    assert usable_token(corp, alice)[0].token == TOKEN


def test_keys_of_the_environment_rotate_by_order(corp, as_alice, alice, settings, tmp_path):
    old, new = (vault._new_key() for _ in range(2))
    settings.CREDENTIAL_KEYS = [old]
    save(as_alice)
    settings.CREDENTIAL_KEYS = [new, old]
    assert usable_token(corp, alice)[0].token == TOKEN
    call_command("rotate_credential_key", verbosity=0)
    settings.CREDENTIAL_KEYS = [new]
    assert usable_token(corp, alice)[0].token == TOKEN
    assert not list(Path(settings.DATA_ROOT).glob("code-credentials*"))


def test_doctor_finds_tokens_that_can_be_used_no_more(corp, as_alice, data_root):
    def found() -> list[tuple[str, bool]]:
        return [(each.text, each.repair is not None) for each in doctor.examine()]

    save(as_alice)
    assert found() == []
    (data_root / "code-credentials.key").unlink()
    [(text, repairable)] = found()
    assert "alice" in text and "cannot be read" in text and not repairable
    CodeToken.objects.update(bound_to="https://elsewhere.example")
    assert "another host" in found()[0][0]
    CodeToken.objects.update(source="gone")
    [finding] = doctor.examine()
    assert finding.repair is not None and finding.repair() == "removed"
    assert found() == []


# --- In use ------------------------------------------------------------------------------


def secrets_in_processes(words: list[bytes]) -> list[str]:
    """Children (at any depth) of this process whose arguments or environment hold a word."""
    found = []
    for pid in descendants():
        for name in ("cmdline", "environ"):
            try:
                text = Path(f"/proc/{pid}/{name}").read_bytes()
            except OSError:
                continue
            found += [f"{pid}/{name}" for word in words if word in text]
    return found


def descendants() -> list[int]:
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    found, front = [], [os.getpid()]
    while front:
        front = [pid for pid, parent in parents.items() if parent in front]
        found += front
    return found


def files_with(root: Path, words: list[bytes]) -> list[Path]:
    return [
        path
        for path in root.rglob("*")
        if path.is_file() and any(word in path.read_bytes() for word in words)
    ]


def test_a_token_opens_a_private_remote_and_shows_nowhere(
    corp, as_alice, alice, register, http_remote, data_root, caplog, client
):
    remote = http_remote.repository("acme/secret")
    remote.commit({"a": "1"})
    http_remote.credentials = ("oauth2", TOKEN)
    repo = of_alice(register, http_remote, alice)
    save(as_alice)
    pair = Credential(http_remote.origin, "oauth2", TOKEN)
    words = [TOKEN.encode(), b"b2F1dGgyOmdscGF0LVMzY3Jl"]  # and base64 of oauth2:glpat-S3cre
    assert pair.scrubbed(b"no: " + TOKEN.encode()) == b"no: ***"
    http_remote.hang_seconds = 0.05
    seen: list[str] = []
    watched = [0]
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            seen.extend(secrets_in_processes(words))
            watched[0] += len(descendants())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        fresh = sync_now(repo)
    finally:
        done.set()
        watcher.join()

    assert (fresh.state, fresh.last_error) == ("ready", "")
    assert watched[0] > 0  # there were children to look at
    assert seen == []
    assert files_with(data_root, words) == []
    assert TOKEN not in caplog.text

    # Refused: the code, the log and the state say so, and still without the token.
    http_remote.credentials = ("oauth2", "another one")
    job = sync_job(repo)
    assert (job.error, own_code_tokens(as_alice)["corp"].state) == ("GIT_AUTH_FAILED", "invalid")
    assert TOKEN not in caplog.text + str(list(type(job).objects.values()))
    http_remote.credentials = ("oauth2", TOKEN)
    sync_job(repo)
    assert own_code_tokens(as_alice)["corp"].state == "ready"


def test_an_expired_token_is_named_as_the_cause(
    corp, as_alice, alice, register, http_remote, data_root
):
    http_remote.repository("acme/secret").commit({"a": "1"})
    http_remote.credentials = ("oauth2", TOKEN)
    repo = of_alice(register, http_remote, alice)
    assert sync_job(repo).error == "GIT_AUTH_FAILED"
    save(as_alice)
    CodeToken.objects.update(expires_at=clock.now())
    assert sync_job(repo).error == "GIT_CREDENTIAL_UNAVAILABLE"


def test_the_helper_answers_every_question_of_a_conversation_and_no_other_host(data_root):
    credential = Credential("https://git.example.org", "oauth2", "t" * 4096)
    call = GitCall(timeout_s=20, credential=credential, stdin=b"url=https://git.example.org\n\n")
    for number in range(12):  # descriptors of two digits included
        held = [os.dup(0) for _ in range(number)]
        try:
            answer = run_git(None, "credential", "fill", call=call)
        finally:
            for each in held:
                os.close(each)
        assert b"username=oauth2\npassword=" + b"t" * 4096 + b"\n" in answer
    from repos.gitstore.process import GitFailed

    stranger = GitCall(timeout_s=20, credential=credential, stdin=b"url=https://evil.org\n\n")
    with pytest.raises(GitFailed):
        run_git(None, "credential", "fill", call=stranger)
