"""Models whose whole behaviour can be read off the documents: facts stand in the text as ``A -> B: what links them``.

With them a test knows the graph that a set of documents must give, and can compute it without the engine.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from lightrag.contracts.models import EmbeddingFunc
from lightrag.prompts.rendering import DOCUMENT_MARKER, QUESTION_MARKER, between

DIMENSION = 32
FACT = re.compile(r"^(?P<source>[^>\n:]+?) -> (?P<target>[^>\n:]+?): (?P<text>.+)$", re.MULTILINE)


def embed_text(text: str) -> np.ndarray:
    """Return a unit vector that depends on the words of a text, so that texts with common words are similar."""
    vector = np.zeros(DIMENSION, dtype=np.float32)
    for word in re.findall(r"\w+", text.lower()):
        seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest(), "big")
        vector += np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)
    norm = float(np.linalg.norm(vector))
    return vector / norm if norm else vector


def make_embedding(dimension: int = DIMENSION, model_name: str | None = "facts") -> EmbeddingFunc:
    """Return an embedding function over :func:`embed_text`."""

    async def embed(texts: list[str]) -> np.ndarray:
        vectors = np.zeros((len(texts), dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row, : min(dimension, DIMENSION)] = embed_text(text)[:dimension]
        return vectors

    return EmbeddingFunc(embedding_dim=dimension, func=embed, model_name=model_name)


class FactModel:
    """A language model that extracts the facts of a text and answers with the context it was given.

    Attributes:
        calls: ``(task, prompt, system prompt)`` of every call.
        intercept: Called first with task and prompt; what it returns (unless ``None``) is the reply, what it raises
            is the failure.
    """

    def __init__(self, intercept: Callable[[str, str], str | None] | None = None) -> None:
        self.calls: list[tuple[str, str, str]] = []
        self.intercept = intercept

    async def __call__(
        self,
        prompt: str,
        system_prompt: str | None = None,
        history_messages: list[dict[str, str]] | None = None,
        **kwargs: Any,
    ) -> str:
        task = self._task(prompt, system_prompt or "", history_messages or [])
        self.calls.append((task, prompt, system_prompt or ""))
        if self.intercept is not None:
            reply = self.intercept(task, prompt)
            if reply is not None:
                return reply
        if task == "extract":
            return extraction_reply(between(prompt, DOCUMENT_MARKER) or "")
        if task == "glean":
            return "<|COMPLETE|>"
        if task == "summary":
            return "summary of " + " / ".join(sorted(re.findall(r"^- (.+)$", prompt, re.MULTILINE)))
        if task == "keywords":
            question = between(prompt, QUESTION_MARKER) or prompt
            words = [word for word in re.findall(r"\w+", question) if len(word) > 3]
            return f'{{"high_level_keywords": {_json(words)}, "low_level_keywords": {_json(words)}}}'
        return f"answer to {prompt}"

    @staticmethod
    def _task(prompt: str, system_prompt: str, history: list[dict[str, str]]) -> str:
        if DOCUMENT_MARKER in prompt:
            return "extract"
        if DOCUMENT_MARKER in system_prompt and history:
            return "glean"
        if "<descriptions>" in prompt:
            return "summary"
        if "high_level_keywords" in prompt:
            return "keywords"
        return "answer"

    def count(self, task: str) -> int:
        """Return how many calls of a task there were."""
        return sum(1 for name, _, _ in self.calls if name == task)


def _json(words: list[str]) -> str:
    return "[" + ", ".join(f'"{word}"' for word in words) + "]"


def facts_of(text: str) -> list[tuple[str, str, str]]:
    """Return the facts of a text: source, target, what links them."""
    return [(match["source"].strip(), match["target"].strip(), match["text"].strip()) for match in FACT.finditer(text)]


def extraction_reply(text: str) -> str:
    """Return the rows that a perfect model would give for a text."""
    rows: list[str] = []
    for source, target, link in facts_of(text):
        rows.append(f"entity<|#|>{source}<|#|>thing<|#|>{source} is told of in: {link}")
        rows.append(f"entity<|#|>{target}<|#|>thing<|#|>{target} is told of in: {link}")
        rows.append(f"relation<|#|>{source}<|#|>{target}<|#|>link<|#|>{link}")
    return "\n".join([*rows, "<|COMPLETE|>"])
