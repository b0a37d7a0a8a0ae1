"""Strategy ``semantic_vector``: cut where neighbouring sentences mean different things.

Each sentence is embedded together with its neighbours; where the distance between two that follow each other is among
the largest of the document, a chunk ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lightrag.chunker.options import ChunkOptions, number_rows
from lightrag.chunker.recursive import chunk_recursively
from lightrag.chunker.sentences import sentence_spans
from lightrag.contracts.models import Tokenizer
from lightrag.exceptions import ModelReplyError

if TYPE_CHECKING:
    import numpy as np

# texts -> vectors, shape (number of texts, dimension).
EmbedTexts = Callable[[list[str]], Awaitable["np.ndarray"]]

# What counts as "among the largest" unless the document says otherwise.
DEFAULT_AMOUNTS = {"percentile": 95.0, "standard_deviation": 3.0, "interquartile": 1.5, "gradient": 95.0}


async def chunk_by_meaning(
    tokenizer: Tokenizer, text: str, options: ChunkOptions, embed: EmbedTexts
) -> list[dict[str, Any]]:
    """Cut a text where its meaning changes.

    Args:
        tokenizer: Counts tokens.
        text: Text to cut.
        options: Size, threshold and buffer. There is no overlap.
        embed: Embeds texts; it is asked once, with as many texts as there are sentences.

    Returns:
        Rows ``{"tokens", "content", "chunk_order_index"}``; none for a text of white space only. A chunk that would be
        longer than the size is cut further at the best separators.

    Raises:
        InputError: The sentence pattern is no regular expression.
        ModelReplyError: The embedding function returned something else than one finite vector for each text.
        ModelError: It failed.
    """
    spans = await asyncio.to_thread(_short_spans, tokenizer, text, options)
    if not spans:
        return []
    places: list[int] = []
    if len(spans) > 1:
        windows = _windows(text, spans, options.buffer_size)
        distances = _distances(await embed(windows), len(windows))
        places = [spans[index][1] for index in breakpoints(distances, options)]
    return await asyncio.to_thread(_rows, tokenizer, text, places, options)


def _rows(tokenizer: Tokenizer, text: str, places: list[int], options: ChunkOptions) -> list[dict[str, Any]]:
    pieces: list[tuple[int, str]] = []
    for start, end in pairwise([0, *places, len(text)]):
        pieces.extend(_fitting(tokenizer, text[start:end], options))
    return number_rows(pieces)


def _windows(text: str, spans: list[tuple[int, int]], buffer_size: int) -> list[str]:
    """Return each sentence with its neighbours."""
    last = len(spans) - 1
    return [
        text[spans[max(0, index - buffer_size)][0] : spans[min(last, index + buffer_size)][1]].strip()
        for index in range(len(spans))
    ]


def _short_spans(tokenizer: Tokenizer, text: str, options: ChunkOptions) -> list[tuple[int, int]]:
    """Return the sentences that have text, the long ones cut so that a window of them is no longer than a chunk."""
    # The space between two of them may count as a token more.
    most = max(1, options.chunk_token_size // (2 * options.buffer_size + 1) - 1)
    spans: list[tuple[int, int]] = []
    for start, end in sentence_spans(text, options.sentence_split_regex):
        if not text[start:end].strip():
            # It belongs to the sentence before it, so that nothing is lost between two.
            if spans:
                spans[-1] = (spans[-1][0], end)
            continue
        if len(tokenizer.encode(text[start:end])) <= most:
            spans.append((start, end))
            continue
        position = start
        for content in _cut(tokenizer, text[start:end], most):
            position = text.index(content, position) + len(content)
            spans.append((spans[-1][1] if spans else 0, position))
        spans[-1] = (spans[-1][0], end)
    return spans


def _cut(tokenizer: Tokenizer, text: str, size: int) -> list[str]:
    rows = chunk_recursively(tokenizer, text, ChunkOptions(chunk_token_size=size, chunk_overlap_token_size=0))
    return [row["content"] for row in rows]


def _fitting(tokenizer: Tokenizer, text: str, options: ChunkOptions) -> list[tuple[int, str]]:
    tokens = len(tokenizer.encode(text))
    if tokens <= options.chunk_token_size:
        return [(tokens, text)]
    whole = ChunkOptions(chunk_token_size=options.chunk_token_size, chunk_overlap_token_size=0)
    return [(row["tokens"], row["content"]) for row in chunk_recursively(tokenizer, text, whole)]


def _distances(vectors: Any, count: int) -> list[float]:
    """Return the cosine distance of each vector to the next one, from 0 to 2."""
    import numpy as np

    try:
        matrix = np.asarray(vectors, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelReplyError(f"the embedding function returned no vectors of numbers: {error}") from error
    if matrix.ndim != 2 or len(matrix) != count or not np.isfinite(matrix).all():
        raise ModelReplyError(
            f"the embedding function returned shape {matrix.shape} for {count} sentences; expected that many vectors "
            "of finite numbers"
        )
    lengths = np.linalg.norm(matrix, axis=1)
    # A vector of zeros points nowhere and has nothing in common with any other.
    unit = matrix / np.where(lengths == 0, 1.0, lengths)[:, None]
    similarities = np.clip(np.sum(unit[:-1] * unit[1:], axis=1), -1.0, 1.0)
    return [float(value) for value in 1.0 - similarities]


def breakpoints(distances: Sequence[float], options: ChunkOptions) -> list[int]:
    """Return the indices of the distances at which a chunk ends.

    Args:
        distances: From each sentence to the next.
        options: ``percentile``: larger than that share of the distances. ``standard_deviation``: larger than the mean
            by so many standard deviations; ``interquartile``: by so many times the distance between the quartiles.
            ``gradient``: where the distance rises more steeply than that share of the places.
    """
    import numpy as np

    if not distances:
        return []
    values = np.asarray(distances, dtype=np.float64)
    kind = options.breakpoint_threshold_type
    amount = options.breakpoint_threshold_amount
    if amount is None:
        amount = DEFAULT_AMOUNTS[kind]
    if kind == "gradient":
        if len(values) < 2:
            return []
        values = np.gradient(values)
    if kind in ("percentile", "gradient"):
        threshold = float(np.percentile(values, amount))
    elif kind == "standard_deviation":
        threshold = float(np.mean(values) + amount * np.std(values))
    else:
        low, high = np.percentile(values, [25, 75])
        threshold = float(np.mean(values) + amount * (high - low))
    return [int(index) for index in np.flatnonzero(values > threshold)]
