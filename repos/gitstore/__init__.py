"""Mirrors on disk, and the one door to Git.

Layout, below DATA_ROOT (`layout.py`):

    repositories/<storage key>/mirror.git   bare mirror: refs/heads/* of monitored branches,
                                            refs/retained/<sha> of commits kept on request
    repositories/<storage key>/index/       belongs to the search app
    staging/<random>/                       mirrors being made; removed at start
    scratch/<random>/                       short-lived downloads of look-ups; removed at start
    trash/<random>/                         what is being deleted; emptied by maintenance
    gitconfig                               our private GIT_CONFIG_GLOBAL

Who may write: only the job that holds the repository's lease writes to its mirror. Readers
never take a lock; Git's object store is append-only, and a pruning pass keeps everything
that a version names.

What is atomic: a mirror appears whole, by rename from staging. Refs of a mirror may be ahead
of the database after a crash; queries answer from the database alone, so nothing half-done
is ever visible, and the next sync repeats the fetch and the swap.
"""
