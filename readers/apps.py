from django.apps import AppConfig


class ReadersConfig(AppConfig):
    name = "readers"

    def ready(self) -> None:
        from readers.remote.scratch import remove_leftovers
        from sourcegraph_site.jobs.ticks import register_tick

        register_tick("readers.scratch", 300, remove_leftovers)
