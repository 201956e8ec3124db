"""Typed input of use cases, declared once for REST, MCP, CLI and jobs.

A use case declares its input as a frozen `Input`. Fields are snake_case; the wire of query
operations is PascalCase (contract, decision 40), which the alias generator makes:

    >>> class Read(Input):
    ...     path: str
    ...     start_line: int = 1
    >>> parse(Read, {"Path": "a.py"}, casing="pascal").start_line
    1

This is the only file that knows pydantic; others import `Field` from here.
"""

import json
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from sourcegraph_site.kernel.errors import InvalidRequest
from sourcegraph_site.kernel.wire import pascal

__all__ = ["MAX_BODY_BYTES", "Field", "Input", "field_validator", "parse", "parse_json"]

MAX_BODY_BYTES = 65_536
MAX_DEPTH = 32

Casing = Literal["pascal", "snake"]


class Input(BaseModel):
    """Base of every use case's input: frozen, strict about types, no unknown fields."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, alias_generator=pascal, validate_by_name=True
    )


T = TypeVar("T", bound=Input)


def parse(model: type[T], data: Any, *, casing: Casing = "snake") -> T:
    """Check `data` against `model`; field names are taken in one casing only.

    Raises:
        InvalidRequest: names the first field that is wrong, and what is wrong with it.
    """
    pascal_names = casing == "pascal"
    try:
        return model.model_validate(data, by_alias=pascal_names, by_name=not pascal_names)
    except ValidationError as exc:
        raise InvalidRequest(_first_problem(exc)) from None


def _first_problem(exc: ValidationError) -> str:
    problem = exc.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in problem["loc"])
    what = problem["msg"]
    if problem["type"] == "extra_forbidden":
        return f"Unknown field {where!r}."
    if problem["type"] == "missing":
        return f"Field {where!r} is required."
    return f"Field {where!r}: {what}." if where else f"{what}."


def parse_json(body: bytes) -> dict[str, Any]:
    """Decode a request body: one JSON object, no duplicate key, depth at most 32.

    Raises:
        InvalidRequest: for anything else, with the reason.
    """
    if len(body) > MAX_BODY_BYTES:
        raise InvalidRequest(f"The body is larger than {MAX_BODY_BYTES} bytes.")
    _check_depth(body)
    try:
        value = json.loads(
            body.decode("utf-8"), object_pairs_hook=_no_duplicates, parse_constant=_no_constant
        )
    except UnicodeDecodeError:
        raise InvalidRequest("The body is not UTF-8.") from None
    except json.JSONDecodeError as exc:
        raise InvalidRequest(f"The body is not valid JSON: {exc.msg} at {exc.pos}.") from None
    except ValueError as exc:  # a number too long to convert
        if isinstance(exc, InvalidRequest):
            raise
        raise InvalidRequest("The body holds a number that is too large.") from None
    if not isinstance(value, dict):
        raise InvalidRequest("The body must be a JSON object.")
    return value


def _check_depth(body: bytes) -> None:
    """Count brackets outside strings before the recursive decoder sees them."""
    depth, in_string, escaped = 0, False, False
    for byte in body:
        if in_string:
            if escaped:
                escaped = False
            elif byte == 0x5C:
                escaped = True
            elif byte == 0x22:
                in_string = False
        elif byte == 0x22:
            in_string = True
        elif byte in b"[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise InvalidRequest(f"The body is nested deeper than {MAX_DEPTH} levels.")
        elif byte in b"]}":
            depth -= 1


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise InvalidRequest(f"Field {twice!r} stands twice.")
    return found


def _no_constant(name: str) -> Any:
    raise InvalidRequest(f"{name} is not JSON.")
