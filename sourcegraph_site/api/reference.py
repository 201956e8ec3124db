"""The browsable reference, under the strict policy save for Swagger UI's inlined icons."""

from csp.decorators import csp_update
from django.utils.decorators import method_decorator
from drf_spectacular.views import SpectacularSwaggerSplitView


@method_decorator(csp_update({"img-src": "data:"}), name="dispatch")
class ReferenceView(SpectacularSwaggerSplitView):
    """HTML and script are two answers, so that no script is inline."""
