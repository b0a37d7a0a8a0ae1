"""The models of an engine, by the role they play, each bounded in concurrency and time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lightrag.contracts.models import EmbeddingFunc, LLMReply, Tokenizer
from lightrag.exceptions import ModelReplyError

if TYPE_CHECKING:
    import numpy as np

    from lightrag.runtime.calls import BoundedCalls

# Lower numbers run first: a person who waits for an answer goes before the background work of the pipeline.
PRIORITY_QUERY = 5
PRIORITY_SUMMARY = 8
PRIORITY_EXTRACT = 10


@dataclass
class TextModel:
    """A language model in one role.

    Attributes:
        role: ``extract``, ``keyword`` or ``query``.
        identity: Names model and host; part of cache keys.
        calls: The bounded function.
        kwargs: Sent with every call.
    """

    role: str
    identity: str
    calls: BoundedCalls
    kwargs: dict[str, Any] = field(default_factory=dict)

    async def reply(
        self,
        prompt: str,
        *,
        system_prompt: str | None = None,
        history: Sequence[dict[str, str]] = (),
        priority: int = PRIORITY_EXTRACT,
        **kwargs: Any,
    ) -> LLMReply:
        """Call the model and return what it gives: text, or an iterator of pieces when ``stream=True``.

        Raises:
            ModelError: It failed, did not answer in time, or returned something else.
        """
        reply = await self.calls(
            prompt,
            system_prompt=system_prompt,
            history_messages=list(history),
            _priority=priority,
            **{**self.kwargs, **kwargs},
        )
        if not isinstance(reply, str) and not hasattr(reply, "__aiter__"):
            raise ModelReplyError(
                f"the {self.role} model {self.identity!r} returned {type(reply).__name__}; "
                "expected str, or an async iterator of str when stream=True"
            )
        return reply  # type: ignore[no-any-return]

    async def text(self, prompt: str, **kwargs: Any) -> str:
        """As :meth:`reply`, always as one text."""
        reply = await self.reply(prompt, **kwargs)
        if isinstance(reply, str):
            return reply
        return "".join([piece async for piece in reply])


@dataclass
class Embedder:
    """The embedding model, called in batches.

    Attributes:
        func: As the user gave it.
        calls: The bounded function.
        batch_size: Texts per call.
    """

    func: EmbeddingFunc
    calls: BoundedCalls
    batch_size: int

    async def embed(
        self, texts: Sequence[str], *, context: str = "document", priority: int = PRIORITY_EXTRACT
    ) -> np.ndarray:
        """Embed texts, several batches at a time.

        Returns:
            ``float32`` array of shape ``(len(texts), embedding_dim)``.

        Raises:
            EmbeddingMismatchError: The model gave unusable vectors.
            ModelError: It failed or did not answer in time.
        """
        import numpy as np

        if not texts:
            return np.zeros((0, self.func.embedding_dim), dtype=np.float32)
        batches = [texts[start : start + self.batch_size] for start in range(0, len(texts), self.batch_size)]
        if len(batches) == 1:
            return await self.calls(batches[0], context=context, _priority=priority)  # type: ignore[no-any-return]
        parts = await asyncio.gather(*(self.calls(batch, context=context, _priority=priority) for batch in batches))
        return np.concatenate(parts)


@dataclass
class ModelSet:
    """Everything the engine calls or counts with.

    Attributes:
        extract: Extraction and summaries.
        keyword: Keyword extraction from questions.
        query: Answers.
        embedder: Embeddings.
        rerank: Bounded rerank function ``(query=, documents=, top_n=)``, or ``None``.
        tokenizer: Counts tokens.
    """

    extract: TextModel
    keyword: TextModel
    query: TextModel
    embedder: Embedder
    rerank: BoundedCalls | None
    tokenizer: Tokenizer

    async def shutdown(self) -> None:
        """Stop calls that still run and close idle connections."""
        from lightrag.runtime.clients import close_idle_clients

        distinct = {id(calls): calls for calls in self._all_calls()}
        for calls in distinct.values():
            await calls.shutdown()
        await close_idle_clients()

    def _all_calls(self) -> list[BoundedCalls]:
        own = [self.extract.calls, self.keyword.calls, self.query.calls, self.embedder.calls]
        return own if self.rerank is None else [*own, self.rerank]
