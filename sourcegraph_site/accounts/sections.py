"""The sections of the site's settings: their fields, ranges and first values.

A section that was never saved, or that an older version saved with fewer fields, reads with
the defaults filled in, so that an upgrade changes no behaviour.
"""

from typing import Any, Literal

from sourcegraph_site.kernel.inputs import Field, Input

NOTICE_BYTES = 4096


class RepositoryDefaults(Input):
    """What a repository gets that does not say otherwise."""

    retention_mode: Literal["days", "count"] = "days"
    retention_days: int = Field(30, ge=1, le=365)
    retention_count: int = Field(20, ge=1, le=4096)
    git_timeout_minutes: Literal[15, 30, 45, 60] = 15
    index_history: Literal["all", "heads"] = "all"


class Access(Input):
    """Who may read and who may join."""

    public_read: bool = True
    allow_registration: bool = False
    allow_user_repositories: bool = False
    registration_notice_zh: str = Field("", max_length=NOTICE_BYTES)
    registration_notice_en: str = Field("", max_length=NOTICE_BYTES)


SECTIONS: dict[str, type[Input]] = {
    "repository_defaults": RepositoryDefaults,
    "access": Access,
}


def defaults(name: str) -> dict[str, Any]:
    return SECTIONS[name]().model_dump()
