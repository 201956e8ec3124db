"""The vocabulary of the audit log: subject.what_happened. Retired values stay, marked."""

ACTIONS = frozenset(
    {
        "user.became_first_administrator",
        "user.joined",
        "api_key.created",
        "api_key.revoked",
        "repository.registered",
        "repository.updated",
        "repository.deleted",
        "repository.purged",
        "repository.cleaned",
        "repository.prepare_requested",
        "repository.sync_requested",
        "repository.job_cancelled",
        "repository.manager_added",
        "repository.manager_removed",
        "repository.webhook_created",
        "repository.webhook_revoked",
        "settings.changed",
        "code_sources.changed",
        "code_token.saved",
        "code_token.cleared",
        "credential_key.rotated",
    }
)
