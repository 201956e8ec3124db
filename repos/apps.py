from django.apps import AppConfig


class ReposConfig(AppConfig):
    name = "repos"
    verbose_name = "Repositories"

    def ready(self) -> None:
        from repos import checks, work
        from repos.usecases.maintain import EVERY_SECONDS as HOUSEKEEPING_SECONDS
        from repos.usecases.maintain import housekeep, maintain_repository
        from repos.usecases.restore_mirror import restore_mirror
        from repos.usecases.retain_commit import retain_commit
        from repos.usecases.schedule_syncs import EVERY_SECONDS, schedule_due_syncs
        from repos.usecases.sync_repository import sync_repository
        from sourcegraph_site.jobs.handlers import register
        from sourcegraph_site.jobs.ticks import register_tick

        checks.connect()
        register(work.SYNC, sync_repository, time_limit_seconds=3600)
        register(work.RETAIN, retain_commit, time_limit_seconds=3600)
        register(work.MAINTAIN, maintain_repository, time_limit_seconds=3600)
        register(work.RESTORE, restore_mirror, time_limit_seconds=2 * 3600)
        register_tick("repos.housekeeping", HOUSEKEEPING_SECONDS, housekeep)
        register_tick("repos.schedule", EVERY_SECONDS, schedule_due_syncs)
