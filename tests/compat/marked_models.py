"""Models that both engines are given: facts stand in the text as ``[[A|B|what links them]]``.

Imports nothing but NumPy, so that it runs in the environment of either engine.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

import numpy as np

DIMENSION = 32
FACT = re.compile(r"\[\[([^|\[\]]+)\|([^|\[\]]+)\|([^|\[\]]+)\]\]")


async def complete(
    prompt: str, system_prompt: str | None = None, history_messages: list[dict[str, str]] | None = None, **_: Any
) -> str:
    """Extract the facts of a text; to everything else say the same."""
    facts = FACT.findall(prompt) or FACT.findall(system_prompt or "")
    if history_messages or not facts:
        return "<|COMPLETE|>"
    rows = []
    for source, target, link in facts:
        rows.append(f"entity<|#|>{source}<|#|>person<|#|>{source} is known for: {link}.")
        rows.append(f"entity<|#|>{target}<|#|>place<|#|>{target} is known for: {link}.")
        rows.append(f"relation<|#|>{source}<|#|>{target}<|#|>link, tie<|#|>{source} {link} {target}.")
    return "\n".join([*rows, "<|COMPLETE|>"])


async def embed(texts: list[str], **_: Any) -> np.ndarray:
    """Return unit vectors that depend on the words of each text."""
    vectors = np.full((len(texts), DIMENSION), 0.05, dtype=np.float32)
    for row, text in enumerate(texts):
        for word in re.findall(r"\w+", text.lower()):
            seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest(), "big")
            vectors[row] += np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class ByteTokenizer:
    """One token for every byte: needs no vocabulary."""

    def encode(self, content: str, **_: Any) -> list[int]:
        return list(content.encode("utf-8", "surrogatepass"))

    def decode(self, tokens: list[int], **_: Any) -> str:
        return bytes(tokens).decode("utf-8", "replace")
