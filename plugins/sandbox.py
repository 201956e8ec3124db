"""Runs one plugin in a WebAssembly sandbox: memory, three imports, a deadline, no more.

There is no WASI, clock, network or file. What a plugin reads, the caller's `Reader` gives
it. Everything that a plugin can do wrong ends as a PluginProblem.
"""

import json
import os
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import wasmtime

from plugins.artifact import Artifact
from plugins.diagnostics import PluginProblem
from sourcegraph_site.kernel.deadline import Deadline

# The bytes of a file by its path from the plugin's directory. Raises ReadRefused.
Reader = Callable[[str], bytes]

_TICK_SECONDS = 0.01
_MAX_PATH_BYTES = 4096
_MAX_PATHS_BYTES = 1 << 20
_EXPORTS: dict[str, tuple[list[str], list[str]]] = {
    "alloc": (["i32"], ["i32"]),
    "dealloc": (["i32", "i32"], []),
    "enrich": (["i32", "i32"], ["i64"]),
}
_IMPORTS: dict[str, tuple[list[str], list[str]]] = {
    "read_file": (["i32", "i32"], ["i64"]),
    "last_error": ([], ["i64"]),
    "read_files": (["i32", "i32"], ["i64"]),
}


class ReadRefused(Exception):
    """A file that the plugin may not or cannot read; the text is told to the plugin."""


@dataclass(frozen=True, slots=True)
class Limits:
    memory_bytes: int = 256 << 20
    file_bytes: int = 32 << 20
    read_bytes: int = 128 << 20
    read_calls: int = 1024
    output_bytes: int = 2 << 20


class _Ticker:
    """Moves the engine's epoch on while plugins run; no thread is left when none does."""

    def __init__(self, engine: wasmtime.Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._running = 0
        self._thread: threading.Thread | None = None

    def __enter__(self) -> None:
        with self._lock:
            self._running += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._tick, daemon=True)
                self._thread.start()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._running -= 1

    def _tick(self) -> None:
        while True:
            time.sleep(_TICK_SECONDS)
            with self._lock:
                if not self._running:
                    self._thread = None
                    return
            self._engine.increment_epoch()


@lru_cache(1)
def _engine() -> tuple[wasmtime.Engine, _Ticker]:
    config = wasmtime.Config()
    # A forked child of a process that has compiled in parallel hangs on compiling.
    config.parallel_compilation = False
    config.epoch_interruption = True
    config.wasm_memory64 = False
    config.wasm_multi_memory = False
    config.wasm_threads = False
    # wasmtime's C interface ends the process when it is shown a value type that it does not
    # know (v128 in an import, an export or a call); what is switched off does not compile.
    config.wasm_relaxed_simd = False
    config.wasm_simd = False
    config.wasm_gc = False
    config.wasm_function_references = False
    config.wasm_exceptions = False
    config.wasm_stack_switching = False
    engine = wasmtime.Engine(config)
    return engine, _Ticker(engine)


# A forked child has neither the ticker's thread nor a lock in a known state.
os.register_at_fork(after_in_child=_engine.cache_clear)


def compile_plugin(artifact: Artifact) -> wasmtime.Module:
    """Raises PluginProblem: PLUGIN_INVALID."""
    try:
        module = wasmtime.Module(_engine()[0], artifact.code)
    except wasmtime.WasmtimeError as exc:
        raise PluginProblem("PLUGIN_INVALID", "The module does not compile.") from exc
    for wanted in module.imports:
        expected = _IMPORTS.get(wanted.name or "") if wanted.module == "sourcegraph" else None
        if expected is None or _signature(wanted.type) != expected:
            raise PluginProblem(
                "PLUGIN_INVALID", f"The import {wanted.module}.{wanted.name} is not offered."
            )
    exports = {export.name: export.type for export in module.exports}
    if not isinstance(exports.get("memory"), wasmtime.MemoryType):
        raise PluginProblem("PLUGIN_INVALID", "The module does not export its memory.")
    for name, expected in _EXPORTS.items():
        if _signature(exports.get(name)) != expected:
            raise PluginProblem(
                "PLUGIN_INVALID", f"The export {name} is missing or of a wrong type."
            )
    return module


def _signature(kind: object) -> tuple[list[str], list[str]] | None:
    if not isinstance(kind, wasmtime.FuncType):
        return None
    return [str(value) for value in kind.params], [str(value) for value in kind.results]


def run_plugin(
    module: wasmtime.Module, request: bytes, read: Reader, deadline: Deadline, limits: Limits
) -> bytes:
    """What `enrich` answers to `request`, as it stands; nothing is parsed.

    Raises PluginProblem: PLUGIN_TIMEOUT, PLUGIN_FAILED, PLUGIN_INVALID_OUTPUT,
    PLUGIN_OUTPUT_TOO_LARGE.
    """
    engine, ticker = _engine()
    run = _Run(wasmtime.Store(engine), read, deadline, limits)
    with ticker:
        try:
            return run.enrich(engine, module, request)
        except (wasmtime.Trap, wasmtime.WasmtimeError) as exc:
            interrupted = getattr(exc, "trap_code", None) == wasmtime.TrapCode.INTERRUPT
            if interrupted or deadline.expired:
                raise PluginProblem("PLUGIN_TIMEOUT", "The plugin took too long.") from exc
            raise PluginProblem("PLUGIN_FAILED", "The plugin stopped with a fault.") from exc


