"""What the rows of a vector table stand for: documents, or entities, or relations; and their partitions.

Labels are kept by the row's number in the table, which stays the same when vectors move in memory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lightrag.contracts.evidence import ObjectKind, relation_key
from lightrag.kg.growing import GrowingArray
from lightrag.kg.masks import Mask
from lightrag.kg.sqlite.bulk import Source, read_columns
from lightrag.kg.sqlite.schema import documents_index

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


class RowLabels:
    """Ordinals of documents or numbers of objects, by row. Not safe for threads by itself.

    Attributes:
        kind: What the rows stand for; ``None`` for documents.
    """

    def __init__(self, kind: ObjectKind | None) -> None:
        """Start without rows."""
        self.kind = kind
        self._labels = GrowingArray(np.int32, _UNKNOWN)
        # Objects that have no number yet, because nothing but the vector is known of them.
        self._names: dict[int, str] = {}
        self._waiting: dict[str, set[int]] = {}

    def read_documents(
        self,
        connection: sqlite3.Connection,
        table: str,
        ordinals_of: Callable[[NDArray[np.int64]], NDArray[np.int32]],
        nameless: int,
    ) -> None:
        """Read the documents of all rows.

        Args:
            connection: Reads one snapshot.
            table: A table of chunks.
            ordinals_of: Gives the ordinals of documents by their numbers in ``texts``.
            nameless: Ordinal of the document without a name, which is that of rows that name none.
        """
        last = connection.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0]
        self._labels.extend(np.full(last + 1, nameless, dtype=np.int32))
        source = Source(table, index=documents_index(table), condition="t.document <> 0")
        row_ids, numbers = read_columns(connection, source, numbers=["t.id", "t.document"]).numbers
        self._labels.put(row_ids, ordinals_of(numbers))

    def read_objects(self, connection: sqlite3.Connection, table: str, kind: ObjectKind) -> None:
        """Read the objects of all rows."""
        numbers = ["t.id", f"coalesce(o.id, {_UNKNOWN})"]
        row_ids, objects = read_columns(connection, Source(table, joins=_NUMBERED[kind]), numbers=numbers).numbers
        self._labels.put(row_ids, objects)
        if not (objects == _UNKNOWN).any():
            return
        names = (_ENTITY, "''") if kind is ObjectKind.ENTITY else (_SOURCE, _TARGET)
        statement = f"SELECT t.id, {', '.join(names)} FROM {table} AS t {_NUMBERED[kind]} WHERE o.id IS NULL"
        for row_id, first, second in connection.execute(statement).fetchall():
            self._wait(row_id, first if kind is ObjectKind.ENTITY else relation_key(first or "", second or ""))

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
        if len(row_ids):
            # Rows that were deleted before the labels were read still stand in memory.
            self._labels.resize(max(len(self._labels), int(row_ids.max()) + 1))
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

    def read(self, connection: sqlite3.Connection, table: str) -> None:
        """Read the partitions of all rows."""
        source = Source(table, condition="t.tenant_tag <> ''")
        read = read_columns(connection, source, numbers=["t.id"], texts=["t.tenant_tag"])
        self.put(read.numbers[0].tolist(), read.texts[0])

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
