"""The fields that every filterable row carries, so that engines compare plain values and need no NULL logic.

==================
=========================================================================================== ``filter_tags``
list of tags, ``[]`` when untagged ``filter_dated``    whether there is any date bound ``filter_start_ms``
start in milliseconds since 1970, rounded down; ``OPEN_START_MS`` when open ``filter_start_us`` microseconds
(0-999) by which the start lies above ``filter_start_ms`` ``filter_end_ms``   end in milliseconds, rounded up;
``OPEN_END_MS`` when open ``filter_end_us``   microseconds (0-999) by which the end lies below
``filter_end_ms`` ``full_doc_id``     the document's id ``source_path``     path in the source, ``""`` when
unknown ``doc_type``        type, ``""`` when unknown ``modified_at``     last change in milliseconds,
``OPEN_START_MS`` when unknown ==================
===========================================================================================

``filter_start_date`` and ``filter_end_date`` hold the stored ISO texts beside them, for reading; ``""`` when
open. Almost every date is a whole millisecond. The two microsecond fields make the rest exact, and an engine
that does not store them relaxes the predicate (:func:`lightrag.predicates.relax`) and stays sound.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

from lightrag.constants import OPEN_START_MS
from lightrag.query_filters.dates import end_to_row, start_to_row
from lightrag.query_filters.documents import DocumentFacts, StoredMetadata, document_facts
from lightrag.types import Row


def normal_form(metadata: StoredMetadata, *, doc_id: str = "") -> Row:
    """Return the filter fields of a document's rows.

    Args:
        metadata: ``metadata`` of its doc_status row; ``None`` when it has none.
        doc_id: Its id.
    """
    return facts_to_row(document_facts(metadata), doc_id=doc_id)


def facts_to_row(facts: DocumentFacts, *, doc_id: str = "") -> Row:
    """As :func:`normal_form`, for a document that has been read already."""
    start_ms, start_us = start_to_row(facts.start_us)
    end_ms, end_us = end_to_row(facts.end_us)
    return {
        "filter_tags": list(facts.tags),
        "filter_dated": facts.is_dated,
        "filter_start_ms": start_ms,
        "filter_start_us": start_us,
        "filter_end_ms": end_ms,
        "filter_end_us": end_us,
        "filter_start_date": facts.start_date,
        "filter_end_date": facts.end_date,
        "full_doc_id": doc_id,
        "source_path": facts.source_path,
        "doc_type": facts.doc_type,
        "modified_at": OPEN_START_MS if facts.modified_ms is None else facts.modified_ms,
    }


STAMPED_FIELDS: tuple[str, ...] = tuple(name for name in normal_form(None) if name != "full_doc_id")
"""The fields that :func:`stamp_chunk_filter_metadata` writes."""


def stamp_chunk_filter_metadata(
    chunks: Mapping[str, MutableMapping[str, Any]] | Iterable[MutableMapping[str, Any]],
    doc_status_metadata: StoredMetadata,
) -> None:
    """Write a document's filter fields into the rows of its chunks, in place; earlier values are replaced.

    Args:
        chunks: Rows by chunk id, or just rows. Their ``full_doc_id`` is left as it is.
        doc_status_metadata: ``metadata`` of the document's doc_status row; ``None`` when it has none.
    """
    row = normal_form(doc_status_metadata)
    for chunk in chunks.values() if isinstance(chunks, Mapping) else chunks:
        chunk.update({name: row[name] for name in STAMPED_FIELDS})
        chunk["filter_tags"] = list(row["filter_tags"])
