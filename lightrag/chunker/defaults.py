"""What the settings say about each strategy."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lightrag.exceptions import InputError

if TYPE_CHECKING:
    from lightrag.settings import ChunkSettings

_LETTERS = {"fixed_token": "f", "recursive_character": "r", "semantic_vector": "v", "paragraph_semantic": "p"}


def strategy_defaults(settings: ChunkSettings, strategy: str) -> dict[str, Any]:
    """Return the parameters of a strategy that documents have unless they ask for others.

    Args:
        settings: Of the engine.
        strategy: Name of a strategy; ``custom`` and unknown ones have the general sizes.

    Returns:
        Values for ``defaults`` of :func:`~lightrag.chunker.registry.chunk_options`.

    Raises:
        InputError: ``CHUNK_R_SEPARATORS`` is not a JSON list of texts.
    """
    values: dict[str, Any] = {
        "chunk_token_size": settings.chunk_token_size,
        "chunk_overlap_token_size": settings.chunk_overlap_token_size,
    }
    letter = _LETTERS.get(strategy, "")
    own_size = getattr(settings, f"chunk_{letter}_size", 0)
    if own_size:
        values["chunk_token_size"] = own_size
    own_overlap = getattr(settings, f"chunk_{letter}_overlap_size", -1)
    if own_overlap >= 0:
        values["chunk_overlap_token_size"] = own_overlap
    return values | _own_parameters(settings, strategy)


def _own_parameters(settings: ChunkSettings, strategy: str) -> dict[str, Any]:
    if strategy == "fixed_token" and settings.chunk_f_split_by_character:
        return {
            "split_by_character": settings.chunk_f_split_by_character,
            "split_by_character_only": settings.chunk_f_split_by_character_only,
        }
    if strategy == "recursive_character" and settings.chunk_r_separators:
        return {"separators": _separators(settings.chunk_r_separators)}
    if strategy == "semantic_vector":
        return {
            "breakpoint_threshold_type": settings.chunk_v_breakpoint_threshold_type,
            "breakpoint_threshold_amount": settings.chunk_v_breakpoint_threshold_amount or None,
            "buffer_size": settings.chunk_v_buffer_size,
            "sentence_split_regex": settings.chunk_v_sentence_split_regex or None,
        }
    if strategy == "paragraph_semantic":
        return {"drop_references": settings.chunk_p_drop_references}
    return {}


def _separators(text: str) -> list[str]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise InputError(f'CHUNK_R_SEPARATORS {text!r} must be a JSON list of texts, such as ["\\n", " "]')
    return found
