"""Questions that need a Git process of their own: differences, histories, blame, all paths.

Each call has ten seconds, or what is left of the request.
"""

import logging

from readers.objects import CALL_SECONDS, Objects
from repos.errors import GitOperationFailed, GitOutputLimit
from repos.gitstore.process import GitCall, GitFailed, GitOutputTooLarge, GitTimedOut, run_git
from sourcegraph_site.kernel.errors import QueryDeadlineExceeded

log = logging.getLogger(__name__)

_LITERAL = {"GIT_LITERAL_PATHSPECS": "1"}
_CONFIG = ("core.quotePath=false",)


def ask_git(objects: Objects, *args: str, max_output: int, stdin: bytes = b"") -> bytes:
    """Git's answer. Paths among `args` are taken literally; ids must be full.

    Raises:
        GitOutputLimit: the answer is larger than `max_output` bytes.
        QueryDeadlineExceeded: it took too long.
        GitOperationFailed: Git failed; the reason is logged.
    """
    seconds = objects.deadline.sooner(CALL_SECONDS).remaining()
    call = GitCall(
        timeout_s=seconds,
        max_output=max_output,
        config=_CONFIG,
        extra_env=_LITERAL,
        stdin=stdin,
    )
    try:
        return run_git(objects.git_dir, *args, call=call)
    except GitOutputTooLarge:
        raise GitOutputLimit("Git's answer is too large; narrow the request by paths.") from None
    except GitTimedOut:
        raise QueryDeadlineExceeded("Git took too long for this request.") from None
    except GitFailed as exc:
        log.error("git %s failed with %d: %s", exc.verb, exc.status, exc.stderr[-500:].strip())
        raise GitOperationFailed("Git failed on the mirror of this repository.") from None
