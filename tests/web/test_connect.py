"""The Connect page: examples for each client, and a key put into them on demand."""

import re

import pytest

from sourcegraph_site.accounts.models import ApiKey

pytestmark = pytest.mark.django_db

CONNECT = "/sourcegraph/connect"


def test_examples_hold_a_placeholder_until_a_key_is_asked_for(client, make_user):
    anonymous = client.get(CONNECT).content.decode()
    assert "sgk_" not in anonymous and "Put a new key" not in anonymous
    client.force_login(make_user("ada"))
    page = client.get(CONNECT).content.decode()
    assert "Put a new key" in page and not ApiKey.objects.exists()


def test_a_key_is_made_on_demand_shown_once_and_works(client, make_user):
    client.force_login(make_user("ada"))
    answer = client.post(CONNECT)
    (key,) = set(re.findall(r"sgk_[\w-]{43}", answer.content.decode()))
    assert answer["Cache-Control"] == "no-store"
    assert ApiKey.objects.get().name == "connect"
    assert key not in client.get(CONNECT).content.decode()
    client.logout()
    bearer = {"Authorization": f"Bearer {key}"}
    assert client.get("/sourcegraph/v1/repos", headers=bearer).status_code == 200


def test_nobody_gets_a_key_without_signing_in(client):
    assert client.post(CONNECT).status_code in (302, 401, 403)
    assert not ApiKey.objects.exists()


def test_the_page_explains_tools_and_syntax(client):
    page = client.get(CONNECT).content.decode()
    for text in ("read_many", "blame", 'id="syntax"', "!vendor", "(?i)todo"):
        assert text in page
