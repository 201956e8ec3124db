"""Repositories that readers can read: a real mirror on the disk and its rows, without a sync."""

import json
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from readers import blobs, objects, trees
from repos.gitstore.layout import mirror_path
from repos.models import BranchHead, Repository, Version
from sourcegraph_site.kernel.actor import SYSTEM, Actor
from tests.support.git_remote import Content, GitRemote

OBSERVED = datetime(2026, 2, 1, tzinfo=UTC)


@dataclass
class Shelf:
    """One registered repository, whose mirror the test writes directly."""

    repo: Repository
    git: GitRemote

    @property
    def name(self) -> str:
        return self.repo.name

    @property
    def git_dir(self) -> Path:
        return self.git.path

    def commit(self, files: dict[str | bytes, Content], **options: Any) -> str:
        """Commit to the mirror, and make the result the observed head of its branch."""
        commit = self.git.commit(files, **options)
        self.observe(commit, options.get("branch", "main"))
        return commit

    def observe(self, commit: str, branch: str) -> None:
        BranchHead.objects.update_or_create(
            repository=self.repo,
            branch=branch,
            defaults={"commit": commit, "observed_at": OBSERVED},
        )
        Version.objects.get_or_create(
            repository=self.repo, commit=commit, defaults={"committer_time": OBSERVED}
        )


@pytest.fixture
def make_shelf(db):
    def make(name: str = "acme/widgets", **fields: Any) -> Shelf:
        fields = {
            "remote_url": "https://git.example.org/acme/widgets.git",
            "branches": ["main"],
            "follows_default": False,
            "window_count": 100,
            "state": "ready",
            "observed_at": OBSERVED,
            **fields,
        }
        repo = Repository.objects.create(name=name, **fields)
        return Shelf(repo, GitRemote(mirror_path(repo.storage_key)))

    return make


@pytest.fixture
def shelf(make_shelf) -> Shelf:
    return make_shelf()


@pytest.fixture
def actor() -> Actor:
    return SYSTEM


@pytest.fixture(autouse=True)
def cold_caches(settings):
    """Each test reads from Git, and leaves no child behind."""
    shutil.rmtree(Path(settings.DATA_ROOT) / "lookups", ignore_errors=True)
    blobs._blobs.clear()
    trees._trees.clear()
    trees._roots.clear()
    yield
    objects.POOL.close()


@pytest.fixture
def post(client: Client, cache_table):
    """POST to a route of a repository; returns the response."""

    def send(route: str, repo: str, body: dict[str, Any], **headers: str) -> Any:
        return client.post(
            f"/sourcegraph/v1/repo/{route}?repo={repo}",
            json.dumps(body),
            content_type="application/json",
            headers=headers,
        )

    return send
