"""Routes of the MCP server and of what tells agents about it."""

from django.urls import path

from sourcegraph_site.mcp.llms import llms_txt
from sourcegraph_site.mcp.views import endpoint

urlpatterns = [
    path("mcp", endpoint, name="mcp"),
    path("llms.txt", llms_txt, name="llms_txt"),
]
