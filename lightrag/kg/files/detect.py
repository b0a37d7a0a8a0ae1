"""What a workspace's folder holds, looked at from outside."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

from lightrag.exceptions import StorageError
from lightrag.kg.sqlite.database import database_path

# Any of these shows that somebody worked in the folder with file storages.
_FILES = (
    "kv_store_doc_status.json",
    "kv_store_full_docs.json",
    "graph_chunk_entity_relation.graphml",
    "vdb_chunks.json",
    "lightrag.journal",
)
_FILE_STORAGES = ("JsonKVStorage", "JsonDocStatusStorage", "NetworkXStorage", "NanoVectorDBStorage")


def holds_files(folder: Path) -> bool:
    """Tell whether a folder holds data of the file storages, ours or those of the published package."""
    return any((folder / name).exists() for name in _FILES)


def refuse_files_beside_sqlite(working_dir: str, workspace: str, storages: Iterable[str]) -> None:
    """Refuse to start an empty database beside files that hold data.

    Args:
        working_dir: The working directory.
        workspace: The workspace in it.
        storages: Names of all storage classes that are about to be opened.

    Raises:
        InputError: The workspace is no plain name.
        StorageError: A database would be made in a folder that file storages were used in.
    """
    chosen = set(storages)
    if not any(name.startswith("SQLite") for name in chosen) or not chosen.isdisjoint(_FILE_STORAGES):
        return
    database = database_path(working_dir, workspace)
    if database.exists() or not holds_files(database.parent):
        return
    named = f" --workspace {shlex.quote(workspace)}" if workspace else ""
    raise StorageError(
        f"folder {str(database.parent)!r} holds data in files, written with the storages "
        f"{', '.join(_FILE_STORAGES)}, and no SQLite database. Either go on with the files: choose those storages "
        "(kv_storage, doc_status_storage, graph_storage, vector_storage, or LIGHTRAG_KV_STORAGE, "
        "LIGHTRAG_DOC_STATUS_STORAGE, LIGHTRAG_GRAPH_STORAGE, LIGHTRAG_VECTOR_STORAGE). Or copy everything into a "
        f"database once; the files stay as they are: lightrag migrate --dir {shlex.quote(working_dir)}{named}"
    )
