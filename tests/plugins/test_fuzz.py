"""Broken modules end as a PluginProblem or an answer; they never end the process.

The modules are loaded and run in a child, whose exit status would show a crash. Another
seed: `PLUGIN_FUZZ_SEED=7 pytest tests/plugins/test_fuzz.py`.
"""

import multiprocessing
import os
import random

import pytest

from plugins.diagnostics import PluginProblem
from plugins.sandbox import Limits
from tests.plugins.test_sandbox import MANY, MISS, READ, plugin, run

SEED = int(os.environ.get("PLUGIN_FUZZ_SEED", "1"))
SMALL = Limits(memory_bytes=4 << 20, output_bytes=1 << 16)


def _mutated(data: bytes, rng: random.Random) -> bytes:
    kind = rng.randrange(4)
    if kind == 0:
        return data[: rng.randrange(len(data))]
    changed = bytearray(data)
    at = rng.randrange(8, len(data))
    if kind == 1:
        for _ in range(rng.randint(1, 4)):
            changed[rng.randrange(8, len(data))] = rng.randrange(256)
    elif kind == 2:
        changed[at] ^= 1 << rng.randrange(8)
    else:
        changed[at:at] = rng.choice([b"\xff\xff\xff\xff\x0f", b"\x80" * 6, data[at : at + 40]])
    return bytes(changed)


def _run_many(count: int, seed: int) -> None:
    rng = random.Random(seed)
    sources = [plugin(READ), plugin(MISS), plugin(MANY), plugin("(loop br 0) unreachable")]
    answered = 0
    for _ in range(count):
        try:
            run(_mutated(rng.choice(sources), rng), 0.02, SMALL)
            answered += 1
        except PluginProblem:
            pass
    assert answered  # the mutations are not so coarse that nothing is ever run


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.long)])
def test_mutated_modules_do_no_harm(count: int) -> None:
    child = multiprocessing.get_context("spawn").Process(target=_run_many, args=(count, SEED))
    child.start()
    child.join(120)
    if child.is_alive():
        child.kill()
        child.join()
    assert child.exitcode == 0, f"seed {SEED}"
