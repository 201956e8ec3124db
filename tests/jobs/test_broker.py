"""The file broker survives processes that are killed in the middle of a write."""

import threading
import uuid
from queue import Empty

import pytest
from kombu import Connection

from sourcegraph_site.jobs.broker import SCHEME, Transport


@pytest.fixture
def connect(tmp_path):
    folders = {name: tmp_path / name for name in ("messages", "control")}
    for folder in folders.values():
        folder.mkdir()
    opened = []

    def make() -> Connection:
        options = {
            "data_folder_in": str(folders["messages"]),
            "data_folder_out": str(folders["messages"]),
            "control_folder": str(folders["control"]),
        }
        opened.append(Connection(f"{SCHEME}://localhost/", transport_options=options))
        return opened[-1]

    make.folders = folders
    yield make
    for connection in opened:
        connection.close()


@pytest.fixture
def bells() -> str:
    """A queue of its own: kombu remembers per process which queues it has declared."""
    return f"bells-{uuid.uuid4().hex}"


def drain(queue) -> list:
    found = []
    while True:
        try:
            message = queue.get(block=False)
        except Empty:
            return found
        message.ack()
        found.append(message.payload)


def test_messages_come_once_each_and_in_order(connect, bells):
    out = connect().SimpleQueue(bells)
    for n in range(5):
        out.put({"n": n})
    assert drain(connect().SimpleQueue(bells)) == [{"n": n} for n in range(5)]
    assert list(connect.folders["messages"].iterdir()) == []


def test_what_a_killed_writer_left_behind_is_never_delivered(connect, bells):
    out = connect().SimpleQueue(bells)
    out.put("whole")
    (name,) = connect.folders["messages"].iterdir()
    torn = name.with_name(f"-{name.name}")  # the first to be read
    torn.write_bytes(name.read_bytes()[:20])
    (name.parent / ".abc.part").write_bytes(b"{")
    assert drain(connect().SimpleQueue(bells)) == ["whole"]


@pytest.mark.parametrize("left", [b"", b"[[", b"7", b"[[1]]"])
def test_a_half_written_table_of_bindings_is_written_anew(connect, bells, left):
    connect().SimpleQueue(bells).put("first")
    (table,) = connect.folders["control"].glob(f"{bells}.exchange")
    table.write_bytes(left)
    Transport.global_state.clear()  # as in a process that starts now
    queue = connect().SimpleQueue(bells)
    queue.put("second")
    assert drain(queue) == ["first", "second"]


def test_several_consumers_share_the_messages_without_loss(connect, bells):
    out = connect().SimpleQueue(bells)
    for n in range(60):
        out.put(n)
    queues = [connect().SimpleQueue(bells) for _ in range(3)]
    found: list[list] = [[], [], []]
    threads = [
        threading.Thread(target=lambda k=k: found[k].extend(drain(queues[k]))) for k in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(sum(found, [])) == list(range(60))
