"""Tags and filters that pages of every app share. One place per part."""

from datetime import datetime
from typing import Any

from django import template
from django.conf import settings
from django.contrib.humanize.templatetags.humanize import naturaltime
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from sourcegraph_site.accounts import policy
from sourcegraph_site.accounts.sections import Access
from sourcegraph_site.kernel.errors import AppError
from sourcegraph_site.kernel.sign_in import Provider
from sourcegraph_site.web import addresses
from sourcegraph_site.web.banners import Action, Banner, banner_of
from sourcegraph_site.web.icons import icon

register = template.Library()
register.simple_tag(icon, name="icon")
register.simple_tag(addresses.code_address, name="code_address")
register.simple_tag(addresses.repo_address, name="repo_address")
register.simple_tag(addresses.search_address, name="search_address")


@register.simple_tag
def sign_in_providers() -> list[Provider]:
    """The providers whose buttons the sign-in page shows."""
    found: list[Provider] = settings.SIGN_IN_PROVIDERS
    return found


_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


@register.filter
def number(value: int) -> str:
    """1204 → 1,204, the same in both languages."""
    return f"{value:,}"


@register.filter
def size(value: int | None) -> str:
    """Bytes → `38 MiB`; a decimal below ten. Unknown is a dash."""
    if value is None:
        return "–"
    amount, unit = float(value), 0
    while amount >= 1000 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1024, unit + 1
    digits = 1 if unit and amount < 10 else 0
    return f"{amount:,.{digits}f} {_UNITS[unit]}"


@register.filter
def seconds(value: float | None) -> str:
    """A length of time: `0.8 s`, `41 s`, `3 min`, `2 h`. Unknown is a dash."""
    if value is None:
        return "–"
    if value < 10:
        return f"{value:.1f} s"
    if value < 90:
        return f"{value:.0f} s"
    if value < 5400:
        return f"{value / 60:.0f} min"
    return f"{value / 3600:.0f} h"


@register.filter
def until(value: datetime | None) -> str:
    """How long from now, in whole seconds at most; "now" once it is past."""
    if value is None:
        return "–"
    left = round(seconds_until(value))
    if left <= 0:
        return _("now")
    return f"{left} s" if left < 90 else seconds(left)


def seconds_until(value: datetime) -> float:
    return (value - timezone.now()).total_seconds()


@register.simple_tag
def ago(value: datetime | None) -> SafeString | str:
    """A past moment: relative words, the exact time as title."""
    if value is None:
        return "–"
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        value.isoformat(timespec="seconds"),
        value.strftime("%Y-%m-%d %H:%M:%S UTC"),
        naturaltime(value),
    )


@register.simple_tag
def day(value: datetime | None) -> SafeString | str:
    if value is None:
        return "–"
    return format_html(
        '<time datetime="{}">{}</time>', value.date().isoformat(), date_format(value, "DATE_FORMAT")
    )


@register.simple_tag
def lines_in_files(lines: int, files: int, at_least: bool = False) -> str:
    """The one sentence above results; whole sentences, so that every language can order them."""
    shown = {"lines": f"{lines:,}", "files": f"{files:,}"}
    if at_least:
        if files == 1:
            return (
                ngettext(
                    "at least %(lines)s line in 1 file", "at least %(lines)s lines in 1 file", lines
                )
                % shown
            )
        return (
            ngettext(
                "at least %(lines)s line in %(files)s files",
                "at least %(lines)s lines in %(files)s files",
                lines,
            )
            % shown
        )
    if files == 1:
        return ngettext("%(lines)s line in 1 file", "%(lines)s lines in 1 file", lines) % shown
    return (
        ngettext("%(lines)s line in %(files)s files", "%(lines)s lines in %(files)s files", lines)
        % shown
    )


@register.inclusion_tag("parts/chip.html")
def chip(repo: str, commit: str, branch: str | None = None, indexed: bool = True) -> dict[str, Any]:
    """The commit chip: links to the repository at that commit, copies the full SHA."""
    return {
        "commit": commit,
        "branch": branch,
        "indexed": indexed,
        "href": addresses.code_address(repo, "", commit, branch),
    }


@register.simple_tag(takes_context=True)
def error_banner(context: dict[str, Any], error: AppError) -> Banner:
    """The banner of an error page: signing in may help where something is hidden."""
    actions = [Action(_("Search"), context["search_page"])]
    if error.status in (401, 403, 404) and not context["viewer"]:
        here = urlencode({"next": context["here"]})
        actions.insert(0, Action(_("Sign in"), f"{reverse('login')}?{here}"))
    return banner_of(error, *actions)


@register.simple_tag
def site_access() -> Access:
    """Who may read and who may join, as the site is set now."""
    return policy.access()
