"""The table of all error codes, as Markdown: `docs/errors.md` is made from the classes."""

from sourcegraph_site.kernel.errors import all_errors

HEAD = """# Error codes

Made by `manage.py document_errors` from the classes; do not edit. The code is API: it never
changes once shipped. The status is the usual one; where a message says that the server is
busy or not ready, `Retry-After` (and `Meta.RetryAfterSeconds`) says when to come back.
Every surface gives the same code: REST in `Meta.Code`, MCP as `code` of the error object, the
command line in the JSON that it prints, pages in small print under the sentence.

| status | code | meaning |
|---|---|---|
"""


def error_table() -> str:
    """Markdown of every error class that has been imported, by status and code."""
    rows = sorted({(cls.status, cls.code, _meaning(cls)) for cls in all_errors()})
    return HEAD + "".join(f"| {status} | `{code}` | {text} |\n" for status, code, text in rows)


def _meaning(cls: type) -> str:
    text = (cls.__doc__ or "").strip().split("\n\n")[0]
    return " ".join(text.split()).replace("|", "\\|")
