"""`/sourcegraph/llms.txt`: what an agent needs to know to set itself up and to work, as text.

Made from the tools, the instructions and the snippets themselves, so it cannot disagree with
them. It names no repository: it is the same for every caller.
"""

from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.views.decorators.http import require_safe

from sourcegraph_site.mcp.instructions import INSTRUCTIONS
from sourcegraph_site.mcp.registry import tools
from sourcegraph_site.mcp.snippets import KEY_VARIABLE, clients, mcp_url, site_url

SYNTAX = """\
- Pattern: an RE2 regular expression, matched line by line; it cannot match a newline or nothing. \
fixed_strings makes it literal text. \\w \\d \\s \\b know Unicode. No lookaround, no backreference.
- Case matters unless ignore_case, or (?i) in the pattern.
- glob: like ripgrep's -g. Without a slash it matches at any depth, with one from the root; \
** spans directories; {a,b} chooses; !glob excludes; the last that matches wins.
- paths: files or directories to search in. language: one language name.
- Only file contents are searched; find looks for file names.
"""
ENVIRONMENT = f"""\
| variable | meaning |
|---|---|
| SOURCEGRAPH_URL | service URL; https, or http on this machine |
| {KEY_VARIABLE} | a key, at least 32 characters; optional where public reading is on |
"""


@require_safe
def llms_txt(request: HttpRequest) -> HttpResponse:
    response = HttpResponse(llms_text(), content_type="text/plain; charset=utf-8")
    response["Cache-Control"] = "no-cache"
    return response


def llms_text() -> str:
    """The whole document, in English whatever the reader's language."""
    with translation.override("en"):
        setup = "\n".join(
            f"### {client.name}\n\n"
            + "\n".join(f"{s.where}:\n\n```{s.language}\n{s.text}```\n" for s in client.snippets)
            for client in clients()
        )
    listed = "\n".join(f"- {entry.name}: {entry.description}" for entry in tools().values())
    return (
        f"# Source Graph\n\n> Search and read code at exactly one Git commit.\n\n"
        f"MCP (Streamable HTTP): {mcp_url()}\nREST: {site_url()}/v1/capabilities,"
        f" {site_url()}/v1/schema\n\n"
        f"## How to work\n\n{INSTRUCTIONS}\n## Tools\n\n{listed}\n\n"
        f"## Search syntax\n\n{SYNTAX}\n## Set-up\n\n{setup}\n"
        f"## Environment of sourcegraph-cli\n\n{ENVIRONMENT}"
    )
