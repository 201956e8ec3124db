"""An index over a repository that the test makes."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from search.index.options import IndexOptions
from search.index.store import IndexStore
from tests.support.git_remote import Content, GitRemote


@pytest.fixture
def repository(tmp_path: Path) -> GitRemote:
    return GitRemote(tmp_path / "mirror.git")


@pytest.fixture
def make_store(tmp_path: Path, repository: GitRemote) -> Callable[..., IndexStore]:
    def make(options: IndexOptions | None = None, workers: int = 1) -> IndexStore:
        return IndexStore(tmp_path / "index", repository.path, options, workers=workers)

    return make


@pytest.fixture
def store(make_store) -> IndexStore:
    return make_store()


@pytest.fixture
def indexed(repository: GitRemote, store: IndexStore):
    """Commit these files, index the commit, and open it."""

    def make(files: Mapping[str | bytes, Content]):
        commit = repository.commit(files)
        store.index_commit(commit)
        return store.open_generation(commit)

    return make
