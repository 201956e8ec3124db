"""What can go wrong with sign-in and accounts."""

from sourcegraph_site.kernel.errors import BadRequest, Conflict, Forbidden, Missing


class RegistrationClosed(Forbidden):
    """New accounts are not accepted; ask an administrator."""

    code = "REGISTRATION_CLOSED"


class UserDisabled(Forbidden):
    """This account was disabled by an administrator."""

    code = "USER_DISABLED"


class InvalidLoginState(BadRequest):
    """The sign-in link is wrong, used or too old."""

    code = "INVALID_LOGIN_STATE"


class InvalidUserInput(BadRequest):
    """The name or password of the new account is not acceptable."""

    code = "INVALID_USER_INPUT"


class InvalidApiKeyInput(BadRequest):
    """The name, expiry or list of repositories of the new key is not acceptable."""

    code = "INVALID_API_KEY_INPUT"


class InvalidPagination(BadRequest):
    """`limit` is not 1 to 100, or `after` is not a cursor of this list."""

    code = "INVALID_PAGINATION"


class UserNotFound(Missing):
    """No such user."""

    code = "USER_NOT_FOUND"


class LastAdminRequired(Conflict):
    """The site needs at least one enabled administrator."""

    code = "LAST_ADMIN_REQUIRED"
