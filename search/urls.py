"""Pages of this app, below the site's prefix."""

from django.urls import path

from search import views

urlpatterns = [
    path("", views.search_page, name="search"),
    path("pick/repositories", views.pick_repositories, name="pick_repositories"),
]
