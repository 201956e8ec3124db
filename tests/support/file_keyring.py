"""A keyring backend over a file, in place of the desktop's service."""

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError


class FileKeyring(KeyringBackend):
    priority = 1

    def _all(self) -> dict[str, str]:
        path = Path(os.environ["TEST_KEYRING"])
        return json.loads(path.read_text()) if path.exists() else {}

    def _save(self, entries: dict[str, str]) -> None:
        Path(os.environ["TEST_KEYRING"]).write_text(json.dumps(entries))

    def get_password(self, service: str, username: str) -> str | None:
        return self._all().get(f"{service} {username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._save({**self._all(), f"{service} {username}": password})

    def delete_password(self, service: str, username: str) -> None:
        entries = self._all()
        if entries.pop(f"{service} {username}", None) is None:
            raise PasswordDeleteError
        self._save(entries)
