"""The corpora: real repositories as bundles, indexed by us and written out for ripgrep."""

import os
import random
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from search.index.generation import Generation
from search.index.options import IndexOptions
from search.index.store import IndexStore
from search.index.text import normalise
from tests.search.against_rg.corpus import write
from tests.search.engine.world import Files
from tests.support.git_remote import ENVIRONMENT, git

_ROOT = Path(__file__).resolve().parents[3]
_WORD = re.compile(r"[^\W\d]\w{2,30}|[0-9.]{3,12}|\S{3,8}")
_WORDS = 4_000


def bundles() -> list[Path]:
    """The bundles of `SOURCEGRAPH_CORPORA`, else of `../shared/corpora` beside the checkout."""
    named = os.environ.get("SOURCEGRAPH_CORPORA")
    folder = Path(named) if named else _ROOT.parent / "shared" / "corpora"
    return sorted(folder.glob("*.bundle"))


@dataclass(frozen=True)
class Bundled:
    """One corpus at one commit: our index, the same texts as files, and words of them."""

    generation: Generation
    tree: Path
    words: list[str]
    globs: list[str]


def unpack(bundle: Path, root: Path) -> Bundled:
    """Index the newest commit of a bundle, and write what is indexed of it below `root`."""
    git_dir = root / "mirror.git"
    subprocess.run(
        ["git", "clone", "--quiet", "--mirror", str(bundle), str(git_dir)],
        check=True,
        env=ENVIRONMENT,
    )
    refs = git(git_dir, "for-each-ref", "--sort=-committerdate", "--format=%(objectname)")
    commit = refs.split()[0].decode()
    store = IndexStore(root / "index", git_dir)
    store.index_commit(commit)
    files = texts_of(git_dir, commit)
    tree = root / "tree"
    write(tree, files)
    rnd = random.Random(bundle.name)
    return Bundled(store.open_generation(commit), tree, _words(rnd, files), _globs(rnd, files))


def texts_of(git_dir: Path, commit: str) -> Files:
    """Path → text of every file of a commit that is to be searched, read without the index."""
    rows = git(git_dir, "ls-tree", "-r", "-z", commit).split(b"\0")[:-1]
    entries = [row.split(b"\t", 1) for row in rows]
    blobs = [(head.split()[2], path) for head, path in entries if head.split()[1] == b"blob"]
    asked = b"".join(oid + b"\n" for oid, _ in blobs)
    out = memoryview(git(git_dir, "cat-file", "--batch", stdin=asked))
    files: Files = {}
    at = 0
    for _, path in blobs:
        end = at + bytes(out[at : at + 200]).index(b"\n")
        size = int(bytes(out[at:end]).split()[2])
        blob = bytes(out[end + 1 : end + 1 + size])
        at = end + 2 + size
        text = normalise(blob) if size <= IndexOptions().max_blob_bytes else None
        if isinstance(text, tuple):
            files[path.decode()] = text[0]
    return files


def _words(rnd: random.Random, files: Files) -> list[str]:
    """Words of many files: frequent and rare ones alike."""
    found: set[str] = set()
    for path in rnd.sample(sorted(files), min(len(files), 300)):
        words = sorted(set(_WORD.findall(files[path][:200_000].decode(errors="ignore"))))
        found.update(rnd.sample(words, min(len(words), 60)))
    return rnd.sample(sorted(found), min(len(found), _WORDS))


def _globs(rnd: random.Random, files: Files) -> list[str]:
    """Globs by suffix, by directory and by name, that select some of these files."""
    names = [path for path in sorted(files) if re.fullmatch(r"[\w./-]+", path)]
    globs = set()
    for path in rnd.sample(names, min(len(names), 60)):
        folder, _, name = path.rpartition("/")
        suffix = name.rpartition(".")[2]
        globs.add(rnd.choice((f"*.{suffix}", f"!*.{suffix}", f"*{name[1:]}", f"{name[:2]}*")))
        if folder:
            globs.add(rnd.choice((f"{folder}/**", f"/{folder}/*", f"!{folder}", f"**/{name}")))
    return sorted(globs)
