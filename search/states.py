"""What the search page says beside its lines: partial, empty, not indexed, not valid."""

from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from repos import work
from repos.access import can_prepare, get_visible
from repos.models import Repository, Version
from repos.presentation import JobView, current_job, job_view
from search.answer import SearchAnswer
from search.page_query import PageQuery
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.errors import AppError
from sourcegraph_site.templatetags.site import number, seconds
from sourcegraph_site.web.addresses import address
from sourcegraph_site.web.banners import Action, Banner, banner_of

# Codes of a commit or a repository that is still being prepared.
_PREPARING = ("INDEX_NOT_READY", "SCOPE_NOT_READY", "DEFAULT_BRANCH_NOT_OBSERVED")
_QUERY = ("INVALID_PATTERN", "INVALID_GLOB")
_SPECIAL = frozenset("\\^$.|?*+()[]{}")


def plain_text(query: PageQuery) -> Action:
    return Action(_("Search as plain text"), query.first_page(fixed_strings=True).address)


def answer_banners(answer: SearchAnswer, query: PageQuery) -> list[Banner]:
    """Of an answer: why it may be incomplete, or what an empty one does not prove."""
    found = []
    if answer.meta.partial:
        found.append(_partial(answer.meta.partial_reason, query))
    if answer.meta.files_only and not query.files_only:
        found.append(
            Banner(
                fact=_("Only file names are shown."),
                meaning=_(
                    "The matching lines would be too large for one page. Narrow it with a path."
                ),
            )
        )
    if not answer.result.files and not answer.meta.partial:
        found.append(_nothing(answer, query))
    return found


def _partial(reason: str | None, query: PageQuery) -> Banner:
    if reason == "match_cap":
        meaning = _("The search stopped at 10,000 matches. Narrow it to see the rest.")
    elif reason == "memory":
        meaning = _(
            "The search needed too much memory, so lines are missing and the counts are too low."
            " Narrow it with a path or a longer pattern."
        )
    else:
        meaning = _(
            "The search stopped after 5 seconds, so lines are missing and the counts are too low."
            " Narrow it with a path or a longer pattern."
        )
    again = () if reason == "match_cap" else (Action(_("Try again"), query.address),)
    return Banner(fact=_("This result is partial."), meaning=meaning, tone="warn", actions=again)


def _nothing(answer: SearchAnswer, query: PageQuery) -> Banner:
    coverage = answer.meta.coverage
    where = {"repo": query.repo, "sha": (answer.meta.commit or "")[:8]}
    meaning = ""
    if coverage is not None:
        meaning = searched(coverage.indexed_documents, coverage.skipped)
    actions = []
    if not query.ignore_case and query.pattern.lower() != query.pattern.upper():
        wider = query.first_page(ignore_case=True)
        actions.append(Action(_("Ignore case"), wider.address))
    if not query.fixed_strings and _SPECIAL & set(query.pattern):
        actions.append(plain_text(query))
    if query.globs and len(actions) < 2:
        everywhere = query.first_page(globs=())
        actions.append(Action(_("Search in all paths"), everywhere.address))
    return Banner(
        fact=_("No line matches in %(repo)s at %(sha)s.") % where,
        meaning=meaning,
        actions=tuple(actions),
    )


def searched(files: int, skipped: Mapping[str, int]) -> str:
    """How many files were searched, and how many were not, for which reasons."""
    # An LFS pointer is searched as the text that it is; only its content is missing.
    left_out = {key: count for key, count in skipped.items() if key != "lfs_pointer"}
    total = sum(left_out.values())
    known = {"files": number(files), "skipped": number(total)}
    if not total:
        return ngettext("%(files)s file was searched.", "%(files)s files were searched.", files) % (
            known
        )
    known["reasons"] = ", ".join(reason(key, count) for key, count in left_out.items())
    return (
        ngettext(
            "%(files)s file was searched; %(skipped)s not (%(reasons)s), so this is not proof of"
            " absence.",
            "%(files)s files were searched; %(skipped)s not (%(reasons)s), so this is not proof"
            " of absence.",
            files,
        )
        % known
    )


