"""Pages of this app, below the site's prefix."""

from django.urls import path

from repos import views

urlpatterns = [
    path("repos", views.repositories, name="repos"),
    path("repos/new", views.register, name="repo_new"),
    path("repos/<path:name>", views.by_name, name="repo_by_name"),
    path("repo", views.repository, name="repo"),
    path("repo/sync", views.check_for_updates, name="repo_sync"),
    path("repo/index", views.index_commit, name="repo_index"),
    path("repo/cancel", views.cancel, name="repo_cancel"),
]
