"""Files that somebody else could not read, on record as failed documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lightrag.constants import UNKNOWN_SOURCE
from lightrag.context import EngineContext
from lightrag.contracts.doc_status import DocProcessingStatus, DocStatus
from lightrag.exceptions import InputError
from lightrag.ingest.announce import announce_documents
from lightrag.ingest.documents import new_track_id, normalize_source_path, timestamp
from lightrag.ingest.persist import MAX_ERROR_CHARS
from lightrag.ingest.state import PipelineState
from lightrag.runtime.hashing import compute_mdhash_id
from lightrag.runtime.text import content_summary, sanitize_text

ERROR_TYPE = "file_extraction_error"
_FIELDS: dict[str, type] = {"file_path": str, "error_description": str, "original_error": str, "file_size": int}


async def enqueue_error_documents(
    context: EngineContext, state: PipelineState, error_files: Sequence[Mapping[str, Any]], track_id: str | None = None
) -> None:
    """Store one failed row for each file; a file that failed before gets a new row in place of the old one.

    A file whose path belongs to a document that was read is marked as a repetition of it, so that the path goes on to
    stand for that document.

    Args:
        context: The workspace.
        state: Its pipeline.
        error_files: ``file_path``, ``error_description``, ``original_error``, ``file_size`` (bytes); each may be
            missing.
        track_id: Names the call.

    Raises:
        InputError: An entry is not as described; nothing was stored.
    """
    track_id = track_id or new_track_id("error")
    rows: dict[str, DocProcessingStatus] = {}
    async with state.enqueue_lock:
        for position, given in enumerate(error_files):
            _check(position, given)
            path = normalize_source_path(given.get("file_path"))
            # Files without a name are told apart by their place in the call.
            name = path if path != UNKNOWN_SOURCE else f"{track_id}-{position}"
            doc_id = compute_mdhash_id(name, prefix="error-")
            metadata: dict[str, Any] = {"error_type": ERROR_TYPE}
            if path != UNKNOWN_SOURCE:
                metadata["user_source_path"] = path
                found = await context.stores.doc_status.get_doc_by_file_path(path)
                if found is not None and found[0] != doc_id:
                    metadata |= {"is_duplicate": True, "duplicate_kind": "filename", "original_doc_id": found[0]}
            rows[doc_id] = _row(given, path, track_id, metadata)
        if rows:
            await context.stores.doc_status.upsert({doc_id: row.to_row() for doc_id, row in rows.items()})
            announce_documents(context, rows)


def _check(position: int, given: object) -> None:
    if not isinstance(given, Mapping):
        raise InputError(
            f"error_files[{position}] is {given!r}; it must be an object with file_path and original_error"
        )
    for name, kind in _FIELDS.items():
        value = given.get(name)
        if value is not None and not isinstance(value, kind):
            raise InputError(f"error_files[{position}][{name!r}] is {value!r}; it must be {kind.__name__}")


def _row(given: Mapping[str, Any], path: str, track_id: str, metadata: dict[str, Any]) -> DocProcessingStatus:
    now = timestamp()
    summary = content_summary(sanitize_text(given.get("error_description") or ""))
    return DocProcessingStatus(
        content_summary=summary or "File extraction failed",
        content_length=max(given.get("file_size") or 0, 0),
        file_path=path,
        status=DocStatus.FAILED,
        created_at=now,
        updated_at=now,
        track_id=track_id,
        chunks_count=0,
        error_msg=sanitize_text(given.get("original_error") or "")[:MAX_ERROR_CHARS] or "Unknown error",
        metadata=metadata,
    )
