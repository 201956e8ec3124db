"""Reads a plugin file without compiling or running it: its sections and its metadata.

wasmtime runs start functions always and shows no custom sections, so we read the outer
layer of the format ourselves: after 8 bytes of header, sections of one byte id, LEB128
size, and content.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from plugins.diagnostics import PluginProblem

ABI_VERSION = 2
MAX_ARTIFACT_BYTES = 32 << 20
MAX_METADATA_BYTES = 256 << 10
METADATA_SECTION = b"sourcegraph.plugin.v1"
_HEADER = b"\0asm\1\0\0\0"
_CUSTOM, _START = 0, 8


@dataclass(frozen=True, slots=True)
class Artifact:
    """`code` is the module without its start section: start functions are not run."""

    metadata: dict[str, Any]
    code: bytes

    @property
    def default_enabled(self) -> bool:
        return self.metadata.get("default_enabled") is True

    def serves(self, operation: str) -> bool:
        operations = self.metadata.get("operations")
        return isinstance(operations, list) and operation in operations


def read_artifact(data: bytes) -> Artifact:
    """Raises PluginProblem: PLUGIN_TOO_LARGE, PLUGIN_INVALID, PLUGIN_ABI_INCOMPATIBLE."""
    if len(data) > MAX_ARTIFACT_BYTES:
        raise PluginProblem("PLUGIN_TOO_LARGE", f"A plugin has at most {MAX_ARTIFACT_BYTES} bytes.")
    if not data.startswith(_HEADER):
        raise PluginProblem("PLUGIN_INVALID", "This is not a WebAssembly module.")
    code = bytearray(_HEADER)
    found: list[bytes] = []
    for kind, start, content, end in _sections(data):
        if kind == _CUSTOM:
            length, name = _leb128(data, content, end)
            if name + length > end:
                raise PluginProblem("PLUGIN_INVALID", "The name of a section is cut off.")
            if data[name : name + length] == METADATA_SECTION:
                found.append(data[name + length : end])
        elif kind != _START:
            code += data[start:end]
    if len(found) != 1:
        raise PluginProblem(
            "PLUGIN_INVALID", f"Give the module one section {METADATA_SECTION.decode()}."
        )
    return Artifact(_metadata(found[0]), bytes(code))


def _metadata(text: bytes) -> dict[str, Any]:
    if len(text) > MAX_METADATA_BYTES:
        raise PluginProblem("PLUGIN_TOO_LARGE", f"Metadata has at most {MAX_METADATA_BYTES} bytes.")
    try:
        metadata = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise PluginProblem("PLUGIN_INVALID", "The metadata is not JSON in UTF-8.") from exc
    if not isinstance(metadata, dict):
        raise PluginProblem("PLUGIN_INVALID", "The metadata is not a JSON object.")
    version = metadata.get("abi_version")
    if type(version) is not int or version != ABI_VERSION:
        raise PluginProblem("PLUGIN_ABI_INCOMPATIBLE", f"abi_version must be {ABI_VERSION}.")
    return metadata


def _sections(data: bytes) -> Iterator[tuple[int, int, int, int]]:
    """(id, start, start of the content, end) of each."""
    at = len(_HEADER)
    while at < len(data):
        size, content = _leb128(data, at + 1, len(data))
        end = content + size
        if end > len(data):
            raise PluginProblem("PLUGIN_INVALID", "A section is cut off.")
        yield data[at], at, content, end
        at = end


def _leb128(data: bytes, at: int, end: int) -> tuple[int, int]:
    """The unsigned 32-bit number at `at`, and where it ends."""
    value = 0
    for shift in range(0, 35, 7):
        if at >= end:
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise PluginProblem("PLUGIN_INVALID", "A length in the module is malformed.")
