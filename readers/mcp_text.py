"""`read` and `read_many` as text for a model (contract 2.6)."""

from readers.reading import FileText
from readers.usecases.read_many import ItemError
from sourcegraph_site.mcp.text import UNTRUSTED, cut, quoted, size

MAX_BLOCK_BYTES = 327_680
_FOOTER = "TextTruncated: true. Continue at start_line {next}."


def read_block(repo: str, text: FileText, limit: int = MAX_BLOCK_BYTES) -> str:
    """The answer of `read`, at most `limit` bytes."""
    return _with_rows([f"Repository: {quoted(repo)}", UNTRUSTED, *_head(text)], text, limit)


def item_block(
    repo: str,
    number: int,
    requested: str,
    outcome: tuple[FileText | None, ItemError | None],
    unread: tuple[str, str],
    limit: int = MAX_BLOCK_BYTES,
) -> str:
    """One item of `read_many`; items count from 1.

    `requested` is its range, `a-b`. `unread` is commit and path, for an item without a file.
    """
    text, error = outcome
    lines = [f"Repository: {quoted(repo)}", f"Item {number}; RequestedLines: {requested}"]
    if error is not None:
        message = quoted(f"Item {number}: {error.message}")
        lines.append(f"Error: {quoted(error.code)} — {message}")
    if text is None:
        commit, path = unread
        lines += [f"Commit: {quoted(commit)}", f"Path: {quoted(path)}", "No content was returned."]
        return "\n".join(lines) + "\n"
    if text.content:
        lines.append(UNTRUSTED)
    return _with_rows(lines + _head(text), text, limit)


def _head(text: FileText) -> list[str]:
    """Everything of a file section but its rows."""
    first, last = quoted_line(text.returned_start_line), quoted_line(text.returned_end_line)
    lines = [
        f"Path: {quoted(text.path)}",
        f"Commit: {quoted(text.commit)}",
        f"Lines: {first}-{last}",
    ]
    if text.truncated or text.has_more is not False:
        lines.append(
            f"Truncated: {quoted(text.truncated)}; HasMore: {quoted_line(text.has_more)};"
            f" NextStartLine: {quoted_line(text.next_start_line)}"
        )
    if text.via is not None:
        lines.append(f"Via: {quoted(text.via)}; Path is what this link leads to.")
    if text.follow_error is not None:
        lines.append(f"FollowError: {quoted(text.follow_error)}")
    return lines + _notes(text)


def quoted_line(value: int | bool | None) -> str:
    return "null" if value is None else quoted(value)


def _notes(text: FileText) -> list[str]:
    notes = []
    if text.is_lfs_pointer:
        notes.append("This is a Git LFS pointer; the file that it names is not in the repository.")
    if text.kind == "submodule":
        notes.append("This is a submodule; its content lies in another repository.")
    elif text.follow_error is not None:
        notes.append("The link could not be followed; the text is the link's own.")
    elif text.returned_start_line is None:
        notes.append("No lines were returned.")
    if text.has_more is None:
        notes.append("Whether more lines follow is unknown: the scan limit was reached.")
    elif text.has_more:
        notes.append("More lines follow.")
    return notes


def _with_rows(head: list[str], text: FileText, limit: int) -> str:
    """`head` and the numbered rows; rows that do not fit are left out, and the text says so."""
    start = text.returned_start_line or 1
    rows = text.content.removesuffix("\n").split("\n") if text.content else []
    numbered = [f"{number}: {row}" for number, row in enumerate(rows, start)]
    whole = "\n".join([*head, *numbered]) + "\n"
    if size(whole) <= limit:
        return whole
    # Room for the two lines that say what is missing.
    left = limit - size("\n".join(head)) - 120
    kept = 0
    while kept < len(numbered) and left > size(numbered[kept]) + 1:
        left -= size(numbered[kept]) + 1
        kept += 1
    omitted = start + kept
    head = [*head, f"FirstOmittedLine: {omitted}"]
    shown = "\n".join([*head, *numbered[:kept], _FOOTER.format(next=omitted)]) + "\n"
    return cut(shown, limit)
