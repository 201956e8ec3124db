from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "sourcegraph_site.jobs"
    label = "jobs"
    verbose_name = "Jobs"

    def ready(self) -> None:
        from sourcegraph_site.jobs import sweep
        from sourcegraph_site.jobs.ticks import register_tick

        register_tick("jobs.sweep", sweep.every_seconds(), sweep.sweep)
        register_tick("jobs.expire", 600, sweep.expire)
