"""What a search planned and what each step of it cost, for `Explain: true` and the command line."""

from search.engine.results import SearchResult
from search.pattern.condition import All, Condition, Trigrams


def explanation(result: SearchResult) -> dict[str, object]:
    """Plan and steps as JSON-ready data; durations in nanoseconds."""
    steps = [
        {"Step": step.name, "Duration": step.nanoseconds, **step.detail} for step in result.steps
    ]
    return {"Plan": result.plan.describe(), "Steps": steps}


def trigrams_of(condition: Condition) -> list[int]:
    """Every trigram that a condition names, once each."""
    match condition:
        case All():
            return []
        case Trigrams(codes=codes):
            return list(codes)
        case _:
            parts = (trigrams_of(part) for part in condition.conditions)
            return list(dict.fromkeys(code for part in parts for code in part))
