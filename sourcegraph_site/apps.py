"""Binds Celery to Django and registers the start-up checks."""

from django.apps import AppConfig


class SiteConfig(AppConfig):
    name = "sourcegraph_site"
    label = "site_core"

    def ready(self) -> None:
        from sourcegraph_site import checks  # noqa: F401  registers by import
        from sourcegraph_site.celery import app

        app.set_default()
