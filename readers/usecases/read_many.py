"""Read several files or line ranges at one commit."""

import logging
from dataclasses import dataclass

from django.conf import settings

from readers.errors import InvalidReadItems, ReadFailed, ReadTimeout
from readers.paths import check_path
from readers.reading import Budget, FileText, check_range, read_lines
from readers.snapshot import Snapshot, open_snapshot
from readers.text import MAX_BYTES, MAX_LINES
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.deadline import Deadline
from sourcegraph_site.kernel.errors import AppError, QueryDeadlineExceeded
from sourcegraph_site.kernel.inputs import Field, Input
from sourcegraph_site.kernel.wire import optional

log = logging.getLogger(__name__)

MAX_ITEMS = 10
SHARED_LINES = 1000
RENDERING_SECONDS = 1.0  # kept back for writing the answer


class ReadItem(Input):
    path: str
    start_line: int | None = Field(None, description="First line; 1 if left out.")
    end_line: int | None = Field(None, description="Last line; 499 more if left out.")


class ReadMany(Input):
    repo: str
    revision: str | None = Field(
        None, description="Monitored branch or full SHA; empty for the default branch."
    )
    files: list[ReadItem] = Field(description="1 to 10 files or ranges, read in this order.")


@dataclass(frozen=True, slots=True)
class ItemError:
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class ItemResult:
    """One item in request order; a file that the shared budget cut has an error as well."""

    index: int
    file: FileText | None = optional()
    error: ItemError | None = optional()


@dataclass(frozen=True, slots=True)
class ManyFiles:
    commit: str
    items: tuple[ItemResult, ...]


def read_many(actor: Actor, params: ReadMany) -> ManyFiles:
    """Up to ten reads at one commit, which is fixed once, in request order.

    They share 1,000 lines, 256 KiB and the request's time. A bad item gets its own error and
    the others go on; when the budget is used up, smaller later items may still fit.

    Raises:
        InvalidReadItems: not 1 to 10 items.
        … and for repository and revision what `repos.revisions.readable` raises.
    """
    if not 1 <= len(params.files) <= MAX_ITEMS:
        raise InvalidReadItems(f"Give 1 to {MAX_ITEMS} items.")
    deadline = Deadline.after(settings.REQUEST_SECONDS - RENDERING_SECONDS)
    snapshot = open_snapshot(actor, params.repo, params.revision, deadline)
    budget = Budget(SHARED_LINES, MAX_BYTES)
    items = [_item(snapshot, index, item, budget) for index, item in enumerate(params.files)]
    return ManyFiles(snapshot.commit, tuple(items))


def _item(snapshot: Snapshot, index: int, item: ReadItem, budget: Budget) -> ItemResult:
    start = 1 if item.start_line is None else item.start_line
    end = start + MAX_LINES - 1 if item.end_line is None else item.end_line
    text: FileText | None = None
    error: AppError | None
    try:
        snapshot.objects.deadline.check()
        path = check_path(item.path)
        check_range(start, end)
        text, error = read_lines(snapshot, path, start, end, budget)
    except QueryDeadlineExceeded:
        error = ReadTimeout("The time of this request ran out before this item.")
    except AppError as exc:
        error = exc
    except Exception:
        log.exception("item %d of a read_many failed", index)
        error = ReadFailed("This item could not be read.")
    return ItemResult(index, text, ItemError(error.code, error.message) if error else None)
