"""The cast: what many tests start from. Fixtures of one app live beside its tests."""

import pytest
from django.core.cache import cache

from sourcegraph_site.accounts import policy
from sourcegraph_site.accounts.models import User
from sourcegraph_site.api import limits
from sourcegraph_site.kernel.actor import Actor, ActorKind
from tests.support.git_remote import GitRemote
from tests.support.http_remote import HttpRemote


@pytest.fixture(autouse=True)
def nothing_remembered():
    """Process-wide memories (settings, permits) must not leak from test to test."""
    policy.forget()
    limits.reset()
    yield
    policy.forget()
    limits.reset()


@pytest.fixture
def make_user(db):
    def make(name: str = "alice", *, admin: bool = False, **fields: object) -> User:
        user = User(username=name, email=f"{name}@example.org", is_superuser=admin, **fields)
        user.set_password("correct horse battery")
        user.save()
        return user

    return make


@pytest.fixture
def administrator(make_user) -> User:
    return make_user("root", admin=True)


@pytest.fixture
def actor_for():
    """The actor that a signed-in session of this user gives."""

    def actor(user: User) -> Actor:
        return Actor(
            ActorKind.SESSION, user.username, user_id=user.pk, site_admin=user.is_superuser
        )

    return actor


@pytest.fixture
def service_token(settings) -> str:
    settings.API_TOKEN = "deployment-credential-for-tests-0123456789"
    return settings.API_TOKEN


@pytest.fixture
def cache_table(db):
    from django.core.management import call_command

    call_command("createcachetable", verbosity=0)
    cache.clear()


@pytest.fixture
def git_remote(tmp_path, settings):
    """Make real repositories by name; their `file://` addresses are allowed."""
    root = tmp_path / "remotes"
    settings.LOCAL_REMOTES = [*settings.LOCAL_REMOTES, root.resolve()]

    def make(name: str = "acme/widgets", **options: str) -> GitRemote:
        return GitRemote(root / f"{name}.git", **options)

    return make


@pytest.fixture
def http_remote(tmp_path, settings):
    """A Git server over HTTP on this machine, allowed as a remote."""
    server = HttpRemote(tmp_path / "served")
    settings.ALLOWED_REMOTES = [*settings.ALLOWED_REMOTES, server.origin]
    yield server
    server.stop()


@pytest.fixture
def data_root(tmp_path, settings):
    """Mirrors and indexes of this test alone."""
    settings.DATA_ROOT = tmp_path / "data"
    settings.DATA_ROOT.mkdir(exist_ok=True)
    return settings.DATA_ROOT


@pytest.fixture
def make_repository(db, data_root, http_remote):
    """A registered repository with a real remote over HTTP, synced and indexed.

    Returns the record and its remote; `settle()` of tests/support/jobs.py's kind is
    `run_pending_jobs`, called again after the remote has changed and a sync was queued.
    """
    from repos.models import Repository
    from repos.work import queue_sync
    from tests.support.jobs import run_pending_jobs

    def make(name="acme/tools", files=None, *, run=True, **fields):
        remote = http_remote.repository(name)
        remote.commit(files or {"README.md": "# Tools\n", "src/main.py": "print('hello')\n"})
        fields.setdefault("window_count", 20)
        repo = Repository.objects.create(name=name, remote_url=http_remote.url(name), **fields)
        queue_sync(repo)
        if run:
            run_pending_jobs()
            repo.refresh_from_db()
        return repo, remote

    return make
