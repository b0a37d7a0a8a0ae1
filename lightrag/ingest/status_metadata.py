"""Which notes of a document's status row survive which change of state.

Stores replace ``metadata`` whole, so every writer carries over what must live on. The names of the lists and functions
are part of the compatibility contract (``lightrag.utils_pipeline``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

USER_METADATA_KEYS = (
    "user_start_date",
    "user_end_date",
    "user_tags",
    "user_meta",
    "user_modified_at",
    "user_doc_type",
    "user_source_path",
)

# Survives ordinary transitions, such as processing to processed.
_DOC_STATUS_METADATA_CARRY_OVER_KEYS: tuple[str, ...] = (
    "process_options",
    "source_file",
    "parse_warnings",
    "chunk_opts",
    "chunk_method",
    "parse_start_time",
    "parse_end_time",
    "parse_stage_skipped",
    "parse_format",
    "parse_engine",
    "smartheading_llm_cache_ids",
    "analyzing_start_time",
    "analyzing_end_time",
    "analyzing_stage_skipped",
    "custom_chunk_patch",
    "kg_write_state",
    "kg_purge",
    "is_duplicate",
    "duplicate_kind",
    "original_doc_id",
    "original_track_id",
    *USER_METADATA_KEYS,
)

# Survives a reset to pending: what a person or the enqueuing call decided, and nothing of the failed attempt.
_DOC_STATUS_METADATA_DIRECTIVE_KEYS: tuple[str, ...] = (
    "process_options",
    "source_file",
    "custom_chunk_patch",
    "kg_write_state",
    "kg_purge",
    "is_duplicate",
    "duplicate_kind",
    "original_doc_id",
    "original_track_id",
    *USER_METADATA_KEYS,
)


def _kept(metadata: Mapping[str, Any], keys: Collection[str]) -> dict[str, Any]:
    # A blank value says nothing, except that tags and meta given as empty are kept as they were given.
    return {key: metadata[key] for key in keys if metadata.get(key) not in (None, "")}


def doc_status_metadata_carry_over(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the notes of a status row that an ordinary transition keeps."""
    return _kept(row.get("metadata") or {}, _DOC_STATUS_METADATA_CARRY_OVER_KEYS)


def doc_status_transition_metadata(
    row: Mapping[str, Any], extra: Mapping[str, Any] | None = None, drop: Collection[str] = ()
) -> dict[str, Any]:
    """Return the notes for the next state: carried over, then ``extra``, then without ``drop``."""
    merged = {**doc_status_metadata_carry_over(row), **(extra or {})}
    return {key: value for key, value in merged.items() if key not in drop}


def doc_status_reset_metadata(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the notes that a reset to pending keeps."""
    metadata = dict(row.get("metadata") or {})
    if "source_file" not in metadata and metadata.get("source_file_name"):
        metadata["source_file"] = metadata["source_file_name"]
    return _kept(metadata, _DOC_STATUS_METADATA_DIRECTIVE_KEYS)
