"""`manage.py explain_search`: why is this search fast, or slow?"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from search.requests import SearchCode
from search.usecases.explain_search import Explanation, explain_search
from sourcegraph_site.kernel.actor import OPERATOR
from sourcegraph_site.kernel.errors import AppError
from sourcegraph_site.kernel.inputs import parse
from sourcegraph_site.kernel.wire import dumps, to_wire

MAX_TRIGRAMS = 24


class Command(BaseCommand):
    help = "Run one search, and show its plan and what each step of it cost."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("repo", help="owner/name")
        parser.add_argument("pattern", help="RE2 expression; a text with --fixed-strings")
        parser.add_argument("--revision", default="", help="branch or full SHA")
        parser.add_argument("-F", "--fixed-strings", action="store_true")
        parser.add_argument("-i", "--ignore-case", action="store_true")
        parser.add_argument("-g", "--glob", action="append", default=[], help="repeatable")
        parser.add_argument("--path", action="append", default=[], help="repeatable")
        parser.add_argument("--language", default="")
        parser.add_argument("--output", default="", help="content (default) or files")
        parser.add_argument("--json", action="store_true", help="everything, as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        names = ("repo", "pattern", "revision", "fixed_strings", "ignore_case", "glob")
        fields = {name: options[name] for name in (*names, "language", "output")}
        try:
            params = parse(SearchCode, {**fields, "paths": options["path"]})
            explained = explain_search(OPERATOR, params)
        except AppError as exc:
            raise CommandError(f"{exc.code}: {exc.message}") from exc
        if options["json"]:
            self.stdout.write(dumps(to_wire(explained)).decode())
        else:
            self.stdout.write("\n".join(_lines(explained)))


def _lines(explained: Explanation) -> list[str]:
    lines = [f"{explained.repository} at {explained.commit}: {explained.paths} paths"]
    for segment in explained.segments:
        lines.append(
            f"  segment {segment.id[:8]}: {segment.documents} documents, {segment.live_blocks} of"
            f" {segment.blocks} blocks live, {segment.text_bytes:,} bytes of text"
        )
    lines.append("Plan")
    lines += [f"  {name}: {value}" for name, value in explained.plan.items()]
    if explained.trigrams:
        lines.append("Trigrams, and in how many blocks each is")
        lines += [f'  "{each.text}": {each.blocks}' for each in explained.trigrams[:MAX_TRIGRAMS]]
        if len(explained.trigrams) > MAX_TRIGRAMS:
            lines.append(f"  … and {len(explained.trigrams) - MAX_TRIGRAMS} more")
    lines.append("Steps")
    for step in explained.steps:
        details = {key: value for key, value in step.items() if key not in ("Step", "Duration")}
        shown = ", ".join(f"{key} {value}" for key, value in details.items())
        lines.append(f"  {step['Step']:<12}{_milliseconds(step['Duration'])}  {shown}")
    lines.append(f"  {'in all':<12}{_milliseconds(explained.duration)}")
    lines.append(
        f"Answer: {explained.match_count} matches in {explained.line_count} lines of"
        f" {explained.file_count} files" + _partial(explained.partial_reason)
    )
    return lines


def _milliseconds(nanoseconds: int) -> str:
    return f"{nanoseconds / 1e6:9.3f} ms"


def _partial(reason: str | None) -> str:
    return f", partial: {reason}" if reason else ""
