"""Find a person to name, for example as a manager of a repository."""

from dataclasses import dataclass

from django.contrib.auth import get_user_model
from django.db.models import Q

from sourcegraph_site.accounts.models import User
from sourcegraph_site.accounts.rights import require_person
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.inputs import Field, Input

MAX_FOUND = 20


class SearchUsers(Input):
    q: str = Field(min_length=2, max_length=100, description="Part of a name or mail address.")


@dataclass(frozen=True, slots=True)
class FoundPerson:
    id: str
    name: str
    email: str
    department: str


@dataclass(frozen=True, slots=True)
class FoundPeople:
    items: list[FoundPerson]


def search_users(actor: Actor, params: SearchUsers) -> FoundPeople:
    """At most 20 enabled people, by name.

    Raises:
        AuthenticationRequired, AccessDenied: nobody who is signed in on the website.
    """
    require_person(actor)
    text = params.q.strip()
    named = Q()
    for field in ("username", "first_name", "last_name", "email"):
        named |= Q(**{f"{field}__icontains": text})
    people = get_user_model().objects.filter(named, is_active=True).order_by("username")
    return FoundPeople([_person(user) for user in people[:MAX_FOUND]])


def _person(user: User) -> FoundPerson:
    return FoundPerson(user.public_id, user.display_name, user.email, user.department)
