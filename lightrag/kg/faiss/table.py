"""Rows and vectors of the FAISS storage, in ``faiss_<namespace>.jsonl``."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightrag.exceptions import SchemaVersionError
from lightrag.kg.faiss.index import Changes, FaissIndex, IndexOptions
from lightrag.kg.files.json_file import line_pieces, read_lines
from lightrag.kg.files.table import Export, NewFile
from lightrag.kg.files.vector_files import StoredRows
from lightrag.kg.files.vector_table import Item, VectorTable

if TYPE_CHECKING:
    from lightrag.kg.sqlite.matrix import MatrixState

FORMAT = 1


class FaissTable(VectorTable):
    """A table of vectors with an index that follows it when it is asked.

    The file has a line ``{"format", "dimension", "model"}`` and one ``[id, fields, vector]`` for each row, the vector
    as base64 of little-endian ``float32``. The index is not stored: it is made from the rows on the first search.

    Attributes:
        searching: Held by whoever uses the index; taken before the lock of the folder.
    """

    def __init__(self, name: str, folder: Path) -> None:
        """Start empty."""
        super().__init__(name, folder)
        self.searching = threading.Lock()
        self._index: FaissIndex | None = None
        self._changed: set[int] = set()

    # --- the index ---------------------------------------------------------------------------------------------

    def index_of(self, state: MatrixState, options: IndexOptions) -> tuple[FaissIndex, Changes | None]:
        """Return the index and what it has yet to follow, ``None`` when it has yet to be filled.

        Called with :attr:`searching` and the lock of the folder held. The caller brings the index up to date, or
        calls :meth:`forget_index`.
        """
        import numpy as np

        changed, self._changed = self._changed, set()
        index = self._index
        if index is None or index.dimension != self.dimension or index.options != options:
            self._index = FaissIndex(self.dimension, options)
            return self._index, None
        numbers = np.array(sorted(number for number in changed if number in self.ids), dtype=np.int64)
        positions = np.array([state.positions[number] for number in numbers.tolist()], dtype=np.int64)
        gone = np.array(sorted(number for number in changed if number not in self.ids), dtype=np.int64)
        return index, Changes(numbers, positions, gone)

    def forget_index(self) -> None:
        """Drop the index, with :attr:`searching` and the lock of the folder held; the next search makes it anew."""
        self._index = None

    def _replace(self, items: Sequence[Item]) -> None:
        row_ids = [item[0] for item in items]
        before = [self.numbers[row_id] for row_id in row_ids if row_id in self.numbers]
        super()._replace(items)
        if self._index is not None:
            self._changed.update(before, (self.numbers[row_id] for row_id in row_ids if row_id in self.numbers))

    # --- the file ----------------------------------------------------------------------------------------------

    @property
    def path(self) -> Path:
        """The file."""
        return path_of(self.folder, self.namespace)

    def files_on_disk(self) -> Sequence[Path]:
        """Return the file."""
        return (self.path,)

    def read(self) -> StoredRows | None:
        """Return the rows of the file."""
        import numpy as np

        lines = read_lines(self.path)
        header = next(lines, None)
        if header is None:
            return None
        dimension, model = _header(self, header)
        try:
            rows = [(row_id, fields, base64.b64decode(vector)) for row_id, fields, vector in lines]
            vectors = np.frombuffer(b"".join(row[2] for row in rows), dtype="<f4").reshape(len(rows), dimension)
        except (ValueError, TypeError) as error:
            raise self.refuse(self.path, error) from error
        return StoredRows([row[0] for row in rows], [row[1] for row in rows], vectors, model)

    def written(self, rows: StoredRows, export: Export) -> Iterator[NewFile]:
        """Return the file."""
        yield NewFile(self.path, line_pieces(_lines(rows)))


def path_of(folder: Path, namespace: str) -> Path:
    """Return the file of a namespace."""
    return folder / f"faiss_{namespace}.jsonl"


def header_of(folder: Path, namespace: str) -> tuple[int, str] | None:
    """Return the dimension and model of a namespace without reading its rows, ``None`` when it has none.

    Raises:
        StorageError: The file is damaged.
        SchemaVersionError: A newer version wrote it.
        OSError: It cannot be read.
    """
    table = FaissTable(f"faiss/{namespace}", folder)
    header = next(read_lines(table.path), None)
    found = None if header is None else _header(table, header)
    return found if found and found[0] else None


def _header(table: FaissTable, header: Any) -> tuple[int, str]:
    match header:
        case {"format": int(version), "dimension": int(dimension), "model": str(model)}:
            if version > FORMAT:
                raise SchemaVersionError(
                    f"{str(table.path)!r} was written by a newer version of LightRAG; use that one"
                )
            return dimension, model
    raise table.refuse(table.path, "its first line does not say what it is")


def _lines(rows: StoredRows) -> Iterator[Any]:
    yield {"format": FORMAT, "dimension": rows.vectors.shape[1], "model": rows.model}
    for row_id, fields, vector in zip(rows.ids, rows.fields, rows.vectors, strict=True):
        yield [row_id, fields, base64.b64encode(vector.astype("<f4").tobytes()).decode()]
