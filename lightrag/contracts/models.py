"""What a user hands to the engine: a language model, an embedding function, a reranker and a tokenizer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np

# await f(prompt, system_prompt=None, history_messages=[], **kwargs) -> str, or an iterator of pieces when streaming.
LLMReply = str | AsyncIterator[str]
LLMFunc = Callable[..., Awaitable[LLMReply]]
# await f(query=str, documents=list[str], top_n=int | None) -> [{"index": int, "relevance_score": float}, ...]
RerankFunc = Callable[..., Awaitable[list[dict[str, Any]]]]


class Tokenizer(Protocol):
    """Turns text into token ids and back. Needs no network."""

    def encode(self, content: str) -> list[int]:
        """Return the token ids of a text."""
        ...

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of token ids; bytes that are not UTF-8 become U+FFFD."""
        ...


@dataclass
class EmbeddingFunc:
    """An embedding function with what must be known about it.

    Attributes:
        embedding_dim: Dimension of the vectors.
        func: ``await func(texts, **kwargs)`` gives an array of shape ``(len(texts), embedding_dim)``.
        max_token_size: Longest text it takes, in tokens; ``None`` when not limited.
        send_dimensions: Pass ``embedding_dim=`` on, for models that can shorten their vectors.
        model_name: Names the model in stored data, so that another model's vectors are not mixed in.
        supports_asymmetric: Pass ``context="query" | "document"`` on.
    """

    embedding_dim: int
    func: Callable[..., Awaitable[np.ndarray]]
    max_token_size: int | None = None
    send_dimensions: bool = False
    model_name: str | None = None
    supports_asymmetric: bool = False

    def __post_init__(self) -> None:
        # A wrapped EmbeddingFunc would add its keyword arguments twice.
        while isinstance(self.func, EmbeddingFunc):
            self.func = self.func.func

    async def __call__(self, texts: Sequence[str], *, context: str | None = None, **kwargs: Any) -> np.ndarray:
        """Embed texts.

        Args:
            texts: What to embed.
            context: ``"query"`` or ``"document"``; passed on only to asymmetric models.
            kwargs: Passed on; ``model`` may name another model, which has a dimension of its own.

        Returns:
            ``float32`` array of shape ``(len(texts), embedding_dim)``.

        Raises:
            EmbeddingMismatchError: The model gave another number of vectors, another dimension, NaN or infinity.
        """
        import numpy as np

        from lightrag.exceptions import EmbeddingMismatchError

        if self.supports_asymmetric and context is not None:
            kwargs["context"] = context
        if self.send_dimensions:
            kwargs["embedding_dim"] = self.embedding_dim
        vectors = np.asarray(await self.func(list(texts), **kwargs), dtype=np.float32)
        name = kwargs.get("model") or self.model_name or self.func
        # Ready-made functions are called with other models, whose dimension whoever wraps them knows.
        is_of_model = name in (self.model_name, self.func) or vectors.ndim != 2
        expected = (len(texts), self.embedding_dim if is_of_model else vectors.shape[1])
        if vectors.shape != expected:
            raise EmbeddingMismatchError(
                f"embedding model {name!r} returned an array of shape {vectors.shape}; "
                f"expected {expected}: (number of texts, embedding_dim)"
            )
        if not np.isfinite(vectors).all():
            bad = int(np.argwhere(~np.isfinite(vectors).all(axis=1))[0, 0])
            raise EmbeddingMismatchError(
                f"embedding model {name!r} returned NaN or infinity for the text {texts[bad][:80]!r}"
            )
        return vectors
