"""Is a delivery of a code host genuine? Pure, apart from the site's secret key.

The secret of a webhook is HMAC-SHA256 of its id under the site's secret key: nothing to
store, nothing to leak from the database, and a new webhook has a new secret.

| Host                | Header                                  | Holds                        |
|---------------------|-----------------------------------------|------------------------------|
| GitHub, Bitbucket   | X-Hub-Signature-256, X-Hub-Signature    | sha256=<HMAC of the body>    |
| Gitea, Forgejo      | X-Gitea-Signature, X-Forgejo-Signature  | <HMAC of the body>           |
| GitLab              | X-Gitlab-Token                          | the secret                   |
| anything else       | X-Webhook-Secret                        | the secret                   |
"""

import hashlib
import hmac
from collections.abc import Mapping

from django.conf import settings

SIGNATURES = ("X-Hub-Signature-256", "X-Hub-Signature", "X-Gitea-Signature", "X-Forgejo-Signature")
SECRETS = ("X-Gitlab-Token", "X-Webhook-Secret")
HEADERS = (*SIGNATURES, *SECRETS)


def secret_of(webhook_id: str) -> str:
    key = settings.SECRET_KEY.encode()
    return hmac.new(key, f"webhook:{webhook_id}".encode(), hashlib.sha256).hexdigest()


def is_genuine(webhook_id: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Does at least one known header prove the secret, and none contradict it?

    `headers` holds those of HEADERS that were sent.
    """
    secret = secret_of(webhook_id)
    expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    verdicts = [
        _same(headers[name].removeprefix("sha256="), expected)
        for name in SIGNATURES
        if name in headers and not headers[name].startswith("sha1=")
    ]
    verdicts += [_same(headers[name], secret) for name in SECRETS if name in headers]
    return bool(verdicts) and all(verdicts)


def _same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())
