"""Static files under hashed, immutable names, scripts that import each other included."""

from typing import ClassVar

from whitenoise.storage import CompressedManifestStaticFilesStorage

_IMPORT_FROM = r"""(?P<matched>import(?P<import>[\s\{].*?)\s*from\s*['"](?P<url>\./.*?)['"]\s*;)"""
_IMPORT = r"""(?P<matched>import\s*['"](?P<url>\./.*?)['"]\s*;)"""


class StaticStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """A hashed script must import hashed scripts, or an upgrade would mix old and new ones.

    Django's own switch for this looks into the scripts of every package, and some of those
    name files that they do not ship; so it is done here, for ours alone.
    """

    patterns: ClassVar = (
        *CompressedManifestStaticFilesStorage.patterns,
        (
            "js/*.js",
            (
                (_IMPORT_FROM, 'import%(import)s from "%(url)s";'),
                (_IMPORT, 'import "%(url)s";'),
            ),
        ),
    )
