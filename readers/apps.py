from django.apps import AppConfig


class ReadersConfig(AppConfig):
    name = "readers"
