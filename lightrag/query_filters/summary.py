"""The union summary of the documents that contribute to an entity or relation.

A summary is a *sound* coarse gate: it may let an object through none of whose documents is eligible, but
never hides one that has an eligible document. The evidence decides afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lightrag.query_filters.dates import end_to_row, start_to_row, stored_instant_us
from lightrag.query_filters.documents import DocumentFacts, StoredMetadata, document_facts
from lightrag.types import Row

# One for all: most objects of most corpora have no tags, and a set of its own would be one more thing to collect.
_NO_TAGS: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class FilterSummary:
    """Union of the dates and tags of distinct documents.

    Attributes:
        start_date: Stored text of the earliest start that any document has, ``""`` when none has one.
        end_date: Stored text of the latest end, ``""`` when none has one.
        tags: All tags.
        has_undated_evidence: A document has no date at all.
        has_open_start: A document has an end and no start.
        has_open_end: A document has a start and no end.
        document_count: How many documents.
    """

    start_date: str = ""
    end_date: str = ""
    tags: frozenset[str] = _NO_TAGS
    has_undated_evidence: bool = False
    has_open_start: bool = False
    has_open_end: bool = False
    document_count: int = 0

    @property
    def is_dated(self) -> bool:
        """Whether any document has a date."""
        return bool(self.start_date or self.end_date or self.has_open_start or self.has_open_end)

    def extend(self, documents: Iterable[StoredMetadata | DocumentFacts]) -> FilterSummary:
        """Return the summary with further documents, which must not be among those already in it.

        Args:
            documents: ``metadata`` of their doc_status rows, ``None`` for a missing row, or what was read of
                it.
        """
        start_date, end_date = self.start_date, self.end_date
        tags = self.tags
        undated, open_start, open_end = self.has_undated_evidence, self.has_open_start, self.has_open_end
        count = self.document_count
        for document in documents:
            facts = document if isinstance(document, DocumentFacts) else document_facts(document)
            start_date = _outer(start_date, facts.start_date, earliest=True)
            end_date = _outer(end_date, facts.end_date, earliest=False)
            if not tags.issuperset(facts.tags):
                tags = tags.union(facts.tags)
            undated = undated or not facts.is_dated
            open_start = open_start or (facts.is_dated and facts.start_us is None)
            open_end = open_end or (facts.is_dated and facts.end_us is None)
            count += 1
        return FilterSummary(start_date, end_date, tags, undated, open_start, open_end, count)

    def to_fields(self, *, skip_open_bounds: bool = True) -> Row:
        """Return the filter fields of a graph object or of its vector row.

        Args:
            skip_open_bounds: The setting ``kg_union_skip_open_bounds``. ``True`` keeps the interval to the
                bounds that documents have; ``False`` lets one open bound open the whole interval. Both are sound,
                since the flags say which documents are open. Changing it calls for fresh summaries.
        """
        start_date, end_date = self.start_date, self.end_date
        if not skip_open_bounds:
            start_date = "" if self.has_open_start else start_date
            end_date = "" if self.has_open_end else end_date
        start_us, end_us = stored_instant_us(start_date), stored_instant_us(end_date)
        return {
            "filter_start_date": start_date,
            "filter_end_date": end_date,
            "filter_tags": sorted(self.tags),
            "filter_dated": self.is_dated,
            "filter_start_ms": start_to_row(start_us)[0],
            "filter_end_ms": end_to_row(end_us)[0],
            "has_undated_evidence": self.has_undated_evidence,
            "has_open_start": self.has_open_start,
            "has_open_end": self.has_open_end,
            "filter_doc_count": self.document_count,
        }

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> FilterSummary:
        """Return the summary that :meth:`to_fields` wrote; missing fields mean that there was none yet."""
        return cls(
            start_date=fields.get("filter_start_date") or "",
            end_date=fields.get("filter_end_date") or "",
            tags=frozenset(tags) if (tags := fields.get("filter_tags")) else _NO_TAGS,
            has_undated_evidence=bool(fields.get("has_undated_evidence", False)),
            has_open_start=bool(fields.get("has_open_start", False)),
            has_open_end=bool(fields.get("has_open_end", False)),
            document_count=int(fields.get("filter_doc_count") or 0),
        )


def summarise(documents: Iterable[StoredMetadata | DocumentFacts]) -> FilterSummary:
    """Return the union summary of distinct documents; equal to extending an empty one by them in any order.

    Args:
        documents: As for :meth:`FilterSummary.extend`.
    """
    return NO_DOCUMENTS.extend(documents)


NO_DOCUMENTS = FilterSummary()
"""The summary of no document."""

SUMMARY_FIELDS: tuple[str, ...] = tuple(NO_DOCUMENTS.to_fields())
"""The fields that a summary writes on graph objects and their vector rows."""


def _outer(known: str, candidate: str, *, earliest: bool) -> str:
    """Return the text of the outer of two bounds by instant; of equal instants the first text by alphabet."""
    if not known or not candidate:
        return known or candidate
    known_us, candidate_us = stored_instant_us(known), stored_instant_us(candidate)
    if known_us == candidate_us or known_us is None or candidate_us is None:
        return min(known, candidate)
    return known if (known_us < candidate_us) is earliest else candidate
