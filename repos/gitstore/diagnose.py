"""What Git says on stderr → our code. A table, first match wins; texts are Git's, curl's and
OpenSSH's in the C locale. The raw text goes to the log, never to a caller."""

import logging
import re
from dataclasses import dataclass

from repos.errors import (
    GitAccessDenied,
    GitAuthFailed,
    GitFetchFailed,
    GitRepositoryUnavailable,
    UnsupportedRepositoryFormat,
)
from repos.gitstore.process import GitFailed, GitOutputTooLarge, GitTimedOut
from sourcegraph_site.kernel.errors import AppError, InsufficientStorage

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Rule:
    pattern: re.Pattern[str]
    error: type[AppError]
    message: str


def _rule(pattern: str, error: type[AppError], message: str) -> Rule:
    return Rule(re.compile(pattern, re.IGNORECASE), error, message)


RULES = (
    _rule(
        r"no space left on device|disk quota exceeded",
        InsufficientStorage,
        "The disk of this server is full.",
    ),
    _rule(
        r"mismatched algorithms|unknown object format|unsupported object format"
        r"|object format .* not supported|server sha256",
        UnsupportedRepositoryFormat,
        "The remote uses SHA-256 object ids; only SHA-1 repositories are served.",
    ),
    _rule(
        r"repository .* not found|repository not found|returned error: 404|returned error: 410"
        r"|does not appear to be a git repository|not a git repository|could not find repository"
        r"|project you were looking for could not be found|no such repository"
        r"|repository not exported|access denied or repository not exported",
        GitRepositoryUnavailable,
        "The remote has no such repository, or does not show it to this server.",
    ),
    _rule(
        r"returned error: 403|http 403|remote: forbidden|write access .* not granted"
        r"|remote: permission to .* denied|dubious ownership",
        GitAccessDenied,
        "The remote refuses access to this repository.",
    ),
    _rule(
        r"authentication failed|returned error: 401|http basic: access denied"
        r"|could not read username|could not read password|terminal prompts disabled"
        r"|permission denied \(|too many authentication failures"
        r"|invalid username or (password|token)",
        GitAuthFailed,
        "The remote asks for a credential, or refuses the one that this server has.",
    ),
    _rule(
        r"returned error: 30\d|unable to update url base from redirection",
        GitFetchFailed,
        "The remote answers with a redirect, which is not followed: register its new address.",
    ),
    _rule(
        r"could not resolve host|name or service not known|unable to look up",
        GitFetchFailed,
        "The host of the remote is not known.",
    ),
    _rule(
        r"ssl certificate problem|certificate verif|unable to get local issuer|ssl_error|gnutls_",
        GitFetchFailed,
        "The certificate of the remote cannot be trusted.",
    ),
    _rule(
        r"host key verification failed",
        GitFetchFailed,
        "The host key of the remote is not known to this server.",
    ),
    _rule(
        r"failed to connect|couldn't connect|connection refused|network is unreachable"
        r"|connection timed out|no route to host",
        GitFetchFailed,
        "The remote cannot be reached.",
    ),
    _rule(
        r"couldn't find remote ref",
        GitFetchFailed,
        "A branch vanished during the fetch.",
    ),
    _rule(
        r"early eof|unexpected disconnect|remote end hung up|rpc failed|operation too slow"
        r"|invalid index-pack output|returned error: 5\d\d|returned error: 429",
        GitFetchFailed,
        "The remote broke off.",
    ),
)


def diagnose(failure: GitFailed | GitTimedOut | GitOutputTooLarge) -> AppError:
    """The error to raise for a failed conversation with a remote."""
    if isinstance(failure, GitTimedOut):
        return GitFetchFailed("The remote took longer than the repository's Git timeout.")
    if isinstance(failure, GitOutputTooLarge):
        return GitFetchFailed("The remote lists more refs than are accepted.")
    log.warning("git %s failed (%d): %s", failure.verb, failure.status, _for_log(failure.stderr))
    for rule in RULES:
        if rule.pattern.search(failure.stderr):
            return rule.error(rule.message)
    return GitFetchFailed("The fetch failed.")


def _for_log(stderr: str) -> str:
    """The end of stderr on one line, without anything that looks like a credential."""
    text = re.sub(r"://[^/@\s]*@", "://***@", stderr.strip()[-800:])
    return " | ".join(line.strip() for line in re.split(r"[\r\n]+", text) if line.strip())
