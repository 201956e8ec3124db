import pytest

from repos.models import Repository
from repos.usecases.register_repository import RegisterRepository, register_repository
from sourcegraph_site.kernel.actor import OPERATOR
from sourcegraph_site.kernel.inputs import parse
from tests.support.syncs import sync_now


@pytest.fixture(autouse=True)
def own_data_root(tmp_path, settings):
    """Every test has its own mirrors, so that nothing of one is found by another."""
    settings.DATA_ROOT = tmp_path / "data"
    settings.DATA_ROOT.mkdir()
    return settings.DATA_ROOT


@pytest.fixture
def register(db):
    """Register a repository at the terminal; keyword arguments as in the request."""

    def make(url: str, name: str = "acme/widgets", **fields) -> Repository:
        policy = fields.pop("policy", {"default_branch": True, "count": 50})
        params = parse(RegisterRepository, {"name": name, "url": url, "policy": policy, **fields})
        register_repository(OPERATOR, params)
        return Repository.objects.get(name=name)

    return make


@pytest.fixture
def synced(register):
    """Register a repository and run its first sync (and nothing that follows from it)."""

    def make(url: str, name: str = "acme/widgets", **fields) -> Repository:
        return sync_now(register(url, name, **fields))

    return make
