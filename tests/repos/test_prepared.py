"""Prepared look-ups and the rule for one repository equal what the ORM and the query say."""

import itertools

import pytest

from repos.access import may_see, visible_to
from repos.models import Repository, RepositoryManager
from sourcegraph_site.accounts import policy
from sourcegraph_site.accounts.models import SettingsSection
from sourcegraph_site.accounts.prepared import PreparedSelect
from sourcegraph_site.kernel.actor import ANONYMOUS, OPERATOR, SYSTEM, Actor, ActorKind

pytestmark = pytest.mark.django_db


def test_a_prepared_row_equals_the_row_of_the_orm(make_user):
    repo = Repository.objects.create(
        name="a/b",
        remote_url="https://example.org/a/b.git",
        window_count=3,
        path_groups=[{"name": "x", "paths": ["é/ü"]}],
        branches=["main"],
        creator=make_user("ann"),
    )
    select = PreparedSelect(Repository, '"repos_repository"."repo_id" = %s')
    for _ in range(2):
        found = select.first(repo.repo_id)
        expected = Repository.objects.get(pk=repo.pk)
        for field in Repository._meta.concrete_fields:
            assert getattr(found, field.attname) == getattr(expected, field.attname), field
        assert found == expected and not found._state.adding
    assert select.first("0" * 64) is None


@pytest.mark.parametrize("public_read", [True, False])
def test_the_rule_for_one_repository_equals_the_rule_of_the_query(make_user, public_read):
    SettingsSection.objects.create(name="access", values={"public_read": public_read})
    policy.forget()
    people = {name: make_user(name) for name in ("creator", "manager", "stranger")}
    boss = make_user("boss", admin=True)
    for public, owned in itertools.product((True, False), repeat=2):
        repo = Repository.objects.create(
            name=f"a/{public}-{owned}".lower(),
            remote_url="https://example.org/x.git",
            window_count=1,
            public_read=public,
            creator=people["creator"] if owned else None,
        )
        RepositoryManager.objects.create(repository=repo, user=people["manager"])
    kinds = (ActorKind.SESSION, ActorKind.KEY, ActorKind.OAUTH)
    lists = (None, frozenset(), frozenset({"a/false-true"}))
    actors = [ANONYMOUS, OPERATOR, SYSTEM, Actor(ActorKind.SERVICE, "service")]
    actors += [
        Actor(kind, user.username, user.pk, user.is_superuser, repositories=names)
        for kind, user, names in itertools.product(kinds, [*people.values(), boss], lists)
    ]
    for actor, repo in itertools.product(actors, Repository.objects.all()):
        assert may_see(actor, repo) == visible_to(actor).filter(pk=repo.pk).exists(), (actor, repo)
