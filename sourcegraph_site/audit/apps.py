from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "sourcegraph_site.audit"
    label = "audit"
    verbose_name = "Audit"
