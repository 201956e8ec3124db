from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "sourcegraph_site.accounts"
    label = "accounts"
    verbose_name = "Accounts"
