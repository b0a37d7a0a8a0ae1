"""Fold the journal into the files: write every file that changed anew, then start an empty journal.

The cost is that of the files, so it is done when the journal has become as large as they are, and when the folder is
closed: each byte is then written a few times in all, however many documents come.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from lightrag.constants import (
    DOC_STATUS,
    EVIDENCE,
    GRAPH_CHUNK_ENTITY_RELATION,
    VECTOR_ENTITIES,
    VECTOR_RELATIONSHIPS,
)
from lightrag.kg.files import kinds
from lightrag.kg.files.atomic import put_in_place, write_aside
from lightrag.kg.files.derived import derived_files
from lightrag.kg.files.evidence_table import EvidenceTable
from lightrag.kg.files.journal import Journal
from lightrag.kg.files.outside import stamps_now
from lightrag.kg.files.sources import SourceLimits, Sources
from lightrag.kg.files.table import Export, NewFile, Table

# Below this the journal is not worth folding in while work goes on, bytes.
_MIN_JOURNAL = 32 * 2**20

_EVIDENCE = kinds.table_name(kinds.EVIDENCE, EVIDENCE)
_STATUS = kinds.table_name(kinds.STATUS, DOC_STATUS)
# Files that name the sources of objects, which the evidence knows.
_NAMING_SOURCES = (
    kinds.table_name(kinds.GRAPH, GRAPH_CHUNK_ENTITY_RELATION),
    kinds.table_name(kinds.VECTOR, VECTOR_ENTITIES),
    kinds.table_name(kinds.VECTOR, VECTOR_RELATIONSHIPS),
)


class Foldable(Protocol):
    """A folder whose files can be written anew."""

    path: Path
    tables: dict[str, Table]
    dirty: set[str]
    limits: SourceLimits
    journal: Journal
    next_fold_at: int

    def load_table(self, name: str) -> Table:
        """Return a table, reading its files if nobody has yet."""
        ...


def is_due(folder: Foldable) -> bool:
    """Tell whether the journal has grown to the size of the files."""
    return folder.journal.size > max(_MIN_JOURNAL, folder.next_fold_at)


def fold(folder: Foldable) -> None:
    """Write every changed file of a folder and empty its journal; called in the writer's thread.

    A process that dies meanwhile leaves some files new and some old, and the journal whole: it is carried out again,
    over both alike.

    Raises:
        OSError: A file could not be written; the journal is kept.
        StorageError: A table that the journal changes could not be read; likewise.
    """
    if not folder.dirty:
        return
    _load_all_needed(folder)
    export = Export(folder.tables, Sources(folder.tables, folder.limits))
    aside: list[tuple[Path, Path]] = []
    try:
        for name in sorted(folder.dirty):
            for file in _new_files(folder.tables[name], export):
                aside.append((write_aside(file.path, file.pieces), file.path))
        size = sum(path.stat().st_size for path, _ in aside)
        put_in_place(aside, folder.path)
    except BaseException:
        for path, _ in aside:
            path.unlink(missing_ok=True)
        raise
    folder.journal.clear()
    folder.dirty.clear()
    folder.next_fold_at = size


def _new_files(table: Table, export: Export) -> Iterator[NewFile]:
    if isinstance(table, EvidenceTable):
        table.stamps = stamps_now(table, export.tables)
        yield from derived_files(table, export.tables)
    yield from table.new_files(export)


def _load_all_needed(folder: Foldable) -> None:
    """Load what the journal changes, and what the changed files are made from."""
    needed = set(folder.dirty)
    if _EVIDENCE in needed:
        needed.update(name for name in _NAMING_SOURCES if _is_there(folder, name))
        folder.dirty.update(needed)
        # The status of documents says whose evidence is complete.
        needed.update(name for name in (_STATUS,) if _is_there(folder, name))
    elif needed.intersection((*_NAMING_SOURCES, _STATUS)) and _is_there(folder, _EVIDENCE):
        needed.add(_EVIDENCE)
        if _STATUS in needed:
            folder.dirty.add(_EVIDENCE)
    for name in sorted(needed):
        folder.load_table(name)


def _is_there(folder: Foldable, name: str) -> bool:
    if name in folder.tables:
        return True
    return any(path.exists() for path in kinds.new_table(name, folder.path).files_on_disk())
