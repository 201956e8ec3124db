"""Keys that `login` has stored: in the system's keyring, else in a file that only its owner
can read. A key is stored for one service URL and sent to no other."""

import contextlib
import json
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

from sourcegraph_site.cli.errors import UsageError

SERVICE = "sourcegraph-cli"


def key_file() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "sourcegraph-cli" / "keys.json"


def store_key(url: str, key: str, *, use_keyring: bool = True) -> str:
    """Keep the key for this service; returns where, in words for people."""
    ring = _keyring() if use_keyring else None
    if ring is not None:
        try:
            ring.set_password(SERVICE, url, key)
            _write({name: value for name, value in _read().items() if name != url})
            return "the system keyring"
        except ring.errors.KeyringError:
            pass  # locked or refused: the file is the documented second choice
    _write({**_read(), url: key})
    return str(key_file())


def stored_key(url: str) -> str | None:
    """The key for this service, if there is one.

    Raises:
        UsageError: the key file is damaged, or others can read it.
    """
    key = _read().get(url)
    if key is not None:
        return key
    ring = _keyring()
    if ring is None:
        return None
    try:
        found: str | None = ring.get_password(SERVICE, url)
    except ring.errors.KeyringError:
        return None
    return found


def forget_key(url: str) -> bool:
    """Remove the key for this service everywhere; was there one?"""
    keys = _read()
    removed = keys.pop(url, None) is not None
    if removed:
        _write(keys)
    ring = _keyring()
    if ring is not None:
        with contextlib.suppress(ring.errors.KeyringError):
            ring.delete_password(SERVICE, url)
            removed = True
    return removed


def _keyring() -> Any:
    """The optional package, if it is installed and has a real backend."""
    try:
        import keyring
        from keyring.backends.fail import Keyring as Unusable
    except ImportError:
        return None
    return None if isinstance(keyring.get_keyring(), Unusable) else keyring


def _read() -> dict[str, str]:
    path = key_file()
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except OSError as exc:
        raise UsageError(f"cannot read {path}: {exc.strerror}") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UsageError(f"{path} can be read by others; run: chmod 600 {path}")
    try:
        keys = json.loads(text)
        return {str(url): str(key) for url, key in keys.items()}
    except (ValueError, AttributeError):
        raise UsageError(f"{path} is damaged; remove it and log in again") from None


def _write(keys: dict[str, str]) -> None:
    """Replace the file whole; it is never readable by others, not even for a moment."""
    path = key_file()
    if not keys and not path.exists():
        return
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".keys-")  # mode 0600
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(keys, file)
        Path(name).replace(path)
    except OSError as exc:
        raise UsageError(f"cannot write {path}: {exc.strerror}") from None
