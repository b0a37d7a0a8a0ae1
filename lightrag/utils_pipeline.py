"""Import path that users already have; the names live elsewhere."""

from lightrag.ingest.status_metadata import (
    _DOC_STATUS_METADATA_CARRY_OVER_KEYS,
    _DOC_STATUS_METADATA_DIRECTIVE_KEYS,
    doc_status_metadata_carry_over,
    doc_status_reset_metadata,
    doc_status_transition_metadata,
)

__all__ = [
    "_DOC_STATUS_METADATA_CARRY_OVER_KEYS",
    "_DOC_STATUS_METADATA_DIRECTIVE_KEYS",
    "doc_status_metadata_carry_over",
    "doc_status_reset_metadata",
    "doc_status_transition_metadata",
]
