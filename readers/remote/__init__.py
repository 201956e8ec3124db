"""Questions to a repository's remote, on behalf of a caller who waits.

Several processes serve one data root, and together they must not press a remote: places,
back-off and remembered answers are therefore files below `DATA_ROOT/lookups`, which all of
them see. A place is an advisory lock on a file, so it ends with the process that holds it,
however that dies. Nothing in here has to survive a restart.

    lookups/places/<name>-<n>      locked while somebody holds the n-th place of that name
    lookups/answers/<digest>       what the remote said about a name, for 30 seconds
    lookups/backoff/<storage key>  how often the remote has failed, and until when it is left alone
    lookups/catalogs/<storage key> the branches and tags of a remote (`catalog_file.py`)
    scratch/<random>/              a download in progress (`scratch.py`)

Nothing that is downloaded here is ever read as repository content.
"""
