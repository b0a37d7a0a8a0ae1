"""The models of an engine, by the role they play, each bounded in concurrency and time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lightrag.contracts.models import EmbeddingFunc, LLMReply, Tokenizer
from lightrag.exceptions import ModelReplyError
from lightrag.runtime.long_texts import Windows
from lightrag.runtime.text import whole_characters

if TYPE_CHECKING:
    import numpy as np

    from lightrag.runtime.calls import BoundedCalls
    from lightrag.runtime.observation import CallObserver

# Lower numbers run first: a person who waits for an answer goes before the background work of the pipeline.
PRIORITY_QUERY = 5
PRIORITY_SUMMARY = 8
PRIORITY_EXTRACT = 10


@dataclass
class TextModel:
    """A language model in one role. All but the role may be replaced while it is used; calls that run are not touched.

    Attributes:
        role: ``extract``, ``keyword`` or ``query``.
        identity: Names model and host; part of cache keys.
        calls: The bounded function.
        kwargs: Sent with every call.
        observer: Notes what calls cost; ``None`` for nobody.
    """

    role: str
    identity: str
    calls: BoundedCalls
    kwargs: dict[str, Any] = field(default_factory=dict)
    observer: CallObserver | None = None

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
        call = self.calls(
            prompt,
            system_prompt=system_prompt,
            history_messages=list(history),
            _priority=priority,
            **{**self.kwargs, **kwargs},
        )
        if self.observer is None:
            reply = await call
        else:
            sent = [prompt, system_prompt or "", *(message.get("content") or "" for message in history)]
            reply = await self.observer.watch(call, sent)
        if not isinstance(reply, str) and not hasattr(reply, "__aiter__"):
            raise ModelReplyError(
                f"the {self.role} model {self.identity!r} returned {type(reply).__name__}; "
                "expected str, or an async iterator of str when stream=True"
            )
        return whole_characters(reply) if isinstance(reply, str) else reply

    async def text(self, prompt: str, **kwargs: Any) -> str:
        """As :meth:`reply`, always as one text."""
        reply = await self.reply(prompt, **kwargs)
        if isinstance(reply, str):
            return reply
        return whole_characters("".join([piece async for piece in reply]))


@dataclass
class Embedder:
    """The embedding model, called in batches.

    Attributes:
        func: As the user gave it.
        calls: The bounded function.
        batch_size: Texts per call.
        observer: Notes what calls cost; ``None`` for nobody.
        windows: Cuts texts that are too long for the model; ``None`` sends them as they are.
    """

    func: EmbeddingFunc
    calls: BoundedCalls
    batch_size: int
    observer: CallObserver | None = None
    windows: Windows | None = None

    async def embed(
        self, texts: Sequence[str], *, context: str = "document", priority: int = PRIORITY_EXTRACT
    ) -> np.ndarray:
        """Embed texts, several batches at a time.

        A text that is too long for the model gets the mean of the vectors of its windows.

        Returns:
            ``float32`` array of shape ``(len(texts), embedding_dim)``.

        Raises:
            EmbeddingMismatchError: The model gave unusable vectors.
            ModelError: It failed or did not answer in time.
        """
        import numpy as np

        if not texts:
            return np.zeros((0, self.func.embedding_dim), dtype=np.float32)
        cut = None if self.windows is None else self.windows.cut(texts)
        if cut is None:
            return await self._embed_batches(texts, context, priority)
        return cut.joined(await self._embed_batches(cut.pieces, context, priority))

    async def _embed_batches(self, texts: Sequence[str], context: str, priority: int) -> np.ndarray:
        import numpy as np

        batches = [texts[start : start + self.batch_size] for start in range(0, len(texts), self.batch_size)]
        if len(batches) == 1:
            return await self._embed_batch(batches[0], context, priority)
        return np.concatenate(await asyncio.gather(*(self._embed_batch(batch, context, priority) for batch in batches)))

    async def _embed_batch(self, texts: Sequence[str], context: str, priority: int) -> np.ndarray:
        call = self.calls(texts, context=context, _priority=priority)
        if self.observer is None:
            return await call  # type: ignore[no-any-return]
        return await self.observer.watch(call, texts)  # type: ignore[no-any-return]

    def as_function(self) -> EmbeddingFunc:
        """Return it as an embedding function, for stores that embed texts themselves."""

        async def embed(texts: list[str], context: str = "document") -> np.ndarray:
            return await self.embed(texts, context=context)

        return EmbeddingFunc(
            embedding_dim=self.func.embedding_dim,
            func=embed,
            max_token_size=self.func.max_token_size,
            model_name=self.func.model_name,
            supports_asymmetric=True,
        )


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
        retired: Functions that were replaced while they might still be called.
    """

    extract: TextModel
    keyword: TextModel
    query: TextModel
    embedder: Embedder
    rerank: BoundedCalls | None
    tokenizer: Tokenizer
    retired: list[BoundedCalls] = field(default_factory=list)

    def text_models(self) -> tuple[TextModel, ...]:
        """Return the language models, one for each role that is played."""
        return (self.extract, self.keyword, self.query)

    async def shutdown(self) -> None:
        """Stop calls that still run and close idle connections."""
        from lightrag.runtime.clients import close_idle_clients

        distinct = {id(calls): calls for calls in self._all_calls()}
        for calls in distinct.values():
            await calls.shutdown()
        await close_idle_clients()

    def _all_calls(self) -> list[BoundedCalls]:
        own = [*(model.calls for model in self.text_models()), self.embedder.calls, *self.retired]
        return own if self.rerank is None else [*own, self.rerank]
