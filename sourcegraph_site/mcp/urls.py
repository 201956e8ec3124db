"""Routes of the MCP server, mounted by `sourcegraph_site/urls.py`."""

from django.urls import path

from sourcegraph_site.mcp.views import endpoint

urlpatterns = [path("mcp", endpoint, name="mcp")]
