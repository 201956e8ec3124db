"""Code sources and their tokens: where repositories come from, and what opens them.

listing.py     the configured sources, and which one an address belongs to
vault.py       encryption of tokens at rest, and the keys for it
tokens.py      states of tokens, and which one is used for a repository
use.py         the way to a repository's remote: checked address, pinned, with its token
accounts.py    the repositories of an account, through the API of its code host
"""
