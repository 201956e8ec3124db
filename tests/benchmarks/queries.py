"""The queries of the benchmark, and how each contestant spells them."""

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

QUERY_FILE = Path(__file__).with_name("queries.txt")

# One page, for whoever answers in pages; everything is counted up to the cap.
SHOWN_FILES, SHOWN_LINES = 50, 1000
MATCH_CAP = 10_000
MAX_FILE_BYTES = 2 << 20


@dataclass(frozen=True)
class Query:
    """One line of queries.txt. `glob` is empty or `*` and a suffix."""

    kind: str
    pattern: str
    ignore_case: bool = False
    literal: bool = False
    glob: str = ""
    load: bool = False

    @property
    def label(self) -> str:
        marks = ("-i " if self.ignore_case else "") + ("-F " if self.literal else "")
        return marks + (f"-g {self.glob} " if self.glob else "") + self.pattern

    @property
    def expression(self) -> str:
        """The pattern as a regular expression, also when it is literal text."""
        return re.escape(self.pattern) if self.literal else self.pattern

    @property
    def _suffix(self) -> str:
        return re.escape(self.glob.removeprefix("*")) + "$"

    def rg(self) -> list[str]:
        flags = ["-n", "-uu", f"--max-filesize={MAX_FILE_BYTES}", *self._flags]
        return ["rg", *flags, *(["-g", self.glob] if self.glob else []), "-e", self.pattern, "."]

    def git_grep(self) -> list[str]:
        syntax = [] if self.literal else ["-P"]
        flags = ["-n", "-I", *syntax, *self._flags, "-e", self.pattern]
        return ["git", "grep", *flags, "--", *([self.glob] if self.glob else [])]

    def csearch(self) -> list[str]:
        flags = ["-n", *(["-i"] if self.ignore_case else [])]
        return ["csearch", *flags, *(["-f", self._suffix] if self.glob else []), self.expression]

    @property
    def _flags(self) -> list[str]:
        return [*(["-i"] if self.ignore_case else []), *(["-F"] if self.literal else [])]

    def zoekt(self) -> bytes:
        """The body of `POST /api/search`: the same page, counted up to the same cap."""
        quoted = '"' + self.expression.replace("\\", "\\\\").replace('"', '\\"') + '"'
        words = [f"content:{quoted}", "case:no" if self.ignore_case else "case:yes"]
        if self.glob:
            words.append(f"file:{self._suffix}")
        options = {
            "ShardMaxMatchCount": MATCH_CAP,
            "TotalMaxMatchCount": MATCH_CAP,
            "MaxDocDisplayCount": SHOWN_FILES,
            "MaxMatchDisplayCount": SHOWN_LINES,
        }
        return json.dumps({"Q": " ".join(words), "Opts": options}).encode()

    def source_graph(self, revision: str) -> bytes:
        """The body of `POST /sourcegraph/api/search`."""
        body: dict[str, Any] = {
            "Pattern": self.pattern,
            "Revision": revision,
            "FixedStrings": self.literal,
            "IgnoreCase": self.ignore_case,
            "Glob": [self.glob] if self.glob else [],
            "MaxFiles": SHOWN_FILES,
            "MaxMatches": SHOWN_LINES,
        }
        return json.dumps(body).encode()


def parse(line: str) -> Query:
    """One line of the file. Raises ValueError with what is wrong."""
    fields = [field.strip() for field in line.split("|", 2)]
    if len(fields) != 3 or not fields[0] or not fields[2]:
        raise ValueError(f"not `class | options | pattern`: {line!r}")
    kind, words, pattern = fields
    ignore_case = literal = load = False
    glob = ""
    options = iter(shlex.split(words))
    for option in options:
        match option:
            case "-i":
                ignore_case = True
            case "-F":
                literal = True
            case "load":
                load = True
            case "-g":
                glob = next(options, "")
                if not re.fullmatch(r"\*[\w.]+", glob):
                    raise ValueError(f"a glob must be * and a suffix: {line!r}")
            case _:
                raise ValueError(f"unknown option {option!r}: {line!r}")
    return Query(kind, pattern, ignore_case, literal, glob, load)


def read_queries(corpus: str, file: Path = QUERY_FILE) -> list[Query]:
    """The queries for a corpus of this name, in the order of the file.

    Raises:
        ValueError: a line is not understood.
    """
    queries: list[Query] = []
    wanted = False
    for line in file.read_text(encoding="utf-8").splitlines():
        if section := re.fullmatch(r"\[(.*)\]\s*", line):
            wanted = corpus.startswith(section[1])
        elif line.strip() and not line.startswith("#"):
            query = parse(line)
            if wanted:
                queries.append(query)
    return queries
