"""Turn an async function into an :class:`~lightrag.contracts.models.EmbeddingFunc`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from lightrag.contracts.models import EmbeddingFunc

if TYPE_CHECKING:
    import numpy as np


def wrap_embedding_func_with_attrs(
    embedding_dim: int,
    max_token_size: int | None = None,
    **attributes: Any,
) -> Callable[[Callable[..., Awaitable[np.ndarray]]], EmbeddingFunc]:
    """Say what must be known about an embedding function.

    The decorated name is an :class:`EmbeddingFunc`; the function itself is its ``func``. To bind other
    arguments use that one, ``EmbeddingFunc(embedding_dim=..., func=partial(embed.func, model=...))``: the
    wrapper would check the vectors against the dimension given here.

    Args:
        embedding_dim: Dimension of the vectors.
        max_token_size: Longest text, in tokens; ``None`` when not limited.
        attributes: ``model_name``, ``send_dimensions`` and ``supports_asymmetric``, as in
            :class:`EmbeddingFunc`.

    Raises:
        TypeError: An attribute is not one of :class:`EmbeddingFunc`.
    """

    def wrap(func: Callable[..., Awaitable[np.ndarray]]) -> EmbeddingFunc:
        return EmbeddingFunc(embedding_dim=embedding_dim, func=func, max_token_size=max_token_size, **attributes)

    return wrap
