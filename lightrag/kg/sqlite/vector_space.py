"""Which embedding model the vectors of a namespace come from, and whether others fit."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lightrag.exceptions import EmbeddingMismatchError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """The space that the vectors of a namespace live in.

    Attributes:
        namespace: Of the vector store.
        dimension: Of the vectors.
        model: Name of the embedding model; ``""`` when unknown, which fits every name.
    """

    namespace: str
    dimension: int
    model: str

    def check(self, connection: sqlite3.Connection, table: str, path: Path) -> None:
        """Refuse to mix vectors of two models. A namespace without rows takes any.

        Raises:
            EmbeddingMismatchError: Stored vectors have another dimension, or come from another model.
        """
        stored = self._stored(connection)
        if stored is None or self._fits(stored):
            return
        if connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() is None:
            return
        dimension, model = stored
        raise EmbeddingMismatchError(
            f"vectors {self.namespace!r} in {str(path)!r} were made by {model or 'an unnamed model'!r} with dimension "
            f"{dimension}; the embedding function in use is {self.model or 'an unnamed model'!r} with dimension "
            f"{self.dimension}. Use the same model, or another working_dir or workspace"
        )

    def record(self, connection: sqlite3.Connection) -> None:
        """Write down the space of the rows that are about to be stored; after :meth:`check`."""
        stored = self._stored(connection)
        model = self.model if stored is None or stored[0] != self.dimension else self.model or stored[1]
        if stored != (self.dimension, model):
            connection.execute(
                "INSERT INTO vector_spaces (namespace, dimension, model) VALUES (?, ?, ?) ON CONFLICT (namespace) "
                "DO UPDATE SET dimension = excluded.dimension, model = excluded.model",
                (self.namespace, self.dimension, model),
            )

    def remove(self, connection: sqlite3.Connection) -> None:
        """Forget the space, after all rows were deleted."""
        connection.execute("DELETE FROM vector_spaces WHERE namespace = ?", (self.namespace,))

    def check_vectors(self, vectors: NDArray[np.floating], what: str, ids: Sequence[str] = ()) -> None:
        """Refuse vectors that do not belong to the space.

        Args:
            vectors: Shape ``(rows, dimension)``.
            what: Names them in messages.
            ids: Name each row in messages.

        Raises:
            EmbeddingMismatchError: Wrong dimension, NaN or infinity.
        """
        import numpy as np

        if vectors.ndim != 2 or vectors.shape[1] != self.dimension:
            raise EmbeddingMismatchError(
                f"the vector of {what} has shape {vectors.shape[1:]}; {self.namespace!r} holds vectors of shape "
                f"{(self.dimension,)}"
            )
        finite = np.isfinite(vectors).all(axis=1)
        if not finite.all():
            bad = int(np.flatnonzero(~finite)[0])
            name = f"row {ids[bad]!r}" if ids else what
            raise EmbeddingMismatchError(f"the vector of {name} for {self.namespace!r} holds NaN or infinity")

    def _stored(self, connection: sqlite3.Connection) -> tuple[int, str] | None:
        row = connection.execute(
            "SELECT dimension, model FROM vector_spaces WHERE namespace = ?", (self.namespace,)
        ).fetchone()
        return None if row is None else (int(row[0]), str(row[1]))

    def _fits(self, stored: tuple[int, str]) -> bool:
        dimension, model = stored
        return dimension == self.dimension and (not model or not self.model or model == self.model)
