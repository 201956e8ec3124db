"""What allauth asks us: who may join, and where people go after signing in."""

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme

from sourcegraph_site.accounts.policy import access


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Closed by default; the first administrator comes by the terminal's link."""
        return access().allow_registration

    def is_safe_url(self, url: str | None) -> bool:
        """Only paths of our own pages; never another host, never another application."""
        return bool(
            url
            and url.startswith(settings.PREFIX)
            and url_has_allowed_host_and_scheme(url, allowed_hosts=None)
        )
