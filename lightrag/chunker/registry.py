"""The chunking strategies by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from lightrag.chunker.fixed import chunk_fixed_tokens
from lightrag.chunker.options import ChunkOptions
from lightrag.chunker.recursive import chunk_recursively
from lightrag.contracts.models import Tokenizer
from lightrag.exceptions import InputError

Chunker = Callable[[Tokenizer, str, ChunkOptions], list[dict[str, Any]]]

CHUNKERS: dict[str, Chunker] = {
    "fixed_token": chunk_fixed_tokens,
    "recursive_character": chunk_recursively,
}

_OPTION_NAMES = frozenset(option.name for option in fields(ChunkOptions))


def chunk_options(params: Mapping[str, Any]) -> ChunkOptions:
    """Return options from a mapping of their names.

    Raises:
        InputError: A name is unknown, or the sizes do not fit together.
    """
    unknown = sorted(set(params) - _OPTION_NAMES)
    if unknown:
        raise InputError(f"unknown chunking parameter {unknown[0]!r}; allowed are {sorted(_OPTION_NAMES)}")
    given = {name: value for name, value in params.items() if value is not None}
    if "separators" in given:
        given["separators"] = tuple(given["separators"])
    return ChunkOptions(**given)


def chunk_text(
    tokenizer: Tokenizer, text: str, strategy: str, params: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    """Cut a text by a strategy.

    Args:
        tokenizer: Counts tokens.
        text: Text to cut.
        strategy: Name of a strategy in ``CHUNKERS``.
        params: Options of :class:`~lightrag.chunker.options.ChunkOptions` by name.

    Returns:
        Rows ``{"tokens", "content", "chunk_order_index"}`` in order; none for a text of white space only.

    Raises:
        InputError: The strategy or a parameter is unknown, or the sizes do not fit together.
    """
    chunker = CHUNKERS.get(strategy)
    if chunker is None:
        raise InputError(f"unknown chunking strategy {strategy!r}; allowed are {sorted(CHUNKERS)}")
    return chunker(tokenizer, text, chunk_options(params or {}))
