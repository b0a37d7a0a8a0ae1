"""Names and limits that more than one part of the engine relies on.

Values that a person may set live in :mod:`lightrag.settings`; what stands here is fixed, because stored data,
public messages or the compatibility contract depend on it.
"""

from __future__ import annotations

# --- document metadata and filters -------------------------------------------------------------------------------
MAX_DOCUMENT_TAGS = 64
MAX_DOCUMENT_TAG_CHARS = 128
MAX_QUERY_FILTER_TAGS = 32
MAX_DOCUMENT_META_BYTES = 262_144
MAX_DOCUMENT_META_DEPTH = 8

# Open bounds are stored as these, so that every backend compares two integers and none needs NULL logic. They lie
# outside the milliseconds of the years 1 to 9999 and are exact as float64, which some vector engines use for ranges.
OPEN_START_MS = -(2**53 - 1)
OPEN_END_MS = 2**53 - 1

# --- text forms --------------------------------------------------------------------------------------------------
GRAPH_FIELD_SEP = "<SEP>"
SCOPE_ID_SEPARATOR = "\x1f"
MAX_ENTITY_NAME_CHARS = 256
MAX_ENTITY_NAME_BYTES = 512
UNKNOWN_SOURCE = "unknown_source"
UNKNOWN_ENTITY_TYPE = "UNKNOWN"
MANUAL_SOURCE_ID = "manual_creation"
CUSTOM_KG_SOURCE = "custom_kg"

# --- namespaces of the stores ------------------------------------------------------------------------------------
KV_FULL_DOCS = "full_docs"
KV_TEXT_CHUNKS = "text_chunks"
KV_LLM_RESPONSE_CACHE = "llm_response_cache"
KV_FULL_ENTITIES = "full_entities"
KV_FULL_RELATIONS = "full_relations"
KV_ENTITY_CHUNKS = "entity_chunks"
KV_RELATION_CHUNKS = "relation_chunks"
KV_WORKSPACE_STATE = "workspace_state"
VECTOR_ENTITIES = "entities"
VECTOR_RELATIONSHIPS = "relationships"
VECTOR_CHUNKS = "chunks"
GRAPH_CHUNK_ENTITY_RELATION = "chunk_entity_relation"
DOC_STATUS = "doc_status"
EVIDENCE = "evidence"

# Row of the workspace state while the workspace is being copied from other storages.
MIGRATION_ROW = "migration"
