"""What chunkers take and give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

from lightrag.exceptions import InputError

THRESHOLD_TYPES = ("percentile", "standard_deviation", "interquartile", "gradient")

MAX_SEPARATORS = 64
MAX_SEPARATOR_CHARACTERS = 256
MAX_BUFFER_SIZE = 10


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
        breakpoint_threshold_type: How the distance is found from which neighbouring sentences belong to different
            chunks (``semantic_vector``): one of ``THRESHOLD_TYPES``.
        breakpoint_threshold_amount: Percentile (0 to 100) for ``percentile`` and ``gradient``, else a multiple of the
            spread; ``None`` for the usual amount of the type.
        buffer_size: Neighbours on each side that a sentence is embedded with (``semantic_vector``).
        sentence_split_regex: Regular expression after whose matches a sentence ends; ``None`` for the default rule.
        drop_references: Leave out lists of references (``paragraph_semantic``).
    """

    chunk_token_size: int = 1200
    chunk_overlap_token_size: int = 100
    split_by_character: str | None = None
    split_by_character_only: bool = False
    separators: tuple[str, ...] | None = None
    breakpoint_threshold_type: str = "percentile"
    breakpoint_threshold_amount: float | None = None
    buffer_size: int = 1
    sentence_split_regex: str | None = None
    drop_references: bool = False

    def __post_init__(self) -> None:
        self._check_types()
        check_sizes(self.chunk_token_size, self.chunk_overlap_token_size)
        if self.separators is not None:
            _check_separators(self.separators)
        if self.breakpoint_threshold_type not in THRESHOLD_TYPES:
            raise InputError(
                f"breakpoint_threshold_type {self.breakpoint_threshold_type!r} is unknown; allowed are "
                f"{', '.join(THRESHOLD_TYPES)}"
            )
        self._check_amount()
        if not 0 <= self.buffer_size <= MAX_BUFFER_SIZE:
            raise InputError(f"buffer_size {self.buffer_size!r} must be from 0 to {MAX_BUFFER_SIZE}")

    def _check_types(self) -> None:
        for name in ("chunk_token_size", "chunk_overlap_token_size", "buffer_size"):
            _check(name, getattr(self, name), int, "a whole number")
        for name in ("split_by_character_only", "drop_references"):
            _check(name, getattr(self, name), bool, "true or false")
        for name in ("split_by_character", "sentence_split_regex"):
            if getattr(self, name) is not None:
                _check(name, getattr(self, name), str, "text")

    def _check_amount(self) -> None:
        amount = self.breakpoint_threshold_amount
        if amount is None:
            return
        _check("breakpoint_threshold_amount", amount, int | float, "a number")
        if self.breakpoint_threshold_type in ("percentile", "gradient") and not 0 <= amount <= 100:
            raise InputError(
                f"breakpoint_threshold_amount {amount!r} must be from 0 to 100 for {self.breakpoint_threshold_type!r}"
            )
        if not 0 <= amount < float("inf"):
            raise InputError(f"breakpoint_threshold_amount {amount!r} must be a number of at least 0")


def _check(name: str, value: Any, kind: Any, what: str) -> None:
    # To Python a truth value is a number too.
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise InputError(f"{name} {value!r} must be {what}")


def _check_separators(separators: tuple[str, ...]) -> None:
    if len(separators) > MAX_SEPARATORS:
        raise InputError(f"separators has {len(separators)} entries; allowed are {MAX_SEPARATORS}")
    for separator in separators:
        _check("separators: entry", separator, str, "text")
        if len(separator) > MAX_SEPARATOR_CHARACTERS:
            raise InputError(
                f"separators: entry {separator[:20]!r}… has {len(separator)} characters; allowed are "
                f"{MAX_SEPARATOR_CHARACTERS}"
            )


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
