"""Who is calling, as data.

An `Actor` is made once by a surface (session, bearer, terminal, job) and handed to the use
case. It says what the caller *is*; what that caller *may* do is decided in `repos/access.py`
and in the use cases, never by a surface.
"""

from dataclasses import dataclass
from enum import StrEnum


class ActorKind(StrEnum):
    ANONYMOUS = "anonymous"
    SESSION = "session"  # a person, signed in on the website
    KEY = "key"  # a personal key (sgk_…): reads as its owner, without administrator reach
    OAUTH = "oauth"  # an access token that we issued: like a key
    SERVICE = "service"  # the deployment credential
    OPERATOR = "operator"  # manage.py, at the terminal of the server
    SYSTEM = "system"  # our own background work


@dataclass(frozen=True, slots=True)
class Actor:
    """One caller.

    `label` is what audit and logs show; for anonymous callers it is a digest of the address.
    `repositories` and `no_prepare` narrow a key; None means not narrowed.
    """

    kind: ActorKind
    label: str
    user_id: int | None = None
    site_admin: bool = False
    key_id: int | None = None
    repositories: frozenset[str] | None = None
    no_prepare: bool = False

    @property
    def signed_in(self) -> bool:
        """A known person or the deployment credential, so not anonymous."""
        return self.kind is not ActorKind.ANONYMOUS

    @property
    def unrestricted(self) -> bool:
        """Sees every repository: administrators on the website, the service, the operator.

        A key or token of an administrator is *not* unrestricted.
        """
        if self.kind is ActorKind.SESSION:
            return self.site_admin
        return self.kind in (ActorKind.SERVICE, ActorKind.OPERATOR, ActorKind.SYSTEM)


OPERATOR = Actor(kind=ActorKind.OPERATOR, label="operator")
SYSTEM = Actor(kind=ActorKind.SYSTEM, label="system")
ANONYMOUS = Actor(kind=ActorKind.ANONYMOUS, label="anonymous")
