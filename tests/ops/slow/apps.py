import os
import time
from pathlib import Path
from typing import Any

from django.apps import AppConfig
from django.conf import settings


def until_told(handle: Any) -> dict[str, Any]:
    """Say who runs it, then wait for the file `go` in the data root."""
    root = Path(settings.DATA_ROOT)
    (root / f"running.{handle.job.fence}").write_text(str(os.getpid()))
    while not (root / "go").exists():
        handle.check_cancelled()
        time.sleep(0.05)
    return {"fence": handle.job.fence}


class SlowConfig(AppConfig):
    name = "tests.ops.slow"

    def ready(self) -> None:
        from sourcegraph_site.jobs.handlers import register

        register("test.slow", until_told, time_limit_seconds=300)
