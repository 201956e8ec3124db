"""What can go wrong before a tool is reached."""

from sourcegraph_site.kernel.errors import AppError, BadRequest


class InvalidPlugins(BadRequest):
    """The selection of read plugins is not `auto`, `off`, or 1 to 16 distinct names."""

    code = "INVALID_PLUGINS"


class RequestTimeout(AppError):
    """A tool call ran out of time, and its work was stopped."""

    code = "REQUEST_TIMEOUT"
    status = 503
