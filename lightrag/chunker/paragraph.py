"""Strategy ``paragraph_semantic``: sections of a Markdown text, with the headings they stand under.

A section stays whole if it fits; small ones are joined with their neighbours. A section that is too long is cut between
its paragraphs, a table between its rows, with its heading row in every part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from lightrag.chunker.blocks import Block, Kind, markdown_blocks
from lightrag.chunker.options import ChunkOptions
from lightrag.chunker.recursive import chunk_recursively
from lightrag.contracts.models import Tokenizer

# A chunk that is fuller than this ends before the next heading; one that is emptier takes in the next section.
_FULL_ENOUGH = 0.5
_REFERENCE_TITLES = frozenset(
    {
        *("references", "bibliography", "works cited", "literature cited", "literatur", "literaturverzeichnis"),
        *("quellen", "références", "bibliographie", "referencias", "bibliografía", "riferimenti", "bibliografia"),
        *("referências", "литература", "список литературы", "参考文献", "參考文獻", "참고문헌", "참고 문헌"),
    }
)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of the text that is not cut further.

    Attributes:
        start: Its first character; pieces that follow each other are joined as they stand in the text.
        end: The one behind its last.
        tokens: Its tokens.
        headings: The headings it stands under.
        text: Its own text where it is not what stands between ``start`` and ``end``: a part of a table.
        kind: What it is; no chunk should end with a heading, and a table is cut between its rows.
    """

    start: int
    end: int
    tokens: int
    headings: tuple[str, ...]
    text: str | None = None
    kind: Kind = "paragraph"


def chunk_paragraphs(tokenizer: Tokenizer, text: str, options: ChunkOptions) -> list[dict[str, Any]]:
    """Cut a Markdown text into sections.

    Args:
        tokenizer: Counts tokens.
        text: Text to cut.
        options: Size, whether lists of references are left out, and the overlap of the parts of a long paragraph.

    Returns:
        Rows ``{"tokens", "content", "chunk_order_index", "heading"}``; none for a text of white space only. ``heading``
        lists the headings that all of the chunk stands under, outermost first.
    """
    blocks = markdown_blocks(text)
    if options.drop_references:
        blocks = [block for block in blocks if not _is_reference(block)]
    size = options.chunk_token_size
    chunks: list[list[_Piece]] = []
    current: list[_Piece] = []
    for _, section in groupby(blocks, key=lambda block: block.headings):
        pieces = [_piece(tokenizer, text, block) for block in section]
        if not text[pieces[0].start : pieces[-1].end].strip():
            continue
        if all(_is_heading(piece) for piece in current):
            pieces, current = [*current, *pieces], []
        filled = _total(current)
        if current and (filled >= size * _FULL_ENOUGH or filled + _total(pieces) > size):
            chunks.append(current)
            current = []
        if _total(current) + _total(pieces) <= size:
            current = [*current, *pieces]
            continue
        *whole, current = _cut_section(tokenizer, text, pieces, options)
        chunks.extend(whole)
    chunks.append(current)
    return _rows(text, chunks)


def _is_reference(block: Block) -> bool:
    return any(heading.casefold().rstrip(":").strip(" 0123456789.") in _REFERENCE_TITLES for heading in block.headings)


def _is_heading(piece: _Piece) -> bool:
    return piece.kind == "heading"


def _piece(tokenizer: Tokenizer, text: str, block: Block) -> _Piece:
    tokens = len(tokenizer.encode(text[block.start : block.end]))
    return _Piece(block.start, block.end, tokens, block.headings, kind=block.kind)


def _total(pieces: list[_Piece]) -> int:
    return sum(piece.tokens for piece in pieces)


def _cut_section(tokenizer: Tokenizer, text: str, pieces: list[_Piece], options: ChunkOptions) -> list[list[_Piece]]:
    """Cut a section that is too long between its pieces, and the pieces that are too long themselves."""
    chunks: list[list[_Piece]] = [[]]
    size = options.chunk_token_size
    for piece in pieces:
        parts = [piece]
        if piece.tokens > size:
            # The first part stands under its heading, so the parts are that much smaller.
            lead = _total(chunks[-1]) if all(_is_heading(before) for before in chunks[-1]) else 0
            room = size - lead if lead <= size * _FULL_ENOUGH else size
            overlap = min(options.chunk_overlap_token_size, room - 1)
            smaller = replace(options, chunk_token_size=room, chunk_overlap_token_size=overlap)
            parts = _cut_piece(tokenizer, text, piece, smaller)
        for part in parts:
            if chunks[-1] and not _joins(chunks[-1], part, size):
                chunks.append([])
            chunks[-1].append(part)
    return chunks


def _joins(chunk: list[_Piece], part: _Piece, size: int) -> bool:
    """Tell whether a part goes on with a chunk: parts that were cut do only where a heading stands before them."""
    is_whole = part.text is None and chunk[-1].text is None
    return (is_whole or all(_is_heading(piece) for piece in chunk)) and _total(chunk) + part.tokens <= size


def _cut_piece(tokenizer: Tokenizer, text: str, piece: _Piece, options: ChunkOptions) -> list[_Piece]:
    body = text[piece.start : piece.end]
    lines = body.strip().split("\n")
    # One without rows has nothing but a head that could be repeated.
    if piece.kind == "table" and len(lines) > 2:
        parts = _cut_table(tokenizer, lines, options)
    else:
        parts = [(row["tokens"], row["content"]) for row in chunk_recursively(tokenizer, body, options)]
    return [replace(piece, tokens=tokens, text=part) for tokens, part in parts]


def _cut_table(tokenizer: Tokenizer, lines: list[str], options: ChunkOptions) -> list[tuple[int, str]]:
    """Cut a table between its rows; each part begins with the heading row and the rule under it.

    A row that is too long even alone is cut like a paragraph.
    """
    head, rows = "\n".join(lines[:2]), lines[2:]
    head_tokens = len(tokenizer.encode(f"{head}\n"))
    parts: list[tuple[int, str]] = []
    current: list[str] = []
    used = head_tokens
    for row in rows:
        tokens = len(tokenizer.encode(f"{row}\n"))
        if current and used + tokens > options.chunk_token_size:
            parts.append((used, "\n".join([head, *current])))
            current, used = [], head_tokens
        if head_tokens + tokens > options.chunk_token_size:
            parts.extend((cut["tokens"], cut["content"]) for cut in chunk_recursively(tokenizer, row, options))
            continue
        current.append(row)
        used += tokens
    if current:
        parts.append((used, "\n".join([head, *current])))
    return parts


def _rows(text: str, chunks: list[list[_Piece]]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for chunk in chunks:
        content = "".join(
            text[piece.start : piece.end] if piece.text is None else piece.text for piece in chunk
        ).strip()
        if content:
            rows.append(
                {
                    "tokens": _total(chunk),
                    "content": content,
                    "chunk_order_index": len(rows),
                    "heading": _shared_headings(chunk),
                }
            )
    return rows


def _shared_headings(chunk: list[_Piece]) -> list[str]:
    """Return the headings that all pieces of a chunk stand under; a heading stands under itself."""
    bodies = [piece for piece in chunk if not _is_heading(piece)] or chunk
    first, *others = (piece.headings for piece in bodies)
    shared = len(first)
    for headings in others:
        while first[:shared] != headings[:shared]:
            shared -= 1
    return list(first[:shared])
