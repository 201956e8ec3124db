"""What can go wrong when reading at one commit."""

from sourcegraph_site.kernel.errors import (
    AppError,
    BadGateway,
    BadRequest,
    Conflict,
    Missing,
    Unavailable,
    Unprocessable,
)

# --- The request -------------------------------------------------------------------------


class InvalidPath(BadRequest):
    """A path is relative, UTF-8, at most 4096 bytes, without `.`, `..`, backslash or control."""

    code = "INVALID_PATH"


class InvalidLineRange(BadRequest):
    """StartLine is at least 1 and EndLine at least StartLine."""

    code = "INVALID_LINE_RANGE"


class InvalidReadItems(BadRequest):
    """One read_many takes 1 to 10 items."""

    code = "INVALID_READ_ITEMS"


class InvalidQuery(BadRequest):
    """The query of a file search is empty, too long or not a valid glob."""

    code = "INVALID_QUERY"


class PathNotRegistered(BadRequest):
    """The path lies outside the directories that this repository was registered with."""

    code = "PATH_NOT_REGISTERED"


# --- The path at that commit -------------------------------------------------------------


class FileNotFound(Missing):
    """There is nothing at this path at this commit."""

    code = "FILE_NOT_FOUND"


class ContentNotReady(Conflict):
    """The path's group is not prepared at this commit."""

    code = "CONTENT_NOT_READY"


class NotAFile(Unprocessable):
    """The path is a directory; list it."""

    code = "NOT_A_FILE"


class NotADirectory(Unprocessable):
    """The path is not a directory; read it."""

    code = "NOT_A_DIRECTORY"


class DirectoryBudgetExceeded(Unprocessable):
    """The directory has too many entries to be listed."""

    code = "DIRECTORY_BUDGET_EXCEEDED"


class UnsupportedPathEncoding(Unprocessable):
    """A changed path has a name that cannot be written in the answer."""

    code = "UNSUPPORTED_PATH_ENCODING"


# --- The content -------------------------------------------------------------------------


class BinaryFile(Unprocessable):
    """The file holds a NUL byte, so it is not text."""

    code = "BINARY_FILE"


class UnsupportedTextEncoding(Unprocessable):
    """The lines are neither UTF-8 nor UTF-16 with a byte order mark."""

    code = "UNSUPPORTED_TEXT_ENCODING"


class FileLineTooLarge(Unprocessable):
    """One line alone is larger than 256 KiB."""

    code = "FILE_LINE_TOO_LARGE"


class ReadScanLimit(Unprocessable):
    """The lines lie beyond the first 8 MiB of the file, which is all that is scanned."""

    code = "READ_SCAN_LIMIT"


class ReadBudgetExceeded(Unprocessable):
    """The items read before this one have used up the budget that they share."""

    code = "READ_BUDGET_EXCEEDED"


class LineRangeNotSatisfiable(AppError):
    """The file has fewer lines than StartLine."""

    code = "LINE_RANGE_NOT_SATISFIABLE"
    status = 416


class ReadTimeout(Unavailable):
    """The time of this read_many ran out before this item."""

    code = "READ_TIMEOUT"


class ReadFailed(Unavailable):
    """This item of a read_many failed for a reason of ours; its log has more."""

    code = "READ_FAILED"


# --- Symbolic links ----------------------------------------------------------------------


class LinkError(Unprocessable):
    """Base of what can be wrong with a link; also values of FollowError."""


class LinkInvalidTarget(LinkError):
    """The link's target is not a usable path."""

    code = "LINK_INVALID_TARGET"


class LinkOutsideRepository(LinkError):
    """The link leads out of the repository; it is never followed there."""

    code = "LINK_OUTSIDE_REPOSITORY"


class LinkDangling(LinkError):
    """The link leads to nothing at this commit."""

    code = "LINK_DANGLING"


class LinkToSubmodule(LinkError):
    """The link leads into a submodule, whose content is not here."""

    code = "LINK_TO_SUBMODULE"


class LinkLoop(LinkError):
    """The links lead back to themselves."""

    code = "LINK_LOOP"


class LinkDepthExceeded(LinkError):
    """More than 8 links had to be followed."""

    code = "LINK_DEPTH_EXCEEDED"


class LinkTargetTooLarge(LinkError):
    """The link's target is longer than 4096 bytes."""

    code = "LINK_TARGET_TOO_LARGE"


class PathNotIndexed(LinkError):
    """The link leads to a path that this repository was not registered with."""

    code = "PATH_NOT_INDEXED"
    status = 409


# --- Git ---------------------------------------------------------------------------------


class GitObjectNotHydrated(Unavailable):
    """An object of this commit cannot be read from the mirror now."""

    code = "GIT_OBJECT_NOT_HYDRATED"


# --- The remote --------------------------------------------------------------------------


class RefNotFound(Missing):
    """The remote has no branch or tag of this name; names are case-sensitive."""

    code = "REF_NOT_FOUND"


class RefAmbiguous(Conflict):
    """A branch and a tag share the name; `refs` lists their full names."""

    code = "REF_AMBIGUOUS"


class RefNotCommit(Unprocessable):
    """The tag ends at a tree or a blob."""

    code = "REF_NOT_COMMIT"


class RefsCatalogPreparing(Unavailable):
    """The first listing is still being prepared; a complete name can be resolved meanwhile."""

    code = "REFS_CATALOG_PREPARING"


class RefsFilterUnavailable(Conflict):
    """Only the names are known here; filter and sort by name."""

    code = "REFS_FILTER_UNAVAILABLE"


class RemoteAccessDenied(BadGateway):
    """The credential that this server has cannot read the remote; the caller's is not the cause."""

    code = "REMOTE_ACCESS_DENIED"


class RemoteUnavailable(Unavailable):
    """The remote did not answer, or is being left alone after failures."""

    code = "REMOTE_UNAVAILABLE"
