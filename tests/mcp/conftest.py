"""Callers of the MCP endpoint."""

import pytest

from repos import preparers
from tests.support.mcp import Rpc


@pytest.fixture(autouse=True)
def no_rights_remembered():
    preparers.forget()
    yield
    preparers.forget()


@pytest.fixture
def rpc(db) -> Rpc:
    """An anonymous caller."""
    return Rpc()


@pytest.fixture
def service(db, service_token) -> Rpc:
    """A caller with the deployment credential."""
    return Rpc(token=service_token)
