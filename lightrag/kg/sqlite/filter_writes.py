"""How what is kept in memory for filters follows what is written to the database.

Each function is called in the writer's thread, in the transaction of the write, and returns what has to happen in
memory once that is committed. As long as no filter has been used there is no memory, nothing is read and ``None`` is
returned.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from lightrag.contracts.evidence import Evidence, ObjectKind
from lightrag.kg.sqlite.dictionary import texts_of
from lightrag.kg.sqlite.evidence_rows import KIND_CODES, object_numbers
from lightrag.kg.sqlite.selection import EVIDENCE_TABLE, VectorTable
from lightrag.kg.sqlite.texts import int_list

if TYPE_CHECKING:
    from lightrag.kg.sqlite.filter_memory import FilterMemory
    from lightrag.kg.sqlite.writer import AfterCommit
    from lightrag.query_filters import DocumentFacts

# Deleted documents keep their ordinals; from so many on, and half of all, everything is read anew.
_MAX_REMOVED = 10_000


def documents_written(
    memory: FilterMemory | None, rows: Sequence[tuple[str, DocumentFacts, bool]]
) -> AfterCommit | None:
    """Follow status rows.

    Args:
        memory: Of the database.
        rows: Id, what filters see of the document, and whether it is processed.
    """
    if memory is None or memory.documents is None:
        return None

    def follow() -> None:
        if memory.documents is not None:
            for doc_id, facts, processed in rows:
                memory.documents.put(doc_id, facts, processed=processed)

    return follow


def documents_deleted(memory: FilterMemory | None, doc_ids: Sequence[str]) -> AfterCommit | None:
    """Follow deleted status rows."""
    if memory is None or memory.documents is None:
        return None

    def follow() -> None:
        if memory.documents is not None:
            memory.documents.remove(doc_ids)
            memory.removed += len(doc_ids)
            if memory.removed > max(_MAX_REMOVED, len(memory.documents) // 2):
                memory.forget()

    return follow


def vectors_written(
    memory: FilterMemory | None,
    connection: sqlite3.Connection,
    table: VectorTable,
    row_ids: Sequence[int],
    rows: Sequence[tuple[str, str]],
) -> AfterCommit | None:
    """Follow rows of vectors.

    Args:
        memory: Of the database.
        connection: In the transaction.
        table: Theirs.
        row_ids: Their numbers in the table.
        rows: Of each what it stands for, and its partition.
    """
    if memory is None:
        return None
    labels, partitions = memory.labels.get(table.name), memory.partitions.get(table.name)
    if labels is None and partitions is None:
        return None
    names = [name for name, _ in rows]
    numbers: Mapping[str, int] = {}
    if labels is not None and table.kind is not None:
        numbers = object_numbers(connection, table.kind, list(dict.fromkeys(names)))

    def follow() -> None:
        if partitions is not None:
            partitions.put(row_ids, [tag for _, tag in rows])
        if labels is not None and labels.kind is not None:
            labels.put_objects(row_ids, names, numbers)
        elif labels is not None and memory.documents is not None:
            labels.put_documents(row_ids, memory.documents.ordinals(names))

    return follow


def vectors_cleared(memory: FilterMemory | None, table: str) -> None:
    """Forget the rows of a table that was emptied; called after the commit."""
    if memory is not None:
        memory.labels.pop(table, None)
        memory.partitions.pop(table, None)


def evidence_written(
    memory: FilterMemory | None, connection: sqlite3.Connection, rows: Sequence[tuple[Evidence, int, int]]
) -> AfterCommit | None:
    """Follow evidence rows that were just written.

    Args:
        memory: Of the database.
        connection: In the transaction.
        rows: Each with the numbers of its object and of its chunk.
    """
    if memory is None or memory.evidence is None:
        return None
    statement = f"SELECT sequence FROM {EVIDENCE_TABLE} WHERE kind = ? AND object = ? AND chunk = ?"
    change = _Change(memory)
    for row, number, chunk in rows:
        (sequence,) = connection.execute(statement, (KIND_CODES[row.kind], number, chunk)).fetchone()
        change.written[row.kind][sequence] = (number, row.document_id)
        change.numbers[row.kind][row.object_id] = number
    return change.follow


def evidence_deleted(
    memory: FilterMemory | None, connection: sqlite3.Connection, condition: str, values: Sequence[object]
) -> AfterCommit | None:
    """Follow evidence rows that are about to be deleted, those that a condition on the table holds for."""
    if memory is None or memory.evidence is None:
        return None
    change = _Change(memory)
    statement = f"SELECT sequence FROM {EVIDENCE_TABLE} WHERE {condition}"
    change.gone = [sequence for (sequence,) in connection.execute(statement, tuple(values)).fetchall()]
    return change.follow


def evidence_moved(
    memory: FilterMemory | None, connection: sqlite3.Connection, kind: ObjectKind, numbers: Mapping[str, int]
) -> AfterCommit | None:
    """Follow rows that have just been moved between objects.

    Args:
        memory: Of the database.
        connection: In the transaction.
        kind: Of the objects.
        numbers: All objects that lost or got rows.
    """
    if memory is None or memory.evidence is None:
        return None
    statement = (
        f"SELECT e.sequence, e.object, e.document FROM json_each(?) AS j CROSS JOIN {EVIDENCE_TABLE} AS e "
        f"ON e.kind = {KIND_CODES[kind]} AND e.object = j.value"
    )
    rows = connection.execute(statement, (int_list(set(numbers.values())),)).fetchall()
    texts = texts_of(connection, (document for _, _, document in rows))
    change = _Change(memory)
    change.emptied = (kind, list(numbers.values()))
    change.written[kind] = {sequence: (number, texts[document]) for sequence, number, document in rows}
    change.numbers[kind] = dict(numbers)
    return change.follow


class _Change:
    """A change of evidence rows, applied to the memory when it is committed."""

    def __init__(self, memory: FilterMemory) -> None:
        self.memory = memory
        self.gone: Iterable[int] = ()
        self.emptied: tuple[ObjectKind, Sequence[int]] | None = None
        self.written: dict[ObjectKind, dict[int, tuple[int, str]]] = {kind: {} for kind in ObjectKind}
        self.numbers: dict[ObjectKind, dict[str, int]] = {kind: {} for kind in ObjectKind}

    def follow(self) -> None:
        import numpy as np

        from lightrag.kg.evidence_index import EvidenceRows

        memory = self.memory
        if memory.evidence is None or memory.documents is None:
            return
        memory.evidence.remove(list(self.gone))
        if self.emptied is not None:
            memory.evidence.remove_objects(*self.emptied)
        for kind, rows in self.written.items():
            ordinals = memory.documents.ordinals([doc_id for _, doc_id in rows.values()])
            objects = np.array([number for number, _ in rows.values()], dtype=np.int32)
            memory.evidence.put(kind, EvidenceRows(np.array(list(rows), dtype=np.int64), objects, ordinals))
        for labels in memory.labels.values():
            if labels.kind is not None:
                labels.number(self.numbers[labels.kind])
