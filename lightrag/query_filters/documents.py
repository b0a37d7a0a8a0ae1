"""What filters see of a document, and the truth: which documents a filter accepts.

:func:`document_matches_filter` decides. Everything else, from a mask in memory to the filter expression of a
vector engine, only finds the same documents faster and is tested against it.

A document without a doc_status row, or whose row has no ``user_*`` keys, is undated and untagged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from lightrag.query_filters.date_filter import DateFilter, DateRangeMode, DocumentDateShape, UndatedMatch
from lightrag.query_filters.dates import floor_ms, instant_us, parse_stored_datetime, stored_instant_us
from lightrag.query_filters.document_metadata import (
    USER_DOC_TYPE,
    USER_END_DATE,
    USER_MODIFIED_AT,
    USER_SOURCE_PATH,
    USER_START_DATE,
    USER_TAGS,
)
from lightrag.query_filters.query_filter import RequiredTagsMode, VectorQueryFilter, as_filter
from lightrag.query_filters.sources import is_under, stored_path
from lightrag.query_filters.strict_model import parse_model

StoredMetadata = Mapping[str, Any] | None


class DocDateClass(StrEnum):
    """Which of its two date bounds a document has."""

    UNDATED = "undated"
    START_ONLY = "start_only"
    END_ONLY = "end_only"
    COMPLETE = "complete"


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """What filters see of a document.

    Attributes:
        start_us: First instant, microseconds since 1970-01-01T00:00:00Z; ``None`` when open.
        end_us: Last instant; ``None`` when open. A document with neither is undated.
        start_date: The text that ``start_us`` was read from, ``""`` when open.
        end_date: The text that ``end_us`` was read from, ``""`` when open.
        tags: Tags in stored order.
        doc_type: Type without case, ``""`` when unknown.
        source_path: Path in normal form, ``""`` when unknown.
        modified_ms: Last change in whole milliseconds, ``None`` when unknown.
    """

    start_us: int | None = None
    end_us: int | None = None
    start_date: str = ""
    end_date: str = ""
    tags: tuple[str, ...] = ()
    doc_type: str = ""
    source_path: str = ""
    modified_ms: int | None = None

    @property
    def is_dated(self) -> bool:
        """Whether there is at least one bound."""
        return self.start_us is not None or self.end_us is not None

    @property
    def date_class(self) -> DocDateClass:
        """Which bounds there are."""
        if self.start_us is None:
            return DocDateClass.UNDATED if self.end_us is None else DocDateClass.END_ONLY
        return DocDateClass.START_ONLY if self.end_us is None else DocDateClass.COMPLETE


def document_facts(metadata: StoredMetadata) -> DocumentFacts:
    """Read a doc_status row's ``metadata``. Values that no filter could use count as not given."""
    row = metadata or {}
    start_us, end_us = stored_instant_us(row.get(USER_START_DATE)), stored_instant_us(row.get(USER_END_DATE))
    tags, doc_type, path = row.get(USER_TAGS), row.get(USER_DOC_TYPE), row.get(USER_SOURCE_PATH)
    modified_us = stored_instant_us(row.get(USER_MODIFIED_AT))
    return DocumentFacts(
        start_us=start_us,
        end_us=end_us,
        start_date="" if start_us is None else row[USER_START_DATE],
        end_date="" if end_us is None else row[USER_END_DATE],
        tags=tuple(dict.fromkeys(tag for tag in tags if isinstance(tag, str)))
        if isinstance(tags, list | tuple)
        else (),
        doc_type=doc_type.strip().casefold() if isinstance(doc_type, str) else "",
        source_path=stored_path(path) if isinstance(path, str) else "",
        modified_ms=None if modified_us is None else floor_ms(modified_us),
    )


def classify_doc_dates(metadata: StoredMetadata) -> DocDateClass:
    """Return which date bounds a document has."""
    return document_facts(metadata).date_class


def effective_doc_range(metadata: StoredMetadata) -> tuple[datetime | None, datetime | None]:
    """Return a document's interval as aware datetimes in their stored offsets.

    Returns:
        Start and end, ``None`` where a bound is open and so reaches to -∞ or +∞.
    """
    facts = document_facts(metadata)
    start = parse_stored_datetime(facts.start_date) if facts.start_date else None
    return start, parse_stored_datetime(facts.end_date) if facts.end_date else None


