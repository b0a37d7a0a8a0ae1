"""The documents of a workspace in memory, so that a filter becomes one mask over all of them.

For stores that live in the workspace's own memory or database. A document is known by its ordinal, which stays the same
as long as the index lives; stores translate their rows to ordinals once and filter by indexing the mask. The mask is
exactly what :func:`~lightrag.query_filters.facts_match_filter` says of each document, so no fields need to be stamped
on rows, and a change of a document's metadata counts at once.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lightrag.contracts.evidence import (
    CORRECTION_DOCUMENT_ID,
    is_statement_document,
    missing_document_metadata,
)
from lightrag.kg.document_columns import Dates, DocumentColumns, Part, Sources, parts_of
from lightrag.kg.growing import GrowingArray
from lightrag.kg.masks import Mask, MaskCompiler, Rows
from lightrag.predicates import MATCH_ALL, Not, Predicate, fields_of
from lightrag.query_filters import DocumentFacts, VectorQueryFilter, document_facts, document_predicate

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Masks and filters remembered at the most; a query asks for the mask of its filter several times.
_REMEMBERED = 32
# Facts remembered at the most, for the documents that queries meet.
_REMEMBERED_FACTS = 50_000
# Rows that no document uses any more, from which the others are numbered anew.
_MIN_UNUSED_ROWS = 1024


@dataclass(frozen=True, slots=True)
class FilterPlan:
    """A filter, ready to be evaluated.

    Attributes:
        predicate: Over rows of the normal form, normalised, so that equivalent filters have the same.
        parts: What must be known of documents.
    """

    predicate: Predicate
    parts: frozenset[Part]


class DocumentIndex:
    """What filters see of every document. All methods may be called from any thread.

    Attributes:
        lock: Held by every method; whoever needs several answers about the same state holds it around them.
        version: Changes whenever a mask can.
        revision: Changes whenever anything does.
    """

    def __init__(self, lock: threading.RLock | None = None) -> None:
        """Start without documents.

        Args:
            lock: To share with other structures that change together with this one.
        """
        self.lock = lock or threading.RLock()
        self.version = 0
        self.revision = 0
        self._ordinals: dict[str, int] = {}
        self._columns = DocumentColumns()
        self._rows = GrowingArray(np.int32)  # by ordinal
        self._processed = GrowingArray(np.bool_)
        self._barred: list[int] = []
        self._statements: list[str] = []
        self._facts: dict[int, DocumentFacts] = {}  # what the columns hold, where it came as a whole
        self._read: dict[int, DocumentFacts] = {}  # what readers found; may be ahead of the columns
        self._plans: OrderedDict[int, tuple[VectorQueryFilter, FilterPlan]] = OrderedDict()
        self._masks: OrderedDict[Predicate, Mask] = OrderedDict()

    def __len__(self) -> int:
        """Return the number of ordinals, those of removed and never stored documents included."""
        return len(self._ordinals)

    # --- writing ---------------------------------------------------------------------------------------------------

    def load(self, doc_ids: Sequence[str], processed: NDArray[np.bool_]) -> None:
        """Take over distinct documents, in place of what is there, with no part known yet.

        Ordinals given before lose their meaning. The reader of the documents fills the parts that filters need.
        """
        with self.lock:
            self.clear()
            self._ordinals = dict(zip(doc_ids, range(len(doc_ids)), strict=True))
            self._columns = DocumentColumns(parts=())
            self._columns.reserve(len(doc_ids))
            self._rows.extend(np.arange(len(doc_ids), dtype=np.int32))
            self._processed.extend(processed)
            self._barred = [self._ordinals[CORRECTION_DOCUMENT_ID]] if CORRECTION_DOCUMENT_ID in self._ordinals else []

    def fill(
        self,
        doc_ids: Sequence[str],
        *,
        dates: Dates | None = None,
        tags: Mapping[str, Rows] | None = None,
        sources: Sources | None = None,
    ) -> None:
        """Add parts that were left out when loading.

        Args:
            doc_ids: Every document that is stored.
            dates: Bounds of those that have any.
            tags: Places in ``doc_ids`` of those that carry a tag, by tag.
            sources: Source of each.
        """
        with self.lock:
            rows = self._rows.values[self.ordinals(doc_ids)]
            if dates is not None:
                self._columns.fill_dates(rows, dates)
            if tags is not None:
                self._columns.fill_tags(rows, tags)
            if sources is not None:
                self._columns.fill_sources(rows, sources)
            for doc_id in set(self._statements).difference(doc_ids):
                # No status row says what scope they belong to.
                self._set(self._ordinals[doc_id], _facts_of_missing(doc_id))
            self._changed()

    def put(self, doc_id: str, facts: DocumentFacts, *, processed: bool) -> None:
        """Add a document or replace what is known of it."""
        with self.lock:
            ordinal = self._ordinal(doc_id)
            if bool(self._processed.values[ordinal]) is not processed:
                self._processed.set(ordinal, processed)
                self.revision += 1
            # Of a document met for the first time since it was loaded nothing is known to compare with.
            if self._facts.get(ordinal) != facts:
                self._set(ordinal, facts)
                self._drop_unused_rows_if_due()

    def remove(self, doc_ids: Iterable[str]) -> None:
        """Forget documents; rows that still name them count as undated and untagged."""
        with self.lock:
            for doc_id in doc_ids:
                if doc_id in self._ordinals:
                    self.put(doc_id, _facts_of_missing(doc_id), processed=False)

    def clear(self) -> None:
        """Forget everything, ordinals included."""
        with self.lock:
            self._ordinals = {}
            self._columns = DocumentColumns()
            self._rows.resize(0)
            self._processed.resize(0)
            self._barred = []
            self._statements = []
            self._facts = {}
            self._read = {}
            self._changed()

    def _set(self, ordinal: int, facts: DocumentFacts) -> None:
        self._rows.set(ordinal, self._columns.add(facts))
        self._facts[ordinal] = facts
        self._read.pop(ordinal, None)
        if len(self._facts) > _REMEMBERED_FACTS:
            del self._facts[next(iter(self._facts))]
        self._changed()

    def _changed(self) -> None:
        self.version += 1
        self.revision += 1
        self._masks.clear()

    def _drop_unused_rows_if_due(self) -> None:
        if self._columns.count > 2 * len(self._ordinals) + _MIN_UNUSED_ROWS:
            self._columns.keep(self._rows.values)
            self._rows.put(np.arange(len(self._rows)), np.arange(len(self._rows), dtype=np.int32))

    # --- ordinals --------------------------------------------------------------------------------------------------

    def ordinals(self, doc_ids: Collection[str]) -> NDArray[np.int32]:
        """Return the ordinal of each id; a document that is not stored gets one as well."""
        with self.lock:
            try:
                known = map(self._ordinals.__getitem__, doc_ids)
                return np.fromiter(known, dtype=np.int32, count=len(doc_ids))
            except KeyError:
                return np.fromiter(map(self._ordinal, doc_ids), dtype=np.int32, count=len(doc_ids))

    def _ordinal(self, doc_id: str) -> int:
        ordinal = self._ordinals.get(doc_id)
        if ordinal is None:
            ordinal = self._ordinals[doc_id] = len(self._ordinals)
            self._processed.set(ordinal, value=False)
            self._set(ordinal, _facts_of_missing(doc_id))
            if doc_id == CORRECTION_DOCUMENT_ID:
                self._barred.append(ordinal)
            if is_statement_document(doc_id):
                self._statements.append(doc_id)
        return ordinal

    # --- asking ----------------------------------------------------------------------------------------------------

    def missing_parts(self, metadata_filter: VectorQueryFilter) -> frozenset[Part]:
        """Return the parts that must be filled before the filter can be evaluated."""
        with self.lock:
            return self._plan(metadata_filter).parts - self._columns.parts

    def mask(self, metadata_filter: VectorQueryFilter, *, excluded: bool = False) -> Mask:
        """Return which documents a filter accepts, by ordinal.

        Args:
            metadata_filter: The filter.
            excluded: Return those that it does not accept instead. A person's corrections are among neither.

        Returns:
            Read-only, shape ``(len(index),)``. The same array is returned as long as nothing changes.

        Raises:
            LookupError: A part that the filter needs was not filled.
        """
        with self.lock:
            plan = self._plan(metadata_filter)
            predicate: Predicate = Not(plan.predicate) if excluded else plan.predicate
            mask = self._masks.get(predicate)
            if mask is None:
                mask = self._masks[predicate] = self._evaluate(FilterPlan(predicate, plan.parts))
                if len(self._masks) > _REMEMBERED:
                    self._masks.popitem(last=False)
            return mask

    def count(self, metadata_filter: VectorQueryFilter) -> int:
        """Return how many processed documents a filter accepts."""
        with self.lock:
            return int(np.count_nonzero(self.mask(metadata_filter) & self._processed.values))

    def facts(self, doc_ids: Iterable[str]) -> dict[str, DocumentFacts]:
        """Return what is known of documents as a whole; those that were loaded in columns are left out."""
        with self.lock:
            found: dict[str, DocumentFacts] = {}
            for doc_id in doc_ids:
                ordinal = self._ordinals.get(doc_id)
                if ordinal is not None:
                    known = self._facts.get(ordinal) or self._read.get(ordinal)
                    if known is not None:
                        found[doc_id] = known
            return found

    def remember(self, revision: int, facts: dict[str, DocumentFacts]) -> None:
        """Keep what a reader found, unless the index has changed since it began to read.

        Args:
            revision: Of the index before reading.
            facts: By document id.
        """
        with self.lock:
            if revision != self.revision:
                return
            if len(self._read) + len(facts) > _REMEMBERED_FACTS:
                self._read.clear()
            self._read.update(
                (self._ordinals[doc_id], item) for doc_id, item in facts.items() if doc_id in self._ordinals
            )

    def _plan(self, metadata_filter: VectorQueryFilter) -> FilterPlan:
        # Filters are immutable; each is kept with its plan, so that its id stays its own.
        known = self._plans.get(id(metadata_filter))
        if known is not None:
            return known[1]
        predicate = document_predicate(metadata_filter)
        # What drops objects can need more than a filter that contradicts itself, and so accepts nothing, does.
        others = (document_predicate(other) for other, _ in metadata_filter.object_exclusions)
        parts = frozenset[Part]().union(*(parts_of(fields_of(one)) for one in (predicate, *others)))
        plan = FilterPlan(predicate, parts)
        self._plans[id(metadata_filter)] = (metadata_filter, plan)
        if len(self._plans) > _REMEMBERED:
            self._plans.popitem(last=False)
        return plan

    def _evaluate(self, plan: FilterPlan) -> Mask:
        missing = plan.parts - self._columns.parts
        if missing:
            raise LookupError(f"documents were loaded without {', '.join(sorted(missing))}; fill them first")
        if plan.predicate == MATCH_ALL:
            mask = np.ones(len(self._ordinals), dtype=np.bool_)
        else:
            mask = MaskCompiler(_Table(self._columns, self._row_of)).compile(plan.predicate)[self._rows.values]
        mask[self._barred] = False
        mask.flags.writeable = False
        return mask

    def _row_of(self, doc_id: str) -> int | None:
        ordinal = self._ordinals.get(doc_id)
        return None if ordinal is None else int(self._rows.values[ordinal])


@dataclass(frozen=True, slots=True)
class _Table:
    """The columns together with the ids of documents."""

    columns: DocumentColumns
    row_of: Any

    @property
    def count(self) -> int:
        return self.columns.count

    def column(self, field: str) -> NDArray[Any]:
        return self.columns.column(field)

    def equal_to(self, field: str, value: str) -> Rows:
        if field != "full_doc_id":
            return self.columns.equal_to(field, value)
        row = self.row_of(value)
        return np.array([] if row is None else [row], dtype=np.int32)

    def tagged(self, tag: str) -> Rows:
        return self.columns.tagged(tag)

    def under(self, folder: str) -> Rows:
        return self.columns.under(folder)


def _facts_of_missing(doc_id: str) -> DocumentFacts:
    """Return what filters see of a document without a status row."""
    return document_facts(missing_document_metadata(doc_id))
