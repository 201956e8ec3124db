"""Strict readers of environment variables; a bad value stops the start with its name.

`NAME_FILE` may name a file that holds the value of `NAME`, so that secrets need not be in
the environment. Nothing else in the product reads `os.environ` for configuration.
"""

import base64
import binascii
import contextlib
import json
import os
import re
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}


def raw(name: str) -> str | None:
    """The value of NAME, or the content of the file that NAME_FILE names; None if unset."""
    file = os.environ.get(f"{name}_FILE")
    if file:
        try:
            return Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as exc:
            raise ImproperlyConfigured(f"{name}_FILE cannot be read: {exc}") from exc
    value = os.environ.get(name)
    return value.strip() if value is not None and value.strip() else None


def env_text(name: str, default: str = "") -> str:
    value = raw(name)
    return default if value is None else value


def env_bool(name: str, default: bool) -> bool:
    value = raw(name)
    if value is None:
        return default
    if value.lower() in TRUE:
        return True
    if value.lower() in FALSE:
        return False
    raise ImproperlyConfigured(f"{name} is {value!r}; write true or false.")


def env_int(name: str, default: int, *, low: int, high: int) -> int:
    value = raw(name)
    if value is None:
        return default
    try:
        number = int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {value!r}; write a whole number.") from None
    if not low <= number <= high:
        raise ImproperlyConfigured(f"{name} is {number}; write a number from {low} to {high}.")
    return number


def env_list(name: str, separator: str) -> list[str]:
    return [part.strip() for part in env_text(name).split(separator) if part.strip()]


def env_origin(name: str, default: str) -> str:
    """scheme://host[:port], nothing more."""
    value = env_text(name, default).rstrip("/")
    try:
        parts = urlsplit(value)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port beyond 65535, an unclosed bracket
        good = False
    if not good:
        raise ImproperlyConfigured(
            f"{name} is {value!r}; write an address like https://code.example."
        )
    if parts.path or parts.query or parts.fragment or parts.username:
        raise ImproperlyConfigured(f"{name} is {value!r}; it takes scheme, host and port only.")
    return value


def env_directory(name: str, default: Path) -> Path:
    """An absolute directory that exists, made if need be."""
    path = Path(env_text(name, str(default))).resolve()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise ImproperlyConfigured(
            f"{name} is {str(path)!r}, which cannot be made a directory: {exc.strerror}."
        ) from exc
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        raise ImproperlyConfigured(f"{name} is {str(path)!r}, which is not writable.")
    return path


def env_listen(name: str, default: str) -> tuple[str, int]:
    """host:port; an IPv6 host stands in brackets."""
    value = env_text(name, default)
    host, _, port = value.rpartition(":")
    if not host or not re.fullmatch("[0-9]{1,5}", port) or not 0 < int(port) < 65_536:
        raise ImproperlyConfigured(f"{name} is {value!r}; write host:port, port 1 to 65535.")
    return host, int(port)


def env_keys(name: str) -> list[str]:
    """Keys of 32 bytes in base64, with commas between."""
    found = env_list(name, ",")
    for number, text in enumerate(found, 1):
        try:
            size = len(base64.b64decode(text, validate=True))
        except binascii.Error:
            size = 0
        if size != 32:
            raise ImproperlyConfigured(f"Key {number} of {name} is not the base64 of 32 bytes.")
    return found


def env_rows(name: str) -> list[dict[str, Any]]:
    """A JSON array of objects."""
    text = env_text(name, "[]")
    try:
        rows = json.loads(text)
    except ValueError as exc:
        raise ImproperlyConfigured(f"{name} is not valid JSON: {exc}.") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ImproperlyConfigured(f"{name} must be a JSON array of objects.")
    return rows


def secret_key(name: str, data_root: Path) -> str:
    """The configured secret, else one made once and kept 0600 in the data root."""
    value = raw(name)
    if value is not None:
        if len(value) < 32:
            raise ImproperlyConfigured(f"{name} is too short; write at least 32 characters.")
        return value
    return kept_secret(data_root / "secret.key")


def kept_secret(path: Path) -> str:
    """Read a secret file, making it first if absent; two starts at once agree on one.

    Linked into place when complete, so that no reader ever sees half a secret.
    """
    try:
        return path.read_text(encoding="ascii")
    except FileNotFoundError:
        pass
    path.parent.mkdir(parents=True, exist_ok=True)
    mine = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    handle = os.open(mine, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as out:
            out.write(secrets.token_urlsafe(48))
            out.flush()
            os.fsync(out.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(mine, path)
    finally:
        mine.unlink(missing_ok=True)
    return path.read_text(encoding="ascii")
