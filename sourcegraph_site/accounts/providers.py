"""Sign-in by a provider: what allauth asks us on the way, and the two addresses of it."""

from typing import Any

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.adapter import get_adapter as allauth_adapter
from allauth.socialaccount.models import SocialAccount, SocialLogin
from allauth.socialaccount.providers.base import AuthError, AuthProcess
from allauth.socialaccount.providers.github.views import oauth2_callback as github_callback
from allauth.socialaccount.providers.google.views import oauth2_callback as google_callback
from allauth.socialaccount.providers.microsoft.views import oauth2_callback as microsoft_callback
from allauth.socialaccount.providers.openid_connect.views import callback as openid_callback
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from requests import RequestException

from sourcegraph_site.accounts.adapter import AccountAdapter
from sourcegraph_site.accounts.errors import (
    CrossSiteLogin,
    IdentityUnavailable,
    InvalidLoginProvider,
    InvalidReturnTo,
    LoginNotCompleted,
    RegistrationClosed,
    UserDisabled,
)
from sourcegraph_site.accounts.models import User
from sourcegraph_site.accounts.usecases.join import join
from sourcegraph_site.kernel.errors import AppError
from sourcegraph_site.kernel.sign_in import Provider

CLOSED_SECONDS = 5


def provider_of(ident: str) -> Provider | None:
    return next((p for p in settings.SIGN_IN_PROVIDERS if p.id == ident), None)


def refused(request: HttpRequest, error: AppError) -> HttpResponse:
    """A page, although programs have addresses beside it: people's browsers come here."""
    return render(request, "errors/error.html", {"error": error}, status=error.status)


class SocialAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Decided in `join`, where nobody else can decide at the same time."""
        return True

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        # An address says nothing about who somebody is: it is shown, and never looked up.
        sociallogin.email_addresses = []
        if sociallogin.is_existing and not sociallogin.user.is_active:
            error = UserDisabled("An administrator disabled this account.")
            raise ImmediateHttpResponse(refused(request, error))

    def save_user(
        self, request: HttpRequest, sociallogin: SocialLogin, form: object = None
    ) -> User:
        provider = provider_of(sociallogin.account.provider)
        if provider is None:
            raise ImmediateHttpResponse(refused(request, InvalidLoginProvider("No such provider.")))
        user: User = sociallogin.user

        def save() -> None:
            DefaultSocialAccountAdapter.save_user(self, request, sociallogin)

        try:
            join(user, issuer=provider.issuer, subject=sociallogin.account.uid, save=save)
        except RegistrationClosed:
            response = render(request, "account/signup_closed.html", status=403)
            response["Refresh"] = f"{CLOSED_SECONDS}; url={settings.PREFIX}"
            raise ImmediateHttpResponse(response) from None
        return user

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: object,
        error: str | None = None,
        exception: Exception | None = None,
        extra_context: object = None,
    ) -> None:
        trouble: AppError = LoginNotCompleted("Sign-in was not completed; try again.")
        if error == AuthError.UNKNOWN and isinstance(exception, RequestException):
            trouble = IdentityUnavailable("The provider does not answer; try again later.")
        raise ImmediateHttpResponse(refused(request, trouble))


@never_cache
@require_safe
def provider_login(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Off to the provider, and back to `return_to`."""
    try:
        if request.headers.get("Sec-Fetch-Site") == "cross-site":
            raise CrossSiteLogin("Start the sign-in on this site's own page.")
        if provider_of(provider_id) is None:
            raise InvalidLoginProvider("This site does not sign in with that provider.")
        target = request.GET.get("return_to", settings.PREFIX)
        entrances = tuple(settings.PREFIX + part for part in ("auth/", "login", "accounts/"))
        if not AccountAdapter(request).is_safe_url(target) or target.startswith(entrances):
            raise InvalidReturnTo("return_to is a path of this site's pages.")
        provider: Any = allauth_adapter(request).get_provider(request, provider_id)
        try:
            answer: HttpResponse = provider.redirect(request, AuthProcess.LOGIN, next_url=target)
        except RequestException:
            raise IdentityUnavailable("The provider does not answer; try again later.") from None
        return answer
    except AppError as error:
        return refused(request, error)
    except ImmediateHttpResponse as done:
        response: HttpResponse = done.response
        return response


def callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Where the provider sends people back to."""
    provider = provider_of(provider_id)
    if provider is None:
        error = InvalidLoginProvider("This site does not sign in with that provider.")
        return refused(request, error)
    answer: HttpResponse
    if provider.kind == "openid":
        answer = openid_callback(request, provider_id)
    else:
        answer = CALLBACKS[provider.kind](request)
    return answer


CALLBACKS = {
    "google": google_callback,
    "github": github_callback,
    "microsoft": microsoft_callback,
}


def identity_of(user: User) -> tuple[str, str]:
    """(issuer, subject) of an account; of a local one ("local", its name)."""
    account = SocialAccount.objects.filter(user=user).order_by("pk").first()
    provider = provider_of(account.provider) if account else None
    if account is None:
        return "local", user.username
    return provider.issuer if provider else account.provider, account.uid


# The names are those that allauth looks up for the address that it tells the provider.
urlpatterns = [
    *(
        path(f"auth/{kind}/callback", callback, {"provider_id": kind}, name=f"{kind}_callback")
        for kind in CALLBACKS
    ),
    path("auth/<slug:provider_id>/callback", callback, name="openid_connect_callback"),
    path("auth/<slug:provider_id>/login", provider_login, name="provider_login"),
]
