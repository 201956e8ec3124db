"""The product's settings and one slow job more, for instances that a test starts."""

from sourcegraph_site.settings import *  # noqa: F403
from sourcegraph_site.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.ops.slow"]
