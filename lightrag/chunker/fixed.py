"""Strategy ``fixed_token``: windows of a fixed number of tokens that overlap."""

from __future__ import annotations

from typing import Any

from lightrag.chunker.boundaries import Place, TokenMap, cut_before
from lightrag.chunker.options import ChunkOptions, check_sizes, number_rows
from lightrag.contracts.models import Tokenizer

# A tokenizer that does not give a text back (one that drops case or accents) is asked about stretches of this
# many characters for every token of the chunk size; a token of ordinary text has three to five.
_CHARACTERS_PER_TOKEN = 4


def chunking_by_token_size(
    tokenizer: Tokenizer,
    content: str,
    split_by_character: str | None = None,
    split_by_character_only: bool = False,
    overlap_token_size: int = 100,
    max_token_size: int = 1200,
) -> list[dict[str, Any]]:
    """Cut a text into windows of tokens.

    A window ends at the last place that splits no character, emoji or other grapheme cluster. The last window
    is not followed by one that would only repeat its end.

    Args:
        tokenizer: Counts tokens.
        content: Text to cut.
        split_by_character: Cut at every occurrence of this text first; it is in no chunk. Pieces that are
            longer than ``max_token_size`` are cut further.
        split_by_character_only: Leave those long pieces whole.
        overlap_token_size: Tokens that a window shares with the one before it.
        max_token_size: Tokens of a window.

    Returns:
        Rows ``{"tokens", "content", "chunk_order_index"}``; none for a text of white space only. ``tokens``
        is the size of the window, white space at its ends included.

    Raises:
        InputError: ``overlap_token_size`` is not smaller than ``max_token_size``.
    """
    check_sizes(max_token_size, overlap_token_size)
    if not content.strip():
        return []
    if not split_by_character:
        return number_rows(_windows(tokenizer, content, max_token_size, overlap_token_size))
    pieces: list[tuple[int, str]] = []
    for part in content.split(split_by_character):
        if not part.strip():
            continue
        if split_by_character_only:
            pieces.append((len(tokenizer.encode(part)), part))
        else:
            pieces.extend(_windows(tokenizer, part, max_token_size, overlap_token_size))
    return number_rows(pieces)


def chunk_fixed_tokens(tokenizer: Tokenizer, text: str, options: ChunkOptions) -> list[dict[str, Any]]:
    """Cut a text as :func:`chunking_by_token_size` does, with its parameters as options."""
    return chunking_by_token_size(
        tokenizer,
        text,
        options.split_by_character,
        options.split_by_character_only,
        options.chunk_overlap_token_size,
        options.chunk_token_size,
    )


def _windows(tokenizer: Tokenizer, text: str, size: int, overlap: int) -> list[tuple[int, str]]:
    """Return ``(tokens, text)`` of each window."""
    tokens = TokenMap(tokenizer, text)
    if len(tokens) <= size:
        return [(len(tokens), text)]
    windows: list[tuple[int, str]] = []
    start = Place(0, 0)
    while True:
        end = tokens.last_before(start.token + size, start) or tokens.first_after(start.token + size, start)
        if end is None:
            rest = text[start.offset :]
            return [*windows, *_windows_by_characters(tokenizer, rest, size, overlap)]
        windows.append((end.token - start.token, text[start.offset : end.offset]))
        if end.token >= len(tokens):
            return windows
        following = tokens.last_before(end.token - overlap, start) if overlap else end
        # Clusters longer than the step would make the windows stand still.
        start = following or end


def _windows_by_characters(tokenizer: Tokenizer, text: str, size: int, overlap: int) -> list[tuple[int, str]]:
    """Return windows where tokens cannot be mapped to characters: try a length, halve it until it fits."""
    windows: list[tuple[int, str]] = []
    start = 0
    while start < len(text):
        length = max(1, size * _CHARACTERS_PER_TOKEN)
        while True:
            end = cut_before(text, min(start + length, len(text)), start)
            count = len(tokenizer.encode(text[start:end]))
            if count <= size or length == 1:
                break
            length = max(1, min(length - 1, length * size // count))
        windows.append((count, text[start:end]))
        if end >= len(text):
            break
        step_back = (end - start) * overlap // max(count, size)
        following = cut_before(text, max(start + 1, end - step_back), start)
        start = following if following > start else end
    return windows
