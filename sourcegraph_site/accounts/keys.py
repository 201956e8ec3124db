"""Personal API keys: how they look, how they are made, how they are recognised. Pure, apart
from the site's secret key.

    sgk_ + 43 characters of base64url (256 random bits)

Leak scanners look for `sgk_`. The first twelve characters are the *prefix*: shown in lists and
in the audit log, so that people can tell their keys apart. Of the rest the database holds
HMAC-SHA256 under the site's secret key alone: who reads the table can neither use a key nor
test a guess. A key is found by that digest. The time of the look-up depends on digests, which
a caller can neither choose nor compute, so it tells nothing about the keys that exist.
"""

import hashlib
import hmac
import re
import secrets
from typing import NamedTuple

from django.conf import settings

PREFIX_CHARS = 12

_KEY = re.compile(r"sgk_[A-Za-z0-9_-]{43}", re.ASCII)


class NewKey(NamedTuple):
    """`key` is shown once; the other two are stored."""

    key: str
    prefix: str
    digest: str


def is_key(token: str) -> bool:
    """Has it the form of a key?"""
    return _KEY.fullmatch(token) is not None


def digest_of(key: str) -> str:
    """HMAC-SHA256, hex. A slow hash buys nothing: the key holds 256 random bits."""
    secret = settings.SECRET_KEY.encode()
    # Named, because other digests are made under the same secret.
    return hmac.new(secret, b"api-key:" + key.encode(), hashlib.sha256).hexdigest()


def new_key() -> NewKey:
    key = "sgk_" + secrets.token_urlsafe(32)
    return NewKey(key, key[:PREFIX_CHARS], digest_of(key))
