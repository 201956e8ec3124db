"""What can go wrong with repositories, their policies, their remotes and their versions."""

from sourcegraph_site.kernel.errors import (
    AppError,
    BadGateway,
    BadRequest,
    Conflict,
    Forbidden,
    Missing,
    Unavailable,
    Unprocessable,
)

# --- Names and visibility ----------------------------------------------------------------


class InvalidRepo(BadRequest):
    """The repository name is not owner/repository."""

    code = "INVALID_REPO"


class RepositoryNotFound(Missing):
    """No such repository, or this caller may not see it: both look alike."""

    code = "REPOSITORY_NOT_FOUND"


class RepositoryManagementDenied(Forbidden):
    """Only its managers and administrators may manage this repository."""

    code = "REPOSITORY_MANAGEMENT_DENIED"


class RegistrationDisabled(Forbidden):
    """Only administrators may register repositories on this site."""

    code = "REGISTRATION_DISABLED"


class PreparationNotAllowed(Forbidden):
    """Sign in to prepare a version."""

    code = "PREPARATION_NOT_ALLOWED"


# --- Registration and settings -----------------------------------------------------------


class InvalidRemote(BadRequest):
    """The clone address has a scheme, host or form that this server does not allow."""

    code = "INVALID_REMOTE"


class InvalidPolicy(BadRequest):
    """The policy (branches, window, timeout) is outside what is allowed."""

    code = "INVALID_POLICY"


class InvalidBranch(BadRequest):
    """This is not an acceptable branch name."""

    code = "INVALID_BRANCH"


class InvalidBranches(BadRequest):
    """Name one to eight branches, counting the default branch, each once."""

    code = "INVALID_BRANCHES"


class InvalidRetention(BadRequest):
    """Give days (1 to 365) or count (1 to 4096), not both."""

    code = "INVALID_RETENTION"


class InvalidSyncInterval(BadRequest):
    """The interval is not one of the minutes offered."""

    code = "INVALID_SYNC_INTERVAL"


class InvalidIndexMode(BadRequest):
    """The index mode is `full` or `monorepo`, fixed at registration."""

    code = "INVALID_INDEX_MODE"


class InvalidPathGroups(BadRequest):
    """The list of path groups is missing, too long, or not allowed in this mode."""

    code = "INVALID_PATH_GROUPS"


class InvalidPathGroup(BadRequest):
    """A path group has a bad name or a bad directory."""

    code = "INVALID_PATH_GROUP"


class OverlappingPathGroups(BadRequest):
    """A directory belongs to two path groups."""

    code = "OVERLAPPING_PATH_GROUPS"


class InvalidGroup(BadRequest):
    """This repository has no path groups."""

    code = "INVALID_GROUP"


class UnknownPathGroup(Missing):
    """No path group of this name."""

    code = "UNKNOWN_PATH_GROUP"


class InvalidCodeProvider(BadRequest):
    """No such code source."""

    code = "INVALID_CODE_PROVIDER"


class InvalidIdempotencyKey(BadRequest):
    """Idempotency-Key takes 8 to 128 bytes without CR, LF or NUL."""

    code = "INVALID_IDEMPOTENCY_KEY"


class IdempotencyConflict(Conflict):
    """This Idempotency-Key was used for another request."""

    code = "IDEMPOTENCY_CONFLICT"


class RepositoryExists(Conflict):
    """The name is taken; `creator` says whom to ask."""

    code = "REPOSITORY_EXISTS"


class RepositoryDeleted(Conflict):
    """A deleted repository cannot be revived; purge it, then register it again."""

    code = "REPOSITORY_DELETED"


class RepositoryBusy(Conflict):
    """A job of this repository is running; try again when it has ended."""

    code = "REPOSITORY_BUSY"


class PreparationActive(Conflict):
    """A job of this repository is queued or running."""

    code = "PREPARATION_ACTIVE"


class CleanupNotReady(Conflict):
    """Purging needs the repository to have been deleted for a minute."""

    code = "CLEANUP_NOT_READY"


class LatestIndexNotReady(Conflict):
    """A monitored head has no index yet, so older ones are kept."""

    code = "LATEST_INDEX_NOT_READY"


