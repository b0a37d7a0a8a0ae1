"""The two files of a vector namespace: that of the peer, and ours with what it has no place for.

The peer keeps its vectors twice: all of them as one ``float32`` matrix for searching, and each as compressed
``float16`` in its row. Rows of scopes stand in our file alone, since the peer would take them for more rows of the
aggregate.
"""

from __future__ import annotations

import base64
import logging
import re
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from lightrag.constants import VECTOR_ENTITIES, VECTOR_RELATIONSHIPS
from lightrag.contracts.evidence import ObjectKind, relation_key
from lightrag.contracts.vector import FILTER_FIELD_DEFAULTS
from lightrag.exceptions import SchemaVersionError, StorageError
from lightrag.kg.files.graphml import difference, restored
from lightrag.kg.files.json_file import encode, joined_pieces, line_pieces, read_lines
from lightrag.kg.files.table import NewFile, SourceNames

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

FORMAT = 1

# Fields of the peer's that are none of a row's, and ours that the peer does not know.
_ADDED = ("__id__", "__created_at__", "__write_seq__", "__vector__", "vector")
_OWN = frozenset(FILTER_FIELD_DEFAULTS) - {"full_doc_id"} | {"graph_node_id"}

# The peer writes the dimension before everything else.
_DIMENSION = re.compile(r'"embedding_dim"\s*:\s*(\d+)')
_HEAD_CHARS = 200

# Rows that are encoded together; a multiple of three, so that base64 has no padding between them.
_ROWS = 3 * 512


@dataclass(frozen=True, slots=True)
class VectorFiles:
    """Where the rows of a namespace are kept.

    Attributes:
        namespace: The namespace.
        peer: The file of the peer.
        own: Ours beside it.
    """

    namespace: str
    peer: Path
    own: Path


@dataclass(frozen=True, slots=True, eq=False)
class StoredRows:
    """Rows of a namespace.

    Attributes:
        ids: Of the rows.
        fields: Content, ``created_at`` and all others, by row.
        vectors: Shape ``(len(ids), dimension)``.
        model: Name of the embedding model; ``""`` when unknown.
    """

    ids: Sequence[str]
    fields: Sequence[dict[str, Any]]
    vectors: Vectors
    model: str


def header_of(folder: Path, namespace: str) -> tuple[int, str] | None:
    """Return the dimension and model of a namespace without reading its rows, ``None`` when it has none.

    Raises:
        StorageError: A file is damaged.
        OSError: A file cannot be read.
    """
    header, _ = _own_lines(folder / f"lightrag_vdb_{namespace}.jsonl", rows=False)
    if header is not None and header["dimension"]:
        return int(header["dimension"]), str(header["model"])
    path = folder / f"vdb_{namespace}.json"
    if not path.exists():
        return None
    with path.open(encoding="utf-8") as file:
        found = _DIMENSION.search(file.read(_HEAD_CHARS))
    return None if found is None else (int(found[1]), "")


# --- reading -------------------------------------------------------------------------------------------------------


def read_vectors(place: VectorFiles) -> StoredRows | None:
    """Return the rows of both files, ``None`` when there is neither.

    Raises:
        StorageError: A file is damaged.
        SchemaVersionError: A newer version wrote ours.
        OSError: A file cannot be read.
    """
    import numpy as np

    header, own = _own_lines(place.own)
    stored = _read_peer(place.peer)
    if stored is None and header is None:
        return None
    data, matrix = stored or ([], np.empty((0, int((header or {})["dimension"])), dtype=np.float32))
    ids = [str(row["__id__"]) for row in data]
    fields = [_fields(row, own.pop(str(row["__id__"]), None)) for row in data]
    # What is left of ours is rows of scopes; others are rows that somebody deleted.
    scoped = {row_id: rest for row_id, (digest, *rest) in own.items() if digest is None}
    vectors = [matrix, *(_vector(place.own, rest[1], matrix.shape[1]) for rest in scoped.values())]
    return StoredRows(
        [*ids, *scoped],
        [*fields, *(rest[0] for rest in scoped.values())],
        _of_unit_length(np.concatenate(vectors)),
        str((header or {}).get("model", "")),
    )


def _own_lines(path: Path, *, rows: bool = True) -> tuple[dict[str, Any] | None, dict[str, list[Any]]]:
    lines = read_lines(path)
    header = next(lines, None)
    if header is None:
        return None, {}
    if not isinstance(header, dict) or not isinstance(header.get("format"), int):
        raise _damaged(path, "its first line does not say what it is")
    if header["format"] > FORMAT:
        raise SchemaVersionError(f"{str(path)!r} was written by a newer version of LightRAG; use that one")
    found: dict[str, list[Any]] = {}
    for line in lines if rows else ():
        if not isinstance(line, list) or len(line) != 4:
            raise _damaged(path, f"{str(line)[:80]} is no row")
        found[line[0]] = line[1:]
    return header, found


def _read_peer(path: Path) -> tuple[list[dict[str, Any]], Vectors] | None:
    try:
        stored = _nano_vectordb().load_storage(str(path))
    except (ValueError, KeyError) as error:
        raise _damaged(path, error) from error
    if stored is None:
        return None
    data, matrix, dimension = stored["data"], stored["matrix"], int(stored["embedding_dim"])
    if matrix.size != len(data) * dimension:
        raise _damaged(path, f"its matrix does not fit {len(data)} rows of dimension {dimension}")
    return data, matrix.reshape(len(data), dimension)


