#!/usr/bin/env python3
"""Django's command line for this project; `manage.py serve` runs the whole product."""

import os
import sys

from sourcegraph_site.management.commands.serve import run_from_shell

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sourcegraph_site.settings")
    run_from_shell(sys.argv)