def reason(key: str, count: int) -> str:
    """`29 binary`, `1 submodule`: a reason of `Coverage.Skipped` with its count."""
    known = {"count": number(count)}
    if key == "binary":
        return ngettext("%(count)s binary", "%(count)s binary", count) % known
    if key == "too_large":
        return ngettext("%(count)s too large", "%(count)s too large", count) % known
    if key == "encoding":
        return ngettext("%(count)s in another encoding", "%(count)s in another encoding", count) % (
            known
        )
    if key == "submodule":
        return ngettext("%(count)s submodule", "%(count)s submodules", count) % known
    if key == "unsupported_path":
        return ngettext("%(count)s with an odd name", "%(count)s with odd names", count) % known
    return f"{known['count']} {key}"


def error_state(
    actor: Actor, query: PageQuery, error: AppError
) -> tuple[list[Banner], JobView | None]:
    """What is said instead of an answer, and the job that will make one possible."""
    if error.code in _PREPARING:
        return _preparing(actor, query, error)
    actions = []
    if error.code == "INVALID_PATTERN":
        banner = banner_of(error)
        meaning = error.message
        if query.pattern.strip() and not query.fixed_strings:
            actions.append(plain_text(query))
        return [Banner(banner.fact, meaning, "bad", error.code, tuple(actions), alert=True)], None
    if error.code == "INVALID_GLOB":
        return [Banner(banner_of(error).fact, error.message, "bad", error.code, alert=True)], None
    if error.retryable or error.code == "RATE_LIMITED":
        actions.append(Action(_("Try again"), query.address))
    elif error.code == "INVALID_CURSOR":
        actions.append(Action(_("First page"), query.first_page().address))
    elif query.wanted:
        newest = query.first_page(commit="", revision="", branch="")
        actions.append(Action(_("Search the default branch"), newest.address))
    return [banner_of(error, *actions)], None


def _preparing(
    actor: Actor, query: PageQuery, error: AppError
) -> tuple[list[Banner], JobView | None]:
    repo = get_visible(actor, query.repo)
    live = Job.objects.filter(
        repository_id=repo.pk, kind__in=work.KINDS, state__in=[Job.State.QUEUED, Job.State.RUNNING]
    )
    wanted = query.commit or ""
    jobs = list(live)
    job = current_job([job for job in jobs if wanted and job.commit == wanted] or jobs)
    view = job_view(job, first=repo.observed_at is None) if job is not None else None
    banner = banner_of(error, alert=False)
    meaning = str(banner.meaning)
    if error.code == "INDEX_NOT_READY" and repo.last_index_duration_seconds:
        takes = _("Indexing takes about %(time)s here.")
        meaning += " " + takes % {"time": seconds(repo.last_index_duration_seconds)}
    actions = _ways_on(actor, query, repo) if error.code != "DEFAULT_BRANCH_NOT_OBSERVED" else ()
    tone = "warn" if job is None else ""
    return [Banner(banner.fact, meaning, tone, error.code, actions)], view  # type: ignore[arg-type]


def _ways_on(actor: Actor, query: PageQuery, repo: Repository) -> tuple[Action, ...]:
    actions = []
    if query.commit and can_prepare(actor, repo):
        where = address("repo/index", [("repo", repo.name), ("commit", query.commit)])
        label = _("Index %(sha)s") % {"sha": query.commit[:8]}
        actions.append(Action(label, where, main=True, post=True))
    newest = (
        Version.objects.filter(repository=repo, indexed=True)
        .values_list("commit", flat=True)
        .first()
    )
    if newest:
        label = _("Search the newest indexed commit, %(sha)s") % {"sha": newest[:8]}
        there = query.first_page(commit=newest, revision="", branch="")
        actions.append(Action(label, there.address))
    return tuple(actions)
