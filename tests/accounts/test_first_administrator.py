import threading
from datetime import timedelta

import pytest
from django.db import connection

from sourcegraph_site.accounts.errors import InvalidLoginState, InvalidUserInput
from sourcegraph_site.accounts.models import AdminLink, User
from sourcegraph_site.accounts.usecases.admin_link import (
    RedeemAdminLink,
    create_admin_link,
    redeem_admin_link,
)
from sourcegraph_site.audit.models import AuditEvent
from sourcegraph_site.kernel import clock

PASSWORD = "a long enough passphrase"


def secret_of(path: str) -> str:
    return path.partition("link=")[2]


def redeem(secret: str, name: str = "ada", password: str = PASSWORD) -> User:
    return redeem_admin_link(RedeemAdminLink(secret=secret, username=name, password=password))


@pytest.mark.django_db
def test_the_link_makes_one_administrator_and_is_spent():
    secret = secret_of(create_admin_link())
    user = redeem(secret)
    assert user.is_superuser and user.is_staff and user.check_password(PASSWORD)
    assert AuditEvent.objects.get().action == "user.became_first_administrator"
    with pytest.raises(InvalidLoginState):
        redeem(secret, "eve")


@pytest.mark.django_db
def test_a_second_link_is_void_once_somebody_administers():
    first, second = secret_of(create_admin_link()), secret_of(create_admin_link())
    redeem(first)
    with pytest.raises(InvalidLoginState):
        redeem(second, "eve")


@pytest.mark.django_db
def test_a_weak_password_or_a_taken_name_does_not_spend_the_link(make_user):
    make_user("taken")
    secret = secret_of(create_admin_link())
    for name, password in (
        ("ada", "12345678"),
        ("ada", "x"),
        ("taken", PASSWORD),
        ("a b/", PASSWORD),
    ):
        with pytest.raises(InvalidUserInput):
            redeem(secret, name, password)
    assert redeem(secret).is_superuser


@pytest.mark.django_db
def test_an_old_or_invented_link_is_refused():
    secret = secret_of(create_admin_link())
    AdminLink.objects.update(expires_at=clock.now() - timedelta(seconds=1))
    for wrong in (secret, "invented", ""):
        with pytest.raises(InvalidLoginState):
            redeem(wrong)


@pytest.mark.django_db
def test_the_database_holds_no_usable_secret():
    secret = secret_of(create_admin_link())
    assert secret not in str(AdminLink.objects.values())


@pytest.mark.django_db(transaction=True)
def test_two_people_with_one_link_make_one_administrator():
    secret = secret_of(create_admin_link())
    barrier, made, refused = threading.Barrier(2), [], []

    def run(name: str) -> None:
        barrier.wait()
        try:
            made.append(redeem(secret, name))
        except InvalidLoginState as exc:
            refused.append(exc)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(name,)) for name in ("ada", "eve")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(made), len(refused)) == (1, 1)
    assert User.objects.filter(is_superuser=True).count() == 1
