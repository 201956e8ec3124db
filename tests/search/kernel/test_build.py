"""kernel.wasm is what kernel.rs says."""

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

import search.kernel

FOLDER = Path(search.kernel.__file__).parent


def recorded() -> dict[str, str]:
    *hashes, compiler = (FOLDER / "kernel.lock").read_text().splitlines()
    found = {name: digest for digest, name in (line.split() for line in hashes)}
    return found | {"compiler": compiler}


def compiler() -> str | None:
    if shutil.which("rustc") is None:
        return None
    root = subprocess.run(["rustc", "--print=sysroot"], capture_output=True, text=True).stdout
    if not (Path(root.strip()) / "lib/rustlib/wasm32-unknown-unknown").exists():
        return None
    return subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("name", ["kernel.rs", "kernel.wasm"])
def test_the_checked_in_file_is_the_one_that_was_recorded(name):
    assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == recorded()[name]


def test_the_same_compiler_makes_the_same_bytes(tmp_path):
    version = compiler()
    if version is None:
        return  # nothing to build with; the test above still ties the module to its source
    built = tmp_path / "kernel.wasm"
    subprocess.run([FOLDER / "build", built], check=True, capture_output=True)
    if version == recorded()["compiler"]:
        assert built.read_bytes() == (FOLDER / "kernel.wasm").read_bytes()
    else:
        assert built.read_bytes().startswith(b"\0asm")
