"""Vectors in memory: rows as text, vectors as one matrix."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightrag.kg.files.json_file import encode
from lightrag.kg.files.key_order import KeyOrder
from lightrag.kg.files.table import Export, NewFile, Operation, Table, Undo
from lightrag.kg.files.vector_files import StoredRows, VectorFiles, read_vectors, vector_files
from lightrag.kg.sqlite.matrix import MatrixState, VectorMatrix

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

# Id, text and vector of a row; a row without text is one to be deleted.
Item = tuple[str, str | None, "Vectors | None"]
Listener = Callable[[Mapping[int, dict[str, Any]]], None]

_MIN_CAPACITY = 256


class VectorTable(Table):
    """``vdb_….json`` for the peer, and ``lightrag_vdb_….jsonl`` with what it has no place for.

    Operations: ``["put", dimension, [[id, text]], vectors]`` (``float32``, little endian, base64),
    ``["delete", [id]]``, ``["model", name]``, ``["clear"]``.

    Attributes:
        rows: JSON text of the fields of each row, by id.
        numbers: Number of each row in the matrix, by id.
        ids: Id of each row, by number.
        scopes: Scope of the rows that are not of the aggregate, by number.
        model: Name of the embedding model; ``""`` when unknown.
        matrix: Vectors; ``None`` while no dimension is known.
        next_number: Number of the next new row; no row has a higher one.
        version: Changes with every change.
        listeners: Told of the fields of rows that are put, by number.
    """

    def __init__(self, name: str, folder: Path) -> None:
        """Start empty."""
        super().__init__(name, folder)
        self.rows: dict[str, str] = {}
        self.numbers: dict[str, int] = {}
        self.ids: dict[int, str] = {}
        self.scopes: dict[int, str] = {}
        self.model = ""
        self.matrix: VectorMatrix | None = None
        self.version = 0
        self.listeners: list[Listener] = []
        self.next_number = 0
        self._order = KeyOrder()

    @property
    def files(self) -> VectorFiles:
        """Both files."""
        peer, own = f"vdb_{self.namespace}.json", f"lightrag_vdb_{self.namespace}.jsonl"
        return VectorFiles(self.namespace, self.folder / peer, self.folder / own)

    def files_on_disk(self) -> Sequence[Path]:
        """Return both files."""
        return (self.files.peer, self.files.own)

    @property
    def dimension(self) -> int:
        """Of the vectors; 0 while none is known."""
        return 0 if self.matrix is None else self.matrix.dimension

    @property
    def state(self) -> MatrixState | None:
        """The vectors as they are now."""
        return None if self.matrix is None else self.matrix.state

    # --- reading the files -------------------------------------------------------------------------------------

    def load(self) -> None:
        """Read both files."""
        import numpy as np

        stored = self.read()
        if stored is None:
            return
        self.model = stored.model
        numbers = np.arange(len(stored.ids), dtype=np.int64)
        self.matrix = _matrix_of(self.name, stored.vectors, numbers)
        self.next_number = len(stored.ids)
        for number, (row_id, fields) in enumerate(zip(stored.ids, stored.fields, strict=True)):
            self._note(row_id, number, encode(fields), fields)

    # --- changing ----------------------------------------------------------------------------------------------

    def apply(self, operation: Operation) -> Undo:
        """Put, delete, name the model or clear."""
        match operation:
            case ["put", int(dimension), list(rows), str(data)]:
                return self._put(dimension, rows, base64.b64decode(data))
            case ["delete", list(ids)]:
                return self._undoing([(row_id, None, None) for row_id in ids])
            case ["model", str(model)]:
                return self._set_model(model)
            case ["clear"]:
                undo_rows = self._undoing([(row_id, None, None) for row_id in self.rows])
                undo_model = self._set_model("")

                def undo() -> None:
                    undo_model()
                    undo_rows()

                return undo
        raise ValueError(f"{operation[:1]!r} is no operation of {self.name!r}")

    def clear_operation(self) -> Operation:
        """Return the operation that deletes every row and forgets the model."""
        return ["clear"]

    def put_operation(self, rows: Sequence[tuple[str, str]], vectors: Vectors) -> Operation:
        """Return the operation that puts rows.

        Args:
            rows: Id and text of each.
            vectors: Of length 1 or 0, shape ``(len(rows), dimension)``.
        """
        data = base64.b64encode(vectors.astype("<f4").tobytes()).decode()
        return ["put", vectors.shape[1], [list(row) for row in rows], data]

    def _set_model(self, model: str) -> Undo:
        before, self.model = self.model, model

        def undo() -> None:
            self.model = before

        return undo

    def _put(self, dimension: int, rows: Sequence[Sequence[str]], data: bytes) -> Undo:
        import numpy as np

        vectors = np.frombuffer(data, dtype="<f4").reshape(len(rows), dimension)
        items: list[Item] = [(row_id, text, vector) for (row_id, text), vector in zip(rows, vectors, strict=True)]
        return self._undoing(items)

    def _undoing(self, items: Sequence[Item]) -> Undo:
        before: list[Item] = [(row_id, self.rows.get(row_id), self.vector(row_id)) for row_id, _, _ in items]
        self._replace(items)
        return lambda: self._replace(before)

    def _replace(self, items: Sequence[Item]) -> None:
        import numpy as np

        self.version += 1
        last = {item[0]: item for item in items}
        gone = [row_id for row_id, text, _ in last.values() if text is None and row_id in self.numbers]
        if gone and self.matrix is not None:
            self.matrix.remove([self._forget(row_id) for row_id in gone])
        kept = [(row_id, text, vector) for row_id, text, vector in last.values() if text is not None]
        if not kept:
            return
        vectors = np.stack([vector for _, _, vector in kept if vector is not None])
        if not self.rows and self.dimension != vectors.shape[1]:
            self.matrix = _matrix_of(self.name, vectors[:0], np.empty(0, dtype=np.int64))
        assert self.matrix is not None
        told: dict[int, dict[str, Any]] = {}
        for row_id, text, _ in kept:
            number = self.numbers.get(row_id)
            if number is None:
                number, self.next_number = self.next_number, self.next_number + 1
                self._order.added()
            told[number] = json.loads(text)
            self._note(row_id, number, text, told[number])
        self.matrix.put(list(told), vectors)
        for listener in self.listeners:
            listener(told)

    def _note(self, row_id: str, number: int, text: str, fields: Mapping[str, Any]) -> None:
        self.rows[row_id] = text
        self.numbers[row_id] = number
        self.ids[number] = row_id
        scope = fields.get("tenant_tag")
        if scope:
            self.scopes[number] = scope
        else:
            self.scopes.pop(number, None)

    def _forget(self, row_id: str) -> int:
        number = self.numbers.pop(row_id)
        del self.rows[row_id], self.ids[number]
        self.scopes.pop(number, None)
        return number

    # --- reading -----------------------------------------------------------------------------------------------

    def fields(self, row_id: str) -> dict[str, Any]:
        """Return the fields of a row that exists."""
        fields: dict[str, Any] = json.loads(self.rows[row_id])
        return fields

    def vector(self, row_id: str) -> Vectors | None:
        """Return a copy of the vector of a row, or ``None``."""
        number, state = self.numbers.get(row_id), self.state
        if number is None or state is None:
            return None
        vector: Vectors = state.vectors[state.positions[number]].copy()
        return vector

    def page(self, after: str, limit: int) -> list[str]:
        """Return up to ``limit`` ids that sort after ``after``, sorted."""
        return self._order.page(self.rows, self.rows, after, limit)

    def new_files(self, export: Export) -> Iterator[NewFile]:
        """Return both files."""
        import numpy as np

        ids = list(self.rows)
        state = self.state
        if state is None:
            vectors = np.empty((0, 0), dtype=np.float32)
        else:
            vectors = state.vectors[[state.positions[self.numbers[row_id]] for row_id in ids]]
            vectors = vectors.reshape(len(ids), self.dimension)
        rows = StoredRows(ids, [self.fields(row_id) for row_id in ids], vectors, self.model)
        yield from self.written(rows, export)

    # --- what a table with other files does in another way -----------------------------------------------------

    def read(self) -> StoredRows | None:
        """Return the rows of the files, ``None`` when there are none."""
        return read_vectors(self.files)

    def written(self, rows: StoredRows, export: Export) -> Iterator[NewFile]:
        """Return the files that hold some rows."""
        yield from vector_files(self.files, rows, export.sources)


def _matrix_of(name: str, vectors: Vectors, numbers: NDArray[np.int64]) -> VectorMatrix:
    """Return a matrix that holds rows under numbers."""
    import numpy as np

    count, dimension = vectors.shape
    capacity = max(_MIN_CAPACITY, count + count // 4)
    held = np.empty((capacity, dimension), dtype=np.float32)
    held[:count] = vectors
    row_ids = np.empty(capacity, dtype=np.int64)
    row_ids[:count] = numbers
    positions = dict(zip(numbers.tolist(), range(count), strict=True))
    none = np.empty(0, dtype=np.int64)
    matrix = VectorMatrix(name, dimension)
    matrix.state = MatrixState(held, row_ids, count, positions, none, np.flatnonzero(~held[:count].any(axis=1)))
    return matrix
