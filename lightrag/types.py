"""Type aliases shared by every layer. No runtime code, so importing it costs nothing."""

from __future__ import annotations

from typing import Any, TypeAlias, Union

JsonScalar: TypeAlias = str | int | float | bool | None
"""A JSON value without structure."""

JsonValue: TypeAlias = Union[JsonScalar, list["JsonValue"], dict[str, "JsonValue"]]  # noqa: UP007
"""Any value that survives ``json.dumps`` and ``json.loads`` unchanged."""

JsonObject: TypeAlias = dict[str, JsonValue]
"""A JSON object."""

Metadata: TypeAlias = dict[str, Any]
"""The ``metadata`` of a doc_status row: our ``user_*`` keys beside the pipeline's own."""

Row: TypeAlias = dict[str, Any]
"""One stored record as its store returns it; values at a driver's boundary are not typed further."""

DocumentId: TypeAlias = str
"""Key of a document in doc_status, ``doc-...``."""

ChunkId: TypeAlias = str
"""Key of a chunk in text_chunks and chunks_vdb, ``chunk-...``."""
