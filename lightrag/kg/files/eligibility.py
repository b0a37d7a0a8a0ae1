"""Which rows and which evidence a filter accepts, from the documents of the folder themselves.

Nothing is read before the first query that is filtered. From then on the tables tell of every change, in the writer's
thread and under the lock of the folder, so a reader that holds the lock sees documents, evidence and vectors of the
same moment.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lightrag.constants import DOC_STATUS, VECTOR_ENTITIES, VECTOR_RELATIONSHIPS
from lightrag.constants import EVIDENCE as EVIDENCE_NAMESPACE
from lightrag.contracts.doc_status import DocStatus
from lightrag.contracts.evidence import Evidence, ObjectKind, relation_key
from lightrag.kg.files.evidence_table import EvidenceTable
from lightrag.kg.files.folder import DataFolder
from lightrag.kg.files.kinds import EVIDENCE, STATUS, table_name
from lightrag.kg.files.status_table import StatusTable
from lightrag.kg.files.vector_table import VectorTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lightrag.kg.document_index import DocumentIndex
    from lightrag.kg.growing import GrowingArray
    from lightrag.kg.masks import Mask
    from lightrag.kg.sqlite.matrix import MatrixState
    from lightrag.query_filters import VectorQueryFilter

    Numbers = NDArray[np.int64]

_STATUS_TABLE = table_name(STATUS, DOC_STATUS)
_EVIDENCE_TABLE = table_name(EVIDENCE, EVIDENCE_NAMESPACE)
_KINDS = {VECTOR_ENTITIES: ObjectKind.ENTITY, VECTOR_RELATIONSHIPS: ObjectKind.RELATION}


class Eligibility:
    """What a folder keeps in memory to filter. All methods are called under its lock."""

    def __init__(self, folder: DataFolder) -> None:
        """Start with nothing read."""
        self._folder = folder
        self._documents: DocumentIndex | None = None
        self._evidence: ObjectIndex | None = None
        self._labels: dict[str, RowLabels] = {}
        self._partitions: dict[tuple[str, str], tuple[int, Mask]] = {}

    @classmethod
    def of(cls, folder: DataFolder) -> Eligibility:
        """Return that of a folder."""
        if not isinstance(folder.eligibility, cls):
            folder.eligibility = cls(folder)
        return folder.eligibility

    @staticmethod
    def is_possible(folder: DataFolder, *, evidence: bool) -> bool:
        """Tell whether the stores that know documents, and their evidence if needed, are open in the folder."""
        return folder.is_open(_STATUS_TABLE) and (not evidence or folder.is_open(_EVIDENCE_TABLE))

    # --- asking ------------------------------------------------------------------------------------------------

    def documents(self) -> DocumentIndex:
        """Return what filters see of the documents."""
        if self._documents is None:
            from lightrag.kg.document_index import DocumentIndex

            table = self._status_table()
            self._documents = DocumentIndex(self._folder.lock)
            for key, text in table.rows.items():
                self._note_document(key, json.loads(text))
            table.listeners.append(self._note_document)
        return self._documents

    def documents_if_read(self) -> DocumentIndex | None:
        """As :meth:`documents`, but ``None`` when nobody has filtered yet."""
        return self._documents

    def mask(self, metadata_filter: VectorQueryFilter, document_ids: Iterable[str]) -> dict[str, bool]:
        """Return which of some documents a filter accepts."""
        ids = list(dict.fromkeys(document_ids))
        documents = self.documents()
        ordinals = documents.ordinals(ids)
        return dict(zip(ids, documents.mask(metadata_filter)[ordinals].tolist(), strict=True))

    def objects(
        self, kind: ObjectKind, object_ids: Sequence[str], metadata_filter: VectorQueryFilter, *, excluded: bool = False
    ) -> set[str]:
        """Return those objects that have a row of a document which a filter accepts, or of one that it does not."""
        # Evidence first: it can make documents known, which lengthens the mask.
        objects = self._objects()
        return objects.visible_ids(kind, object_ids, self.documents().mask(metadata_filter, excluded=excluded))

    def positions(
        self,
        table: VectorTable,
        state: MatrixState,
        metadata_filter: VectorQueryFilter | None,
        tenant_tag: str | None,
    ) -> Numbers | None:
        """Return where the rows lie that a filter accepts and that are of a scope, ascending; ``None`` for all rows.

        Args:
            table: The rows.
            state: Their vectors, as they are now.
            metadata_filter: The filter.
            tenant_tag: The scope, ``""`` for the aggregate; ``None`` for all.
        """
        import numpy as np

        numbers = state.row_ids[: state.used]
        masks: list[Mask] = []
        if metadata_filter is not None:
            if self.is_possible(self._folder, evidence=table.namespace in _KINDS):
                masks.append(self._accepted(table, metadata_filter)[numbers])
            else:
                masks.append(np.isin(numbers, _stamped_rows(table, metadata_filter)))
        if tenant_tag is not None and (table.scopes or tenant_tag):
            masks.append(self._partition(table, tenant_tag)[numbers])
        if not masks:
            return None
        accepted = np.logical_and.reduce(masks)
        accepted[state.dead] = False
        return np.flatnonzero(accepted)

    def _accepted(self, table: VectorTable, metadata_filter: VectorQueryFilter) -> Mask:
        """Return which rows stand for something that a filter accepts, by number."""
        documents = self.documents()
        kind = _KINDS.get(table.namespace)
        # Labels first: they can make documents known, which lengthens the mask.
        labels = self._labels_of(table)
        mask = documents.mask(metadata_filter)
        if kind is not None:
            objects = self._objects()
            mask = objects.visible(kind, mask)
            for other, excluded in metadata_filter.object_exclusions:
                mask = mask & ~objects.visible(kind, documents.mask(other, excluded=excluded))
        return labels.accepted(mask, table.next_number)

    def _partition(self, table: VectorTable, tenant_tag: str) -> Mask:
        """Return which rows are of a scope, by number."""
        import numpy as np

        known = self._partitions.get((table.name, tenant_tag))
        if known is None or known[0] != table.version:
            scoped = np.fromiter(table.scopes, dtype=np.int64, count=len(table.scopes))
            mask = np.full(table.next_number, not tenant_tag)
            mask[scoped] = [scope == tenant_tag for scope in table.scopes.values()]
            known = self._partitions[table.name, tenant_tag] = table.version, mask
        return known[1]

    # --- following changes -------------------------------------------------------------------------------------

    def _note_document(self, key: str, row: Mapping[str, Any] | None) -> None:
        from lightrag.query_filters import document_facts

        assert self._documents is not None
        if row is None:
            self._documents.remove([key])
            return
        metadata = row.get("metadata")
        facts = document_facts(metadata if isinstance(metadata, dict) else None)
        self._documents.put(key, facts, processed=row.get("status") == DocStatus.PROCESSED.value)

    def _objects(self) -> ObjectIndex:
        if self._evidence is None:
            table = self._folder.tables[_EVIDENCE_TABLE]
            assert isinstance(table, EvidenceTable)
            self._evidence = ObjectIndex(self.documents())
            self._evidence.follow(list(table.all_rows()), ())
            table.listeners.append(self._evidence.follow)
        return self._evidence

    def _labels_of(self, table: VectorTable) -> RowLabels:
        labels = self._labels.get(table.name)
        if labels is None:
            kind = _KINDS.get(table.namespace)
            labels = self._labels[table.name] = RowLabels(self.documents() if kind is None else self._objects(), kind)
            labels.follow({number: table.fields(row_id) for number, row_id in table.ids.items()})
            table.listeners.append(labels.follow)
        return labels

    def _status_table(self) -> StatusTable:
        table = self._folder.tables[_STATUS_TABLE]
        assert isinstance(table, StatusTable)
        return table


class ObjectIndex:
    """Evidence by numbers: which objects have a row of an eligible document."""

    def __init__(self, documents: DocumentIndex) -> None:
        """Start without rows."""
        from lightrag.kg.evidence_index import EvidenceIndex

        self._documents = documents
        self._index = EvidenceIndex(documents.lock)
        self._numbers: dict[tuple[ObjectKind, str], int] = {}
        self._counts = dict.fromkeys(ObjectKind, 0)

    def visible(self, kind: ObjectKind, eligible: Mask) -> Mask:
        """Return which objects have a row of an eligible document, by number."""
        return self._index.visible(kind, eligible)

    def visible_ids(self, kind: ObjectKind, object_ids: Sequence[str], eligible: Mask) -> set[str]:
        """Return those of some objects that have a row of an eligible document."""
        visible = self.visible(kind, eligible)
        known = ((object_id, self._numbers.get((kind, object_id), len(visible))) for object_id in object_ids)
        return {object_id for object_id, number in known if number < len(visible) and visible[number]}

    def numbers(self, kind: ObjectKind, object_ids: Sequence[str]) -> list[int]:
        """Return the numbers of objects, giving new ones where needed."""
        return [self._number(kind, object_id) for object_id in object_ids]

    def _number(self, kind: ObjectKind, object_id: str) -> int:
        number = self._numbers.get((kind, object_id))
        if number is None:
            number = self._numbers[kind, object_id] = self._counts[kind]
            self._counts[kind] += 1
        return number

    def follow(self, added: Sequence[Evidence], gone: Sequence[Evidence]) -> None:
        """Take rows in and out; a row that is replaced is in both."""
        import numpy as np

        from lightrag.kg.evidence_index import EvidenceRows

        self._index.remove([row.sequence for row in gone])
        for kind in ObjectKind:
            rows = [row for row in added if row.kind is kind]
            if rows:
                self._index.put(
                    kind,
                    EvidenceRows(
                        np.array([row.sequence for row in rows], dtype=np.int64),
                        np.array(self.numbers(kind, [row.object_id for row in rows]), dtype=np.int32),
                        self._documents.ordinals([row.document_id for row in rows]),
                    ),
                )


class RowLabels:
    """What the rows of a vector table stand for: ordinals of documents, or numbers of objects."""

    def __init__(self, source: DocumentIndex | ObjectIndex, kind: ObjectKind | None) -> None:
        """Start without rows.

        Args:
            source: Numbers documents or objects.
            kind: What the rows stand for; ``None`` for documents.
        """
        import numpy as np

        from lightrag.kg.growing import GrowingArray

        self._source = source
        self._kind = kind
        self._labels: GrowingArray = GrowingArray(np.int32, -1)

    def follow(self, rows: Mapping[int, Mapping[str, Any]]) -> None:
        """Label rows that were written."""
        import numpy as np

        numbers = np.fromiter(rows, dtype=np.int64, count=len(rows))
        self._labels.put(numbers, self._of(list(rows.values())))

    def _of(self, rows: Sequence[Mapping[str, Any]]) -> Sequence[int] | NDArray[np.int32]:
        if isinstance(self._source, ObjectIndex):
            assert self._kind is not None
            return self._source.numbers(self._kind, [_object_id(self._kind, row) for row in rows])
        return self._source.ordinals([str(row.get("full_doc_id") or "") for row in rows])

    def accepted(self, mask: Mask, rows: int) -> Mask:
        """Return whether a mask accepts the label of each row, by number; labels behind its end are not accepted.

        Args:
            mask: By label.
            rows: How many numbers have been given. Rows that went before anybody asked have no label.
        """
        import numpy as np

        self._labels.resize(max(rows, len(self._labels)))
        answer: Mask = np.append(mask, np.False_)[np.minimum(self._labels.values, len(mask))]
        return answer


def _object_id(kind: ObjectKind, row: Mapping[str, Any]) -> str:
    if kind is ObjectKind.ENTITY:
        return str(row.get("graph_node_id") or row.get("entity_name") or "")
    return relation_key(str(row.get("src_id") or ""), str(row.get("tgt_id") or ""))


def _stamped_rows(table: VectorTable, metadata_filter: VectorQueryFilter) -> Numbers:
    """Return the numbers of the rows whose own fields a filter accepts, and of rows that carry none."""
    import numpy as np

    from lightrag.predicates import Or, evaluate
    from lightrag.query_filters import NOT_STAMPED, document_predicate, summary_predicate

    wanted = summary_predicate(metadata_filter) if table.namespace in _KINDS else document_predicate(metadata_filter)
    predicate = Or((NOT_STAMPED, wanted))
    accepted = [number for number, row_id in table.ids.items() if evaluate(predicate, table.fields(row_id))]
    return np.array(accepted, dtype=np.int64)
