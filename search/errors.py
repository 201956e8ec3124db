"""What is wrong with a search, said to the person who typed it.

Every message names the construct and a way out. `position` counts characters of the pattern
(or glob) from 0 and stands in the details, so that an editor can put its caret there.
"""

from sourcegraph_site.kernel.errors import BadRequest, Conflict, Unavailable


class PatternInvalid(BadRequest):
    """The pattern cannot be searched: syntax, size, a newline, or it can match nothing."""

    code = "INVALID_PATTERN"

    def __init__(self, message: str, position: int = 0) -> None:
        super().__init__(message, position=position)
        self.position = position


class GlobInvalid(BadRequest):
    """A glob cannot be read; the message quotes it and gives the reason."""

    code = "INVALID_GLOB"

    def __init__(self, message: str, glob: str = "", position: int = 0) -> None:
        super().__init__(message, glob=glob, position=position)
        self.glob = glob
        self.position = position


class OutputInvalid(BadRequest):
    """The output is neither `content` nor `files`."""

    code = "INVALID_OUTPUT"


class IndexNotReady(Conflict):
    """The commit is kept and can be read, but is not indexed yet."""

    code = "INDEX_NOT_READY"


class ScopeNotReady(Conflict):
    """A path group has no index at any commit yet."""

    code = "SCOPE_NOT_READY"


class IndexCorrupt(Unavailable):
    """The index is damaged; a rebuild was queued, and the answer would not be whole."""

    code = "INDEX_CORRUPT"
