"""The code sources: listed for everyone who may read here, set by administrators."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from repos.models import CodeToken, Repository
from repos.sources.listing import (
    SECTION,
    CodeSource,
    CodeSourceInput,
    as_stored,
    check_all,
    saved,
    sources,
)
from sourcegraph_site.accounts.errors import InvalidSettings, SettingsRevisionConflict
from sourcegraph_site.accounts.models import SettingsSection
from sourcegraph_site.accounts.rights import require_administrator
from sourcegraph_site.audit.record import record
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.inputs import Input


@dataclass(frozen=True, slots=True)
class CodeSourceList:
    revision: int
    sources: list[CodeSource]
    updated_at: datetime | None
    updated_by: str


class SetCodeSources(Input):
    """The whole list, in display order, over the revision that it was read at."""

    revision: int
    sources: list[CodeSourceInput]


def list_code_sources(actor: Actor) -> list[CodeSource]:
    """All sources in display order. Whoever may read the catalog may read this."""
    return sources()


def get_code_sources(actor: Actor) -> CodeSourceList:
    """Raises: as `require_administrator`."""
    require_administrator(actor)
    return _listed()


def set_code_sources(actor: Actor, params: SetCodeSources) -> CodeSourceList:
    """Replace the list. Tokens of a source that goes, go with it.

    Tokens stay bound to the host that they were given for: whoever moves a source to another
    host cannot collect them there.

    Raises:
        AuthenticationRequired, AccessDenied, AdminRequired.
        InvalidSettings: a source is not acceptable, locked, or still used and left out.
        SettingsRevisionConflict.
    """
    require_administrator(actor)
    wanted = check_all(params.sources)
    with transaction.atomic():
        SettingsSection.objects.get_or_create(
            name=SECTION, defaults={"values": {"sources": [as_stored(s) for s in saved()[1]]}}
        )
        row = SettingsSection.objects.select_for_update().get(name=SECTION)
        if row.revision != params.revision:
            raise SettingsRevisionConflict("The code sources changed meanwhile; read them again.")
        gone = {each.id for each in saved()[1]} - {each.id for each in wanted}
        _check_unused(gone)
        CodeToken.objects.filter(source__in=gone).delete()
        row.values = {"sources": [as_stored(source) for source in wanted]}
        row.revision += 1
        row.updated_at, row.updated_by = clock.now(), actor.label
        row.save()
        record(
            actor,
            "code_sources.changed",
            target="settings:code_sources",
            sources=[as_stored(source) for source in wanted],
            removed=sorted(gone),
        )
    return _listed()


def _check_unused(gone: set[str]) -> None:
    for source in sorted(gone):
        count = Repository.objects.filter(code_provider=source).count()
        if count:
            raise InvalidSettings(f"{source} cannot be removed: {count} repositories come from it.")


def _listed() -> CodeSourceList:
    row = SettingsSection.objects.filter(name=SECTION).first()
    if row is None:
        return CodeSourceList(0, sources(), None, "")
    return CodeSourceList(row.revision, sources(), row.updated_at, row.updated_by)
