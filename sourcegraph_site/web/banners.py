"""Banners as data: a fact, what it means, a code, and at most two things to do next."""

from dataclasses import dataclass, field
from typing import Literal

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from sourcegraph_site.kernel.errors import AppError

Text = str | Promise
Tone = Literal["", "warn", "bad"]


@dataclass(frozen=True, slots=True)
class Action:
    """A link or, with `post`, a button that sends a form to `href`."""

    label: Text
    href: str
    main: bool = False
    post: bool = False


@dataclass(frozen=True, slots=True)
class Banner:
    """`alert`: the person just caused it, so screen readers say it at once."""

    fact: Text
    meaning: Text = ""
    tone: Tone = ""
    code: str = ""
    actions: tuple[Action, ...] = ()
    alert: bool = False
    icon: str = field(default="")

    @property
    def symbol(self) -> str:
        return self.icon or ("warn" if self.tone else "info")


# What each code means to a person on the website. The message of the error, in English, is
# shown only where no sentence stands here.
FACTS: dict[str, tuple[Text, Text]] = {
    "REPOSITORY_NOT_FOUND": (
        _("There is no such page, or you may not see it."),
        _("Check the address, or sign in."),
    ),
    "NOT_FOUND": (
        _("There is no such page, or you may not see it."),
        _("Check the address, or sign in."),
    ),
    "INVALID_REPO": (
        _("This is not a repository name."),
        _("Write owner/repository, for example git/git."),
    ),
    "REPOSITORY_DISABLED": (
        _("This repository is switched off."),
        _("A manager of it can switch it on again."),
    ),
    "REPOSITORY_STORAGE_MISSING": (
        _("The copy of this repository is missing on this server."),
        _("The next check for updates fetches it again."),
    ),
    "REVISION_NOT_ELIGIBLE": (
        _("This commit is not kept here."),
        _("Choose a monitored branch or one of the versions of this repository."),
    ),
    "BRANCH_NOT_MONITORED": (
        _("This branch is not monitored."),
        _("Choose a monitored branch, or give the full SHA of a version that is kept."),
    ),
    "BRANCH_NOT_OBSERVED": (
        _("The remote did not have this branch at the last check."),
        _("Choose another branch."),
    ),
    "DEFAULT_BRANCH_NOT_OBSERVED": (
        _("The default branch is not known yet."),
        _("The first fetch has not finished, or the remote has no commits yet."),
    ),
    "DEFAULT_BRANCH_UNDETERMINED": (
        _("No default branch is set."),
        _("Choose a branch or a commit."),
    ),
    "SHORT_SHA_UNSUPPORTED": (_("Write all 40 characters."), _("A short SHA is not unique.")),
    "INVALID_REVISION": (
        _("This is not a branch or a commit."),
        _("Give a monitored branch or the full SHA of a commit."),
    ),
    "INDEX_NOT_READY": (
        _("This commit is not indexed yet."),
        _("It can be read, but not searched."),
    ),
    "INDEX_CORRUPT": (
        _("The index of this commit is damaged."),
        _("It is being built again; try in a minute."),
    ),
    "INVALID_PATTERN": (_("This pattern is not valid."), ""),
    "INVALID_GLOB": (_("A path filter is not valid."), ""),
    "INVALID_CURSOR": (
        _("This page of results cannot be shown any more."),
        _("Search again from the first page."),
    ),
    "QUERY_DEADLINE_EXCEEDED": (
        _("The search took too long."),
        _("Narrow it with a path or a longer pattern."),
    ),
    "SERVER_BUSY": (_("The server is busy."), _("Try again in a second.")),
    "RATE_LIMITED": (_("Too many requests."), _("Try again in a minute.")),
    "FILE_NOT_FOUND": (
        _("There is nothing at this path at this commit."),
        _("It may exist at another commit, or have another name."),
    ),
    "INVALID_PATH": (_("This is not a path of a file."), _("Check the address.")),
    "PATH_NOT_REGISTERED": (
        _("This path is outside the directories that are kept here."),
        "",
    ),
    "CONTENT_NOT_READY": (
        _("These files are not prepared at this commit yet."),
        _("Try again in a minute."),
    ),
    "READ_SCAN_LIMIT": (
        _("These lines lie beyond the part of the file that is read."),
        _("Only the first 8 MiB of a file are read."),
    ),
    "CSRF_REQUIRED": (
        _("This form is too old."),
        _("Reload the page and try again."),
    ),
    "AUTHENTICATION_REQUIRED": (_("Sign in first."), ""),
    "ADMIN_REQUIRED": (_("Only administrators may do this."), ""),
    "SETTINGS_REVISION_CONFLICT": (
        _("Someone changed this in the meantime."),
        _("Reload the page to see the present values."),
    ),
    "INVALID_SETTINGS": (_("A value of these settings is not accepted."), ""),
    "INVALID_CREDENTIAL": (
        _("This token or its date is not accepted."),
        _("A token has 8 to 4,096 characters without spaces, and a date in the future."),
    ),
    "CREDENTIAL_STORAGE_UNAVAILABLE": (
        _("Tokens cannot be encrypted on this server."),
        _("Its operator finds the reason in the log."),
    ),
    "REGISTRATION_DISABLED": (
        _("Only administrators may register repositories on this site."),
        _("Ask one of them."),
    ),
    "REPOSITORY_MANAGEMENT_DENIED": (
        _("Only its managers and administrators may change this repository."),
        "",
    ),
    "GIT_AUTH_FAILED": (_("The code host refused the token."), ""),
    "GIT_ACCESS_DENIED": (_("The token may not read this repository."), ""),
    "GIT_REPOSITORY_UNAVAILABLE": (
        _("The repository does not exist, or the token cannot see it."),
        "",
    ),
    "GIT_FETCH_FAILED": (_("Fetching failed."), ""),
    "GIT_CREDENTIAL_UNAVAILABLE": (_("No usable token for the code host."), ""),
    "INSUFFICIENT_STORAGE": (_("The server is low on disk space."), ""),
    "INDEX_BUILD_FAILED": (_("Building the index failed."), ""),
    "RECOVERY_EXHAUSTED": (_("The work was interrupted too often."), ""),
    "CANCELLED_BY_USER": (_("It was cancelled."), ""),
    "POLICY_CHANGED": (_("The settings changed in the meantime."), ""),
    "INTERNAL_ERROR": (
        _("The server made a mistake."),
        _("It is written in its log; try again, or go back."),
    ),
    "DEPENDENCY_UNAVAILABLE": (_("The server did not answer."), _("Try again in a minute.")),
}


def fact_of(code: str) -> Text:
    """One sentence for a code, as jobs store it; unknown codes speak for themselves."""
    return FACTS[code][0] if code in FACTS else code


def banner_of(error: AppError, *actions: Action, alert: bool = True) -> Banner:
    """The banner of an error; its English reason fills in where we have no sentence."""
    fact, meaning = FACTS.get(error.code, (error.message, ""))
    return Banner(
        fact=fact,
        meaning=meaning or (error.message if error.code in FACTS else ""),
        tone="bad",
        code=error.code,
        actions=actions,
        alert=alert,
    )
