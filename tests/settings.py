"""Overrides for tests only; jobs are run by the test, never eagerly."""

import os
import tempfile

# Before the product's settings are read: nothing of the developer's data is touched.
os.environ.setdefault("SOURCEGRAPH_DATA_ROOT", tempfile.mkdtemp(prefix="sourcegraph-test-"))
os.environ.setdefault("SOURCEGRAPH_SECRET_KEY", "test-only-secret-key-test-only-secret-key")
os.environ.setdefault("SOURCEGRAPH_MIN_FREE_BYTES", "0")

from sourcegraph_site.settings import *  # noqa: F403
from sourcegraph_site.settings import DATA_ROOT, DATABASES

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # A file: in memory with a shared cache, SQLite ignores the busy timeout.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_ROOT / "test.db")}
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
