"""Icons of the one sprite, as markup. Sizes come from the class, so nothing moves on load."""

from functools import lru_cache

from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString


@lru_cache(maxsize=64)
def icon(name: str) -> SafeString:
    """The icon `name`, hidden from screen readers: a word always stands beside or inside."""
    return format_html(
        '<svg class="ico" aria-hidden="true"><use href="{}#{}"/></svg>',
        static("img/icons.svg"),
        name,
    )
