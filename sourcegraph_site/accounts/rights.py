"""Rights that do not concern a repository: whose settings, and who sets the site's."""

from sourcegraph_site.accounts.errors import AdminRequired
from sourcegraph_site.kernel.actor import Actor, ActorKind
from sourcegraph_site.kernel.errors import AccessDenied, AuthenticationRequired


def require_person(actor: Actor) -> int:
    """The database id of a person who is signed in on the website.

    Raises:
        AuthenticationRequired: anonymous.
        AccessDenied: a key, a token, the deployment credential.
    """
    if not actor.signed_in:
        raise AuthenticationRequired("Sign in first.")
    if actor.kind is not ActorKind.SESSION or actor.user_id is None:
        raise AccessDenied("Only a person who is signed in on the website may do this.")
    return actor.user_id


def require_administrator(actor: Actor) -> None:
    """Lets administrators on the website and the operator at the terminal pass.

    Raises:
        AuthenticationRequired, AccessDenied: as `require_person`.
        AdminRequired: a person who is no administrator.
    """
    if actor.kind is ActorKind.OPERATOR:
        return
    require_person(actor)
    if not actor.site_admin:
        raise AdminRequired("Only administrators may do this.")
