"""Tables of the repositories app."""

from repos.models.code_token import CodeToken
from repos.models.repository import (
    SYNC_INTERVALS,
    IndexHistory,
    IndexMode,
    Repository,
    RepositoryManager,
    State,
)
from repos.models.requests import Receipt, ResolvedRef
from repos.models.versions import BranchHead, GroupVersion, SyncCheck, Version
from repos.models.webhook import Webhook

__all__ = [
    "SYNC_INTERVALS",
    "BranchHead",
    "CodeToken",
    "GroupVersion",
    "IndexHistory",
    "IndexMode",
    "Receipt",
    "Repository",
    "RepositoryManager",
    "ResolvedRef",
    "State",
    "SyncCheck",
    "Version",
    "Webhook",
]
