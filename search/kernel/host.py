"""Runs the compiled core of the index (kernel.rs) in a WebAssembly sandbox.

`build_kernel()` makes an instance for one builder process; `query_kernel()` gives the
calling thread's own instance for reading. Calls release the interpreter lock. An instance
must not be used by two threads at once.

Addresses are offsets into the memory of the instance. A view of that memory is good until
the instance goes away; memory only ever grows, and never moves.
"""

import ctypes
import threading
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import wasmtime
import wasmtime._bindings

from search.kernel.fold import FOLD_LIMIT, table

WASM = Path(__file__).with_name("kernel.wasm")
PAGE = 65_536
_FUNCTIONS = ("fold_table", "reset", "used", "add", "emit", "merge", "intersect")

U32 = npt.NDArray[np.uint32]
I64 = npt.NDArray[np.int64]

_threads = threading.local()
_compiling = threading.Lock()


class KernelFailed(Exception):
    """The kernel trapped: it ran out of memory, or was given what it cannot work on."""


@lru_cache(1)
def _module() -> tuple[wasmtime.Engine, wasmtime.Module]:
    config = wasmtime.Config()
    # A forked child of a process that has compiled in parallel hangs on compiling, as the
    # thread pool is lost in the fork. Celery's workers are such children.
    config.parallel_compilation = False
    engine = wasmtime.Engine(config)
    return engine, wasmtime.Module.from_file(engine, str(WASM))


class Kernel:
    """One instance: its memory, and one method for each export."""

    def __init__(self) -> None:
        with _compiling:
            engine, module = _module()
        self._store = wasmtime.Store(engine)
        # wasmtime types an export as any of six kinds; which it is, kernel.rs says.
        exports: Any = wasmtime.Instance(self._store, module, []).exports(self._store)
        self._memory = exports["memory"]
        self._functions: dict[str, Any] = {name: exports[name] for name in _FUNCTIONS}
        self.heap = _page_up(exports["__heap_base"].value(self._store))
        self._base = self._size = 0
        self.reserve(self.heap)

    def reserve(self, end: int) -> None:
        """Make the memory at least `end` bytes long. Raises KernelFailed."""
        if end <= self._size:
            return
        missing = end - self._memory.data_len(self._store)
        if missing > 0:
            try:
                self._memory.grow(self._store, _page_up(missing) // PAGE)
            except wasmtime.WasmtimeError as exc:
                raise KernelFailed(f"no memory for {end} bytes") from exc
        self._size = self._memory.data_len(self._store)
        self._base = ctypes.addressof(self._memory.data_ptr(self._store).contents)

    def view(self, at: int, length: int, kind: npt.DTypeLike = np.uint8) -> npt.NDArray[Any]:
        """`length` numbers at the address `at`, not a copy."""
        kind = np.dtype(kind)
        memory: Any = (ctypes.c_uint8 * (length * kind.itemsize)).from_address(self._base + at)
        numbers: npt.NDArray[Any] = np.frombuffer(memory, kind)
        return numbers

    def load_folding(self) -> None:
        """Hand the folding table over; needed before the first `add`."""
        folds = table()
        target = self.view(self._call("fold_table"), FOLD_LIMIT, np.uint32)
        target[list(folds)] = list(folds.values())

    def reset(self, arena: int) -> None:
        """Forget all lists. From now on lists live from `arena` upwards."""
        self._call("reset", arena)

    def used(self) -> int:
        """Bytes that the lists take."""
        return self._call("used")

    def add(self, batch: int) -> int:
        """Take the documents of the `Batch` at this address (kernel.rs); returns how many."""
        return self._call("add", batch)

    def emit(self, word: int, key: int, blocks: int, room: int, most: int, out: int) -> int:
        """Write postings of the chunk from `word` on; returns the word to go on with."""
        return self._call("emit", word, key, blocks, room, most, out)

    def merge(self, runs: int, count: int, out: int) -> None:
        """Join sorted columns of one range of codes."""
        self._call("merge", runs, count, out)

    def _unchecked(self, name: str) -> Callable[..., int]:
        """A way to call an export at a tenth of the cost.

        A checked call converts and checks each argument in Python: 45 microseconds, half of
        an intersection. The C interface has a call that takes them as they are; wasmtime's
        Python package has it under a private name, so we do without when it is gone.
        """
        bindings = wasmtime._bindings
        call = getattr(bindings, "wasmtime_func_call_unchecked", None)
        value_type = getattr(bindings, "wasmtime_val_raw", None)
        function = getattr(self._functions[name], "_func", None)
        context = getattr(self._store, "_context", None)
        if call is None or value_type is None or function is None or context is None:
            return partial(self._call, name)
        values = (value_type * 8)()
        words = np.frombuffer(values, np.uint32)[:: ctypes.sizeof(value_type) // 4]
        trap = ctypes.POINTER(bindings.wasm_trap_t)()
        store, target, trapped = context(), ctypes.byref(function), ctypes.byref(trap)

        def unchecked(*arguments: int) -> int:
            words[: len(arguments)] = arguments
            error = call(store, target, values, len(values), trapped)
            if error or trap:
                if error:
                    bindings.wasmtime_error_delete(error)
                else:
                    bindings.wasm_trap_delete(trap)
                    ctypes.memset(trapped, 0, ctypes.sizeof(trap))
                raise KernelFailed(name)
            return int(words[0])

        return unchecked

    def _call(self, name: str, *arguments: int) -> int:
        try:
            result = self._functions[name](self._store, *arguments)
        except (wasmtime.Trap, wasmtime.WasmtimeError) as exc:
            raise KernelFailed(f"{name}: {exc}") from exc
        # i32 is signed here, addresses and counts are not.
        return 0 if result is None else int(result) & 0xFFFFFFFF


class QueryKernel(Kernel):
    """An instance that intersects postings."""

    def __init__(self) -> None:
        super().__init__()
        self._fast_intersect = self._unchecked("intersect")

    def intersect(self, addresses: I64, sizes: I64) -> U32:
        """AND of postings: container key << 16 | number, ascending.

        `addresses` are those of this process, where the postings lie, rarest first.
        """
        ends = np.cumsum(sizes)
        text = self.heap + _page_up(8 * len(sizes))
        starts = text + ends - sizes
        out = int(text + ends[-1] + 7) & ~7
        # A posting has at most 8 blocks to a byte, and each takes 4 bytes here.
        self.reserve(out + 32 * int(sizes[0]) + PAGE)
        for start, address, size in zip(
            starts.tolist(), addresses.tolist(), sizes.tolist(), strict=True
        ):
            ctypes.memmove(self._base + start, address, size)
        rows = self.view(self.heap, 2 * len(sizes), np.uint32)
        rows[0::2] = starts
        rows[1::2] = sizes
        found = self._fast_intersect(self.heap, len(sizes), out)
        return self.view(out, found, np.uint32).copy()


def build_kernel() -> Kernel:
    """A new instance with the folding table loaded."""
    kernel = Kernel()
    kernel.load_folding()
    return kernel


def query_kernel() -> QueryKernel:
    """The instance of this thread, made on first use (about 1 ms; the first of a process
    compiles the module, 20 ms)."""
    kernel: QueryKernel | None = getattr(_threads, "kernel", None)
    if kernel is None:
        kernel = _threads.kernel = QueryKernel()
    return kernel


def _page_up(size: int) -> int:
    return -(-size // PAGE) * PAGE
