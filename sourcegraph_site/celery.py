"""The Celery application."""

from celery import Celery

app = Celery("sourcegraph")
app.config_from_object("django.conf:settings", namespace="CELERY")
