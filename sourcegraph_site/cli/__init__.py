"""`sourcegraph-cli`: the HTTP operations from a terminal (contract 7).

Needs nothing but Python: it imports neither Django nor the server, and works against any
server that speaks the same contract. `main` is the entry; `operations` has one entry per
operation, from which parsing, usage and completion are made.
"""
