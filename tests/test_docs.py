"""Documentation that nothing checks rots: codes, settings, routes and links."""

import re
from pathlib import Path

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from sourcegraph_site.kernel.error_table import error_table
from sourcegraph_site.kernel.errors import AppError, all_errors

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
# Third parties' routes; their own documentation has them.
FOREIGN = ("sourcegraph/admin/", "sourcegraph/accounts/")


@pytest.fixture(scope="module", autouse=True)
def everything_imported():
    assert get_resolver().url_patterns


def ours(cls: type[AppError]) -> bool:
    return not cls.__module__.startswith("tests.")


def test_every_error_has_its_own_code_and_a_meaning():
    seen: dict[str, type] = {}
    for cls in filter(ours, all_errors()):
        assert re.fullmatch(r"[A-Z][A-Z0-9_]+", cls.code), cls
        assert cls.code not in seen, f"{cls} and {seen[cls.code]} share a code"
        seen[cls.code] = cls
        assert (cls.__doc__ or "").strip(), f"{cls} has no meaning"
        assert 400 <= cls.status < 600, cls


def test_the_table_of_errors_is_current():
    written = (DOCS / "errors.md").read_text(encoding="utf-8")
    assert written == error_table(), "run: .venv/bin/python manage.py document_errors"


def test_every_setting_is_in_the_operating_guide():
    guide = (DOCS / "operating.md").read_text(encoding="utf-8")
    sources = [ROOT / "sourcegraph_site" / "settings.py", *(ROOT / "script").iterdir()]
    names = set()
    for source in sources:
        text = source.read_text(encoding="utf-8")
        names |= set(re.findall(r"\b(SOURCEGRAPH_[A-Z_]+[A-Z]|DATABASE_URL|REDIS_URL)\b", text))
    assert {"SOURCEGRAPH_ORIGIN", "DATABASE_URL", "REDIS_URL"} <= names
    missing = {name for name in names if f"`{name}`" not in guide}
    assert not missing, f"docs/operating.md does not mention {sorted(missing)}"


def routes(patterns=None, prefix="") -> set[str]:
    found = set()
    for entry in get_resolver().url_patterns if patterns is None else patterns:
        where = prefix + str(entry.pattern)
        if where.startswith(FOREIGN):
            continue
        if isinstance(entry, URLResolver):
            found |= routes(entry.url_patterns, where)
        elif isinstance(entry, URLPattern):
            found.add("/" + where)
    return found


def test_every_route_is_documented():
    text = "".join(p.read_text(encoding="utf-8") for p in DOCS.glob("*.md"))
    missing = {r for r in routes() if not re.search(re.escape(r) + r"(?![\w/-])", text)}
    assert not missing, f"docs/*.md do not mention {sorted(missing)}"


def markdown_files() -> list[Path]:
    return [ROOT / "README.md", *DOCS.rglob("*.md")]


@pytest.mark.parametrize("path", markdown_files(), ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_between_documents_resolve(path):
    text = path.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target and not target.startswith("mailto:"):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


@pytest.mark.parametrize("path", markdown_files(), ids=lambda p: p.relative_to(ROOT).as_posix())
def test_files_named_in_backticks_exist(path):
    """Paths in the map's prose must not outlive their files."""
    text = path.read_text(encoding="utf-8")
    tops = "sourcegraph_site|repos|search|readers|plugins|templates|static|tests|docs|script"
    for name in re.findall(rf"`((?:{tops})/[\w./-]+)`", text):
        assert (ROOT / name).exists(), f"{path.name} names {name}"