class ManagerLimitReached(Conflict):
    """A repository has at most 50 managers."""

    code = "MANAGER_LIMIT_REACHED"


class WebhookLimitReached(Conflict):
    """A repository has at most 8 webhooks."""

    code = "WEBHOOK_LIMIT_REACHED"


class WebhookNotFound(Missing):
    """This repository has no such webhook."""

    code = "WEBHOOK_NOT_FOUND"


class InvalidAction(BadRequest):
    """The kind of preparation is `index` or `sync`."""

    code = "INVALID_ACTION"


class QueueFull(Unavailable):
    """Too many jobs of this repository are waiting."""

    code = "QUEUE_FULL"


class PolicyChanged(Conflict):
    """The policy changed while the job ran; the next sync works by the new one."""

    code = "POLICY_CHANGED"


class SyncIntervalChanged(Conflict):
    """The sync interval changed, and the waiting automatic sync was cancelled."""

    code = "SYNC_INTERVAL_CHANGED"


class RepositoryCleaned(Conflict):
    """The repository's old indexes were cleaned, and its waiting jobs were cancelled."""

    code = "REPOSITORY_CLEANED"


# --- Versions ----------------------------------------------------------------------------


class RepositoryDisabled(Forbidden):
    """The repository is switched off or deleted."""

    code = "REPOSITORY_DISABLED"


class RepositoryStorageMissing(Conflict):
    """The mirror is not on this server's disk; the next sync brings it back."""

    code = "REPOSITORY_STORAGE_MISSING"


class InvalidRevision(BadRequest):
    """Give a monitored branch, a full lower-case commit SHA, or nothing."""

    code = "INVALID_REVISION"


class ShortShaUnsupported(BadRequest):
    """Give all 40 characters of the commit SHA."""

    code = "SHORT_SHA_UNSUPPORTED"


class BranchNotMonitored(Missing):
    """The policy does not include this branch; `resolve` turns any branch or tag into a SHA."""

    code = "BRANCH_NOT_MONITORED"


class BranchNotObserved(Conflict):
    """The branch is monitored, but the remote did not have it at the last sync."""

    code = "BRANCH_NOT_OBSERVED"


class DefaultBranchUndetermined(Conflict):
    """No single main or master among the branches; name a revision."""

    code = "DEFAULT_BRANCH_UNDETERMINED"


class DefaultBranchNotObserved(Conflict):
    """The default branch has no commit yet: not synchronised, or the remote is empty."""

    code = "DEFAULT_BRANCH_NOT_OBSERVED"


class RevisionNotEligible(Missing):
    """The commit is not among the versions kept now; no other commit is substituted."""

    code = "REVISION_NOT_ELIGIBLE"


class RevisionNotOnBranch(Unprocessable):
    """The commit cannot be reached from this branch."""

    code = "REVISION_NOT_ON_BRANCH"


# --- Git and remotes ---------------------------------------------------------------------


class GitRepositoryUnavailable(BadGateway):
    """The remote has no such repository, or does not show it to us."""

    code = "GIT_REPOSITORY_UNAVAILABLE"


class GitAccessDenied(BadGateway):
    """The remote knows us and refuses access."""

    code = "GIT_ACCESS_DENIED"


class GitAuthFailed(BadGateway):
    """The remote wants a credential, or refuses ours."""

    code = "GIT_AUTH_FAILED"


class GitCredentialUnavailable(Unavailable):
    """No usable credential is configured for this remote."""

    code = "GIT_CREDENTIAL_UNAVAILABLE"


class GitFetchFailed(Unavailable):
    """The fetch failed: network, time-out, or a fault of the remote."""

    code = "GIT_FETCH_FAILED"


class UnsupportedRepositoryFormat(Unprocessable):
    """The remote uses SHA-256 object ids; only SHA-1 repositories are served."""

    code = "UNSUPPORTED_REPOSITORY_FORMAT"


class GitOperationFailed(AppError):
    """Git failed on our own mirror; the log has the reason."""

    code = "GIT_OPERATION_FAILED"
    status = 500


class GitOutputLimit(Unprocessable):
    """Git's answer is larger than is served."""

    code = "GIT_OUTPUT_LIMIT"
