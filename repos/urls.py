"""Pages of this app, below the site's prefix."""

from django.urls import path

from repos import views, views_import, views_settings, views_sources

urlpatterns = [
    path("repos", views.repositories, name="repos"),
    path("repos/new", views.register, name="repo_new"),
    path("repos/import", views_import.import_page, name="repo_import"),
    path("repos/<path:name>", views.by_name, name="repo_by_name"),
    path("repo", views.repository, name="repo"),
    path("repo/sync", views.check_for_updates, name="repo_sync"),
    path("repo/index", views.index_commit, name="repo_index"),
    path("repo/cancel", views.cancel, name="repo_cancel"),
    path("repo/settings", views_settings.settings_act, name="repo_settings"),
    path("user-settings/code-tokens", views_sources.own_tokens, name="code_tokens"),
    path("settings/code-sources", views_sources.code_sources, name="code_sources"),
    path("settings/code-sources/edit", views_sources.code_source, name="code_source"),
    path("settings/code-sources/token", views_sources.site_token, name="code_source_token"),
    path(
        "settings/code-sources/arrange",
        views_sources.arrange_code_sources,
        name="arrange_code_sources",
    ),
]
