"""Imports go one way. A new arrow here is a design decision: write it down first."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# What each package may import of ours, beside itself (docs/architecture.md has the picture).
SITE = "sourcegraph_site"
LOW = {f"{SITE}.kernel", f"{SITE}.audit", f"{SITE}.jobs", f"{SITE}.accounts"}
MAY_IMPORT = {
    "plugins": LOW,
    "repos": LOW | {"plugins"},
    "readers": LOW | {"plugins", "repos"},
    "search": LOW | {"plugins", "repos", "readers"},
    f"{SITE}.kernel": set(),
    f"{SITE}.audit": {f"{SITE}.kernel"},
    f"{SITE}.jobs": {f"{SITE}.kernel"},
    f"{SITE}.accounts": {f"{SITE}.kernel", f"{SITE}.audit", f"{SITE}.jobs"},
}
# The surfaces' plumbing knows actors, errors and inputs, and no app; an app's translators may
# import it, its models, domain and use cases may not.
PLUMBING = {f"{SITE}.api", f"{SITE}.mcp", f"{SITE}.web", f"{SITE}.cli", f"{SITE}.templatetags"}
TRANSLATORS = {
    "api.py",
    "api_sources.py",
    "forms_sources.py",
    "forms_import.py",
    "forms_settings.py",
    "repo_page.py",
    "views_import.py",
    "views_settings.py",
    "views_sources.py",
    "mcp_tools.py",
    "mcp_text.py",
    "views.py",
    "webhooks.py",
    "admin.py",
    "urls.py",
    "forms.py",
    "templatetags",
    # What pages show, made from what use cases answer.
    "presentation.py",
    "page_data.py",
    "examples.py",
    "code_page.py",
    "page_query.py",
    "pickers.py",
    "states.py",
    "management",
}
# Stores that only use cases and the domain may open.
STORES = {"models", "access", "gitstore", "index", "engine", "objects"}
PURE = ("search/index", "search/pattern", "search/engine", "search/kernel")
SUBPROCESS_ALLOWED = {
    "repos/gitstore/process.py",
    "readers/objects.py",
    "sourcegraph_site/supervisor.py",
    "search/index/workers.py",
}


def modules(path: Path) -> Iterator[str]:
    """The full names that a file imports, relative imports included."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = path.relative_to(ROOT).with_suffix("").parts[: -node.level]
                base = ".".join([*parts, base] if base else parts)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def files(package: str) -> list[Path]:
    folder = ROOT / package.replace(".", "/")
    found = [p for p in folder.rglob("*.py") if "migrations" not in p.parts]
    assert found, f"{package} has no files; is the list of packages right?"
    return found


def owner(name: str) -> str | None:
    """The package of ours that a dotted name belongs to."""
    parts = name.split(".")
    if parts[0] == SITE:
        return ".".join(parts[:2]) if len(parts) > 1 else SITE
    return parts[0] if parts[0] in MAY_IMPORT else None


def is_translator(path: Path, package: str) -> bool:
    inside = path.relative_to(ROOT / package.replace(".", "/"))
    return inside.parts[0] in TRANSLATORS


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_package_imports_only_lower_ones(package):
    for path in files(package):
        for name in modules(path):
            target = owner(name)
            if target is None or target == package:
                continue
            allowed = set(MAY_IMPORT[package])
            if is_translator(path, package):
                allowed |= PLUMBING
            if name.startswith(f"{SITE}.env"):
                continue
            assert target in allowed, f"{path.relative_to(ROOT)} imports {name}"


@pytest.mark.parametrize("package", ["repos", "readers", "search", "plugins"])
def test_surfaces_reach_the_stores_only_through_use_cases(package):
    for path in files(package):
        kind = path.relative_to(ROOT / package).parts[0]
        if kind not in {
            "api.py",
            "api_sources.py",
            "views_sources.py",
            "views_import.py",
            "views_settings.py",
            "views.py",
            "mcp_tools.py",
            "mcp_text.py",
            "webhooks.py",
        }:
            continue
        for name in modules(path):
            if owner(name) not in {"repos", "readers", "search", "plugins"}:
                continue
            parts = set(name.split("."))
            assert not parts & STORES, f"{path.relative_to(ROOT)} imports {name}"


@pytest.mark.parametrize("package", ["repos", "readers", "search", "plugins", f"{SITE}.accounts"])
def test_use_cases_know_no_surface(package):
    for path in files(package):
        if "usecases" not in path.parts:
            continue
        for name in modules(path):
            assert not name.startswith(("rest_framework", "django.http", "celery", "mcp")), (
                f"{path.relative_to(ROOT)} imports {name}"
            )


@pytest.mark.parametrize("folder", PURE)
def test_the_engine_knows_no_django(folder):
    for path in (ROOT / folder).rglob("*.py"):
        for name in modules(path):
            assert not name.startswith("django"), f"{path.relative_to(ROOT)} imports {name}"


def test_processes_are_started_in_four_places_only():
    for package in [*MAY_IMPORT, *(p for p in PLUMBING if (ROOT / p.replace(".", "/")).is_dir())]:
        for path in (ROOT / package.replace(".", "/")).rglob("*.py"):
            where = path.relative_to(ROOT).as_posix()
            if "subprocess" in {name.split(".")[0] for name in modules(path)}:
                assert where in SUBPROCESS_ALLOWED, where


def test_the_rule_sees_relative_and_plain_imports(tmp_path):
    sample = ROOT / "tests" / "kernel" / "test_wire.py"
    assert "sourcegraph_site.kernel.wire.dumps" in set(modules(sample))
