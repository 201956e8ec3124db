"""What a strict policy, or a reader with a screen reader, would trip over in a page."""

import re
from html.parser import HTMLParser

_VOID = "area base br col hr img input link meta source wbr path circle rect line use"
VOID = frozenset(_VOID.split())


class Markup(HTMLParser):
    """Parses a page and keeps its faults, ids, and the text by element."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.ids: list[str] = []
        self.labels: set[str] = set()
        self.fields: list[dict[str, str]] = []
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.feed(source)
        self.close()
        self.faults += [f"id {i} twice" for i in {i for i in self.ids if self.ids.count(i) > 1}]
        for field in self.fields:
            labelled = field["in_label"] or "aria-label" in field or field.get("id") in self.labels
            if not labelled:
                self.faults.append(f"field {field.get('name')} without a label")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        at = {k: v or "" for k, v in attrs}
        self.tags.append((tag, at))
        if "style" in at or tag == "style":
            self.faults.append(f"inline style on <{tag}>")
        if tag == "script" and "src" not in at:
            self.faults.append("inline script")
        self.faults += [f"handler {k} on <{tag}>" for k in at if k.startswith(("on", "hx-on"))]
        for name in ("src", "href", "action"):
            if re.match(r"javascript:|data:|//", at.get(name, "")):
                self.faults.append(f"{name}={at[name]}")
        if "id" in at:
            self.ids.append(at["id"])
        if tag == "label" and "for" in at:
            self.labels.add(at["for"])
        if tag in ("input", "select", "textarea") and at.get("type") != "hidden":
            self.fields.append({**at, "in_label": "yes" if "label" in self.open else ""})
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            del self.open[len(self.open) - 1 - self.open[::-1].index(tag) :]


def faults_of(source: str) -> list[str]:
    """Faults of a whole page; empty when there are none."""
    faults = Markup(source).faults
    for what, want in (("lang", "<html lang="), ("main", "<main"), ("h1", "<h1")):
        if want not in source:
            faults.append(f"no {what}")
    return faults
