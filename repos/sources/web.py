"""Where a code host shows a file at a commit to people."""

from urllib.parse import quote

from repos.errors import InvalidRemote
from repos.gitstore.remote_url import check_remote
from repos.models import Repository
from repos.sources.listing import source_at

# After the repository's own address; {part} is blob or tree.
_SHAPES = {
    "github": "/{part}/{commit}/{path}",
    "gitlab": "/-/{part}/{commit}/{path}",
    "gitea": "/src/commit/{commit}/{path}",
    "bitbucket": "/src/{commit}/{path}",
}


def page_base(repo: Repository) -> tuple[str, str]:
    """Kind of the code host and the repository's address there; two empty texts if unknown."""
    try:
        source = source_at(check_remote(repo.remote_url), repo.code_provider)
    except InvalidRemote:
        return "", ""
    if source is None or source.kind not in _SHAPES:
        return "", ""
    return source.kind, repo.remote_url.removesuffix(".git")


def page_of_file(kind: str, base: str, commit: str, path: str, *, directory: bool) -> str:
    """
    >>> page_of_file("gitlab", "https://git.example.org/a/b", "abc", "x y", directory=False)
    'https://git.example.org/a/b/-/blob/abc/x%20y'
    """
    if not kind:
        return ""
    part = "tree" if directory else "blob"
    return base + _SHAPES[kind].format(part=part, commit=commit, path=quote(path))
