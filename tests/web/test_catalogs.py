"""Both languages are complete, and no text stands in a template outside a translation."""

import re
import subprocess
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
CATALOG = ROOT / "sourcegraph_site/locale/zh_Hans/LC_MESSAGES/django.po"
# Names, and the sentence that the sign-in page says in both languages at once.
FREE = {"Source Graph", "Aa", "MCP", "llms.txt", "Esc", "Alt+C", "Alt+R"}
FREE |= {"*.c, builtin/**", "po/, *_test.go"}  # examples of globs
BILINGUAL = "account/login.html"


def entries() -> list[str]:
    return CATALOG.read_text(encoding="utf-8").split("\n\n")[1:]


def test_every_message_is_translated_and_none_is_fuzzy():
    assert len(entries()) > 300
    for entry in entries():
        assert "fuzzy" not in entry, entry
        assert "#~" not in entry, entry
        for text in re.findall(r'^msgstr(?:\[\d\])? ((?:".*"\n?)+)', entry, re.M):
            assert re.sub(r'["\n]', "", text), entry


def test_every_placeholder_of_a_message_is_in_its_translation():
    for entry in entries():
        ids = re.findall(r"%\(\w+\)s|%%\w", entry.partition("msgstr")[0])
        texts = re.findall(r"%\(\w+\)s|%%\w", entry.partition("msgstr")[2])
        assert set(texts) <= set(ids), entry
        if "msgid_plural" not in entry:
            assert set(ids) == set(texts), entry


def test_the_catalog_holds_every_message_of_the_sources(tmp_path):
    """As `makemessages` finds them: a new sentence without Chinese fails here."""
    catalog = CATALOG.read_text(encoding="utf-8")
    known = set(re.findall(r'^msgid "((?:[^"\\]|\\.)*)"', catalog, re.M))
    tag = re.compile(r"""{%\s*translate\s+(?:"([^"]*)"|'([^']*)')""")
    for template in (ROOT / "templates").rglob("*.html"):
        for double, single in tag.findall(template.read_text()):
            text = (double or single).replace("%", "%%")
            assert text in known, f"{template.name}: {text}"


def test_the_compiled_catalog_is_that_of_the_source(tmp_path):
    made = tmp_path / "django.mo"
    subprocess.run(["msgfmt", "-o", str(made), str(CATALOG)], check=True)
    assert CATALOG.with_suffix(".mo").read_bytes() == made.read_bytes()


# The reference's frame is another project's page; attributes of <body> hold only translations.
TEMPLATES = [
    path
    for path in sorted((ROOT / "templates").rglob("*.html"))
    if path.name not in ("swagger_ui.html", "words.html")
]
_CODE = "<kbd>.*?</kbd>|<svg.*?</svg>|<code[ >].*?</code>"
_CLASSES = "{% block (?:body_class|skip_to) %}.*?{% endblock %}"
_TRANSLATED = "{% blocktranslate.*?{% endblocktranslate %}|{% comment %}.*?{% endcomment %}"


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda p: p.name)
def test_no_text_stands_outside_a_translation(template):
    source = template.read_text().replace("&nbsp;", " ").replace("&amp;", "&")
    if template.as_posix().endswith(BILINGUAL):
        source = re.sub('<div class="note">.*?</div>', "", source, flags=re.S)
    for noise in (_CLASSES, _TRANSLATED, "{%.*?%}|{{.*?}}|{#.*?#}", _CODE):
        source = re.sub(noise, "", source, flags=re.S)
    spoken = re.findall('(?:title|aria-label|placeholder|alt)="([^"]*)"', source)
    spoken += re.sub("<[^>]*>", "\n", source, flags=re.S).split("\n")
    words = {text.strip(" ·,.:–()%") for text in spoken}
    assert {word for word in words if re.search("[A-Za-z]{2}", word)} - FREE == set()
