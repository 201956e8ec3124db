"""The start of the server and of manage.py does not pay for MCP."""

import subprocess
import sys

CODE = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
import django
django.setup()
import sourcegraph_site.urls
heavy = {"mcp", "mcp_types"} & set(sys.modules)
assert not heavy, heavy
from sourcegraph_site.mcp.warm import warm_up
warm_up().join()
assert {"mcp.shared.inbound", "mcp_types.methods", "readers.mcp_tools"} <= set(sys.modules)
"""


def test_the_sdk_is_loaded_only_when_it_is_needed():
    subprocess.run([sys.executable, "-c", CODE], check=True)