_SHAPES: Mapping[DocumentDateShape, frozenset[DocDateClass]] = {
    DocumentDateShape.ANY: frozenset(DocDateClass),
    DocumentDateShape.DATED: frozenset(DocDateClass) - {DocDateClass.UNDATED},
    DocumentDateShape.BOUNDED: frozenset({DocDateClass.COMPLETE}),
    DocumentDateShape.HAS_START: frozenset({DocDateClass.START_ONLY, DocDateClass.COMPLETE}),
    DocumentDateShape.HAS_END: frozenset({DocDateClass.END_ONLY, DocDateClass.COMPLETE}),
}


def document_matches_date_filter(metadata: StoredMetadata, date_filter: DateFilter | Mapping[str, Any] | None) -> bool:
    """Tell whether a document's dates satisfy a date filter.

    Args:
        metadata: ``metadata`` of its doc_status row; ``None`` when it has none.
        date_filter: As a model or in API form. Without a range the interval does not count.

    Raises:
        FilterSyntaxError: The filter is not valid.
    """
    return date_filter is None or _dates_match(document_facts(metadata), parse_model(DateFilter, date_filter))


def _dates_match(facts: DocumentFacts, dates: DateFilter) -> bool:
    if not dates.is_active:
        return True
    if dates.undated is UndatedMatch.ONLY:
        return not facts.is_dated
    if not facts.is_dated:
        return dates.undated is UndatedMatch.INCLUDE_OR
    if dates.range is None and dates.shape is DocumentDateShape.ANY:
        # Only "or undated" is asked for, and there is no criterion for it to widen.
        return False
    return facts.date_class in _SHAPES[dates.shape] and _range_matches(facts, dates)


def _range_matches(facts: DocumentFacts, dates: DateFilter) -> bool:
    if dates.range is None:
        return True
    first = -math.inf if facts.start_us is None else facts.start_us
    last = math.inf if facts.end_us is None else facts.end_us
    opens = -math.inf if dates.range.start is None else instant_us(dates.range.start)
    closes = math.inf if dates.range.end is None else instant_us(dates.range.end)
    if dates.range_mode is DateRangeMode.OVERLAP:
        return first <= closes and last >= opens
    if dates.range_mode is DateRangeMode.CONTAINED_BY:
        return first >= opens and last <= closes
    return first <= opens and last >= closes


def document_matches_filter(
    metadata: StoredMetadata, filter: VectorQueryFilter | Mapping[str, Any], *, doc_id: str | None = None
) -> bool:
    """Tell whether a filter accepts a document. This is the truth that every store is measured against.

    Args:
        metadata: ``metadata`` of its doc_status row; ``None`` when it has none.
        filter: As a model or in API form.
        doc_id: Its id; without one no filter by ``document_ids`` accepts it.

    Raises:
        FilterSyntaxError: The filter is not valid.
    """
    return facts_match_filter(document_facts(metadata), as_filter(filter), doc_id=doc_id)


def facts_match_filter(facts: DocumentFacts, filter: VectorQueryFilter, *, doc_id: str | None = None) -> bool:
    """As :func:`document_matches_filter`, for a document that has been read already."""
    return (
        (filter.date_filter is None or _dates_match(facts, filter.date_filter))
        and _tags_match(frozenset(facts.tags), filter)
        and _source_matches(facts, filter, doc_id)
        and all(facts_match_filter(facts, part, doc_id=doc_id) for part in filter.all_of)
    )


def _tags_match(tags: frozenset[str], filter: VectorQueryFilter) -> bool:
    if filter.scope_tag is not None and filter.scope_tag not in tags:
        return False
    required = frozenset(filter.required_tags)
    if filter.required_tags_mode is RequiredTagsMode.AND:
        accepted = required <= tags
    else:
        accepted = not required or not required.isdisjoint(tags)
    return accepted and tags.isdisjoint(filter.forbidden_tags)


def _source_matches(facts: DocumentFacts, filter: VectorQueryFilter, doc_id: str | None) -> bool:
    if filter.doc_types and facts.doc_type not in filter.doc_types:
        return False
    if filter.path_prefixes and not any(is_under(facts.source_path, folder) for folder in filter.path_prefixes):
        return False
    after, before = filter.modified_after_ms, filter.modified_before_ms
    if after is not None and (facts.modified_ms is None or facts.modified_ms < after):
        return False
    if before is not None and (facts.modified_ms is None or facts.modified_ms > before):
        return False
    search = filter.search_filters
    return search is None or not search.document_ids or doc_id in search.document_id_set
