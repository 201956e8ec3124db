import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from repos.access import (
    can_manage,
    can_prepare,
    get_managed,
    get_preparable,
    get_visible,
    visible_to,
)
from repos.models import Repository, RepositoryManager
from sourcegraph_site.accounts import policy
from sourcegraph_site.accounts.models import SettingsSection
from sourcegraph_site.kernel.actor import ANONYMOUS, OPERATOR, Actor, ActorKind
from sourcegraph_site.kernel.errors import AppError

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(make_user, actor_for):
    creator, manager, stranger, root = (
        make_user(name, admin=name == "root") for name in ("creator", "manager", "stranger", "root")
    )
    fields = {"remote_url": "https://example.org/a.git", "window_count": 1}
    Repository.objects.create(name="acme/public", creator=creator, **fields)
    hidden = Repository.objects.create(
        name="acme/hidden", creator=creator, public_read=False, **fields
    )
    RepositoryManager.objects.create(repository=hidden, user=manager)

    def key(user, **narrowed):
        return Actor(
            ActorKind.KEY,
            user.username,
            user_id=user.pk,
            site_admin=user.is_superuser,
            key_id=1,
            **narrowed,
        )

    return {
        "anonymous": ANONYMOUS,
        "operator": OPERATOR,
        "service": Actor(ActorKind.SERVICE, "service"),
        "creator": actor_for(creator),
        "manager": actor_for(manager),
        "stranger": actor_for(stranger),
        "root": actor_for(root),
        "root's key": key(root),
        "manager's key": key(manager),
        "stranger's key": key(stranger),
        "narrow key": key(manager, repositories=frozenset({"acme/public"})),
        "reading key": key(manager, no_prepare=True),
    }


@pytest.mark.parametrize(
    ("who", "sees_hidden", "manages", "prepares"),
    [
        ("anonymous", False, False, False),
        ("operator", True, True, True),
        ("service", True, True, True),
        ("creator", True, False, False),
        ("manager", True, True, True),
        ("stranger", False, False, False),
        ("root", True, True, True),
        ("root's key", False, False, True),
        ("manager's key", True, False, True),
        ("stranger's key", False, False, False),
        ("narrow key", False, False, True),
        ("reading key", True, False, False),
    ],
)
def test_who_sees_manages_and_prepares(cast, who, sees_hidden, manages, prepares):
    actor = cast[who]
    hidden = Repository.objects.get(name="acme/hidden")

    names = set(visible_to(actor).values_list("name", flat=True))

    assert names == {"acme/public"} | ({"acme/hidden"} if sees_hidden else set())
    assert can_manage(actor, hidden) == manages
    assert can_prepare(actor, hidden) == prepares


def test_hidden_and_absent_look_alike(cast):
    refusals = []
    for name in ("acme/hidden", "acme/absent"):
        with pytest.raises(AppError) as refusal:
            get_visible(cast["stranger"], name)
        refusals.append((refusal.value.code, refusal.value.message, refusal.value.details))

    assert refusals[0] == refusals[1]
    assert refusals[0][0] == "REPOSITORY_NOT_FOUND"


@pytest.mark.parametrize("who", ["anonymous", "stranger", "stranger's key", "narrow key"])
def test_hidden_and_absent_take_the_same_look_ups(cast, who):
    policy.public_read()  # read once a while, by whoever comes first
    asked = []
    for name in ("acme/hidden", "acme/absent"):
        with CaptureQueriesContext(connection) as queries, pytest.raises(AppError):
            get_visible(cast[who], name)
        asked.append([query["sql"].partition("WHERE")[0] for query in queries])

    assert asked[0] == asked[1]


def test_names_are_case_sensitive(cast):
    with pytest.raises(AppError):
        get_visible(OPERATOR, "Acme/Public")


@pytest.mark.parametrize(
    "name",
    ["", "acme", "acme/", "/acme", "acme//x", "acme/x.git", "acme/../x", "a b/c", "-a/b", "é/x"]
    + ["a/" + "b" * 511, "a/b\n", ".a/b"],
)
def test_other_forms_of_names_are_invalid(name):
    with pytest.raises(AppError) as refusal:
        get_visible(OPERATOR, name)

    assert refusal.value.code == "INVALID_REPO"


def test_without_public_reading_anonymous_callers_see_nothing(cast):
    SettingsSection.objects.create(name="access", values={"public_read": False})
    policy.forget()

    assert not visible_to(ANONYMOUS).exists()
    assert visible_to(cast["stranger"]).count() == 1


@pytest.mark.parametrize(
    ("who", "name", "code"),
    [
        ("anonymous", "acme/absent", "AUTHENTICATION_REQUIRED"),
        ("manager's key", "acme/hidden", "ACCESS_DENIED"),
        ("stranger", "acme/hidden", "REPOSITORY_NOT_FOUND"),
        ("stranger", "acme/public", "REPOSITORY_MANAGEMENT_DENIED"),
        ("creator", "acme/hidden", "REPOSITORY_MANAGEMENT_DENIED"),
    ],
)
def test_management_is_refused_in_this_order(cast, who, name, code):
    with pytest.raises(AppError) as refusal:
        get_managed(cast[who], name)

    assert refusal.value.code == code


@pytest.mark.parametrize(
    ("who", "name", "code"),
    [
        ("anonymous", "acme/hidden", "REPOSITORY_NOT_FOUND"),
        ("anonymous", "acme/public", "PREPARATION_NOT_ALLOWED"),
        ("stranger", "acme/public", "REPOSITORY_MANAGEMENT_DENIED"),
        ("reading key", "acme/hidden", "REPOSITORY_MANAGEMENT_DENIED"),
    ],
)
def test_preparation_is_refused_in_this_order(cast, who, name, code):
    with pytest.raises(AppError) as refusal:
        get_preparable(cast[who], name)

    assert refusal.value.code == code
