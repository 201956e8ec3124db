import pytest

from search.engine.languages import all_languages, language_name, language_of


@pytest.mark.parametrize(
    ("path", "language"),
    [
        (b"a.py", "Python"),
        (b"src/Main.JAVA", "Java"),
        (b"x/Makefile", "Makefile"),
        (b"makefile.am", None),
        (b"CMakeLists.txt", "CMake"),
        (b"notes.txt", "Text"),
        (b"dir.py/noext", None),
        (b".gitattributes", "INI"),
        (b"Dockerfile.build", "Dockerfile"),
        (b"a.b.tsx", "TypeScript"),
        (b"\xff.rs", "Rust"),
        (b"x.", None),
    ],
)
def test_a_name_tells_the_language(path, language):
    assert language_of(path) == language


def test_names_are_taken_in_any_case():
    assert language_name("c++") == "C++"
    assert language_name("PYTHON") == "Python"
    assert language_name("klingon") is None


def test_no_extension_belongs_to_two_languages():
    from search.engine import languages

    keys = [key for row in languages._TABLE.strip().splitlines() for key in row[17:].split()]
    assert len(keys) == len(set(keys))
    assert len(all_languages()) == len({name.lower() for name in all_languages()})
