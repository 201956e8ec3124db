"""The two pickers of the query box: repositories that the caller sees, and their branches."""

from dataclasses import dataclass

from repos.access import visible_to
from repos.models import BranchHead, Repository
from repos.presentation import head_of
from search.page_query import PageQuery
from sourcegraph_site.kernel.actor import Actor

MOST_ROWS = 20


@dataclass(frozen=True, slots=True)
class PickRow:
    name: str
    commit: str
    href: str
    current: bool = False


def repositories(actor: Actor, query: PageQuery, text: str = "") -> tuple[list[PickRow], bool]:
    """Enabled repositories whose name holds `text`, and whether there are more of them."""
    found = visible_to(actor).filter(enabled=True, deleted_at=None).order_by("name")
    if text:
        found = found.filter(name__icontains=text)
    rows = list(found[: MOST_ROWS + 1])
    heads: dict[int, dict[str, str]] = {}
    for pk, branch, commit in BranchHead.objects.filter(repository__in=rows).values_list(
        "repository_id", "branch", "commit"
    ):
        heads.setdefault(pk, {})[branch] = commit
    other = query.first_page(commit="", revision="", branch="")
    picked = [
        PickRow(
            repo.name,
            head_of(repo, heads.get(repo.pk, {}))[1],
            other.first_page(repo=repo.name).address,
            repo.name == query.repo,
        )
        for repo in rows
    ]
    return picked[:MOST_ROWS], len(rows) > MOST_ROWS


@dataclass(frozen=True, slots=True)
class Revision:
    """What the revision picker shows closed: a name, and the commit behind it if known."""

    name: str
    commit: str


def revisions(repo: Repository | None, query: PageQuery) -> tuple[Revision, list[PickRow]]:
    """The revision that the page stands at, and the branches to choose from."""
    if repo is None:
        return Revision(query.commit[:8] or query.revision, query.commit), []
    heads = dict(BranchHead.objects.filter(repository=repo).values_list("branch", "commit"))
    default, head = head_of(repo, heads)
    if query.commit:
        named = query.branch if query.branch in heads else query.commit[:8]
        now = Revision(named, query.commit if named == query.branch else "")
    elif query.revision:
        now = Revision(query.revision, heads.get(query.revision.removeprefix("refs/heads/"), ""))
    else:
        now = Revision(default, head)
    order = sorted(heads, key=lambda branch: (branch != default, branch))
    unpinned = query.first_page(commit="", branch="")
    return now, [
        PickRow(
            branch,
            heads[branch],
            unpinned.first_page(revision=branch).address,
            branch == now.name,
        )
        for branch in order
    ]