def _nano_vectordb() -> ModuleType:
    """Import the package of the format without what its import does to the logging of the whole process."""
    root, guard = logging.getLogger(), logging.NullHandler()
    # It calls basicConfig, which does nothing while there is a handler.
    root.addHandler(guard)
    try:
        return import_module("nano_vectordb.dbs")
    finally:
        root.removeHandler(guard)


def _fields(row: Mapping[str, Any], own: list[Any] | None) -> dict[str, Any]:
    fields = {name: value for name, value in row.items() if name not in _ADDED}
    fields.setdefault("content", "")
    if own is not None and own[0] == _digest(fields):
        fields = restored(fields, own[1], own[2])
    return {**fields, "created_at": int(row.get("__created_at__") or 0)}


def _digest(fields: Mapping[str, Any]) -> int:
    return zlib.crc32(str(fields.get("content", "")).encode("utf-8", "surrogatepass"))


def _vector(path: Path, text: str, dimension: int) -> Vectors:
    import numpy as np

    vector = np.frombuffer(base64.b64decode(text), dtype="<f4")
    if len(vector) != dimension:
        raise _damaged(path, f"a vector has dimension {len(vector)} and not {dimension}")
    return vector.reshape(1, dimension)


def _of_unit_length(vectors: Vectors) -> Vectors:
    """Return vectors of length 1 or 0; those that are nearly so stay as they are, to the bit."""
    import numpy as np

    from lightrag.kg.row_vectors import normalised

    # The peer divides zero vectors by their length.
    vectors = np.where(np.isfinite(vectors).all(axis=1, keepdims=True), vectors, np.float32(0.0))
    lengths = np.linalg.norm(vectors, axis=1)
    odd = np.flatnonzero((lengths != 0.0) & (np.abs(lengths - 1.0) > 1e-4))
    if len(odd):
        vectors[odd] = normalised(vectors[odd])
    return vectors


# --- writing -------------------------------------------------------------------------------------------------------


def vector_files(place: VectorFiles, rows: StoredRows, sources: SourceNames) -> Iterator[NewFile]:
    """Return both files of a place.

    Args:
        place: Where the files are.
        rows: What to write.
        sources: Names the sources of entities and relations.
    """
    shown: list[int] = []
    own_lines: list[Any] = [{"format": FORMAT, "dimension": rows.vectors.shape[1], "model": rows.model}]
    exported: list[dict[str, Any]] = []
    sequence = time.time_ns()
    for position, (row_id, fields) in enumerate(zip(rows.ids, rows.fields, strict=True)):
        if fields.get("tenant_tag"):
            vector = base64.b64encode(rows.vectors[position].astype("<f4").tobytes()).decode()
            own_lines.append([row_id, None, fields, vector])
            continue
        shown.append(position)
        created_at = fields.pop("created_at")
        seen = {name: value for name, value in fields.items() if name not in _OWN} | _sources(place, fields, sources)
        own_lines.append([row_id, _digest(seen), *difference(seen, fields)])
        head = {"__id__": row_id, "__created_at__": created_at, "__write_seq__": sequence + position}
        exported.append({**head, **seen})
    yield NewFile(place.own, line_pieces(own_lines))
    if not rows.vectors.shape[1]:
        # Nothing was ever stored, so the peer may yet choose a dimension.
        return
    yield NewFile(place.peer, _peer_pieces(exported, rows.vectors[shown]))


def _sources(place: VectorFiles, fields: Mapping[str, Any], sources: SourceNames) -> dict[str, str]:
    if place.namespace == VECTOR_ENTITIES:
        object_id = str(fields.get("graph_node_id") or fields.get("entity_name") or "")
        named = sources.of(ObjectKind.ENTITY, object_id, fields)
    elif place.namespace == VECTOR_RELATIONSHIPS:
        key = relation_key(str(fields.get("src_id") or ""), str(fields.get("tgt_id") or ""))
        named = sources.of(ObjectKind.RELATION, key, fields)
    else:
        return {}
    return {"source_id": named[0], "file_path": named[1]}


def _peer_pieces(rows: Sequence[Mapping[str, Any]], vectors: Vectors) -> Iterator[bytes]:
    import numpy as np

    texts = (
        encode({**row, "vector": _compressed(vector)})
        for row, vector in zip(rows, vectors.astype(np.float16), strict=True)
    )
    opening = f'{{"embedding_dim": {vectors.shape[1]}, "data": ['
    yield from joined_pieces(opening, ", ", texts, '], "matrix": "')
    for start in range(0, len(vectors), _ROWS):
        yield base64.b64encode(vectors[start : start + _ROWS].astype("<f4").tobytes())
    yield b'"}'


def _compressed(vector: NDArray[np.float16]) -> str:
    return base64.b64encode(zlib.compress(vector.tobytes())).decode()


def _damaged(path: Path, problem: object) -> StorageError:
    return StorageError(f"file {str(path)!r} is damaged: {problem}. Restore it from a backup, or move it away")
