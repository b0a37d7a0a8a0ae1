"""Strategy ``recursive_character``: cut at the best separators that make the pieces small enough.

Paragraphs stay together if they fit, else lines, else sentences, clauses, words; what is left over is cut by
tokens. Neighbouring pieces are then joined again up to the chunk size.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

from lightrag.chunker.boundaries import may_cut
from lightrag.chunker.fixed import chunking_by_token_size
from lightrag.chunker.options import ChunkOptions, number_rows
from lightrag.contracts.models import Tokenizer

# The best places first. A separator that ends with a space is cut before the space, so that words keep it in
# front of them, as tokenizers expect. CJK text has no spaces; its punctuation is wide.
DEFAULT_SEPARATORS = (
    "\n\n",
    "\n",
    "。", "！", "？", "｡",
    ". ", "! ", "? ", "… ", "؟ ", "۔ ", "। ",
    "；", "; ",
    "：", ": ",
    "，", "、", ", ", "، ",
    " ",
    "\u3000",
    "\u200b",
)  # fmt: skip


class _Unit(NamedTuple):
    """A piece of the text that is not cut further: positions and number of tokens."""

    start: int
    end: int
    tokens: int


def chunk_recursively(tokenizer: Tokenizer, text: str, options: ChunkOptions) -> list[dict[str, Any]]:
    """Cut a text at separators.

    Args:
        tokenizer: Counts tokens.
        text: Text to cut.
        options: Sizes and separators. An empty separator stands for "anywhere", which is always tried last.

    Returns:
        Rows ``{"tokens", "content", "chunk_order_index"}``; none for a text of white space only. ``tokens``
        is the sum over the pieces that a chunk was joined from, so the chunk has that many or fewer.
    """
    if not text.strip():
        return []
    separators = DEFAULT_SEPARATORS if options.separators is None else options.separators
    units = _units(tokenizer, text, [separator for separator in separators if separator], options.chunk_token_size)
    return number_rows(_join(text, units, options))


def _units(tokenizer: Tokenizer, text: str, separators: list[str], size: int) -> list[_Unit]:
    """Cut a text until every piece fits, using one separator after the other on the pieces that do not."""
    pending = [_Unit(0, len(text), len(tokenizer.encode(text)))]
    for separator in separators:
        if all(unit.tokens <= size for unit in pending):
            return pending
        finer: list[_Unit] = []
        for unit in pending:
            if unit.tokens <= size:
                finer.append(unit)
                continue
            places = _places(text, unit, separator)
            if len(places) == 2:
                finer.append(unit)
                continue
            for start, end in pairwise(places):
                finer.append(_Unit(start, end, len(tokenizer.encode(text[start:end]))))
        pending = finer
    return [part for unit in pending for part in _by_tokens(tokenizer, text, unit, size)]


def _places(text: str, unit: _Unit, separator: str) -> list[int]:
    """Return where to cut a piece at a separator, its ends included."""
    places = [unit.start]
    kept = len(separator.rstrip(" "))
    position = unit.start
    while True:
        found = text.find(separator, position, unit.end)
        if found < 0:
            break
        place = found + kept
        if places[-1] < place < unit.end and may_cut(text, place, places[-1]):
            places.append(place)
        position = found + len(separator)
    return [*places, unit.end]


def _by_tokens(tokenizer: Tokenizer, text: str, unit: _Unit, size: int) -> list[_Unit]:
    """Cut a piece that no separator makes small enough into windows without overlap."""
    if unit.tokens <= size:
        return [unit]
    parts: list[_Unit] = []
    position = unit.start
    for row in chunking_by_token_size(
        tokenizer, text[unit.start : unit.end], overlap_token_size=0, max_token_size=size
    ):
        start = text.index(row["content"], position, unit.end)
        position = start + len(row["content"])
        parts.append(_Unit(start, position, row["tokens"]))
    return parts


def _join(text: str, units: list[_Unit], options: ChunkOptions) -> list[tuple[int, str]]:
    """Join neighbouring pieces up to the chunk size; a chunk begins with the last pieces of the one before it."""
    chunks: list[tuple[int, str]] = []
    window: list[_Unit] = []
    total = 0
    for unit in units:
        if window and total + unit.tokens > options.chunk_token_size:
            chunks.append((total, text[window[0].start : window[-1].end]))
            keep, kept = len(window), 0
            while keep > 1 and kept + window[keep - 1].tokens <= options.chunk_overlap_token_size:
                keep -= 1
                kept += window[keep].tokens
            while keep < len(window) and kept + unit.tokens > options.chunk_token_size:
                kept -= window[keep].tokens
                keep += 1
            window, total = window[keep:], kept
        window.append(unit)
        total += unit.tokens
    if window:
        chunks.append((total, text[window[0].start : window[-1].end]))
    return chunks
