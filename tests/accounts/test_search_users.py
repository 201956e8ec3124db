"""People that a signed-in person may name."""

import pytest

pytestmark = pytest.mark.django_db

PATH = "/sourcegraph/auth/users/search"


@pytest.fixture
def signed_in(client, make_user):
    client.force_login(make_user("eve"), backend="django.contrib.auth.backends.ModelBackend")
    return client


def names(response):
    return [person["name"] for person in response.json()["items"]]


def test_enabled_people_are_found_by_part_of_name_or_address(signed_in, make_user):
    ada = make_user("ada", department="Engines")
    make_user("adam", is_active=False)
    make_user("zoe", first_name="Zoe", last_name="Adams")
    found = signed_in.get(PATH, {"q": "AD"})
    assert names(found) == ["ada", "Zoe Adams"]
    assert found.json()["items"][0] == {
        "id": ada.public_id,
        "name": "ada",
        "email": "ada@example.org",
        "department": "Engines",
    }
    assert names(signed_in.get(PATH, {"q": "zoe@"})) == ["Zoe Adams"]
    assert names(signed_in.get(PATH, {"q": "%_"})) == []


def test_at_most_twenty_are_shown(signed_in, make_user):
    for number in range(22):
        make_user(f"person{number:02}")
    assert len(names(signed_in.get(PATH, {"q": "person"}))) == 20


@pytest.mark.parametrize("query", [{}, {"q": "a"}, {"q": "a" * 101}])
def test_two_to_a_hundred_characters_are_wanted(signed_in, query):
    refused = signed_in.get(PATH, query)
    assert (refused.status_code, refused.json()["error"]) == (400, "INVALID_REQUEST")
