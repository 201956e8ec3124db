"""Which files globs select, against `rg --files -g`, on a tree of awkward names."""

import random
import subprocess
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from search.globs import compile_globs
from sourcegraph_site.kernel.errors import AppError
from tests.search.against_rg.compare import known_differences
from tests.search.against_rg.query import Refused
from tests.search.against_rg.ripgrep import ensure_ripgrep

pytestmark = pytest.mark.needs_rg

_NAMES = (
    "src/a.ts src/b.tsx test/a.ts c.ts .hid.ts a/b/c/d.ts a/c ac abc a_c test2 café.txt #foo !bang "
    "a]b x,y q{r/f a}b deep/src/a/src/c.ts -dash ts a.b.ts b/test"
)
_PIECES = (
    "* ** ? / a b c .ts *.ts src test {a,b} {*.ts,c} [ab] [!s] [^x-z] { } , ] - a/** **/ /**/ d . "
    "{a,} é \\a ! [] [a-c-]"
)


def globs(seed: int) -> Iterator[list[str]]:
    rnd = random.Random(seed)
    pieces = _PIECES.split(" ")
    while True:
        yield [
            rnd.choice(("", "!", "/", "!/", ""))
            + "".join(rnd.choice(pieces) for _ in range(rnd.randint(1, 4)))
            for _ in range(rnd.choice((1, 1, 1, 2, 2, 3, 4)))
        ]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("names")
    for name in _NAMES.split(" "):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return root


def listed(tree: Path, asked: list[str]) -> list[bytes] | Refused:
    command = [ensure_ripgrep(), "--no-config", "--files", "--hidden", "--no-ignore", "-0"]
    command += [part for glob in asked for part in ("-g", glob)]
    done = subprocess.run(command, cwd=tree, capture_output=True, timeout=60)
    if done.returncode == 2:
        return Refused(done.stderr.decode())
    return sorted(name for name in done.stdout.split(b"\0") if name)


def selected(paths: list[bytes], asked: list[str]) -> list[bytes] | Refused:
    try:
        mask = compile_globs(asked, []).select(paths)
    except AppError as exc:
        return Refused(exc.message)
    return [path for path, taken in zip(paths, mask.tolist(), strict=True) if taken]


def explained(asked: list[str], ours: list[bytes] | Refused, theirs: list[bytes] | Refused) -> bool:
    if isinstance(ours, Refused):
        known = known_differences()["refused"]
        return isinstance(theirs, Refused) or any(text in ours.message for text in known)
    if isinstance(theirs, Refused):
        return False
    # In ripgrep 13, `[!s]` matches a slash; the contract says that no class does.
    negated = any(mark in glob for glob in asked for mark in ("[!", "[^"))
    return all(negated and b"/" in path for path in set(ours) ^ set(theirs))


def differences(tree: Path, seed: int, number: int) -> list[str]:
    paths = listed(tree, [])
    assert not isinstance(paths, Refused)
    found = []
    for asked in islice(globs(seed), number):
        ours, theirs = selected(paths, asked), listed(tree, asked)
        if not explained(asked, ours, theirs):
            found.append(f"{asked}: ours {ours}, ripgrep's {theirs}")
    return found


def test_a_sample_of_globs_selects_what_ripgrep_selects(tree: Path) -> None:
    assert differences(tree, 1, 100) == []


@pytest.mark.long
def test_random_globs_select_what_ripgrep_selects(tree: Path) -> None:
    assert differences(tree, 2, 1_500) == []
