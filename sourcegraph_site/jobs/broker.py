"""Kombu's file transport, made safe against processes that are killed at any moment.

Kombu opens a message's file under its final name and writes afterwards, so a reader can see
half of it, and a half-written table of bindings stops every later start. Here both appear by
rename, complete, and what is unreadable is dropped: a lost bell is rung again by the sweep.
"""

import json
import os
import uuid
from pathlib import Path
from queue import Empty
from time import time_ns
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.transport.filesystem import exchange_queue_t

SCHEME = "files"


def write_whole(path: Path, data: bytes) -> None:
    part = path.with_name(f".{uuid.uuid4().hex}.part")
    part.write_bytes(data)
    os.replace(part, path)


class Channel(filesystem.Channel):
    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]
        # Wall time, so that messages of before a reboot still come first.
        name = f"{time_ns():020d}_{uuid.uuid4().hex}.{queue}.msg"
        write_whole(Path(self.data_folder_out) / name, json.dumps(payload).encode())

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        folder = Path(self.data_folder_in)
        for name in sorted(os.listdir(folder)):
            if name.startswith(".") or name.partition(".")[2] != f"{queue}.msg":
                continue
            taken = folder / f".{name}.taken"
            try:
                os.rename(folder / name, taken)
            except FileNotFoundError:
                continue  # another worker was faster
            try:
                return json.loads(taken.read_bytes())
            except ValueError:
                continue
            finally:
                taken.unlink(missing_ok=True)
        raise Empty

    def get_table(self, exchange: str) -> list[Any]:
        try:
            return [
                exchange_queue_t(*row) for row in json.loads(self._bindings(exchange).read_bytes())
            ]
        except (FileNotFoundError, ValueError, TypeError):
            return []

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        row = exchange_queue_t(routing_key or "", pattern or "", queue or "")
        rows = self.get_table(exchange)
        if row not in rows:
            path = self._bindings(exchange)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps([row, *rows]).encode())

    def _bindings(self, exchange: str) -> Path:
        return Path(self._exchange_file(exchange))  # type: ignore[no-untyped-call]


class Transport(filesystem.Transport):
    Channel = Channel
    driver_type = driver_name = "files"


TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"
