"""What a database keeps in memory to filter by documents: an index of them, one of the evidence, and labels of rows.

Nothing is read before the first query that is filtered. From then on writes keep it right
(:mod:`lightrag.kg.sqlite.filter_writes`): what follows a commit in memory happens in the writer's thread, all of one
commit under one lock, so a reader that holds the lock sees documents, evidence and vectors of the same commit.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lightrag.contracts.doc_status import DocStatus
from lightrag.contracts.evidence import ObjectKind
from lightrag.kg.document_columns import Dates, Part, Sources
from lightrag.kg.document_index import DocumentIndex
from lightrag.kg.masks import Mask
from lightrag.kg.sqlite.bulk import Source, read_columns
from lightrag.kg.sqlite.dictionary import texts_of
from lightrag.kg.sqlite.evidence_rows import KIND_CODES
from lightrag.kg.sqlite.matrix import MatrixState
from lightrag.kg.sqlite.row_labels import RowLabels, RowPartitions
from lightrag.kg.sqlite.schema import documents_index, tags_table
from lightrag.kg.sqlite.selection import EVIDENCE_TABLE, STATUS_TABLE, Selection, VectorTable
from lightrag.query_filters import DocumentFacts, VectorQueryFilter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightrag.kg.evidence_index import EvidenceIndex, Limit


class FilterMemory:
    """The indexes of one database.

    Attributes:
        lock: Held while anything changes, and by readers while they ask.
        documents: ``None`` until a filter needs it, and after another process has written.
        evidence: As above.
        labels: What the rows of the vector tables stand for, by table; those that were needed.
        partitions: Scopes of rows, by table; those that were needed.
        removed: Documents deleted since everything was read.
        all_facts: Facts of every processed document, with the revision of the index that they belong to.
    """

    def __init__(self, lock: threading.RLock) -> None:
        """Start with nothing read."""
        self.lock = lock
        self.forget()

    def forget(self) -> None:
        """Drop everything; it is read again when needed."""
        with self.lock:
            self.documents: DocumentIndex | None = None
            self.evidence: EvidenceIndex | None = None
            self.labels: dict[str, RowLabels] = {}
            self.partitions: dict[str, RowPartitions] = {}
            self.removed = 0
            self.all_facts: tuple[int, dict[str, DocumentFacts]] | None = None

    # --- reading -----------------------------------------------------------------------------------------------------

    def is_ready(self, wanted: Selection) -> bool:
        """Tell whether everything that a selection takes has been read."""
        with self.lock:
            table = wanted.table
            if table is not None and wanted.partition is not None and table.name not in self.partitions:
                return False
            if wanted.metadata_filter is None:
                return True
            if self.documents is None or self.documents.missing_parts(wanted.metadata_filter):
                return False
            if wanted.needs_evidence and self.evidence is None:
                return False
            return table is None or table.name in self.labels

    def load(self, connection: sqlite3.Connection, wanted: Selection) -> None:
        """Read what is missing.

        Called in the writer's thread, between transactions, on one snapshot. Nothing can change meanwhile, so the lock
        is not held while rows are read, and nobody waits for it.
        """
        table, metadata_filter = wanted.table, wanted.metadata_filter
        if metadata_filter is not None:
            numbers = _Numbers(connection, *self._load_documents(connection, metadata_filter))
            if wanted.needs_evidence and self.evidence is None:
                self.evidence = _read_evidence(connection, numbers)
            if table is not None and table.name not in self.labels:
                self.labels[table.name] = _read_labels(connection, table, numbers)
        if table is not None and wanted.partition is not None and table.name not in self.partitions:
            partitions = RowPartitions()
            partitions.read(connection, table.name)
            self.partitions[table.name] = partitions

    def _load_documents(
        self, connection: sqlite3.Connection, metadata_filter: VectorQueryFilter
    ) -> tuple[DocumentIndex, NDArray[np.int32] | None]:
        """Return the documents, and their ordinals by row of the status table if these were read on the way."""
        documents = self.documents
        if documents is None:
            documents = DocumentIndex(self.lock)
            documents.load([], np.empty(0, dtype=np.bool_))
            by_row = _read_documents(connection, documents, documents.missing_parts(metadata_filter), first=True)
            self.documents = documents
            return documents, by_row
        if missing := documents.missing_parts(metadata_filter):
            return documents, _read_documents(connection, documents, missing, first=False)
        return documents, None

    # --- asking ------------------------------------------------------------------------------------------------------

    def rows(self, wanted: Selection, table: VectorTable, state: MatrixState) -> NDArray[np.int64]:
        """Return the positions of the rows of a matrix that a selection accepts, ascending.

        The caller has held the lock since it found everything ready and took the state.
        """
        row_ids = state.row_ids[: state.used]
        accepted: Mask = np.ones(state.used, dtype=np.bool_)
        if wanted.metadata_filter is not None:
            mask = self.mask(wanted.metadata_filter, table.kind)
            for other, excluded in wanted.metadata_filter.object_exclusions if table.kind else ():
                mask = mask & ~self.mask(other, table.kind, excluded=excluded)
            accepted = self.labels[table.name].accepted(row_ids, mask)
        if wanted.partition is not None:
            accepted &= self.partitions[table.name].accepted(row_ids, wanted.partition)
        accepted[state.dead] = False
        return np.flatnonzero(accepted)

    def mask(self, metadata_filter: VectorQueryFilter, kind: ObjectKind | None, *, excluded: bool = False) -> Mask:
        """Return which documents a filter accepts, or which objects they speak of; for the caller see :meth:`rows`.

        Args:
            metadata_filter: Which documents.
            kind: Of the objects; ``None`` for documents.
            excluded: Take the documents that the filter does not accept instead, corrections aside.

        Returns:
            By ordinal of the document; by number of the object, for entities and relations.
        """
        assert self.documents is not None
        mask = self.documents.mask(metadata_filter, excluded=excluded)
        if kind is None:
            return mask
        assert self.evidence is not None
        return self.evidence.visible(kind, mask)

    def evidence_rows(
        self, metadata_filter: VectorQueryFilter, kind: ObjectKind, objects: Sequence[int], limit: Limit
    ) -> list[int]:
        """Return the sequence numbers of rows of objects, ascending; for the caller see :meth:`rows`.

        Args:
            metadata_filter: Which documents.
            kind: Of the objects.
            objects: Their numbers.
            limit: How many rows of each.
        """
        assert self.documents is not None
        assert self.evidence is not None
        found = self.evidence.rows(kind, objects, self.documents.mask(metadata_filter), limit)
        rows: list[int] = np.sort(np.concatenate([np.empty(0, dtype=np.int64), *found.values()])).tolist()
        return rows


def _read_documents(
    connection: sqlite3.Connection, documents: DocumentIndex, parts: frozenset[Part], *, first: bool
) -> NDArray[np.int32]:
    """Read parts of the facts of all documents, and at first which documents there are; from indexes, if they can.

    Returns:
        Ordinals by row of the status table.
    """
    texts = ["t.key"]
    numbers = ["t.id"]
    source = Source(STATUS_TABLE, index=f"sqlite_autoindex_{STATUS_TABLE}_1")
    if Part.SOURCES in parts:
        texts += ["t.doc_type", "t.source_path"]
        numbers += ["t.modified_at"]
        source = Source(STATUS_TABLE)
    read = read_columns(connection, source, numbers=numbers, texts=texts)
    row_ids, doc_ids = read.numbers[0], read.texts[0]
    places = np.zeros(int(row_ids.max(initial=0)) + 1, dtype=np.int32)
    places[row_ids] = np.arange(len(row_ids), dtype=np.int32)
    if first:
        documents.load(doc_ids, _read_processed(connection, places, len(doc_ids)))
    documents.fill(
        doc_ids,
        dates=_read_dates(connection, places) if Part.DATES in parts else None,
        tags=_read_tags(connection, places) if Part.TAGS in parts else None,
        sources=Sources(read.texts[1], read.texts[2], read.numbers[1]) if Part.SOURCES in parts else None,
    )
    return places if first or not doc_ids else documents.ordinals(doc_ids)[places]


def _read_processed(connection: sqlite3.Connection, places: NDArray[np.int32], count: int) -> NDArray[np.bool_]:
    """Return which documents are processed. Most are, so the others are looked for."""
    states = ("", *(state.value for state in DocStatus if state is not DocStatus.PROCESSED))
    statement = f"SELECT id FROM {STATUS_TABLE} WHERE status IN ({', '.join('?' * len(states))})"
    others = [row_id for (row_id,) in connection.execute(statement, states).fetchall()]
    processed = np.ones(count, dtype=np.bool_)
    processed[places[others]] = False
    return processed


def _read_dates(connection: sqlite3.Connection, places: NDArray[np.int32]) -> Dates:
    """Return the bounds of the documents that have any."""
    source = Source(STATUS_TABLE, index=f"{STATUS_TABLE}_dated", condition="t.filter_dated = 1")
    # Both rests are below a thousand, and one number is read sooner than two.
    columns = ["t.id", "t.filter_start_ms", "t.filter_end_ms", "t.filter_start_us * 1000 + t.filter_end_us"]
    row_ids, starts, ends, rests = read_columns(connection, source, numbers=columns).numbers
    return Dates(places[row_ids], starts, rests // 1000, ends, rests % 1000)


def _read_tags(connection: sqlite3.Connection, places: NDArray[np.int32]) -> dict[str, NDArray[np.int32]]:
    """Return the places of the documents that carry a tag, by tag."""
    statement = f"SELECT tag, group_concat(document) FROM {tags_table(STATUS_TABLE)} GROUP BY tag"
    rows = connection.execute(statement).fetchall()
    return {tag: places[np.fromstring(joined, dtype=np.int64, sep=",")] for tag, joined in rows}


class _Numbers:
    """The numbers of documents in ``texts``, by which vectors and evidence name them."""

    def __init__(
        self, connection: sqlite3.Connection, documents: DocumentIndex, by_row: NDArray[np.int32] | None
    ) -> None:
        self._connection = connection
        self.documents = documents
        self._by_row = by_row
        self._ordinals: NDArray[np.int32] | None = None

    def ordinals(self, numbers: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the ordinals of documents by their numbers."""
        if self._ordinals is None:
            self._ordinals = self._read()
        ordinals = self._ordinals[np.minimum(numbers, len(self._ordinals) - 1)]
        missing = (ordinals < 0) | (numbers >= len(self._ordinals))
        if missing.any():
            # Without a status row.
            unknown, places = np.unique(numbers[missing], return_inverse=True)
            texts = texts_of(self._connection, unknown.tolist())
            ordinals[missing] = self.documents.ordinals([texts[number] for number in unknown.tolist()])[places]
        return ordinals

    def _read(self) -> NDArray[np.int32]:
        source = Source(STATUS_TABLE, index=documents_index(STATUS_TABLE))
        row_ids, numbers = read_columns(self._connection, source, numbers=["t.id", "t.document"]).numbers
        by_row = self._by_row
        if by_row is None:
            by_row = _read_documents(self._connection, self.documents, frozenset(), first=False)
        by_number = np.full(int(numbers.max(initial=0)) + 1, -1, dtype=np.int32)
        by_number[numbers] = by_row[row_ids]
        return by_number


def _read_labels(connection: sqlite3.Connection, table: VectorTable, numbers: _Numbers) -> RowLabels:
    labels = RowLabels(table.kind)
    if table.kind is None:
        nameless = int(numbers.documents.ordinals([""])[0])
        labels.read_documents(connection, table.name, numbers.ordinals, nameless)
    else:
        labels.read_objects(connection, table.name, table.kind)
    return labels


def _read_evidence(connection: sqlite3.Connection, numbers: _Numbers) -> EvidenceIndex:
    from lightrag.kg.evidence_index import EvidenceIndex, EvidenceRows

    columns = ["t.sequence", "t.kind", "t.object", "t.document"]
    read = read_columns(connection, Source(EVIDENCE_TABLE, "sequence"), numbers=columns)
    sequences, kinds, objects, documents = read.numbers
    rows = EvidenceRows(sequences, objects, numbers.ordinals(documents))
    index = EvidenceIndex(numbers.documents.lock)
    for kind, code in KIND_CODES.items():
        index.put(kind, rows.at(kinds == code))
    return index
