"""`login` and `logout`: a key kept for one server, after asking the server whether it is good."""

import getpass
import sys

from sourcegraph_site.cli import credentials
from sourcegraph_site.cli.client import Request, send
from sourcegraph_site.cli.config import Server, check_token, server_url
from sourcegraph_site.cli.errors import CliError
from sourcegraph_site.cli.flags import Flag, parse

FLAGS = (
    Flag("file", "keep the key in a 0600 file even if there is a keyring", "switch"),
    Flag("stdin", "read the key from standard input without asking", "switch"),
)


def login(words: list[str]) -> int:
    """Raises CliError when the server refuses the key; nothing is stored then."""
    parsed = parse(FLAGS, words)
    url = server_url()
    if parsed["stdin"] or not sys.stdin.isatty():
        key = sys.stdin.readline().strip()
    else:
        key = getpass.getpass(f"Key for {url}: ").strip()
    check_token(key, "the key")
    reply = send(Server(url, key), Request("GET", "/v1/repos"))
    if reply.status == 401:
        raise CliError("the server does not know this key")
    if not reply.ok:
        raise CliError(f"the server could not check the key (HTTP {reply.status})")
    where = credentials.store_key(url, key, use_keyring=not parsed["file"])
    sys.stdout.write(f"The key for {url} is kept in {where}.\n")
    return 0


def logout(words: list[str]) -> int:
    parse((), words)
    url = server_url()
    removed = credentials.forget_key(url)
    sys.stdout.write(f"{'Forgot the' if removed else 'There was no'} key for {url}.\n")
    return 0
