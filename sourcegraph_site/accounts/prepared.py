"""Single-row look-ups whose SQL is made once.

The ORM spends ten times as long on making a statement for a wide table as the database does
on answering it, and every read asks these two or three questions. A `PreparedSelect` keeps
the statement and the column converters, and gives real model instances.
"""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from django.db import connection, models

M = TypeVar("M", bound=models.Model)


class PreparedSelect(Generic[M]):
    """`SELECT <all columns> FROM <table of model> WHERE <condition>`, first row."""

    def __init__(self, model: type[M], condition: str) -> None:
        """`condition` is SQL that every supported database takes, with %s for parameters."""
        self._model = model
        self._condition = condition
        self._made: tuple[str, list[str], Any, Callable[..., Any]] | None = None

    def first(self, *params: str | int) -> M | None:
        sql, names, converters, convert = self._made or self._make()
        with connection.cursor() as cursor:
            cursor.execute(sql, params)
            row: Sequence[Any] | None = cursor.fetchone()
        if row is None:
            return None
        if converters:
            (row,) = convert([list(row)], converters)
        return self._model.from_db(connection.alias, names, row)

    def _make(self) -> tuple[str, list[str], Any, Callable[..., Any]]:
        compiler = self._model._default_manager.all().query.get_compiler(connection.alias)
        sql, _ = compiler.as_sql()
        select = sql.partition(" ORDER BY ")[0]
        converters = compiler.get_converters([column[0] for column in compiler.select])
        names = [field.attname for field in self._model._meta.concrete_fields]
        self._made = (
            f"{select} WHERE {self._condition} LIMIT 1",
            names,
            converters,
            compiler.apply_converters,
        )
        return self._made
