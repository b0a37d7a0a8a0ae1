"""The vectors of rows on their way into a store: those that rows bring, and those that must be embedded."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lightrag.contracts.vector import Row
from lightrag.exceptions import EmbeddingMismatchError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lightrag.contracts.models import EmbeddingFunc


async def vectors_of_rows(
    data: Mapping[str, Row], func: EmbeddingFunc, *, batch_size: int, namespace: str
) -> NDArray[np.floating]:
    """Return the vectors of rows; those that rows do not bring are embedded from ``content``, in batches.

    Args:
        data: Rows by id, at least one.
        func: Embeds, and says which dimension is wanted.
        batch_size: Texts per call.
        namespace: Of the store, for messages.

    Returns:
        Finite, shape ``(len(data), func.embedding_dim)``, in the order of ``data``.

    Raises:
        EmbeddingMismatchError: A vector has the wrong dimension, or holds NaN or infinity.
    """
    import numpy as np

    given = [row.get("vector") for row in data.values()]
    missing = [index for index, vector in enumerate(given) if vector is None]
    if missing:
        contents = [str(row["content"]) for row in data.values()]
        batches = [missing[start : start + batch_size] for start in range(0, len(missing), batch_size)]
        embedded = await asyncio.gather(
            *(func([contents[index] for index in batch], context="document") for batch in batches)
        )
        for batch, array in zip(batches, embedded, strict=True):
            for index, vector in zip(batch, array, strict=True):
                given[index] = vector
    arrays = [np.asarray(vector) for vector in given]
    for key, array in zip(data, arrays, strict=True):
        if array.shape != (func.embedding_dim,):
            raise EmbeddingMismatchError(
                f"the vector of row {key!r} has shape {array.shape}; "
                f"{namespace!r} holds vectors of shape {(func.embedding_dim,)}"
            )
    vectors = np.stack(arrays)
    check_finite(vectors, list(data), namespace)
    return vectors


def target_vector(vector: np.ndarray | Sequence[float], dimension: int, namespace: str) -> NDArray[np.float64]:
    """Return the vector of a query, shape ``(dimension,)``.

    Raises:
        EmbeddingMismatchError: It has another shape, or holds NaN or infinity.
    """
    import numpy as np

    target = np.asarray(vector, dtype=np.float64)
    if target.shape != (dimension,):
        raise EmbeddingMismatchError(
            f"the vector of the query has shape {target.shape}; {namespace!r} holds vectors of shape {(dimension,)}"
        )
    check_finite(target[None, :], ["the query"], namespace)
    return target


def check_finite(vectors: NDArray[np.floating], names: Sequence[str], namespace: str) -> None:
    """Refuse vectors that hold NaN or infinity.

    Raises:
        EmbeddingMismatchError: One does; the message names it.
    """
    import numpy as np

    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        bad = names[int(np.flatnonzero(~finite)[0])]
        raise EmbeddingMismatchError(f"the vector of {bad!r} for {namespace!r} holds NaN or infinity")


def normalised(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return rows of length 1; zero rows stay zero.

    Args:
        vectors: Finite, shape ``(rows, dimension)``.
    """
    import numpy as np

    # The squares of very large or very small values would leave the range of the type.
    wide = np.asarray(vectors, dtype=np.float64)
    largest = np.abs(wide).max(axis=1, initial=0.0)
    largest[largest == 0.0] = 1.0
    wide = wide / largest[:, None]
    lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    lengths[lengths == 0.0] = 1.0
    return np.ascontiguousarray(wide / lengths[:, None], dtype="<f4")
