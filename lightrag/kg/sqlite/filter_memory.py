"""What a database keeps in memory to filter by documents: an index of them, one of the evidence, and labels of rows.

Nothing is read before the first query that is filtered. From then on writes keep it right: their hooks run after the
commit, in the writer's thread, and all hooks of one commit under one lock, so a reader that holds the lock sees the
documents, the evidence and the vectors of the same commit.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lightrag import constants
from lightrag.contracts.evidence import Evidence, ObjectKind
from lightrag.kg.document_columns import Dates, Part, Sources
from lightrag.kg.document_index import DocumentIndex
from lightrag.kg.evidence_index import EvidenceIndex, EvidenceRows
from lightrag.kg.masks import Mask
from lightrag.kg.sqlite import schema
from lightrag.kg.sqlite.bulk import Source, read_columns
from lightrag.kg.sqlite.dictionary import texts_of
from lightrag.kg.sqlite.evidence_rows import KIND_CODES, KINDS, object_numbers
from lightrag.kg.sqlite.matrix import MatrixState
from lightrag.kg.sqlite.row_labels import RowLabels, RowPartitions, VectorTable
from lightrag.kg.sqlite.writer import AfterCommit
from lightrag.query_filters import DocumentFacts, VectorQueryFilter

STATUS_TABLE = schema.table_name("status", constants.DOC_STATUS)
EVIDENCE_TABLE = schema.table_name("evidence", constants.EVIDENCE)

# Deleted documents keep their ordinals; from so many on, and more than half, everything is read anew.
_MAX_REMOVED = 10_000


@dataclass(frozen=True, slots=True)
class Selection:
    """What a read is limited to, and what that takes.

    Attributes:
        metadata_filter: Documents; ``None`` for all.
        partition: Scope of the rows; ``None`` for all.
        table: Vectors that are searched; ``None`` when evidence is asked.
    """

    metadata_filter: VectorQueryFilter | None = None
    partition: str | None = None
    table: VectorTable | None = None

    @property
    def needs_evidence(self) -> bool:
        """Whether objects are chosen by their evidence."""
        return self.metadata_filter is not None and (self.table is None or self.table.kind is not None)


class FilterMemory:
    """The indexes of one database.

    Attributes:
        lock: Held while anything changes, and by readers while they ask.
        documents: ``None`` until a filter needs it, and after another process has written.
        evidence: As above.
    """

    def __init__(self, lock: threading.RLock) -> None:
        """Start with nothing read."""
        self.lock = lock
        self.documents: DocumentIndex | None = None
        self.evidence: EvidenceIndex | None = None
        self._labels: dict[str, RowLabels] = {}
        self._partitions: dict[str, RowPartitions] = {}
        self._removed = 0

    def forget(self) -> None:
        """Drop everything; it is read again when needed."""
        with self.lock:
            self.documents = None
            self.evidence = None
            self._labels.clear()
            self._partitions.clear()
            self._removed = 0

    # --- reading -----------------------------------------------------------------------------------------------

    def is_ready(self, wanted: Selection) -> bool:
        """Tell whether everything that a selection takes has been read."""
        with self.lock:
            table = wanted.table
            if table is not None and wanted.partition is not None and table.name not in self._partitions:
                return False
            if wanted.metadata_filter is None:
                return True
            if self.documents is None or self.documents.missing_parts(wanted.metadata_filter):
                return False
            if wanted.needs_evidence and self.evidence is None:
                return False
            return table is None or table.name in self._labels

    def load(self, connection: sqlite3.Connection, wanted: Selection) -> None:
        """Read what is missing. Called in the writer's thread, between transactions, on one snapshot."""
        with self.lock:
            table, metadata_filter = wanted.table, wanted.metadata_filter
            if metadata_filter is not None:
                documents = self._load_documents(connection, metadata_filter)
                if wanted.needs_evidence and self.evidence is None:
                    self.evidence = _read_evidence(connection, documents, self.lock)
                if table is not None and table.name not in self._labels:
                    self._labels[table.name] = (
                        RowLabels.read_documents(connection, table.name, documents.ordinals)
                        if table.kind is None
                        else RowLabels.read_objects(connection, table, table.kind)
                    )
            if table is not None and wanted.partition is not None and table.name not in self._partitions:
                self._partitions[table.name] = RowPartitions.read(connection, table.name)

    def _load_documents(self, connection: sqlite3.Connection, metadata_filter: VectorQueryFilter) -> DocumentIndex:
        known = self.documents
        documents = known or DocumentIndex(self.lock)
        if known is None:
            documents.load([], np.empty(0, dtype=np.bool_))
        parts = documents.missing_parts(metadata_filter)
        if known is None or parts:
            _read_documents(connection, documents, parts, first=known is None)
        self.documents = documents
        return documents

    def rows(self, wanted: Selection, state: MatrixState) -> NDArray[np.int64] | None:
        """Return the positions of the rows of a matrix that a selection accepts; ``None`` when something was forgotten.

        The caller holds the lock since it took the state.
        """
        if wanted.table is None or not self.is_ready(wanted):
            return None
        name, row_ids = wanted.table.name, state.row_ids[: state.used]
        accepted: Mask = np.ones(state.used, dtype=np.bool_)
        if wanted.metadata_filter is not None:
            accepted = self._labels[name].accepted(row_ids, self._mask(wanted.metadata_filter, wanted.table.kind))
        if wanted.partition is not None:
            accepted &= self._partitions[name].accepted(row_ids, wanted.partition)
        accepted[state.dead] = False
        return np.flatnonzero(accepted)

    def _mask(self, metadata_filter: VectorQueryFilter, kind: ObjectKind | None) -> Mask:
        assert self.documents is not None
        mask = self.documents.mask(metadata_filter)
        if kind is None:
            return mask
        assert self.evidence is not None
        return self.evidence.visible(kind, mask)

    # --- following writes; each returns what to do after the commit ---------------------------------------------

    def documents_written(self, rows: Sequence[tuple[str, DocumentFacts, bool]]) -> AfterCommit | None:
        """Follow status rows: id, what filters see of the document, and whether it is processed."""
        if self.documents is None:
            return None

        def follow() -> None:
            if self.documents is not None:
                for doc_id, facts, processed in rows:
                    self.documents.put(doc_id, facts, processed=processed)

        return follow

    def documents_deleted(self, doc_ids: Sequence[str]) -> AfterCommit | None:
        """Follow deleted status rows."""
        if self.documents is None:
            return None

        def follow() -> None:
            if self.documents is not None:
                self.documents.remove(doc_ids)
                self._removed += len(doc_ids)
                if self._removed > max(_MAX_REMOVED, len(self.documents) // 2):
                    self.forget()

        return follow

    def vectors_written(
        self, connection: sqlite3.Connection, table: VectorTable, row_ids: Sequence[int], rows: Sequence[tuple[str, str]]
    ) -> AfterCommit | None:
        """Follow rows of vectors: the key of what each stands for, and its partition."""
        names = [name for name, _ in rows]
        partitions = self._partitions.get(table.name)
        labels = self._labels.get(table.name)
        if labels is None and partitions is None:
            return None
        numbers: Mapping[str, int] = {}
        if labels is not None and table.kind is not None:
            numbers = object_numbers(connection, table.kind, list(dict.fromkeys(names)))

        def follow() -> None:
            if partitions is not None:
                partitions.put(row_ids, [tag for _, tag in rows])
            if labels is not None and table.kind is not None:
                labels.put_objects(row_ids, names, numbers)
            elif labels is not None and self.documents is not None:
                labels.put_documents(row_ids, self.documents.ordinals(names))

        return follow

    def evidence_written(self, connection: sqlite3.Connection, rows: Sequence[tuple[Evidence, int, int]]) -> AfterCommit | None:
        """Follow evidence rows: each with the numbers of its object and of its chunk."""
        if self.evidence is None:
            return None
        statement = f"SELECT sequence FROM {EVIDENCE_TABLE} WHERE kind = ? AND object = ? AND chunk = ?"
        written: dict[ObjectKind, dict[int, tuple[int, str]]] = {kind: {} for kind in KINDS}
        numbers: dict[ObjectKind, dict[str, int]] = {kind: {} for kind in KINDS}
        for row, number, chunk in rows:
            sequence = connection.execute(statement, (KIND_CODES[row.kind], number, chunk)).fetchone()[0]
            written[row.kind][sequence] = (number, row.document_id)
            numbers[row.kind][row.object_id] = number
        return lambda: self._follow_evidence((), written, numbers)

    def evidence_deleted(self, connection: sqlite3.Connection, condition: str, values: Sequence[object]) -> AfterCommit | None:
        """Follow evidence rows that are about to be deleted."""
        if self.evidence is None:
            return None
        statement = f"SELECT sequence FROM {EVIDENCE_TABLE} WHERE {condition}"
        gone = [sequence for (sequence,) in connection.execute(statement, tuple(values)).fetchall()]
        return lambda: self._follow_evidence(gone, {}, {})

    def evidence_moved(
        self, connection: sqlite3.Connection, kind: ObjectKind, gone: Sequence[int], numbers: Mapping[str, int]
    ) -> AfterCommit | None:
        """Follow rows that went to other objects: the rows of all objects concerned before, and the new objects."""

    def _follow_evidence(
        self,
        gone: Sequence[int],
        written: Mapping[ObjectKind, Mapping[int, tuple[int, str]]],
        numbers: Mapping[ObjectKind, Mapping[str, int]],
    ) -> None:
        if self.evidence is None or self.documents is None:
            return
        self.evidence.remove(gone)
        for kind, rows in written.items():
            ordinals = self.documents.ordinals([doc_id for _, doc_id in rows.values()])
            objects = np.array([number for number, _ in rows.values()], dtype=np.int32)
            self.evidence.put(kind, EvidenceRows(np.array(list(rows), dtype=np.int64), objects, ordinals))
