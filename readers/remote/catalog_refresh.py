"""One refresh of a catalog: list, then download the tips' commits and tags, then describe."""

import contextlib
import time

from readers.errors import RemoteUnavailable
from readers.objects import Objects
from readers.remote.catalog_file import HEADS, TAGS, Header, Row
from readers.remote.conversation import (
    FilterUnsupported,
    Incomplete,
    download,
    list_refs,
    route_of,
)
from readers.remote.describe import Described, describe
from readers.remote.scratch import CATALOG_BYTES, ScratchExceeded, scratch
from repos.gitstore.remote_url import Route
from repos.naming import is_object_id
from repos.sources.tokens import Target
from sourcegraph_site.kernel.deadline import Deadline

MAX_REFS = 200_000
MAX_LISTING_BYTES = 256 << 20


def gather(target: Target, deadline: Deadline) -> tuple[Header, list[Row]]:
    """The branches and tags that the remote has now.

    Names only, with the reason, when there are too many, when the remote cannot leave out
    trees, or when the download grows too large.

    Raises:
        RemoteUnavailable, RemoteAccessDenied, InsufficientStorage.
    """
    began, clock = time.monotonic(), time.time()
    route = route_of(target)
    listed = list_refs(route, deadline, MAX_LISTING_BYTES)
    refs, truncated = parse_listing(listed, MAX_REFS)
    reason = "ref_limit" if truncated else ""
    rows = [Row(ref, Described(oid)) for ref, oid in refs]
    if rows and not truncated:
        reason, rows = _described(route, rows, deadline)
    header = Header(len(rows), clock, time.monotonic() - began, reason, truncated)
    return header, rows


def parse_listing(out: bytes, most: int) -> tuple[list[tuple[str, str]], bool]:
    """Full name and object id of the first `most` branches and tags; and whether more follow.

    Names that are not UTF-8 are left out: no request could name them.
    """
    found: list[tuple[str, str]] = []
    start = 0
    while (end := out.find(b"\n", start)) >= 0:
        oid, _, name = out[start:end].partition(b"\t")
        start = end + 1
        if name.endswith(b"^{}") or not name.startswith((HEADS.encode(), TAGS.encode())):
            continue
        try:
            row = (name.decode(), oid.decode("ascii"))
        except UnicodeDecodeError:
            continue
        if not is_object_id(row[1]):
            raise RemoteUnavailable("The remote's object ids are not SHA-1.")
        if len(found) == most:
            return found, True
        found.append(row)
    return found, False


def _described(route: Route, rows: list[Row], deadline: Deadline) -> tuple[str, list[Row]]:
    """The rows with what the downloaded objects say, or why there are none.

    A branch that moved between listing and download stays unverified until the next refresh.
    """
    refspecs = [f"+{HEADS}*:{HEADS}*", f"+{TAGS}*:{TAGS}*"]
    oids = [row.described.object for row in rows]
    try:
        with scratch(CATALOG_BYTES) as into:
            # A tag that points straight to a tree has nothing that could be described.
            with contextlib.suppress(Incomplete):
                download(route, into, refspecs, deadline, needs_filter=True, objects_only=True)
            found = describe(Objects(into.git_dir, deadline), oids)
    except FilterUnsupported:
        return "filter_unsupported", rows
    except ScratchExceeded:
        return "size_limit", rows
    return "", [Row(row.ref, each) for row, each in zip(rows, found, strict=True)]
