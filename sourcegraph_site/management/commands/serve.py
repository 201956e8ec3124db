"""`manage.py serve`: the whole product in one command.

The options become environment variables before the settings are read (`to_environment`,
called by manage.py), so that every child process sees the same ones.
"""

import argparse
import fcntl
import hashlib
import os
import shutil
import socket
import sys
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management import BaseCommand, CommandError, CommandParser, call_command

CHECKOUT = Path(__file__).resolve().parents[3]
DEMO = "local/source-graph"


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--host", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, help="port to listen on (8080)")
    parser.add_argument("--data", metavar="DIR", help="where everything is kept (./data)")
    parser.add_argument(
        "--no-demo", action="store_true", help=f"do not register this checkout as {DEMO}"
    )
    parser.add_argument(
        "--logs",
        choices=["files", "terminal"],
        default="files",
        help="where the processes' logs go: DIR/logs (default), or all to the terminal",
    )


def to_environment(argv: Sequence[str]) -> None:
    """Turn the options into what the settings read. Unknown ones are left to the command."""
    from sourcegraph_site.env import env_listen, env_text

    parser = ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    add_options(parser)
    try:
        options, _ = parser.parse_known_args(argv)
    except argparse.ArgumentError:
        return  # what is wrong is said by the command's own parser
    if options.data:
        os.environ["SOURCEGRAPH_DATA_ROOT"] = str(Path(options.data).resolve())
    if options.host or options.port is not None:
        host, port = env_listen("SOURCEGRAPH_LISTEN", "127.0.0.1:8080")
        port = port if options.port is None else options.port
        os.environ["SOURCEGRAPH_LISTEN"] = f"{options.host or host}:{port}"
    if not options.no_demo:
        before = env_text("SOURCEGRAPH_LOCAL_REMOTES")
        os.environ["SOURCEGRAPH_LOCAL_REMOTES"] = ":".join(filter(None, [before, str(CHECKOUT)]))


