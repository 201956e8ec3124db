"""Overrides for tests only; jobs are run by the test, never eagerly."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

# Before the product's settings are read: nothing of the developer's data is touched.
if "SOURCEGRAPH_DATA_ROOT" not in os.environ:
    os.environ["SOURCEGRAPH_DATA_ROOT"] = tempfile.mkdtemp(prefix="sourcegraph-test-")
    atexit.register(shutil.rmtree, os.environ["SOURCEGRAPH_DATA_ROOT"], ignore_errors=True)
# Tests that run side by side inherit this from their parent; each needs one of its own.
_worker = os.environ.get("PYTEST_XDIST_WORKER")
if _worker and Path(os.environ["SOURCEGRAPH_DATA_ROOT"]).name != _worker:
    os.environ["SOURCEGRAPH_DATA_ROOT"] += f"/{_worker}"
os.environ.setdefault("SOURCEGRAPH_SECRET_KEY", "test-only-secret-key-test-only-secret-key")
os.environ.setdefault("SOURCEGRAPH_MIN_FREE_BYTES", "0")

from sourcegraph_site.settings import *  # noqa: E402, F403
from sourcegraph_site.settings import DATA_ROOT, DATABASES  # noqa: E402

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # A file: in memory with a shared cache, SQLite ignores the busy timeout.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_ROOT / "test.db")}
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
# WhiteNoise warns when the folder is not there.
(DATA_ROOT / "static").mkdir(parents=True, exist_ok=True)
