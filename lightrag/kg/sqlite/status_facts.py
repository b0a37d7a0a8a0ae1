"""What filters see of documents, read from the columns of the status table."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from lightrag.constants import OPEN_END_MS, OPEN_START_MS
from lightrag.contracts.evidence import missing_document_metadata
from lightrag.kg.sqlite.texts import json_list
from lightrag.query_filters import DocumentFacts, document_facts

_COLUMNS = (
    "key, filter_tags, filter_start_ms, filter_start_us, filter_end_ms, filter_end_us, filter_start_date, "
    "filter_end_date, doc_type, source_path, modified_at"
)


def facts_of(connection: sqlite3.Connection, table: str, doc_ids: Sequence[str]) -> dict[str, DocumentFacts]:
    """Return the facts of documents; those without a row are what they are without metadata."""
    columns = ", ".join(f"t.{name}" for name in _COLUMNS.split(", "))
    statement = f"SELECT {columns} FROM json_each(?) AS j CROSS JOIN {table} AS t ON t.key = j.value"
    found = _by_id(connection.execute(statement, (json_list(doc_ids),)).fetchall())
    for doc_id in doc_ids:
        if doc_id not in found:
            found[doc_id] = document_facts(missing_document_metadata(doc_id))
    return found


def processed_facts(connection: sqlite3.Connection, table: str) -> dict[str, DocumentFacts]:
    """Return the facts of every processed document, oldest first."""
    statement = f"SELECT {_COLUMNS} FROM {table} WHERE status = 'processed' ORDER BY created_at, key"
    return _by_id(connection.execute(statement).fetchall())


def _by_id(rows: Sequence[tuple[str, str, int, int, int, int, str, str, str, str, int]]) -> dict[str, DocumentFacts]:
    """Undo :func:`~lightrag.query_filters.facts_to_row`."""
    return {
        doc_id: DocumentFacts(
            start_us=None if start_ms == OPEN_START_MS else start_ms * 1000 + start_us,
            end_us=None if end_ms == OPEN_END_MS else end_ms * 1000 - end_us,
            start_date=start_date,
            end_date=end_date,
            tags=tuple(json.loads(tags)) if tags != "[]" else (),
            doc_type=doc_type,
            source_path=source_path,
            modified_ms=None if modified == OPEN_START_MS else modified,
        )
        for (
            doc_id,
            tags,
            start_ms,
            start_us,
            end_ms,
            end_us,
            start_date,
            end_date,
            doc_type,
            source_path,
            modified,
        ) in rows
    }
