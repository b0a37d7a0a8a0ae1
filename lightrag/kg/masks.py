"""Predicates over documents as masks: one boolean for each row of a table of columns, computed by NumPy."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

import numpy as np

from lightrag.predicates import FIELDS, Compiler, FieldKind, Operator, Predicate, Scalar

if TYPE_CHECKING:
    from numpy.typing import NDArray

Mask: TypeAlias = "NDArray[np.bool_]"
Rows: TypeAlias = "NDArray[np.integer]"

DATE_FIELDS = frozenset({"filter_dated", "filter_start_ms", "filter_start_us", "filter_end_ms", "filter_end_us"})
SOURCE_FIELDS = frozenset({"doc_type", "source_path", "modified_at"})
DOCUMENT_FIELDS = DATE_FIELDS | SOURCE_FIELDS | {"filter_tags", "full_doc_id"}
"""Fields of the normal form of a document's row."""

_COMPARISONS: Mapping[Operator, Callable[[Any, Any], Any]] = {
    Operator.EQ: operator.eq,
    Operator.LT: operator.lt,
    Operator.LE: operator.le,
    Operator.GT: operator.gt,
    Operator.GE: operator.ge,
}


class Table(Protocol):
    """Rows of the normal form, by column. Every row has every field."""

    @property
    def count(self) -> int:
        """Number of rows."""
        ...

    def column(self, field: str) -> NDArray[Any]:
        """Return an integer or boolean field of all rows."""
        ...

    def equal_to(self, field: str, value: str) -> Rows:
        """Return the rows whose text, path or id is the value."""
        ...

    def tagged(self, tag: str) -> Rows:
        """Return the rows that carry a tag."""
        ...

    def under(self, folder: str) -> Rows:
        """Return the rows whose path is the folder or lies below it."""
        ...


class MaskCompiler(Compiler["Mask"]):
    """Says a predicate over the documents of a table as a mask of their rows, exactly."""

    backend: ClassVar[str] = "the index of documents"
    fields: ClassVar[Collection[str]] = DOCUMENT_FIELDS

    def __init__(self, table: Table) -> None:
        """Compile for the rows that a table has now."""
        self._table = table

    def compile(self, predicate: Predicate) -> Mask:
        """Return whether each row matches, shape ``(rows,)``.

        Raises:
            UnsupportedFilterError: The predicate names a field that documents do not have.
        """
        return super().compile(predicate)

    def always(self, *, matches: bool) -> Mask:
        """Return all or none."""
        return np.full(self._table.count, matches, dtype=np.bool_)

    def conjunction(self, parts: Sequence[Mask]) -> Mask:
        """Return where all parts hold. Every part was made for this expression, so the first one may be reused."""
        for part in parts[1:]:
            np.logical_and(parts[0], part, out=parts[0])
        return parts[0]

    def disjunction(self, parts: Sequence[Mask]) -> Mask:
        """Return where any part holds."""
        for part in parts[1:]:
            np.logical_or(parts[0], part, out=parts[0])
        return parts[0]

    def negation(self, part: Mask) -> Mask:
        """Return the complement."""
        return np.logical_not(part, out=part)

    def comparison(self, field: str, operator: Operator, value: Scalar) -> Mask:
        """Compare a column, or look a text up."""
        if FIELDS[field] in (FieldKind.INTEGER, FieldKind.BOOLEAN):
            compared: Mask = _COMPARISONS[operator](self._table.column(field), value)
            return compared
        return self._of(self._table.equal_to(field, str(value)))

    def membership(self, field: str, values: Sequence[Scalar]) -> Mask:
        """Return where a field is one of the values."""
        return self.disjunction([self.comparison(field, Operator.EQ, value) for value in values])

    def contains_any(self, field: str, values: Sequence[str]) -> Mask:
        """Return which rows carry any of the tags."""
        return self._of(*(self._table.tagged(tag) for tag in values))

    def contains_all(self, field: str, values: Sequence[str]) -> Mask:
        """Return which rows carry all of the tags."""
        return self.conjunction([self._of(self._table.tagged(tag)) for tag in values])

    def under(self, field: str, folder: str) -> Mask:
        """Return which paths are the folder or lie below it."""
        return self._of(self._table.under(folder))

    def _of(self, *rows: Rows) -> Mask:
        mask = np.zeros(self._table.count, dtype=np.bool_)
        for part in rows:
            mask[part] = True
        return mask
