"""The Celery application: a bell for `jobs`, no results, no state of its own.

With REDIS_URL the messages go through Redis, else through files in the data root.
The beat table is filled by `jobs/ticks.py`.
"""

from typing import Any

from celery import Celery
from django.conf import settings

from sourcegraph_site.jobs.broker import SCHEME


def _broker() -> dict[str, Any]:
    if settings.REDIS_URL:
        # A message that is not confirmed in time comes again; our claim makes that harmless.
        options = {"visibility_timeout": 6 * 3600, "socket_connect_timeout": 2}
        url = settings.REDIS_URL
        if url.startswith("unix://"):  # kombu spells a socket its own way
            url = url.replace("unix://", "redis+socket://", 1).replace("?db=", "?virtual_host=")
        return {"broker_url": url, "broker_transport_options": options}
    folder = settings.DATA_ROOT / "broker"
    messages, control = folder / "messages", folder / "control"
    for path in (messages, control):
        path.mkdir(parents=True, exist_ok=True)
    return {
        "broker_url": f"{SCHEME}://localhost/",
        "broker_transport_options": {
            "data_folder_in": str(messages),
            "data_folder_out": str(messages),
            "control_folder": str(control),
            "polling_interval": 0.1,
        },
    }


def make_app() -> Celery:
    made = Celery("sourcegraph")
    made.conf.update(
        **_broker(),
        imports=["sourcegraph_site.jobs.tasks"],
        beat_schedule={},
        timezone="UTC",
        task_ignore_result=True,
        task_default_queue="jobs",
        # See jobs/lifeline.py. Every worker is a child of the supervisor.
        worker_pool="solo",
        # One message per worker and none ahead: a bell waits in the broker, where any worker
        # may take it. Confirmed late, or a busy worker would fetch a second one.
        task_acks_late=True,
        worker_prefetch_multiplier=1,
        worker_enable_remote_control=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_send_task_events=False,
        broker_connection_timeout=2,
        broker_connection_retry_on_startup=True,
        broker_pool_limit=4,
    )
    return made


app = make_app()
