"""What can go wrong with sign-in and accounts."""

from sourcegraph_site.kernel.errors import (
    AppError,
    BadGateway,
    BadRequest,
    Conflict,
    Forbidden,
    Missing,
    Unavailable,
)


class RegistrationClosed(Forbidden):
    """New accounts are not accepted; ask an administrator."""

    code = "REGISTRATION_CLOSED"


class UserDisabled(Forbidden):
    """This account was disabled by an administrator."""

    code = "USER_DISABLED"


class InvalidLoginState(BadRequest):
    """The sign-in link is wrong, used or too old."""

    code = "INVALID_LOGIN_STATE"


class InvalidLoginProvider(BadRequest):
    """This site does not sign in with that provider."""

    code = "INVALID_LOGIN_PROVIDER"


class InvalidReturnTo(BadRequest):
    """`return_to` is a path of this site's pages, and not of the sign-in."""

    code = "INVALID_RETURN_TO"


class LoginNotCompleted(BadRequest):
    """The provider did not confirm the sign-in, or it took too long; start again."""

    code = "LOGIN_NOT_COMPLETED"


class CrossSiteLogin(Forbidden):
    """A sign-in starts on this site's own page, not on another site."""

    code = "CROSS_SITE_LOGIN"


class IdentityUnavailable(BadGateway):
    """The provider of identities does not answer; try again later."""

    code = "IDENTITY_UNAVAILABLE"


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


class AdminRequired(Forbidden):
    """Only site administrators may do this."""

    code = "ADMIN_REQUIRED"


class InvalidSettings(BadRequest):
    """A value of the site's settings is not acceptable; the message says which."""

    code = "INVALID_SETTINGS"


class SettingsRevisionConflict(AppError):
    """Somebody changed these settings since you read them; read them again."""

    code = "SETTINGS_REVISION_CONFLICT"
    status = 412


class InvalidCredential(BadRequest):
    """The token or its expiry is not acceptable."""

    code = "INVALID_CREDENTIAL"


class InvalidCredentialKind(BadRequest):
    """There is no code source of this id that takes a token."""

    code = "INVALID_CREDENTIAL_KIND"


class CredentialStorageUnavailable(Unavailable):
    """Tokens cannot be encrypted or read: the credential key is missing or damaged."""

    code = "CREDENTIAL_STORAGE_UNAVAILABLE"
