"""Filters over documents as conditions of SQL, served by the indexes of the status table."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from lightrag.constants import OPEN_START_MS
from lightrag.kg.sqlite.texts import json_list
from lightrag.predicates import FIELDS, Compiler, FieldKind, Operator, Scalar

_SIGNS: Mapping[Operator, str] = {
    Operator.EQ: "=",
    Operator.LT: "<",
    Operator.LE: "<=",
    Operator.GT: ">",
    Operator.GE: ">=",
}

_OF_OBJECTS = frozenset({"tenant_tag", "has_undated_evidence", "has_open_start", "has_open_end"})


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition for ``WHERE``.

    Attributes:
        text: SQL with ``?`` for the values; it is never null.
        values: Bound to it, in order.
    """

    text: str
    values: tuple[Any, ...] = ()

    def __and__(self, other: Condition) -> Condition:
        return Condition(f"{self.text} AND {other.text}", self.values + other.values)


class SQLiteCompiler(Compiler[Condition]):
    """Says a predicate over documents as a condition on the rows of a status table, exactly.

    The columns are never null, so SQL's logic is two-valued too. Most indexes leave out rows with the default, so that
    a document without dates, tags or source costs them nothing; where a comparison cannot hold for the default, the
    condition says so, because only then does SQLite use the index.
    """

    backend: ClassVar[str] = "SQLite"
    fields: ClassVar[Collection[str]] = frozenset(FIELDS) - _OF_OBJECTS

    def __init__(self, tags: str) -> None:
        """Compile for a status table.

        Args:
            tags: The table that lists the tags of its rows.
        """
        self._tags = tags

    def always(self, *, matches: bool) -> Condition:
        """Say "every row" or "no row"."""
        return Condition("TRUE" if matches else "FALSE")

    def conjunction(self, parts: Sequence[Condition]) -> Condition:
        """Join by AND."""
        return _joined(" AND ", parts)

    def disjunction(self, parts: Sequence[Condition]) -> Condition:
        """Join by OR."""
        return _joined(" OR ", parts)

    def negation(self, part: Condition) -> Condition:
        """Negate."""
        return Condition(f"NOT {part.text}", part.values)

    def comparison(self, field: str, operator: Operator, value: Scalar) -> Condition:
        """Compare a column with a value."""
        if FIELDS[field] is FieldKind.BOOLEAN:
            # Spelt out, since no bound value can show that it fits the index on dated rows.
            return Condition(f"({field} = {int(value)})")
        if field == "full_doc_id":
            # As a list, from which an id that no row can have is left out.
            return self.membership(field, (value,))
        return Condition(f"({field} {_SIGNS[operator]} ?{_guard(field, operator, value)})", (value,))

    def membership(self, field: str, values: Sequence[Scalar]) -> Condition:
        """Compare a column with several values."""
        if FIELDS[field] in (FieldKind.INTEGER, FieldKind.BOOLEAN):
            return self.disjunction([self.comparison(field, Operator.EQ, value) for value in values])
        column = "key" if field == "full_doc_id" else field
        guard = "" if "" in values else _guard(field, Operator.EQ, values[0])
        listed = json_list([str(value) for value in values])
        known = "SELECT value FROM json_each(?) WHERE value IS NOT NULL"
        return Condition(f"({column} IN ({known}){guard})", (listed,))

    def contains_any(self, field: str, values: Sequence[str]) -> Condition:
        """Look the tags up."""
        listed = f"SELECT document FROM {self._tags} WHERE tag IN (SELECT value FROM json_each(?))"
        return Condition(f"(id IN ({listed}))", (json_list(values),))

    def contains_all(self, field: str, values: Sequence[str]) -> Condition:
        """Look each tag up."""
        one = f"id IN (SELECT document FROM {self._tags} WHERE tag = ?)"
        return Condition(f"({' AND '.join([one] * len(values))})", tuple(values))

    def under(self, field: str, folder: str) -> Condition:
        """Say that a path is the folder, or sorts between its slash and the character after that."""
        # The first two comparisons follow from the others: a range that one index serves.
        text = f"({field} >= ? AND {field} < ? AND ({field} = ? OR {field} > ?) AND {field} <> '')"
        return Condition(text, (folder, f"{folder}0", folder, f"{folder}/"))


def _guard(field: str, operator: Operator, value: Scalar) -> str:
    """Return what follows from a comparison and shows that it fits the index."""
    if field in ("doc_type", "source_path") and value != "":
        return f" AND {field} <> ''"
    if field == "modified_at" and operator in (Operator.EQ, Operator.GT, Operator.GE):
        lowest = OPEN_START_MS if operator is Operator.GT else OPEN_START_MS + 1
        return f" AND modified_at > {OPEN_START_MS}" if int(value) >= lowest else ""
    return ""


def _joined(connective: str, parts: Sequence[Condition]) -> Condition:
    values = tuple(value for part in parts for value in part.values)
    return Condition(f"({connective.join(part.text for part in parts)})", values)