@dataclass
class _Run:
    store: wasmtime.Store
    read: Reader
    deadline: Deadline
    limits: Limits
    calls: int = 0
    bytes_read: int = 0
    error: bytes = b""
    exports: dict[str, Any] = field(default_factory=dict)

    def enrich(self, engine: wasmtime.Engine, module: wasmtime.Module, request: bytes) -> bytes:
        self.store.set_limits(
            memory_size=self.limits.memory_bytes, table_elements=100_000, instances=1
        )
        self.store.set_epoch_deadline(int(self.deadline.remaining() / _TICK_SECONDS) + 1)
        linker = wasmtime.Linker(engine)
        for name, function in (
            ("read_file", self._read_file),
            ("last_error", self._last_error),
            ("read_files", self._read_files),
        ):
            parameters, results = _IMPORTS[name]
            kind = wasmtime.FuncType(
                [getattr(wasmtime.ValType, word)() for word in parameters],
                [getattr(wasmtime.ValType, word)() for word in results],
            )
            linker.define_func("sourcegraph", name, kind, function)
        instance = linker.instantiate(self.store, module).exports(self.store)
        for name in ("memory", *_EXPORTS):
            self.exports[name] = instance[name]
        given = self._put(request)
        packed = self.exports["enrich"](self.store, _signed(given), len(request))
        at, length = (packed >> 32) & 0xFFFFFFFF, packed & 0xFFFFFFFF
        if length > self.limits.output_bytes:
            raise PluginProblem(
                "PLUGIN_OUTPUT_TOO_LARGE",
                f"A plugin answers with at most {self.limits.output_bytes} bytes.",
            )
        if at < given + len(request) and given < at + length:
            raise PluginProblem("PLUGIN_INVALID_OUTPUT", "The output lies in the input.")
        answer = self._take(at, length)
        for start, size in ((given, len(request)), (at, length)):
            self.exports["dealloc"](self.store, _signed(start), size)
        return answer

    def _take(self, at: int, length: int) -> bytes:
        memory = self.exports["memory"]
        if at + length > memory.data_len(self.store):
            raise PluginProblem("PLUGIN_INVALID_OUTPUT", "A pointer leads out of the memory.")
        return bytes(memory.read(self.store, at, at + length)) if length else b""

    def _put(self, data: bytes) -> int:
        """Write into memory that the plugin allocates; returns where."""
        at: int = self.exports["alloc"](self.store, len(data)) & 0xFFFFFFFF
        memory = self.exports["memory"]
        if at + len(data) > memory.data_len(self.store):
            raise PluginProblem("PLUGIN_FAILED", "alloc gave an address out of the memory.")
        if data:
            memory.write(self.store, data, at)
        return at

    def _pack(self, data: bytes) -> int:
        packed = self._put(data) << 32 | len(data)
        return packed - (1 << 64) if packed >> 63 else packed

    def _file(self, path: str) -> bytes:
        # The epoch cannot stop a call of ours, so the time is looked at here.
        if self.deadline.expired:
            raise PluginProblem("PLUGIN_TIMEOUT", "The plugin took too long.")
        self.calls += 1
        if self.calls > self.limits.read_calls:
            raise ReadRefused(f"A plugin reads at most {self.limits.read_calls} files.")
        data = self.read(path)
        if len(data) > self.limits.file_bytes:
            raise ReadRefused(f"A file has at most {self.limits.file_bytes} bytes.")
        self.bytes_read += len(data)
        if self.bytes_read > self.limits.read_bytes:
            raise ReadRefused(f"A plugin reads at most {self.limits.read_bytes} bytes.")
        return data

    def _argument(self, at: int, length: int, most: int) -> str:
        length &= 0xFFFFFFFF
        if length > most:
            raise ReadRefused(f"The argument has more than {most} bytes.")
        try:
            return self._take(at & 0xFFFFFFFF, length).decode()
        except UnicodeDecodeError as exc:
            raise ReadRefused("The argument is not UTF-8.") from exc

    def _read_file(self, at: int, length: int) -> int:
        try:
            data = self._file(self._argument(at, length, _MAX_PATH_BYTES))
        except ReadRefused as exc:
            self.error = str(exc).encode()
            return 0
        return self._pack(data)

    def _last_error(self) -> int:
        return self._pack(self.error)

    def _read_files(self, at: int, length: int) -> int:
        try:
            paths = json.loads(self._argument(at, length, _MAX_PATHS_BYTES))
            if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
                raise ValueError
        except (ReadRefused, ValueError, RecursionError) as exc:
            self.error = str(exc).encode() or b"read_files takes a JSON array of paths."
            return 0
        reply = bytearray(struct.pack("<I", len(paths)))
        for path in paths:
            try:
                status, data = 0, self._file(path)
            except ReadRefused as exc:
                status, data = 1, str(exc).encode()
            reply += struct.pack("<II", status, len(data)) + data
        return self._pack(bytes(reply))


def _signed(value: int) -> int:
    """The same 32 bits as WebAssembly's signed i32."""
    return value - (1 << 32) if value >> 31 else value
