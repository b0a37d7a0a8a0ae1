"""The chunking strategies by name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from lightrag.chunker.fixed import chunk_fixed_tokens
from lightrag.chunker.options import ChunkOptions
from lightrag.chunker.paragraph import chunk_paragraphs
from lightrag.chunker.recursive import chunk_recursively
from lightrag.chunker.semantic import EmbedTexts, chunk_by_meaning
from lightrag.contracts.models import Tokenizer
from lightrag.exceptions import InputError

Chunker = Callable[[Tokenizer, str, ChunkOptions], list[dict[str, Any]]]

CHUNKERS: dict[str, Chunker] = {
    "fixed_token": chunk_fixed_tokens,
    "recursive_character": chunk_recursively,
    "paragraph_semantic": chunk_paragraphs,
}
"""The strategies that need nothing but the text."""

SEMANTIC = "semantic_vector"
CUSTOM = "custom"

_SIZES = frozenset({"chunk_token_size", "chunk_overlap_token_size"})
STRATEGIES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "fixed_token": _SIZES | {"split_by_character", "split_by_character_only"},
        "recursive_character": _SIZES | {"separators"},
        SEMANTIC: frozenset(
            {"chunk_token_size", "breakpoint_threshold_type", "breakpoint_threshold_amount", "buffer_size"}
        ),
        "paragraph_semantic": _SIZES | {"drop_references"},
        CUSTOM: _SIZES | {"split_by_character", "split_by_character_only"},
    }
)
"""All strategies, each with the parameters that a document may give it.

``custom`` is the chunking function that a user gave to the engine; the engine calls it, this package does not.
"""

# Only for operators: a regular expression can be written so that it never comes to an end.
_OPERATOR_ONLY: Mapping[str, frozenset[str]] = MappingProxyType({SEMANTIC: frozenset({"sentence_split_regex"})})
# The usual 100 of 1,200 tokens; an overlap that nobody asked for keeps that share where chunks are small.
_USUAL_OVERLAP_SHARE = 12


def chunk_options(
    params: Mapping[str, Any] | None, strategy: str | None = None, defaults: Mapping[str, Any] | None = None
) -> ChunkOptions:
    """Return the options of a strategy.

    Args:
        params: What the document asks for, by name. ``None`` as a value takes the default.
        strategy: Name in ``STRATEGIES``; ``None`` allows the parameters of all of them.
        defaults: What the engine's settings say; names that the strategy does not have are passed over, and an overlap
            that does not fit the document's chunk size shrinks.

    Raises:
        InputError: The strategy is unknown, or it has no such parameter, or a value cannot be used.
    """
    allowed = frozenset[str]().union(*STRATEGIES.values()) if strategy is None else STRATEGIES.get(strategy)
    if allowed is None:
        raise InputError(f"unknown chunking strategy {strategy!r}; allowed are {sorted(STRATEGIES)}")
    given = {name: value for name, value in (params or {}).items() if value is not None}
    unknown = sorted(set(params or {}) - allowed)
    if unknown:
        of_strategy = f" of strategy {strategy!r}" if strategy else ""
        raise InputError(f"unknown chunking parameter {unknown[0]!r}{of_strategy}; allowed are {sorted(allowed)}")
    known = allowed | _OPERATOR_ONLY.get(strategy or "", frozenset())
    values = {name: value for name, value in (defaults or {}).items() if name in known and value is not None} | given
    if "chunk_overlap_token_size" not in given:
        values["chunk_overlap_token_size"] = _fitting_overlap(values)
    separators = values.get("separators")
    if separators is not None:
        if isinstance(separators, str) or not isinstance(separators, list | tuple):
            raise InputError(f"separators {separators!r} must be a list of texts")
        values["separators"] = tuple(separators)
    return ChunkOptions(**values)


def _fitting_overlap(values: Mapping[str, Any]) -> Any:
    usual = ChunkOptions()
    size = values.get("chunk_token_size", usual.chunk_token_size)
    overlap = values.get("chunk_overlap_token_size", usual.chunk_overlap_token_size)
    # Values of the wrong kind are refused, with their names, where the options are made.
    too_large = isinstance(size, int) and isinstance(overlap, int) and overlap >= size >= 1
    return size // _USUAL_OVERLAP_SHARE if too_large else overlap


def chunk_text(
    tokenizer: Tokenizer,
    text: str,
    strategy: str,
    params: Mapping[str, Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Cut a text by a strategy that needs nothing but the text.

    Args:
        tokenizer: Counts tokens.
        text: Text to cut.
        strategy: Name of a strategy in ``CHUNKERS``.
        params: What the document asks for; see :func:`chunk_options`.
        defaults: What the engine's settings say.

    Returns:
        Rows ``{"tokens", "content", "chunk_order_index"}`` in order, and ``"heading"`` where the strategy knows it;
        none for a text of white space only.

    Raises:
        InputError: The strategy or a parameter is unknown, or the sizes do not fit together.
    """
    options = chunk_options(params, strategy, defaults)
    chunker = CHUNKERS.get(strategy)
    if chunker is None:
        raise InputError(f"chunking strategy {strategy!r} needs more than the text; usable here are {sorted(CHUNKERS)}")
    return chunker(tokenizer, text, options)


async def chunk_text_async(
    tokenizer: Tokenizer,
    text: str,
    strategy: str,
    params: Mapping[str, Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
    embed: EmbedTexts | None = None,
) -> list[dict[str, Any]]:
    """Cut a text by any strategy but ``custom``, without keeping the event loop waiting.

    Args:
        tokenizer: Counts tokens; called from another thread.
        text: Text to cut.
        strategy: Name of a strategy in ``STRATEGIES``.
        params: What the document asks for; see :func:`chunk_options`.
        defaults: What the engine's settings say.
        embed: Embeds texts; ``semantic_vector`` needs it.

    Returns:
        Rows as of :func:`chunk_text`.

    Raises:
        InputError: The strategy or a parameter is unknown, the sizes do not fit together, or ``embed`` is missing.
        ModelError: The embedding function failed.
    """
    if strategy == SEMANTIC:
        options = chunk_options(params, strategy, defaults)
        if embed is None:
            raise InputError(f"chunking strategy {strategy!r} needs an embedding function")
        return await chunk_by_meaning(tokenizer, text, options, embed)
    return await asyncio.to_thread(chunk_text, tokenizer, text, strategy, params, defaults)
