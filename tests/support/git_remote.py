"""Real repositories with pinned names and dates, so that commit ids repeat.

Built with `git fast-import`, which takes any bytes as a path.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

EPOCH = 1_767_225_600  # 2026-01-01T00:00:00Z
AUTHOR = "Ada Example <ada@example.org>"
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
}


@dataclass(frozen=True)
class Link:
    """A symbolic link with this target."""

    target: str


@dataclass(frozen=True)
class Submodule:
    """A gitlink to this commit."""

    commit: str


@dataclass(frozen=True)
class Executable:
    content: str | bytes


Content = str | bytes | Link | Submodule | Executable | None  # None removes the path


def lfs_pointer(oid: str = "4d7a2146" * 8, size: int = 12345) -> str:
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {size}\n"


def git(directory: Path, *args: str, stdin: bytes = b"") -> bytes:
    done = subprocess.run(
        ["git", f"--git-dir={directory}", *args],
        input=stdin,
        capture_output=True,
        env=ENVIRONMENT,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    return done.stdout


class GitRemote:
    """A bare repository that tests change as its owner would."""

    def __init__(self, path: Path, *, object_format: str = "sha1", head: str = "main") -> None:
        self.path = path
        self._clock = EPOCH
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["git", "init", "--quiet", "--bare", "--template=", f"--initial-branch={head}"]
            + [f"--object-format={object_format}", str(path)],
            check=True,
            env=ENVIRONMENT,
        )

    @property
    def url(self) -> str:
        return self.path.resolve().as_uri()

    def commit(
        self,
        files: Mapping[str | bytes, Content] | None = None,
        *,
        branch: str = "main",
        message: str = "Change",
        time: int | None = None,
        merge: Sequence[str] = (),
        start: str | None = None,
        orphan: bool = False,
    ) -> str:
        """Add one commit to `branch` and return its id; a minute passes between commits.

        `start`: begin at this commit instead of the branch's tip (a force-push). `orphan`:
        begin without a parent.
        """
        self._clock += 60
        when = self._clock if time is None else time
        parent = None if orphan else start or self.tip(branch)
        out = bytearray()
        if orphan or start:
            out += b"reset refs/heads/%s\n" % branch.encode()
            if start:
                out += b"from %s\n" % start.encode()
            out += b"\n"
        out += b"commit refs/heads/%s\n" % branch.encode()
        out += f"author {AUTHOR} {when} +0000\ncommitter {AUTHOR} {when} +0000\n".encode()
        out += _data(message.encode())
        if parent and not start:
            out += b"from %s\n" % parent.encode()
        for other in merge:
            out += b"merge %s\n" % other.encode()
        for path, content in (files or {}).items():
            out += _change(path if isinstance(path, bytes) else path.encode(), content)
        git(self.path, "fast-import", "--quiet", "--force", stdin=bytes(out) + b"\n")
        commit = self.tip(branch)
        assert commit is not None
        return commit

    def tip(self, branch: str) -> str | None:
        out = git(self.path, "for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}")
        return out.decode().strip() or None

    def set_branch(self, branch: str, commit: str) -> None:
        git(self.path, "update-ref", f"refs/heads/{branch}", commit)

    def delete_branch(self, branch: str) -> None:
        git(self.path, "update-ref", "-d", f"refs/heads/{branch}")

    def set_head(self, branch: str) -> None:
        git(self.path, "symbolic-ref", "HEAD", f"refs/heads/{branch}")

    def detach_head(self, commit: str) -> None:
        git(self.path, "update-ref", "--no-deref", "HEAD", commit)

    def tag(self, name: str, target: str, message: str | None = None) -> str:
        """A lightweight tag, or an annotated one when it has a message."""
        target = git(self.path, "rev-parse", target).decode().strip()
        if message is not None:
            kind = git(self.path, "cat-file", "-t", target).decode().strip()
            self._clock += 60
            text = (
                f"object {target}\ntype {kind}\ntag {name}\n"
                f"tagger {AUTHOR} {self._clock} +0000\n\n{message}\n"
            )
            target = git(self.path, "mktag", stdin=text.encode()).decode().strip()
        git(self.path, "update-ref", f"refs/tags/{name}", target)
        return target

    def allow_any_commit(self) -> None:
        git(self.path, "config", "uploadpack.allowAnySHA1InWant", "true")


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _change(path: bytes, content: Content) -> bytes:
    name = b'"' + b"".join(_escaped(byte) for byte in path) + b'"'
    if content is None:
        return b"D %s\n" % name
    if isinstance(content, Submodule):
        return b"M 160000 %s %s\n" % (content.commit.encode(), name)
    mode, body = b"100644", content
    if isinstance(content, Link):
        mode, body = b"120000", content.target
    elif isinstance(content, Executable):
        mode, body = b"100755", content.content
    data = body.encode() if isinstance(body, str) else body
    assert isinstance(data, bytes)
    return b"M %s inline %s\n%s" % (mode, name, _data(data))


def _escaped(byte: int) -> bytes:
    char = bytes([byte])
    return char if char.isalnum() or char in b"/._- " else b"\\%03o" % byte
