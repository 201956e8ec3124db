"""SOURCEGRAPH_SIGN_IN: who else than we may say who somebody is. Pure; settings.py reads it.

A row is {"kind", "client_id", "client_secret", "id"?, "name"?, "server"?, "tenant"?}; kinds are
google, github, microsoft and openid. docs/operating.md has the fields.
"""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

KNOWN = {"google": "Google", "github": "GitHub", "microsoft": "Microsoft"}
ISSUERS = {"google": "https://accounts.google.com", "github": "https://github.com"}
SCOPES = {
    "google": ["openid", "profile", "email"],
    "github": ["read:user"],
    "microsoft": ["User.Read"],
}
FIELDS = {"kind", "id", "name", "client_id", "client_secret", "server", "tenant"}
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Provider:
    """`id` is in addresses and, with the subject, is the identity: it never changes."""

    id: str
    kind: str
    name: str
    issuer: str
    client_id: str
    client_secret: str
    tenant: str = ""


def read_providers(rows: list[dict[str, Any]]) -> list[Provider]:
    """
    Raises:
        ValueError: says which row is wrong and what to write; never quotes a secret.
    """
    found = [_read(number, row) for number, row in enumerate(rows, 1)]
    ids = [provider.id for provider in found]
    if len(set(ids)) < len(ids):
        raise ValueError("two providers have the same id.")
    return found


def _read(number: int, row: dict[str, Any]) -> Provider:
    where = f"provider {number}"
    if unknown := sorted(set(row) - FIELDS):
        raise ValueError(f"{where} has the unknown field {unknown[0]!r}.")
    if not all(isinstance(value, str) and value.strip() for value in row.values()):
        raise ValueError(f"{where}: every field is a text, and not empty.")
    kind = row.get("kind")
    if kind not in (*KNOWN, "openid"):
        raise ValueError(f"{where}: kind is google, github, microsoft or openid.")
    for field in ("client_id", "client_secret"):
        if field not in row:
            raise ValueError(f"{where} has no {field}.")
    if kind != "openid" and "server" in row:
        raise ValueError(f"{where}: server is for the kind openid only.")
    if (kind == "microsoft") != ("tenant" in row):
        raise ValueError(f"{where}: the kind microsoft, and it alone, names its tenant.")
    ident = kind if kind in KNOWN else row.get("id", "")
    if row.get("id", ident) != ident or not re.fullmatch("[a-z][a-z0-9-]{0,29}", ident):
        raise ValueError(f"{where}: openid needs an id of a-z, 0-9 and -; others have none.")
    if kind == "openid" and ident in KNOWN:
        raise ValueError(f"{where}: the id {ident} belongs to its kind.")
    return Provider(
        id=ident,
        kind=kind,
        name=row.get("name", KNOWN.get(ident, ident)),
        issuer=_issuer(where, kind, row),
        client_id=row["client_id"],
        client_secret=row["client_secret"],
        tenant=row.get("tenant", ""),
    )


def _issuer(where: str, kind: str, row: dict[str, Any]) -> str:
    if kind == "microsoft":
        if not re.fullmatch(r"[A-Za-z0-9.-]+", row["tenant"]):
            raise ValueError(f"{where}: tenant is the directory's id or domain.")
        return f"https://login.microsoftonline.com/{row['tenant']}/v2.0"
    if kind in ISSUERS:
        return ISSUERS[kind]
    server: str = row.get("server", "").rstrip("/")
    try:
        parts = urlsplit(server)
        safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    except ValueError:
        safe = False
    # The identity's signature is not checked when it comes straight over TLS.
    if not safe or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise ValueError(f"{where}: server is the https address of the provider, its issuer.")
    return server


def allauth_settings(providers: list[Provider]) -> dict[str, Any]:
    """SOCIALACCOUNT_PROVIDERS."""
    made: dict[str, Any] = {}
    for provider in providers:
        app: dict[str, Any] = {
            "client_id": provider.client_id,
            "secret": provider.client_secret,
            "name": provider.name,
        }
        if provider.kind == "openid":
            app |= {"provider_id": provider.id, "settings": {"server_url": provider.issuer}}
            made.setdefault("openid_connect", {"APPS": [], "OAUTH_PKCE_ENABLED": True})
            made["openid_connect"]["APPS"].append(app)
            continue
        if provider.tenant:
            app["settings"] = {"tenant": provider.tenant}
        made[provider.kind] = {
            "APPS": [app],
            "SCOPE": SCOPES[provider.kind],
            "OAUTH_PKCE_ENABLED": True,
        }
    return made
