"""What the rows of a vector table stand for: documents, or entities, or relations; and their partitions.

Labels are kept by the row's number in the table, which stays the same when vectors move in memory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lightrag.constants import VECTOR_ENTITIES, VECTOR_RELATIONSHIPS
from lightrag.contracts.evidence import ObjectKind, relation_key
from lightrag.contracts.vector import Row
from lightrag.kg.growing import GrowingArray
from lightrag.kg.masks import Mask
from lightrag.kg.sqlite.bulk import Source, read_columns

# Label of a row of which nothing is known: nothing accepts it.
_UNKNOWN = -1

_ENTITY = "coalesce(nullif(json_extract(t.meta, '$.graph_node_id'), ''), json_extract(t.meta, '$.entity_name'), '')"
_SOURCE, _TARGET = "json_extract(t.meta, '$.src_id')", "json_extract(t.meta, '$.tgt_id')"

# Finds the number of each row's object, as lightrag.kg.sqlite.schema gives them; alias ``o``.
_NUMBERED: Mapping[ObjectKind, str] = {
    ObjectKind.ENTITY: f"LEFT JOIN texts AS o ON o.text = {_ENTITY}",
    ObjectKind.RELATION: (
        f"LEFT JOIN texts AS a ON a.text = {_SOURCE} LEFT JOIN texts AS b ON b.text = {_TARGET} "
        "LEFT JOIN pairs AS o ON o.low = min(a.id, b.id) AND o.high = max(a.id, b.id)"
    ),
}


@dataclass(frozen=True, slots=True)
class VectorTable:
    """A table of vectors.

    Attributes:
        name: Of the table.
        kind: What a row stands for; ``None`` for a chunk, which stands for its document.
    """

    name: str
    kind: ObjectKind | None

    @classmethod
    def of(cls, name: str, namespace: str) -> VectorTable:
        """Return the table of a namespace."""
        kinds = {VECTOR_ENTITIES: ObjectKind.ENTITY, VECTOR_RELATIONSHIPS: ObjectKind.RELATION}
        return cls(name, kinds.get(namespace))

    def key_of(self, row: Row) -> str:
        """Return the document or object that a row names; ``""`` when it names none."""
        if self.kind is None:
            return str(row.get("full_doc_id") or "")
        if self.kind is ObjectKind.ENTITY:
            return str(row.get("graph_node_id") or row.get("entity_name") or "")
        return relation_key(str(row.get("src_id") or ""), str(row.get("tgt_id") or ""))


class RowLabels:
    """Ordinals of documents or numbers of objects, by row. Not safe for threads by itself."""

    def __init__(self) -> None:
        """Start without rows."""
        self._labels = GrowingArray(np.int32, _UNKNOWN)
        # Objects that have no number yet, because nothing but the vector is known of them.
        self._names: dict[int, str] = {}
        self._waiting: dict[str, set[int]] = {}

    @classmethod
    def read_documents(
        cls, connection: sqlite3.Connection, table: str, ordinals: Callable[[Sequence[str]], NDArray[np.int32]]
    ) -> RowLabels:
        """Read the documents of all chunks; ``ordinals`` numbers them."""
        labels = cls()
        read = read_columns(connection, Source(table), numbers=["t.id"], texts=["t.full_doc_id"])
        labels._labels.put(read.numbers[0], ordinals(read.texts[0]))  # noqa: SLF001 - of this very class
        return labels

    @classmethod
    def read_objects(cls, connection: sqlite3.Connection, table: VectorTable, kind: ObjectKind) -> RowLabels:
        """Read the objects of all rows."""
        labels = cls()
        numbers = ["t.id", f"coalesce(o.id, {_UNKNOWN})"]
        row_ids, objects = read_columns(connection, Source(table.name, joins=_NUMBERED[kind]), numbers=numbers).numbers
        labels._labels.put(row_ids, objects)  # noqa: SLF001
        if (objects == _UNKNOWN).any():
            names = (_ENTITY, "''") if kind is ObjectKind.ENTITY else (_SOURCE, _TARGET)
            statement = f"SELECT t.id, {', '.join(names)} FROM {table.name} AS t {_NUMBERED[kind]} WHERE o.id IS NULL"
            for row_id, first, second in connection.execute(statement).fetchall():
                name = first or "" if kind is ObjectKind.ENTITY else relation_key(first or "", second or "")
                labels._wait(row_id, name)  # noqa: SLF001
        return labels

    def put_documents(self, row_ids: Sequence[int], ordinals: NDArray[np.int32]) -> None:
        """Label rows that were written."""
        self._labels.put(np.array(row_ids, dtype=np.int64), ordinals)

    def put_objects(self, row_ids: Sequence[int], names: Sequence[str], numbers: Mapping[str, int]) -> None:
        """Label rows that were written; those whose object has no number yet get it by :meth:`number`."""
        for row_id, name in zip(row_ids, names, strict=True):
            before = self._names.pop(row_id, None)
            if before is not None:
                self._waiting[before].discard(row_id)
            number = numbers.get(name, _UNKNOWN)
            self._labels.set(row_id, number)
            if number == _UNKNOWN:
                self._wait(row_id, name)

    def number(self, numbers: Mapping[str, int]) -> None:
        """Label the rows that waited for the numbers of objects."""
        if not self._waiting:
            return
        for name, number in numbers.items():
            for row_id in self._waiting.pop(name, ()):
                self._labels.set(row_id, number)
                del self._names[row_id]

    def _wait(self, row_id: int, name: str) -> None:
        self._names[row_id] = name
        self._waiting.setdefault(name, set()).add(row_id)

    def accepted(self, row_ids: NDArray[np.int64], mask: Mask) -> Mask:
        """Return which rows have a label that a mask accepts; labels behind its end are not accepted."""
        padded = np.append(mask, np.False_)
        labels = np.minimum(self._labels.values, len(mask))
        answer: Mask = padded[labels[row_ids]]
        return answer


class RowPartitions:
    """Partitions by row. Not safe for threads by itself."""

    def __init__(self) -> None:
        """Start without rows."""
        self._codes: dict[str, int] = {"": 0}
        self._rows = GrowingArray(np.int32)

    @classmethod
    def read(cls, connection: sqlite3.Connection, table: str) -> RowPartitions:
        """Read the partitions of all rows."""
        partitions = cls()
        source = Source(table, condition="t.tenant_tag <> ''")
        read = read_columns(connection, source, numbers=["t.id"], texts=["t.tenant_tag"])
        partitions.put(read.numbers[0].tolist(), read.texts[0])
        return partitions

    def put(self, row_ids: Sequence[int], tags: Sequence[str]) -> None:
        """Note the partitions of rows that were written."""
        codes = [self._codes.setdefault(tag, len(self._codes)) for tag in tags]
        self._rows.put(np.array(row_ids, dtype=np.int64), codes)

    def accepted(self, row_ids: NDArray[np.int64], tag: str) -> Mask:
        """Return which rows are of a partition."""
        if len(row_ids):
            self._rows.resize(max(len(self._rows), int(row_ids.max()) + 1))
        answer: Mask = self._rows.values[row_ids] == self._codes.get(tag, _UNKNOWN)
        return answer
