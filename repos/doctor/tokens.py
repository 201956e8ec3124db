"""Tokens of code sources that can be used no more; only their owners can give new ones."""

from collections.abc import Iterator
from functools import partial

from repos.doctor.finding import Finding
from repos.models import CodeToken
from repos.sources.listing import sources
from repos.sources.tokens import opened


def examine() -> Iterator[Finding]:
    by_id = {source.id: source for source in sources()}
    for row in CodeToken.objects.exclude(sealed=b"").select_related("owner").order_by("pk"):
        owner = row.owner.get_username() if row.owner is not None else "the site"
        source = by_id.get(row.source)
        if source is None:
            text = f"the token of {owner} is for a code source that is no more"
            yield Finding("tokens", row.source, text, partial(_dropped, row))
        elif row.bound_to != source.bound_to:
            yield Finding(
                "tokens", row.source, f"{owner} gave the token for another host; save a new one"
            )
        elif opened(row, source) is None:
            yield Finding(
                "tokens",
                row.source,
                f"the token of {owner} cannot be read: its key is gone, or it is damaged;"
                " put the key back, or save a new token",
            )


def _dropped(row: CodeToken) -> str:
    row.delete()
    return "removed"
