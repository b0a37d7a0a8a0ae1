"""What the embedding functions of all bindings share."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from lightrag.exceptions import ModelReplyError

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class EmbeddingOptions:
    """Keyword arguments of an embedding function, sorted.

    Attributes:
        timeout: Seconds that the server may take; ``None`` for the library's default.
        use_base64: Ask for vectors as base64 instead of decimal numbers.
        prefix: Put before every text; asymmetric models tell questions from documents by it.
        context: ``query`` or ``document``; ``""`` when not told.
        token_tracker: Told the tokens of the call; ``None`` for nobody.
        request: Everything else, sent to the server.
    """

    timeout: float | None
    use_base64: bool
    prefix: str
    context: str
    token_tracker: Any
    request: dict[str, Any]

    @classmethod
    def take(cls, kwargs: dict[str, Any]) -> Self:
        """Sort keyword arguments; ``context`` chooses between ``query_prefix`` and ``document_prefix``."""
        request = dict(kwargs)
        prefixes = {
            "query": request.pop("query_prefix", ""),
            "document": request.pop("document_prefix", ""),
        }
        context = request.pop("context", None) or ""
        return cls(
            timeout=request.pop("timeout", None),
            use_base64=bool(request.pop("use_base64", True)),
            prefix=prefixes.get(context, ""),
            context=context,
            token_tracker=request.pop("token_tracker", None),
            request=request,
        )

    def prefixed(self, texts: Sequence[str]) -> list[str]:
        """Return the texts as they are sent."""
        return [self.prefix + text for text in texts]


async def one_request_each(
    embed: Callable[[str], Awaitable[Any]], texts: Sequence[str], parallel: int = 8
) -> list[Any]:
    """Embed texts with a server that takes one text per request, with several requests under way at once.

    What the first request to fail raises is raised here, and the others are cancelled.

    Args:
        embed: Returns the vector of a text, as :func:`decode_vectors` takes it.
        texts: What to embed.
        parallel: Requests that are under way at most.

    Returns:
        One vector per text.
    """
    slots = asyncio.Semaphore(parallel)

    async def one(text: str) -> Any:
        async with slots:
            return await embed(text)

    tasks = [asyncio.create_task(one(text)) for text in texts]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


def in_order(source: str, rows: Any) -> list[Any]:
    """Return the vectors in an answer's ``data`` in the order of the texts, which the rows' ``index`` tells.

    Servers that number nothing, or give every row the same number, keep to the order of the texts.

    Args:
        source: Names the model in messages.
        rows: Objects or dictionaries with ``embedding`` and ``index``.

    Raises:
        ModelReplyError: They are something else, or their numbers do not tell which vector belongs to which text.
    """
    vectors = [_field(row, "embedding") for row in rows] if isinstance(rows, list) else [None]
    if any(vector is None for vector in vectors):
        raise ModelReplyError(f"{source} sent no list of vectors: {str(rows)[:200]!r}")
    numbers = [_field(row, "index") for row in rows]
    distinct = set(map(str, numbers))
    if len(distinct) <= 1:
        return vectors
    try:
        places = [int(number) for number in numbers]
    except (TypeError, ValueError):
        places = []
    if len(set(places)) < len(rows):
        raise ModelReplyError(f"{source} numbers its vectors {sorted(distinct)[:5]}; every text needs its own number")
    return [vector for _, vector in sorted(zip(places, vectors, strict=True), key=lambda pair: pair[0])]


def _field(row: Any, name: str) -> Any:
    return row.get(name) if isinstance(row, Mapping) else getattr(row, name, None)


def decode_vectors(source: str, rows: Sequence[Any], expected: int) -> np.ndarray:
    """Return the vectors of an answer as one array.

    Args:
        source: Names the model in messages.
        rows: One vector each: numbers, or base64 of little-endian ``float32``. Some servers send numbers
            whatever was asked for.
        expected: Number of vectors that there must be.

    Raises:
        ModelReplyError: There is another number of vectors, their lengths differ, or one cannot be read.
    """
    import numpy as np

    if len(rows) != expected:
        raise ModelReplyError(f"{source} gave {len(rows)} vectors for {expected} texts")
    try:
        # A number beyond float32 becomes infinity, which is refused where the dimension is checked.
        with np.errstate(over="ignore"):
            vectors = [
                np.frombuffer(base64.b64decode(row, validate=True), dtype="<f4")
                if isinstance(row, str)
                else np.asarray(row, dtype=np.float32)
                for row in rows
            ]
        return np.stack(vectors).astype(np.float32) if vectors else np.zeros((0, 0), dtype=np.float32)
    except (ValueError, TypeError, binascii.Error) as error:
        raise ModelReplyError(f"{source} gave vectors that cannot be read: {error}") from error
