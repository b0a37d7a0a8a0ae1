"""Dimension and model of stored vectors, read without the model."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from lightrag.contracts.models import EmbeddingFunc
from lightrag.exceptions import InputError, StorageError
from lightrag.kg.files.detect import holds_files
from lightrag.kg.files.journal import JOURNAL_NAME, read_journal
from lightrag.kg.files.kinds import FAISS, VECTOR, kind_of
from lightrag.kg.sqlite.database import database_path


def stored_space(storage: str, working_dir: str, workspace: str) -> tuple[int, str]:
    """Return the dimension of a workspace's vectors and the name of the model, ``""`` when unknown.

    Args:
        storage: Class name of the vector storage.
        working_dir: The working directory.
        workspace: The workspace in it.

    Raises:
        InputError: The storage does not tell, or holds no vectors.
        StorageError: It is damaged.
    """
    path = database_path(working_dir, workspace)
    if storage in _TRACES and not _TRACES[storage](path):
        raise InputError(
            f"folder {str(path.parent)!r} holds nothing that {storage!r} wrote; is it the right folder, workspace and "
            "family? Or give the embedding function"
        )
    found = _READERS[storage](path) if storage in _READERS else None
    if found is None:
        raise InputError(
            f"{storage!r} in {str(path.parent)!r} does not tell the dimension of its vectors; give the embedding "
            "function that they were made with"
        )
    return found


def uncallable(space: tuple[int, str], reason: str) -> EmbeddingFunc:
    """Return an embedding function that tells dimension and model, and embeds nothing.

    Args:
        space: As :func:`stored_space` returns it.
        reason: Begins the :class:`~lightrag.exceptions.StorageError` of a call; the text follows.
    """

    async def refuse(texts: Sequence[str], **_: Any) -> NoReturn:
        raise StorageError(f"{reason}: {texts[0][:80]!r}")

    dimension, model = space
    return EmbeddingFunc(dimension, refuse, model_name=model or None)


def _of_sqlite(path: Path) -> tuple[int, str] | None:
    import sqlite3
    from contextlib import closing

    if not path.exists():
        return None
    try:
        with closing(sqlite3.connect(path)) as connection:
            row = connection.execute("SELECT dimension, model FROM vector_spaces ORDER BY namespace LIMIT 1").fetchone()
    except sqlite3.OperationalError:  # made by an older version, or busy: opening it says more
        return None
    except sqlite3.DatabaseError as error:
        raise StorageError(f"{str(path)!r} cannot be read: {error}") from error
    return None if row is None else (int(row[0]), str(row[1]))


def _of_files(path: Path) -> tuple[int, str] | None:
    from lightrag.kg.files.vector_files import header_of

    return _of_namespaces(path.parent, header_of) or _of_journal(path.parent, VECTOR)


def _of_faiss(path: Path) -> tuple[int, str] | None:
    from lightrag.kg.faiss.table import header_of

    return _of_namespaces(path.parent, header_of) or _of_journal(path.parent, FAISS)


def _of_namespaces(folder: Path, header_of: Callable[[Path, str], tuple[int, str] | None]) -> tuple[int, str] | None:
    found = [header_of(folder, namespace) for namespace in ("chunks", "entities", "relationships")]
    known = [space for space in found if space is not None]
    return max(known, key=lambda space: space[1] != "", default=None)


def _of_journal(folder: Path, kind: str) -> tuple[int, str] | None:
    """Look where vectors are that no file holds yet: a first session that ended without closing leaves nothing else."""
    dimension, model = 0, ""
    contents, _ = read_journal(folder / JOURNAL_NAME)
    for content in contents:
        for name, operation in json.loads(content.decode("utf-8", "surrogatepass")):
            if kind_of(name) != kind:
                continue
            if operation[0] == "put":
                dimension = int(operation[1])
            elif operation[0] == "model":
                model = str(operation[1])
    return (dimension, model) if dimension else None


# Tells whether a storage of that name has ever worked beside a database path.
_TRACES: dict[str, Callable[[Path], bool]] = {
    "SQLiteVectorDBStorage": Path.exists,
    "NanoVectorDBStorage": lambda path: holds_files(path.parent),
}
_READERS = {
    "SQLiteVectorDBStorage": _of_sqlite,
    "NanoVectorDBStorage": _of_files,
    "FaissVectorDBStorage": _of_faiss,
}
