"""What chunkers take and give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

from lightrag.exceptions import InputError


class ChunkRow(TypedDict):
    """One chunk.

    Attributes:
        tokens: Its number of tokens, at most the chunk size.
        content: A piece of the document, without white space around it.
        chunk_order_index: Its position, from 0.
    """

    tokens: int
    content: str
    chunk_order_index: int


@dataclass(frozen=True, slots=True)
class ChunkOptions:
    """Parameters of a strategy; each uses those that concern it.

    Attributes:
        chunk_token_size: Tokens per chunk at the most.
        chunk_overlap_token_size: Tokens that neighbouring chunks share.
        split_by_character: Cut at this text first (``fixed_token``).
        split_by_character_only: Cut nowhere else, even where pieces get longer than the chunk size.
        separators: Where to cut, the best places first (``recursive_character``); ``None`` for the default
            ones.
    """

    chunk_token_size: int = 1200
    chunk_overlap_token_size: int = 100
    split_by_character: str | None = None
    split_by_character_only: bool = False
    separators: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        check_sizes(self.chunk_token_size, self.chunk_overlap_token_size)


def check_sizes(chunk_token_size: int, chunk_overlap_token_size: int) -> None:
    """Refuse sizes with which cutting would never come to an end.

    Raises:
        InputError: The size is not positive, or the overlap is negative or not smaller than the size.
    """
    if chunk_token_size < 1:
        raise InputError(f"chunk_token_size {chunk_token_size!r} must be at least 1")
    if not 0 <= chunk_overlap_token_size < chunk_token_size:
        raise InputError(
            f"chunk_overlap_token_size {chunk_overlap_token_size!r} must be at least 0 and smaller than "
            f"chunk_token_size {chunk_token_size!r}"
        )


def number_rows(pieces: list[tuple[int, str]]) -> list[dict[str, Any]]:
    """Return the rows of pieces ``(tokens, text)``; pieces of white space only are left out."""
    rows: list[dict[str, Any]] = []
    for tokens, text in pieces:
        content = text.strip()
        if content:
            rows.append(dict(ChunkRow(tokens=tokens, content=content, chunk_order_index=len(rows))))
    return rows
