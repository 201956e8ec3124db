"""The example on the first page: a real search of the chosen repository, at its head."""

from dataclasses import dataclass

from django.utils.safestring import SafeString

from readers.caching import WeightedCache
from repos.models import Repository
from search.answer import SearchAnswer
from search.page_query import PageQuery
from search.presentation import Card, render_cards
from search.requests import SearchCode
from search.usecases.search_code import search_code
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.errors import AppError
from sourcegraph_site.templatetags.site import lines_in_files

# Words that most repositories of code have in telling places; the first that is found counts.
PATTERNS = (r"func main\(", r"def main\(", r"int main\(", r"static void main\(", "main", "the")

_answers: WeightedCache[tuple[str, str], tuple[str, SearchAnswer]] = WeightedCache(64)


@dataclass(frozen=True, slots=True)
class Example:
    query: PageQuery
    card: SafeString
    counts: str
    milliseconds: str

    @property
    def pattern(self) -> str:
        return self.query.pattern

    @property
    def href(self) -> str:
        return self.query.address


def example_of(actor: Actor, repo: Repository) -> Example | None:
    """One result of one search; None where nothing is indexed or nothing matches.

    Kept by commit in this process. Rights are checked anew by the first step of each search,
    and `repo` comes from what the caller sees.
    """
    head = repo.heads.filter(branch=repo.default_branch).values_list("commit", flat=True).first()
    if head is None:
        return None
    key = (repo.storage_key, head)
    found = _answers.get(key)
    if found is None:
        found = _first_answer(actor, repo)
        if found is None:
            return None
        _answers.put(key, found, 1)
    pattern, answer = found
    query = PageQuery(repo=repo.name, pattern=pattern)
    commit = answer.meta.commit or head
    file = answer.result.files[0]
    card = Card(
        repo.name, commit, repo.default_branch, file.file_name, file.language, file.line_matches
    )
    return Example(
        query,
        render_cards([card], query.at(commit, repo.default_branch), all_lines=False),
        lines_in_files(answer.result.line_count, answer.result.file_count, answer.meta.partial),
        f"{answer.result.duration / 1e6:.0f}" if answer.result.duration >= 1e6 else "1",
    )


def _first_answer(actor: Actor, repo: Repository) -> tuple[str, SearchAnswer] | None:
    for pattern in PATTERNS:
        params = SearchCode(repo=repo.name, pattern=pattern, context=1, max_files=1, max_matches=2)
        try:
            answer = search_code(actor, params)
        except AppError:
            return None  # not ready yet: the page shows the progress instead
        if answer.result.files:
            return pattern, answer
    return None
