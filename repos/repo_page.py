"""What every tab of a repository's page shows round it."""

from typing import Any

from django.utils.translation import gettext as _

from repos.page_data import Shown
from sourcegraph_site.web.addresses import code_address, repo_address, search_address

POLL_WORKING, POLL_IDLE = 2, 15  # seconds


def frame(shown: Shown, tab: str) -> dict[str, Any]:
    """Context of the head and the tabs; `tab` is the one that is open."""
    name, row = shown.repo.name, shown.row
    tabs = [("", _("Overview")), ("versions", _("Versions")), ("jobs", _("Jobs"))]
    if shown.manageable:
        tabs.append(("settings", _("Settings")))
    return {
        "section": "repos",
        "repo": shown.repo,
        "row": row,
        "tab": tab,
        "manageable": shown.manageable,
        "preparable": shown.preparable,
        "banners": shown.banners,
        "tabs": [(label, repo_address(name, each), each == tab) for each, label in tabs],
        "search_href": search_address(name),
        "browse_href": code_address(name, "", row.commit, row.branch) if row.commit else "",
        "poll_seconds": POLL_WORKING if row.job is not None else POLL_IDLE,
    }
