"""Codes of jobs: what a caller may be told about one, and what ends one."""

from sourcegraph_site.kernel.errors import AppError, Conflict, Missing


class JobNotFound(Missing):
    """No such job in this repository, or it expired."""

    code = "JOB_NOT_FOUND"


class StaleWorker(Conflict):
    """The worker lost its job to another one, or the job was cancelled."""

    code = "STALE_WORKER"


class JobError(AppError):
    """Base of the codes that stand only in a job's `error`; no request answers them."""


class PreparationFailed(JobError):
    """The job stopped on a fault of ours; the server's log has it under the job's id."""

    code = "PREPARATION_FAILED"


class PreparationTimeout(JobError):
    """The job ran longer than its time limit and was stopped."""

    code = "PREPARATION_TIMEOUT"


class RecoveryExhausted(JobError):
    """The job's worker vanished three times; it is not tried again."""

    code = "RECOVERY_EXHAUSTED"


class LeaseExpired(JobError):
    """Recovery reason: the worker vanished, so another one took the job over."""

    code = "LEASE_EXPIRED"


class CancelledByUser(JobError):
    """A person cancelled the job."""

    code = "CANCELLED_BY_USER"


class Superseded(JobError):
    """The job was interrupted while a newer one for the same work was waiting."""

    code = "SUPERSEDED"