class Command(BaseCommand):
    help = "Run the web server, the job workers and the clock, until interrupted."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        add_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        from django.conf import settings

        began = time.monotonic()
        self.live = ""
        self.data_root = Path(settings.DATA_ROOT)
        lock = lock_instance(self.data_root)
        try:
            check_port(settings.LISTEN_HOST, settings.LISTEN_PORT)
            self.check(display_num_errors=False)
            self.prepare()
            self.say_address(time.monotonic() - began)
            if not options["no_demo"]:
                self.register_demo()
            self.supervise(options["logs"])
        finally:
            lock.close()

    def say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()

    def prepare(self) -> None:
        """Bring database, static files and broker to the state of this release."""
        from django.conf import settings

        # In embedded mode nobody else writes here, and a message is only a bell; what a
        # killed process left half-written goes.
        if not settings.REDIS_URL:
            shutil.rmtree(self.data_root / "broker", ignore_errors=True)
        for name in ("messages", "control"):
            (self.data_root / "broker" / name).mkdir(parents=True, exist_ok=True)
        self.say("Preparing the database and the static files…")
        call_command("migrate", interactive=False, verbosity=0)
        if not settings.REDIS_URL:
            call_command("createcachetable", verbosity=0)
        collect_static(Path(settings.STATIC_ROOT))

    def say_address(self, seconds: float) -> None:
        from django.conf import settings

        from sourcegraph_site.accounts.usecases.admin_link import create_admin_link
        from sourcegraph_site.accounts.usecases.join import administrator_exists

        self.say(f"\nSource Graph is at {settings.ORIGIN}{settings.PREFIX}   (Ctrl-C stops it)")
        if administrator_exists():
            return
        if settings.LISTEN_HOST in ("127.0.0.1", "::1", "[::1]", "localhost"):
            self.say(
                "Nobody administers it yet. Become its administrator with this link; it works"
                f" once, for a day:\n  {settings.ORIGIN}{create_admin_link()}"
            )
        else:
            self.say(
                "Nobody administers it yet. `manage.py create_admin_link` prints the link with"
                " which one becomes its administrator."
            )

    def register_demo(self) -> None:
        """This checkout is the first repository, so that there is something to search."""
        from repos.errors import RepositoryExists
        from repos.policy import PolicyInput
        from repos.usecases.register_repository import RegisterRepository, register_repository
        from sourcegraph_site.kernel.actor import OPERATOR
        from sourcegraph_site.kernel.errors import AppError

        if not (CHECKOUT / ".git").exists():
            self.say(f"{CHECKOUT} is no Git checkout, so there is no demo repository.")
            return
        try:
            register_repository(
                OPERATOR,
                RegisterRepository(
                    name=DEMO,
                    url=CHECKOUT.as_uri(),
                    code_provider="git",
                    policy=PolicyInput(default_branch=True, count=50),
                ),
            )
        except RepositoryExists:
            return
        except AppError as exc:
            self.say(f"This checkout cannot be the demo repository: {exc.code}: {exc.message}")
            return
        self.say(f"This checkout is registered as {DEMO}; cloning and indexing it now:")

    def supervise(self, logs: str) -> None:
        from django.conf import settings
        from django.db import connection

        from sourcegraph_site.progress import Progress
        from sourcegraph_site.supervisor import Supervisor, instance_children

        progress = Progress(lambda line: self.say(f"  {line}"))

        def look() -> None:
            for job in progress.look():
                name = progress.names.get(job.repository_id or 0)
                if job.kind == "search.index" and job.state == job.State.SUCCEEDED and name:
                    self.say(f"Ready: search it at {settings.ORIGIN}{settings.PREFIX}?repo={name}")

        folder = None if logs == "terminal" else self.data_root / "logs"
        if folder is not None:
            self.say(f"Logs are in {folder}.")
        children = list(
            instance_children(
                jobs=settings.JOB_PROCESSES, data_root=self.data_root, log_folder=folder
            )
        )
        env = dict(os.environ)  # manage.py has set DJANGO_SETTINGS_MODULE
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(CHECKOUT), env.get("PYTHONPATH")]))
        connection.close()  # no child inherits it
        Supervisor(children, env=env, say=self.say, look=look).run()
        self.say("Stopped.")


def collect_static(target: Path) -> None:
    """Collect the static files, unless none has changed since: that takes seconds."""
    from django.contrib.staticfiles.finders import get_finders

    found = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list([]):
            facts = Path(storage.path(path)).stat()
            found.update(f"{path} {facts.st_size} {facts.st_mtime_ns}\n".encode())
    stamp = target / ".collected"
    if stamp.exists() and stamp.read_text() == found.hexdigest():
        return
    call_command("collectstatic", interactive=False, verbosity=0)
    stamp.write_text(found.hexdigest())


def lock_instance(data_root: Path) -> IO[str]:
    """Take the data root for this process; the lock goes with it, however it ends."""
    lock = (data_root / "instance.lock").open("a+", encoding="ascii")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.seek(0)
        owner = lock.read(20).strip() or "unknown"
        lock.close()
        raise CommandError(
            f"Another instance (process {owner}) is using {data_root}. Stop it, or choose"
            " another directory with --data."
        ) from None
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n")
    lock.flush()
    return lock


def check_port(host: str, port: int) -> None:
    """Say in one line what gunicorn would say in a traceback per retry."""
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as exc:
            raise CommandError(
                f"Cannot listen on {host}:{port}: {exc.strerror or exc}. Choose another with"
                " --host and --port (SOURCEGRAPH_LISTEN)."
            ) from None


def run_from_shell(argv: Sequence[str]) -> None:
    """What manage.py does; a bad setting is one line, not a traceback."""
    from django.core.management import execute_from_command_line

    try:
        if list(argv[1:2]) == ["serve"]:
            to_environment(argv[2:])
        execute_from_command_line(list(argv))
    except ImproperlyConfigured as exc:
        sys.exit(f"{argv[0]}: {exc}")
