"""A plugin gets what it may read, and nothing that it does wrong gets out of the sandbox."""

import json
import multiprocessing
import time

import pytest
import wasmtime

from plugins.artifact import METADATA_SECTION, read_artifact
from plugins.diagnostics import PluginProblem
from plugins.sandbox import Limits, ReadRefused, compile_plugin, run_plugin
from sourcegraph_site.kernel.deadline import Deadline

GOOD = {"name": "t", "abi_version": 2, "operations": ["read"], "default_enabled": True}
HEAD = """
(import "sourcegraph" "read_file" (func $read (param i32 i32) (result i64)))
(import "sourcegraph" "last_error" (func $error (result i64)))
(import "sourcegraph" "read_files" (func $many (param i32 i32) (result i64)))
(memory (export "memory") 1) (global $free (mut i32) (i32.const 1024))
(data (i32.const 0) "a.txtno.txt[\\"a.txt\\",\\"no\\"]")
(func (export "dealloc") (param i32 i32))
(func (export "alloc") (param i32) (result i32) (global.get $free)
  (global.set $free (i32.add (global.get $free) (local.get 0))))
"""


def section(content: bytes) -> bytes:
    body = bytes([len(METADATA_SECTION)]) + METADATA_SECTION + content
    return b"\0" + bytes([len(body) & 127 | 128, len(body) >> 7]) + body


def plugin(enrich: str, more: str = "", head: str = HEAD) -> bytes:
    body = f'(func (export "enrich") (param i32 i32) (result i64) {enrich})'
    code = bytes(wasmtime.wat2wasm(f"(module {head} {body} {more})"))
    return code + section(json.dumps(GOOD).encode().ljust(128))


def reader(path: str) -> bytes:
    if path != "a.txt":
        raise ReadRefused("no such file")
    return b"text"


def run(data: bytes, seconds: float = 5, limits: Limits | None = None) -> bytes:
    module = compile_plugin(read_artifact(data))
    return run_plugin(module, b"{}", reader, Deadline.after(seconds), limits or Limits())


READ = "(call $read (i32.const 0) (i32.const 5))"
MISS = "(drop (call $read (i32.const 5) (i32.const 6))) (call $error)"
MANY = "(call $many (i32.const 11) (i32.const 14))"


def test_reads() -> None:
    assert run(plugin(READ)) == b"text"
    assert run(plugin(MISS)) == b"no such file"
    both = b"\2\0\0\0" + b"\0\0\0\0\4\0\0\0text" + b"\1\0\0\0\x0c\0\0\0no such file"
    assert run(plugin(MANY)) == both


def test_budgets() -> None:
    once = Limits(read_calls=1)
    assert b"at most 1 files" in run(plugin(f"(drop {READ}) {MANY}"), limits=once)
    assert b"3 bytes" in run(plugin(f"(drop {READ}) (call $error)"), limits=Limits(file_bytes=3))
    assert b"3 bytes" in run(plugin(f"(drop {READ}) (call $error)"), limits=Limits(read_bytes=3))


@pytest.mark.parametrize(
    ("enrich", "code"),
    [
        ("unreachable", "PLUGIN_FAILED"),
        ("(i64.const -1)", "PLUGIN_OUTPUT_TOO_LARGE"),
        ("(i64.const 0xffffffff00000010)", "PLUGIN_INVALID_OUTPUT"),
        ("(i64.const 0x0000040000000002)", "PLUGIN_INVALID_OUTPUT"),
        ("(call $read (i32.const -1) (i32.const 9))", "PLUGIN_INVALID_OUTPUT"),
        ("(loop br 0) unreachable", "PLUGIN_TIMEOUT"),
    ],
)
def test_faults(enrich: str, code: str) -> None:
    with pytest.raises(PluginProblem) as problem:
        run(plugin(enrich), seconds=0.05)
    assert problem.value.code == code


def test_memory_has_a_limit() -> None:
    grow = "(i32.eq (memory.grow (i32.const 100)) (i32.const -1)) (if (then unreachable)) " + READ
    assert run(plugin(grow)) == b"text"
    with pytest.raises(PluginProblem, match="PLUGIN_FAILED"):
        run(plugin(grow), limits=Limits(memory_bytes=1 << 20))


def test_start_function_is_not_run() -> None:
    assert run(plugin(READ, "(func $go (loop br 0)) (start $go)")) == b"text"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        plugin(READ)[:-1],
        plugin(READ) + section(b"{}".ljust(128)),
        plugin(READ, head=HEAD.replace('"read_file"', '"exec"')),
        plugin(READ, head=HEAD.replace('"sourcegraph"', '"wasi_snapshot_preview1"')),
        plugin(READ, head=HEAD.replace('(export "memory")', "")),
        plugin(READ, head=HEAD.replace('(export "dealloc")', "")),
    ],
)
def test_invalid(data: bytes) -> None:
    with pytest.raises(PluginProblem, match="PLUGIN_INVALID"):
        run(data)


@pytest.mark.parametrize(
    "more",
    [
        '(global (export "g") v128 (v128.const i64x2 0 0))',
        '(func (export "f") (param v128))',
        '(func (export "f") (param (ref null any)))',
        '(func (export "f") (param exnref))',
    ],
)
def test_types_that_would_end_the_process_are_refused(more: str) -> None:
    # In a child, as the fault that this prevents is an abort.
    data = plugin(READ, more)
    child = multiprocessing.get_context("fork").Process(target=_refused, args=(data,))
    child.start()
    child.join(20)
    assert child.exitcode == 0


def _refused(data: bytes) -> None:
    try:
        run(data)
    except PluginProblem as problem:
        assert problem.code == "PLUGIN_INVALID"
    else:
        raise AssertionError("The module was run.")


def test_other_abi() -> None:
    with pytest.raises(PluginProblem, match="PLUGIN_ABI_INCOMPATIBLE"):
        read_artifact(plugin(READ).replace(b'"abi_version": 2', b'"abi_version": 1'))


def _child() -> None:
    assert run(plugin(READ)) == b"text"


def test_forked_child_compiles_and_runs() -> None:
    run(plugin(READ))
    child = multiprocessing.get_context("fork").Process(target=_child)
    child.start()
    child.join(20)
    if child.is_alive():
        child.kill()
    assert child.exitcode == 0


def test_time_is_kept() -> None:
    before = time.monotonic()
    with pytest.raises(PluginProblem, match="PLUGIN_TIMEOUT"):
        run(plugin("(loop br 0) unreachable"), seconds=0.1)
    assert time.monotonic() - before < 3
