"""Pages of this app, below the site's prefix."""

from django.urls import path

from readers import views

urlpatterns = [
    path("code", views.code, name="code"),
    path("code/tree", views.directory, name="code_tree"),
]
