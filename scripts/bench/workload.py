"""The work that both engines are given: a corpus, its questions, and models that cost nothing.

Only the public interface of the engine is used, so this file runs unchanged under the interpreter of either
environment. Everything is a function of small integers; two runs, on two engines, see the same bytes.

Shape of the corpus, for each document: some 600 words in 975 tokens, which a window of 440 tokens with an
overlap of 100 cuts into 3 chunks; 10 names in each chunk, drawn with repetition from 2000 by Zipf's law; a
relation between each two neighbours, so 30 names and 27 relations. No name stands where two chunks overlap:
each belongs to one chunk, and the counts do not depend on how an engine treats the overlap.
"""

from __future__ import annotations

import asyncio
import bisect
import hashlib
import itertools
import json
import logging
import random
import re
import zlib
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from lightrag import LightRAG

EMBEDDING_DIM = 256
CHUNK_TOKENS = 440
CHUNK_OVERLAP_TOKENS = 100
BYTES_PER_TOKEN = 4

NAME_COUNT = 2000
NAMES_PER_CHUNK = 10
CHUNKS_PER_DOCUMENT = 3
# With repetition at this exponent a document holds some 53 distinct names and relations of its 57.
ZIPF_EXPONENT = 0.9

ENTITY_TYPES = ("person", "place", "organization", "event", "object", "concept")

# Where names may stand, in bytes: outside the overlaps [1360, 1760] and [2720, 3120] of the three windows.
_NAME_ZONES = ((24, 1340), (1780, 2700), (3140, 3880))
_DOCUMENT_BYTES = 3900

# Forms that no prompt uses, so that a reply can be computed from the text whatever the prompt around it says.
_MENTION = re.compile(r"\[~([^~\n]{1,80})~\]")
_TOPIC = re.compile(r"\[\?([^?\n]{1,80})\?\]")

_FIELD = "<|#|>"
_DONE = "<|COMPLETE|>"

LanguageModel = Callable[..., Coroutine[Any, Any, str]]
Embedder = Callable[..., Coroutine[Any, Any, np.ndarray]]


# --- words and names ----------------------------------------------------------------------------------------


def _pseudo_words(count: int, seed: int, *, syllables: Sequence[int]) -> list[str]:
    """Return distinct pronounceable lower-case words, the same ones for the same arguments."""
    rng = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        parts = rng.choice(syllables)
        word = "".join(rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(parts))
        found[word + rng.choice(("", "n", "r", "s"))] = None
    return list(found)


WORDS = _pseudo_words(1500, 1, syllables=(1, 2, 2, 3))
_GIVEN = _pseudo_words(NAME_COUNT, 2, syllables=(2, 3))
_FAMILY = _pseudo_words(NAME_COUNT, 3, syllables=(2, 3))
NAMES = tuple(f"{a.capitalize()} {b.capitalize()}" for a, b in zip(_GIVEN, _FAMILY, strict=True))
_ZIPF = list(itertools.accumulate((rank + 1) ** -ZIPF_EXPONENT for rank in range(NAME_COUNT)))


def draw_name(rng: random.Random) -> str:
    """Return one of the names, drawn by Zipf's law."""
    return NAMES[min(bisect.bisect(_ZIPF, rng.random() * _ZIPF[-1]), NAME_COUNT - 1)]


# --- documents ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Document:
    """One document: its id, its source path and its text."""

    id: str
    path: str
    text: str


def document_id(index: int) -> str:
    """Return the id of the document at a position of the corpus."""
    return f"doc-bench-{index:05d}"


def make_document(index: int) -> Document:
    """Write one document of the corpus.

    Args:
        index: Position in the corpus; the text depends on nothing else.
    """
    rng = random.Random(index * 7919 + 17)
    parts: list[str] = []
    length = 0

    def add(word: str) -> None:
        nonlocal length
        parts.append(word)
        length += len(word) + 1

    def fill(limit: float) -> None:
        nonlocal length
        while length < limit:
            add(rng.choice(WORDS))
        parts[-1] += "."
        length += 1

    add(f"Record {index:05d}")
    for start, end in _NAME_ZONES:
        fill(start)
        slot = (end - start) / NAMES_PER_CHUNK
        previous = ""
        for position in range(NAMES_PER_CHUNK):
            name = draw_name(rng)
            while name == previous:
                name = draw_name(rng)
            previous = name
            add(f"[~{name}~]")
            fill(start + slot * (position + 1) - 8)
    fill(_DOCUMENT_BYTES - 8)
    return Document(document_id(index), f"record-{index:05d}.txt", " ".join(parts))


