from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin

from sourcegraph_site.accounts.models import User


@admin.register(User)
class UserAdmin(DjangoUserAdmin):  # type: ignore[type-arg]
    list_display = ("username", "email", "is_superuser", "is_active", "last_login")
    readonly_fields = ("public_id",)
