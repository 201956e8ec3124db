"""A full disk, as an error that a caller may see."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from sourcegraph_site.kernel.errors import InsufficientStorage

# Full, beyond the user's quota, beyond the process's limit.
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def storage_errors() -> Iterator[None]:
    """Turn "no space left" into InsufficientStorage; leave every other error alone."""
    try:
        yield
    except OSError as exc:
        if exc.errno not in _FULL:
            raise
        raise InsufficientStorage("There is not enough disk space for the index.") from exc
