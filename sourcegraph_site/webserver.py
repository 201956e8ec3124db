"""Gunicorn's configuration: threads for requests that wait, processes for those that compute."""

import os
from typing import Any

from django.conf import settings

from sourcegraph_site.supervisor import die_with

_host = f"[{settings.LISTEN_HOST.strip('[]')}]" if ":" in settings.LISTEN_HOST else None
bind = f"{_host or settings.LISTEN_HOST}:{settings.LISTEN_PORT}"
worker_class = "gthread"
workers = settings.WEB_PROCESSES
threads = settings.WEB_THREADS
# Gunicorn's own socket in the home directory; several instances would share it.
control_socket_disable = True
# A process is replaced now and then, so that no slow leak lasts; not all at once.
max_requests = 20_000
max_requests_jitter = 2_000
# Heartbeats are file times; in memory, so that a slow disk never looks like a hang.
worker_tmp_dir = "/dev/shm" if os.access("/dev/shm", os.W_OK) else str(settings.DATA_ROOT)
timeout = 130
graceful_timeout = 10
keepalive = 60
# A search with its pattern is an address too.
limit_request_line = 8190
errorlog = "-"
accesslog = None
loglevel = settings.LOG_LEVEL.lower()
proc_name = "sourcegraph-web"


def post_fork(server: Any, worker: Any) -> None:
    """A web process never outlives its server."""
    die_with(server.pid)()


def post_worker_init(worker: Any) -> None:
    """The application is loaded: what only MCP needs follows, beside the first requests."""
    from sourcegraph_site.mcp.warm import warm_up

    warm_up()
