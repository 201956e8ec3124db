"""Repositories: what is registered, who may see and manage it, mirrors, versions, syncs.

Other apps enter through `access` (rights), `revisions` (a revision → one commit),
`readiness` (which commits have an index) and `usecases`.
"""
