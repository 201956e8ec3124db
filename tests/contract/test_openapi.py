"""The published schema describes what is there, and nothing in it makes the server fail."""

import pytest
import schemathesis
from django.urls import get_resolver
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, settings

from sourcegraph_site.wsgi import application

schemathesis_settings = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,  # a red run must be repeatable
    suppress_health_check=list(HealthCheck),
)

SCHEMA_URL = "/sourcegraph/v1/schema"


@pytest.fixture
def published(db):
    from django.test import Client

    response = Client().get(SCHEMA_URL, headers={"Accept": "application/vnd.oai.openapi+json"})
    assert response.status_code == 200
    return response.json()


def test_every_rest_route_is_in_the_schema(published):
    described = set(published["paths"])
    routes = {
        "/sourcegraph/" + str(entry.pattern)
        for entry in get_resolver().url_patterns[1].url_patterns
        if str(entry.pattern).startswith(("v1/", "api/", "auth/"))
        and str(entry.pattern) not in ("v1/schema", "v1/docs")
    }
    assert routes
    assert not {r for r in routes if "<" not in r} - described


def test_every_operation_names_its_reply_and_the_error_envelope(published):
    for path, operations in published["paths"].items():
        for method, operation in operations.items():
            answers = operation["responses"]
            assert "default" in answers, (method, path)
            envelope = answers["default"]["content"]["application/json"]["schema"]
            assert "Error" in envelope["properties"], (method, path)


def test_the_reference_page_is_served_under_the_policy(client, db):
    response = client.get("/sourcegraph/v1/docs")
    assert response.status_code == 200
    assert b"<style" not in response.content
    assert b"<script>" not in response.content


schema = schemathesis.openapi.from_dict(SchemaGenerator().get_schema(public=True))


@schema.parametrize()
@schemathesis_settings
@pytest.mark.django_db
def test_no_request_makes_the_server_fail(case, service_token):
    case.headers = {**(case.headers or {}), "Authorization": f"Bearer {service_token}"}
    response = case.call(app=application, base_url="http://testserver")
    allowed = response.status_code < 500 or response.status_code == 503
    assert allowed, f"{case.method} {case.path} {response.status_code}: {response.text[:500]}"