def make_corpus(count: int) -> list[Document]:
    """Write the first documents of the corpus."""
    return [make_document(index) for index in range(count)]


def make_queries(count: int, *, seed: int = 0) -> list[str]:
    """Write distinct questions about names of the corpus.

    Args:
        count: How many.
        seed: Questions of different seeds are different; a warm-up uses a seed of its own.
    """
    rng = random.Random(seed * 104_729 + 5)
    questions = []
    for number in range(count):
        first, second = draw_name(rng), draw_name(rng)
        theme = rng.choice(WORDS)
        subject = f"what joins [?{first}?] to [?{second}?] over the {theme}?"
        questions.append(f"Question {seed}.{number}: {subject}")
    return questions


# --- tokenizer ----------------------------------------------------------------------------------------------


class BlockTokenizer:
    """Makes one token of each 4 bytes: reversible, and needs no vocabulary.

    English text has some 4.2 characters a token in the usual vocabularies, so budgets mean nearly the same.
    Blocks are cut one by one, at some 25 MB/s, the speed of a fast byte-pair encoder: a tokenizer that cost
    nothing would hide what an engine spends on counting the same text again.
    """

    def encode(self, content: str, **_: Any) -> list[int]:
        """Return the text's bytes, four to a number."""
        data = content.encode("utf-8", "surrogatepass")
        return [
            int.from_bytes(data[start : start + BYTES_PER_TOKEN], "little")
            for start in range(0, len(data), BYTES_PER_TOKEN)
        ]

    def decode(self, tokens: Sequence[int], **_: Any) -> str:
        """Return the text of tokens; a character that a cut divided is left out."""
        blocks = b"".join([token.to_bytes(BYTES_PER_TOKEN, "little") for token in tokens])
        return blocks.rstrip(b"\0").decode("utf-8", "ignore")


# --- models -------------------------------------------------------------------------------------------------


def _pick(words: Sequence[str], number: int, count: int) -> list[str]:
    """Return words chosen by the digits of a number."""
    chosen = []
    for _ in range(count):
        number, digit = divmod(number, len(words))
        chosen.append(words[digit])
        number ^= number << 13 & 0xFFFFFFFF
    return chosen


def _extraction_reply(mentions: list[str], text: str) -> str:
    """Return the tuple rows for the names of a chunk and for the relations of neighbours."""
    salt = zlib.crc32(text.encode())
    rows = []
    for name in dict.fromkeys(mentions):
        code = zlib.crc32(name.encode())
        a, b, c = _pick(WORDS, code ^ salt, 3)
        kind = ENTITY_TYPES[code % len(ENTITY_TYPES)]
        description = f"{name} kept the {a} of the {b} and later its {c}."
        rows.append(f"entity{_FIELD}{name}{_FIELD}{kind}{_FIELD}{description}")
    for first, second in itertools.pairwise(mentions):
        a, b, c = _pick(WORDS, zlib.crc32(f"{first}|{second}".encode()) ^ salt, 3)
        description = f"{first} gave {second} the {a} and the {c} of the {b}."
        rows.append(f"relation{_FIELD}{first}{_FIELD}{second}{_FIELD}{a}, {b}{_FIELD}{description}")
    rows.append(_DONE)
    return "\n".join(rows)


