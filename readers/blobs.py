"""Blobs by id: the first 8 MiB of each, with a small cache for pages of one file."""

from readers.caching import WeightedCache
from readers.objects import ObjectData, Objects
from readers.trees import not_there

SCAN_BYTES = 8 << 20
_CACHE_BYTES = 48 << 20  # per process
_LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\n"

_blobs: WeightedCache[tuple[str, str], ObjectData] = WeightedCache(_CACHE_BYTES)


def blob_of(objects: Objects, oid: str) -> ObjectData:
    """At most the first SCAN_BYTES of a blob.

    Raises:
        GitObjectNotHydrated: it is not in the mirror.
    """
    key = (str(objects.git_dir), oid)
    found = _blobs.get(key)
    if found is None:
        found = objects.contents(oid, SCAN_BYTES)
        if found is None or found.kind != "blob":
            raise not_there()
        _blobs.put(key, found, len(found.data) + 256)
    return found


def is_lfs_pointer(blob: ObjectData) -> bool:
    """Is it the small text that Git LFS commits in place of a large file?"""
    if blob.size >= 1024 or not blob.data.startswith(_LFS_POINTER):
        return False
    keys = {line.split(b" ", 1)[0] for line in blob.data.split(b"\n")}
    return {b"oid", b"size"} <= keys
