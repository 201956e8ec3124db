"""Header, language, theme, sign-in, errors: what all pages share."""

import pytest
from django.test import Client

from sourcegraph_site.web.pages import KEY_MAP
from tests.web.markup import faults_of
from tests.web.test_search_page import links_of, text_of

pytestmark = pytest.mark.django_db

POLICY = {
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
}
PAGES = ["", "repos", "login", "keys", "connect", "nothing", "first-administrator"]


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_page_keeps_the_strict_policy(client, path, language):
    client.cookies["cs.lang"] = language
    response = client.get(f"/sourcegraph/{path}")
    assert set(response["Content-Security-Policy"].split("; ")) == POLICY
    assert faults_of(response.content.decode()) == []


def test_the_language_comes_from_the_cookie_else_from_the_browser(client):
    assert '<html lang="en">' in client.get("/sourcegraph/").content.decode()
    asked = client.get("/sourcegraph/", headers={"Accept-Language": "zh-CN,zh;q=0.9"})
    assert '<html lang="zh-Hans">' in asked.content.decode()
    client.post("/sourcegraph/preferences", {"language": "zh-hans"})
    page = client.get("/sourcegraph/").content.decode()
    assert '<html lang="zh-Hans">' in page
    assert "在一个确定的提交上搜索和阅读代码" in page


def test_the_theme_is_in_the_first_paint(client):
    assert "data-theme" not in client.get("/sourcegraph/").content.decode()
    client.post("/sourcegraph/preferences", {"theme": "dark"})
    assert '<html lang="en" data-theme="dark">' in client.get("/sourcegraph/").content.decode()
    client.post("/sourcegraph/preferences", {"theme": ""})
    assert "data-theme" not in client.get("/sourcegraph/").content.decode()


@pytest.mark.parametrize(
    ("values", "cookie"),
    [({"theme": "pink"}, "cs.theme"), ({"language": "xx"}, "cs.lang")],
)
def test_a_choice_that_is_not_offered_is_not_kept(client, values, cookie):
    response = client.post("/sourcegraph/preferences", values)
    assert not response.cookies.get(cookie) or response.cookies[cookie].value == ""


@pytest.mark.parametrize(
    ("referer", "back"),
    [
        ("http://testserver/sourcegraph/repos?q=a", "/sourcegraph/repos?q=a"),
        ("http://evil.example/sourcegraph/repos", "/sourcegraph/"),
        ("http://testserver/elsewhere", "/sourcegraph/"),
        ("", "/sourcegraph/"),
    ],
)
def test_after_a_choice_people_are_where_they_were(client, referer, back):
    response = client.post(
        "/sourcegraph/preferences", {"theme": "dark"}, headers={"Referer": referer}
    )
    assert (response.status_code, response["Location"]) == (303, back)


def test_preferences_are_set_by_our_forms_alone():
    response = Client(enforce_csrf_checks=True).post("/sourcegraph/preferences", {"theme": "dark"})
    assert response.status_code == 403


def test_the_keys_are_listed(client):
    words = text_of(client.get("/sourcegraph/keys"))
    for _keys, does in KEY_MAP:
        assert str(does) in words


def test_an_unknown_page_names_cause_code_and_ways_on(client):
    response = client.get("/sourcegraph/nothing")
    assert response.status_code == 404
    words = text_of(response)
    assert "There is no such page, or you may not see it." in words
    assert "NOT_FOUND" in words
    assert "/sourcegraph/login?next=%2Fsourcegraph%2Fnothing" in links_of(response)


def test_a_fault_of_ours_is_a_page_with_the_request_id(monkeypatch, caplog):
    from sourcegraph_site.web import pages

    def broken(_request):
        raise RuntimeError("secret detail")

    monkeypatch.setattr(pages, "actor_of", broken)
    response = Client(raise_request_exception=False).get("/sourcegraph/repos")
    assert response.status_code == 500
    words = text_of(response)
    assert "INTERNAL_ERROR" in words
    assert response["X-Request-ID"] in words
    assert "secret detail" not in words


def test_an_error_that_the_script_meets_is_a_banner_above_the_page(client):
    response = client.get("/sourcegraph/repo?repo=a/b", headers={"HX-Request": "true"})
    assert response.status_code == 404
    assert response["HX-Retarget"] == "#alerts"
    assert "<html" not in response.content.decode()


# --- Sign-in ---------------------------------------------------------------------------------


def test_people_sign_in_with_name_and_password_and_come_back(client, make_user):
    make_user("alice")
    page = client.get("/sourcegraph/login?next=/sourcegraph/repos").content.decode()
    assert 'name="next" value="/sourcegraph/repos"' in page
    response = client.post(
        "/sourcegraph/login",
        {"login": "alice", "password": "correct horse battery", "next": "/sourcegraph/repos"},
    )
    assert response["Location"] == "/sourcegraph/repos"
    words = text_of(client.get("/sourcegraph/repos"))
    assert "alice" in words and "Sign out" in words


def test_a_wrong_password_keeps_the_name_and_says_so(client, make_user):
    make_user("alice")
    response = client.post("/sourcegraph/login", {"login": "alice", "password": "wrong"})
    page = response.content.decode()
    assert 'role="alert"' in page
    assert 'value="alice"' in page
    assert "wrong" not in page


def test_the_sign_in_page_says_in_both_languages_that_sign_up_is_closed(client, db):
    words = text_of(client.get("/sourcegraph/login"))
    assert "Sign-up is closed. Ask an administrator for an account." in words
    assert "本站暂不开放注册。" in words


def test_people_sign_out(client, make_user):
    client.force_login(make_user(), backend="django.contrib.auth.backends.ModelBackend")
    client.post("/sourcegraph/accounts/logout/")
    assert "Sign in" in text_of(client.get("/sourcegraph/"))


def test_a_link_that_does_not_work_says_what_to_do(client, db):
    response = client.get("/sourcegraph/first-administrator?link=wrong")
    assert response.status_code == 403
    assert "This link does not work" in text_of(response)
    assert "INVALID_LOGIN_STATE" in text_of(response)