def _reply(prompt: str, system_prompt: str, history: bool) -> tuple[str, str]:
    """Return which kind of call this is and the reply to it."""
    topics = _TOPIC.findall(prompt) or _TOPIC.findall(system_prompt)
    if topics:
        themes = _pick(WORDS, zlib.crc32("|".join(topics).encode()), 2)
        return "keywords", json.dumps({"high_level_keywords": themes, "low_level_keywords": topics})
    mentions = _MENTION.findall(prompt) or _MENTION.findall(system_prompt)
    # A second look at a chunk carries the first reply, in the history or in the prompt itself.
    if history or (mentions and f"{_FIELD}{mentions[0]}{_FIELD}" in prompt):
        return "glean", _DONE
    if mentions:
        return "extract", _extraction_reply(mentions, prompt)
    words = _pick(WORDS, zlib.crc32(prompt.encode()), 6)
    return "summary", f"Known over the years for the {', the '.join(words)}, as several records say."


def make_language_model() -> tuple[LanguageModel, Counter[str]]:
    """Return a language model without latency, and its count of calls by kind.

    It is a plain function with a closure: an engine that copies its settings deeply copies nothing of it.
    """
    calls: Counter[str] = Counter()

    async def complete(
        prompt: str,
        system_prompt: str | None = None,
        history_messages: list[dict[str, Any]] | None = None,
        **_: Any,
    ) -> str:
        await asyncio.sleep(0)
        kind, reply = _reply(prompt, system_prompt or "", bool(history_messages))
        calls[kind] += 1
        return reply

    return complete, calls


# Sums of three rows of a small pool stand for a billion texts: cheaper than a memo, and nothing grows.
_POOL_BITS = 10
_POOL = np.random.default_rng(11).standard_normal((1 << _POOL_BITS, EMBEDDING_DIM)).astype(np.float32) / 16
# A part that all vectors share keeps every pair's cosine near 0.4, so each search fills its page.
_SHARED = np.full(EMBEDDING_DIM, 1.5 / 16, dtype=np.float32)


def embed_texts(texts: Sequence[str]) -> np.ndarray:
    """Return one unit vector for each text, decided by its hash.

    Returns:
        Array of shape (number of texts, 256), float32.
    """
    codes = np.frombuffer(
        b"".join(hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts), dtype=np.uint64
    )
    mask = np.uint64((1 << _POOL_BITS) - 1)
    vectors = _SHARED + sum(_POOL[codes >> np.uint64(shift) & mask] for shift in (0, 20, 40))
    unit: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def make_embedder() -> tuple[Embedder, Counter[str]]:
    """Return an embedding function without latency, and its count of calls and texts."""
    calls: Counter[str] = Counter()

    async def embed(texts: Sequence[str], **_: Any) -> np.ndarray:
        await asyncio.sleep(0)
        calls["embed"] += 1
        calls["texts"] += len(texts)
        return embed_texts(texts)

    return embed, calls


# --- engine -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bench:
    """An engine with the counters of the models it was given."""

    rag: LightRAG
    language_calls: Counter[str]
    embedding_calls: Counter[str]

    def calls(self) -> dict[str, int]:
        """Return the number of model calls by kind."""
        return dict(self.language_calls + self.embedding_calls)


def build_engine(working_dir: Path, **fields: Any) -> Bench:
    """Make an engine over a directory, with its default storages and defaults for everything but the models.

    Args:
        working_dir: The directory.
        fields: Further fields of the engine; they win.

    The answer cache is off, since it would answer for the engine; that of extraction replies is on.
    """
    from lightrag import LightRAG
    from lightrag.utils import EmbeddingFunc, Tokenizer

    logging.getLogger("lightrag").setLevel(logging.ERROR)
    logging.getLogger("nano-vectordb").setLevel(logging.ERROR)
    complete, language_calls = make_language_model()
    embed, embedding_calls = make_embedder()
    usual: dict[str, Any] = {
        "llm_model_func": complete,
        "embedding_func": EmbeddingFunc(embedding_dim=EMBEDDING_DIM, max_token_size=8192, func=embed),
        "tokenizer": Tokenizer("block", BlockTokenizer()),
        "chunk_token_size": CHUNK_TOKENS,
        "chunk_overlap_token_size": CHUNK_OVERLAP_TOKENS,
        "enable_llm_cache": False,
    }
    rag = LightRAG(working_dir=str(working_dir), **(usual | fields))
    return Bench(rag, language_calls, embedding_calls)
