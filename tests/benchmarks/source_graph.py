"""Our server, as `script/serve` runs it by default, on a private data directory.

python -m tests.benchmarks.source_graph NAME=GIT_DIR...     registers, mirrors and indexes
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.benchmarks.corpora import Corpus
from tests.benchmarks.processes import Cost, Service, free_port, python, run

OWNER = "bench"


def name_of(corpus: Corpus) -> str:
    return f"{OWNER}/{corpus.name}"


def search_path(corpus: Corpus) -> str:
    return f"/sourcegraph/api/search?repo={quote(name_of(corpus), safe='')}"


def environment(data: Path, remotes: Path) -> dict[str, str]:
    """Defaults, but for where things are and for limits of anonymous callers."""
    return {
        "DJANGO_SETTINGS_MODULE": "sourcegraph_site.settings",
        "SOURCEGRAPH_DATA_ROOT": str(data),
        "SOURCEGRAPH_LOCAL_REMOTES": str(remotes.resolve()),
        "SOURCEGRAPH_ANONYMOUS_PER_CLIENT": "0",
        "SOURCEGRAPH_ANONYMOUS_TOTAL": "0",
        "SOURCEGRAPH_MIN_FREE_BYTES": "0",
        "SOURCEGRAPH_LOG_LEVEL": "WARNING",
    }


def prepare(corpora: list[Corpus], env: Mapping[str, str]) -> Cost:
    """Register, mirror and index, in a process of its own."""
    Path(env["SOURCEGRAPH_DATA_ROOT"]).mkdir(parents=True, exist_ok=True)
    pairs = [f"{name_of(corpus)}={corpus.git_dir.resolve()}" for corpus in corpora]
    return run(python("tests.benchmarks.source_graph", *pairs), env=env)


def start(env: Mapping[str, str], log: Path, *, cache: bool = True) -> Service:
    """Gunicorn with all its defaults; without `cache`, every answer is computed anew."""
    port = free_port()
    settings = {"SOURCEGRAPH_LISTEN": f"127.0.0.1:{port}"}
    if not cache:
        settings["SOURCEGRAPH_ANSWER_CACHE_BYTES"] = "0"
    words = ["--config=python:sourcegraph_site.webserver", "sourcegraph_site.wsgi:application"]
    return Service(python("gunicorn", *words), port, log, {**env, **settings})


def _register(name: str, git_dir: Path) -> None:
    from repos.usecases.register_repository import RegisterRepository, register_repository
    from sourcegraph_site.kernel.actor import OPERATOR
    from sourcegraph_site.kernel.inputs import parse

    fields: dict[str, Any] = {
        "name": name,
        "url": git_dir.as_uri(),
        "policy": {"default_branch": True, "count": 1},
    }
    register_repository(OPERATOR, parse(RegisterRepository, fields))


def main() -> None:
    import django

    django.setup()
    from django.core.management import call_command

    from tests.support.jobs import run_pending_jobs

    call_command("migrate", verbosity=0)
    call_command("createcachetable", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    for pair in sys.argv[1:]:
        name, _, git_dir = pair.partition("=")
        _register(name, Path(git_dir))
    jobs = run_pending_jobs()
    print(json.dumps({"jobs": len(jobs)}))
    if failed := [job for job in jobs if job.error]:
        raise SystemExit(f"a job failed: {failed[0].error}: {failed[0].error_message}")


if __name__ == "__main__":
    main()
