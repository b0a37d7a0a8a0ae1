"""Models without chance and without network: a hash embedder, a scripted language model, a scripted reranker."""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lightrag.contracts.models import EmbeddingFunc, Tokenizer
from lightrag.runtime.calls import BoundedCalls
from lightrag.runtime.model_set import Embedder, ModelSet, TextModel
from lightrag.runtime.retries import NO_RETRIES

DIMENSION = 256
_WORD = re.compile(r"\w+")


def hash_vector(text: str, dimension: int = DIMENSION) -> np.ndarray:
    """Return a unit vector made of the words of a text: texts that share words are near each other.

    A text without a word gives the first axis, so that no vector is zero.
    """
    vector = np.zeros(dimension, dtype=np.float32)
    for word in _WORD.findall(text.lower()):
        number = zlib.crc32(word.encode())
        vector[number % dimension] += 1.0 if number & 0x10000 else -1.0
    norm = float(np.linalg.norm(vector))
    if not norm:
        vector[0] = norm = 1.0
    return vector / norm


@dataclass
class HashEmbedder:
    """Embeds by the words of a text, and remembers what it was asked.

    Attributes:
        dimension: Of its vectors.
        calls: The texts of every call.
    """

    dimension: int = DIMENSION
    calls: list[list[str]] = field(default_factory=list)

    async def __call__(self, texts: Sequence[str], **kwargs: Any) -> np.ndarray:
        self.calls.append(list(texts))
        return np.stack([hash_vector(text, self.dimension) for text in texts])

    def function(self) -> EmbeddingFunc:
        """Return it as users hand it to the engine."""
        return EmbeddingFunc(embedding_dim=self.dimension, func=self, model_name="hash")


@dataclass
class Call:
    """One call of the language model."""

    prompt: str
    system_prompt: str | None
    history: list[dict[str, str]]
    options: dict[str, Any]


Reply = str | Exception | Callable[[Call], str]


@dataclass
class ScriptedLLM:
    """Answers from a list, then always with ``default``; an exception in the list is raised.

    With ``stream=True`` a reply comes word by word; ``pieces_given`` counts them and ``streams_closed`` the streams
    that were closed before their end.

    Attributes:
        replies: What comes next.
        default: What comes when the list is empty; a function makes the reply from the call.
        calls: Every call so far.
    """

    replies: list[Reply] = field(default_factory=list)
    default: Reply = "An answer [1]."
    can_stream: bool = True
    calls: list[Call] = field(default_factory=list)
    pieces_given: int = 0
    streams_closed: int = 0

    async def __call__(
        self,
        prompt: str,
        system_prompt: str | None = None,
        history_messages: Sequence[dict[str, str]] = (),
        **kwargs: Any,
    ) -> str | AsyncIterator[str]:
        call = Call(prompt, system_prompt, list(history_messages), kwargs)
        self.calls.append(call)
        reply = self.replies.pop(0) if self.replies else self.default
        if isinstance(reply, Exception):
            raise reply
        text = reply if isinstance(reply, str) else reply(call)
        return self._pieces(text) if kwargs.get("stream") and self.can_stream else text

    async def _pieces(self, text: str) -> AsyncIterator[str]:
        try:
            for piece in re.findall(r"\S+\s*", text):
                await asyncio.sleep(0)
                self.pieces_given += 1
                yield piece
        except GeneratorExit:
            self.streams_closed += 1
            raise


@dataclass
class ScriptedReranker:
    """Scores documents by a function; an exception instead of it is raised.

    Attributes:
        score: Score of a document.
        calls: ``(query, documents, top_n)`` of every call.
    """

    score: Callable[[str], float] | Exception
    calls: list[tuple[str, list[str], int | None]] = field(default_factory=list)

    async def __call__(self, query: str, documents: list[str], top_n: int | None = None) -> list[dict[str, Any]]:
        self.calls.append((query, documents, top_n))
        if isinstance(self.score, Exception):
            raise self.score
        scores = [(index, self.score(document)) for index, document in enumerate(documents)]
        scores.sort(key=lambda item: -item[1])
        return [{"index": index, "relevance_score": score} for index, score in scores[:top_n]]


class WordTokenizer:
    """One token per word or sign; cheap to predict in a test."""

    def __init__(self) -> None:
        self.encoded = 0
        self._words: dict[str, int] = {}

    def encode(self, content: str) -> list[int]:
        self.encoded += 1
        pieces = re.findall(r"\s*\w+|\s*[^\w\s]|\s+$", content)
        return [self._words.setdefault(piece, len(self._words)) for piece in pieces]

    def decode(self, tokens: Sequence[int]) -> str:
        pieces = list(self._words)
        return "".join(pieces[token] for token in tokens)


def fake_models(
    *,
    query: Any = None,
    keyword: Any = None,
    extract: Any = None,
    embedder: HashEmbedder | None = None,
    rerank: Any = None,
    tokenizer: Tokenizer | None = None,
) -> ModelSet:
    """Return models for an engine, without retries; what is not given is a :class:`ScriptedLLM` of its own."""

    def text_model(role: str, function: Any) -> TextModel:
        calls = BoundedCalls(function or ScriptedLLM(), 4, name=role, retry=NO_RETRIES)
        return TextModel(role=role, identity=f"fake-{role}", calls=calls)

    function = (embedder or HashEmbedder()).function()
    return ModelSet(
        extract=text_model("extract", extract),
        keyword=text_model("keyword", keyword),
        query=text_model("query", query),
        embedder=Embedder(
            func=function, calls=BoundedCalls(function, 8, name="embed", retry=NO_RETRIES), batch_size=10
        ),
        rerank=None if rerank is None else BoundedCalls(rerank, 4, name="rerank", retry=NO_RETRIES),
        tokenizer=tokenizer or WordTokenizer(),
    )
