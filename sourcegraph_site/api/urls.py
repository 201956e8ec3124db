"""The REST routes of every app; each app lists its own in `<app>/api.py`."""

from importlib import import_module

from django.apps import apps
from django.urls import URLPattern
from django.utils.module_loading import module_has_submodule


def api_routes() -> list[URLPattern]:
    """All `routes` of the installed apps' `api` modules."""
    found: list[URLPattern] = []
    for config in apps.get_app_configs():
        if config.module is not None and module_has_submodule(config.module, "api"):
            module = import_module(f"{config.name}.api")
            found += getattr(module, "routes", [])
    return found
