"""Tokens at rest: AES-256-GCM, a fresh nonce for each, bound to the record that holds it.

Keys come from SOURCEGRAPH_CREDENTIAL_KEY (base64 of 32 bytes; several, with commas between,
the first of which encrypts) or else from `code-credentials.key` in the data root, one a line,
made at the first use and readable by its owner alone.
"""

import base64
import binascii
import contextlib
import hashlib
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

from sourcegraph_site.accounts.errors import CredentialStorageUnavailable

KEY_BYTES = 32
NONCE_BYTES = 12
# The one before is kept in the file, for whatever was sealed while the new one was written.
KEYS_IN_FILE = 2


@dataclass(frozen=True, slots=True)
class Key:
    """`id` names the key beside what it sealed; it tells nothing about the key."""

    id: str
    secret: bytes = field(repr=False)


class Unreadable(Exception):
    """Sealed under a key that is not here any more, damaged, or moved from another record."""


def seal(record: str, token: str) -> tuple[str, bytes]:
    """Encrypt a token for this record; the id of the key, and nonce with ciphertext.

    Raises:
        CredentialStorageUnavailable: the key can be neither read nor made.
    """
    key = keys()[0]
    nonce = secrets.token_bytes(NONCE_BYTES)
    sealed = AESGCM(key.secret).encrypt(nonce, token.encode(), record.encode())
    return key.id, nonce + sealed


def unseal(record: str, key_id: str, sealed: bytes) -> str:
    """Raises Unreadable, CredentialStorageUnavailable."""
    for key in keys():
        if key.id == key_id:
            break
    else:
        raise Unreadable(f"no key {key_id}")
    try:
        token = AESGCM(key.secret).decrypt(
            sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], record.encode()
        )
    except (InvalidTag, ValueError):
        raise Unreadable("damaged, or of another record") from None
    return token.decode()


def keys() -> list[Key]:
    """All keys, the one that encrypts first.

    Raises:
        CredentialStorageUnavailable: the key file can be neither read nor made, or is damaged.
    """
    texts = settings.CREDENTIAL_KEYS or _from_file()
    try:
        return [key_of(text) for text in texts]
    except ValueError:
        raise CredentialStorageUnavailable("The credential key is damaged.") from None


def key_of(text: str) -> Key:
    """Raises ValueError for anything but the base64 of 32 bytes."""
    try:
        secret = base64.b64decode(text, validate=True)
    except binascii.Error as exc:
        raise ValueError(str(exc)) from None
    if len(secret) != KEY_BYTES:
        raise ValueError(f"{len(secret)} bytes")
    return Key(hashlib.sha256(b"credential key\0" + secret).hexdigest()[:16], secret)


def add_key() -> None:
    """Put a new key at the head of the file; the last one before it stays readable.

    Raises:
        CredentialStorageUnavailable: the file cannot be written.
    """
    path = _path()
    try:
        before = path.read_text(encoding="ascii").split() if path.exists() else []
        _write(path, [_new_key(), *before][:KEYS_IN_FILE], replace=True)
    except OSError:
        raise CredentialStorageUnavailable("The credential key cannot be written.") from None


def _path() -> Path:
    return Path(settings.DATA_ROOT) / "code-credentials.key"


def _new_key() -> str:
    return base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def _from_file() -> list[str]:
    path = _path()
    try:
        if not path.exists():
            _write(path, [_new_key()], replace=False)
        texts = path.read_text(encoding="ascii").split()
    except (OSError, UnicodeDecodeError):
        raise CredentialStorageUnavailable("The credential key cannot be read.") from None
    if not texts:
        raise CredentialStorageUnavailable("The credential key is damaged.")
    return texts


def _write(path: Path, lines: list[str], *, replace: bool) -> None:
    """Appears whole; without `replace`, of two that write at once the first one wins."""
    mine = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    handle = os.open(mine, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as out:
            out.write("\n".join(lines) + "\n")
            out.flush()
            os.fsync(out.fileno())
        if replace:
            mine.replace(path)
        else:
            with contextlib.suppress(FileExistsError):
                os.link(mine, path)
    finally:
        mine.unlink(missing_ok=True)
