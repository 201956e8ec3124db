"""One process that indexes, for the clock of builds.py.

    python -m tests.benchmarks.index_once GIT_DIR INDEX [COMMIT...]

With several commits all of them become searchable; with one, or with HEAD if none is given,
its manifest is written too. Prints what it took as JSON.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

from search.index.store import IndexStore


def main() -> None:
    git_dir, index = Path(sys.argv[1]), Path(sys.argv[2])
    commits = sys.argv[3:]
    if not commits:
        head = ["git", f"--git-dir={git_dir}", "rev-parse", "HEAD"]
        commits = [subprocess.check_output(head, text=True).strip()]
    store = IndexStore(index, git_dir)
    began = time.perf_counter()
    report = store.index_commit(commits[0]) if len(commits) == 1 else store.index_commits(commits)
    seconds = time.perf_counter() - began
    began = time.perf_counter()
    generation = store.open_generation(commits[-1])
    print(
        json.dumps(
            {
                "seconds": seconds,
                "open_seconds": time.perf_counter() - began,
                "documents": len(generation.paths),
                "new_documents": report.new_documents,
                "new_bytes": report.new_bytes,
            }
        )
    )


if __name__ == "__main__":
    main()
