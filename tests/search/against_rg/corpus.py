"""Files with everything that text can do to a matcher; the same ones on every run."""

import random
from pathlib import Path

_VOCABULARY = r"""
foo bar baz foobar fooBar FOO Name name_1 _x __init__ xfs_iomap mutex_lock return import
café Café naïve ÉCOLE straße STRASSE ſtop Kelvin \u212a Å \u212b ß ẞ İstanbul ısı σίγμα
ΣΊΣΥΦΟΣ ς привет ПРИВЕТ 中文 漢字 日本語 𝒜𝒷 ＦＵＬＬ e-x ex exx 10.0.0.1 153.230000 42 ٤٢ ４２
Ⅻ ² ½ 0x1F http://localhost a.b.c a+b (x) [y] {z} $1 ^caret back\\slash 'q' "qq" `t` # ; , :
= == != -> a aa aaa ab aba abab ba k s i I l1 O0 e\u0301 n\u0303 \u200bzero \u200dzwj
👩\u200d👧 \ufeffmark
"""
WORDS = [
    word.encode("ascii", "backslashreplace").decode("unicode_escape")
    for word in _VOCABULARY.split()
]
_GAPS = (" ", " ", " ", "  ", "\t", "", "\u00a0", "\u2003", "\v", "\f", "\u2028", "\u0085")
_GAPS += ("\r", "-", "_", ".")

_LINES_OF_FAULTS = """\
e-x
foo
foofoo foofoofoo
 a_
153.230000
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab
\u212a and k and K
\u017f and s and S
\u0130stanbul box
import x
éfoo foo fooé _foo foo_ foo-é
needle
abc\rdef
x\u2028y\u2029z
v\vv f\ff n\u0085n
http://localhost/a http://example.org/b
==
 =
a=b=c=d
\t
 

end
""".encode()


def files() -> dict[str, bytes]:
    """Path → bytes as a repository holds them."""
    rnd = random.Random(20240131)
    made = {
        "faults.txt": _LINES_OF_FAULTS,
        "bom.py": b"\xef\xbb\xbfimport x\nimport y\n",
        "crlf.txt": b"needle\r\nfoo\r\n\r\nlast needle\r\n",
        "crlf-at-end.txt": b"needle\r\nneedle\r",
        "lone-cr.txt": b"abc\rdef\rneedle\nx\r\r\n",
        "latin1.txt": "café caf\n éfoo foo\nnaïve\n".encode("latin-1"),
        "broken.txt": (
            b"caf\xc3 \xa9 foo\xff bar\xf0\x9f foo\n"
            b"\xed\xa0\x80 foo \xc0\xafx\n"
            b"\xfffoo\xff\nfoo\xe2\x82\n"
        ),
        "utf16le.txt": "\ufeffneedle café\r\n\u212a foo\n".encode("utf-16-le"),
        "utf16be.txt": "\ufeffneedle café\n\u212a foo".encode("utf-16-be"),
        "empty.txt": b"",
        "blank.txt": b"\n\n\n",
        "no-newline.c": b"int foo = 1;\nreturn foo;",
        "long.js": b"var a=0;" + b"foo(bar,baz);" * 9_000 + b"needle\nfoo\n",
        ".hidden/rc": b"foo = bar\n",
        "src/a/deep/x.ts": b"export const foo = 1;\nimport {bar} from './bar';\n",
        "src/Main.java": b"public class Main { String name_1; }\n",
        "docs/café.md": "# café\nfoo\n".encode(),
        "test/with space.py": b"def test_foo():\n    assert foo == 1\n",
    }
    for number in range(24):
        folder = ("", "src/", "src/lib/", "test/", "vendor/x/")[number % 5]
        suffix = ("c", "py", "ts", "md", "h")[number % 5 - number % 2]
        made[f"{folder}f{number}.{suffix}"] = _random_text(rnd)
    return made


def _random_text(rnd: random.Random) -> bytes:
    lines = []
    for _ in range(rnd.randint(3, 60)):
        line = "".join(rnd.choice(WORDS) + rnd.choice(_GAPS) for _ in range(rnd.randint(0, 9)))
        raw = line.encode()
        if rnd.random() < 0.04 and raw:
            at = rnd.randrange(len(raw))
            raw = raw[:at] + bytes([rnd.choice((0x80, 0xC3, 0xE2, 0xFF, 0xED))]) + raw[at:]
        lines.append(raw)
    return b"\n".join(lines) + rnd.choice((b"", b"\n"))


def write(root: Path, made: dict[str, bytes]) -> None:
    for name, content in made.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def without_crlf(made: dict[str, bytes]) -> dict[str, bytes]:
    """The same files with one carriage return less at each end of line, as they are searched.

    ripgrep has no switch for that: its --crlf lets classes match the carriage return.
    """
    return {name: _without_crlf(content) for name, content in made.items()}


def _without_crlf(content: bytes) -> bytes:
    for mark, codec in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if content.startswith(mark):
            return content.decode(codec).replace("\r\n", "\n").encode(codec)
    return content.replace(b"\r\n", b"\n").removesuffix(b"\r")
