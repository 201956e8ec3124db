"""What a search planned and what each step of it cost, for `Explain: true` and the command line."""

from search.engine.results import SearchResult


def explanation(result: SearchResult) -> dict[str, object]:
    """Plan and steps as JSON-ready data; durations in nanoseconds."""
    steps = [
        {"Step": step.name, "Duration": step.nanoseconds, **step.detail} for step in result.steps
    ]
    return {"Plan": result.plan.describe(), "Steps": steps}
