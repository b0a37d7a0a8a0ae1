"""The cache of model replies.

Keys are ``"<mode>:<cache_type>:<hash>"``; ingestion uses the mode ``default``. A row holds ``return``,
``cache_type``, ``chunk_id``, ``original_prompt`` and ``queryparam``, as existing tools expect. The prompt
itself is *not* kept: the prompt of an extraction repeats a chunk that is stored already, and the key is a
hash of it. ``original_prompt`` is ``""`` for replies about chunks and the first 200 characters at the most
for others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lightrag.contracts.kv import BaseKVStorage, Record
from lightrag.runtime.hashing import compute_args_hash
from lightrag.runtime.text import truncate_clusters, whole_characters
from lightrag.types import JsonObject, JsonScalar

EXTRACT = "extract"
SUMMARY = "summary"
KEYWORDS = "keywords"
QUERY = "query"
INGEST_MODE = "default"

MAX_PROMPT_HEAD_CHARS = 200
_PAGE_ROWS = 500
# Part of the hash of every answer key; a change of what shapes an answer takes a new word.
_ANSWER_KEY_POLICY = "lightrag-answer-1"


@dataclass(frozen=True)
class AnswerIdentity:
    """Everything that an answer depends on, for its cache key.

    An answer in a conversation has no key: whoever has a history does not ask the cache.

    Attributes:
        mode: Retrieval mode.
        query: The question.
        model: Identity of the model that answers: role, binding, name and host.
        corpus_version: Changes with every change of documents or graph.
        filter_key: Canonical form of the active filter; ``""`` when none is active.
        scope: Scope tag whose graph is asked; ``""`` for the aggregate.
        system_prompt: System prompt as given, ``None`` for our own.
        user_prompt: Further instructions, prefix included.
        parameters: Every other parameter that shapes the result, by name; lists as canonical text.
    """

    mode: str
    query: str
    model: str
    corpus_version: str
    filter_key: str = ""
    scope: str = ""
    system_prompt: str | None = None
    user_prompt: str | None = None
    parameters: Mapping[str, JsonScalar] = field(default_factory=dict)

    def cache_key(self) -> str:
        """Return the key of the answer: ``"<mode>:query:<hash>"``.

        An inactive filter adds nothing to the hash, so that a corpus without filters knows nothing of them.
        """
        named: dict[str, JsonScalar] = {
            **{f"parameter {name}": value for name, value in self.parameters.items()},
            "query": self.query,
            "model": self.model,
            "corpus version": self.corpus_version,
            "system prompt": self.system_prompt,
            "user prompt": self.user_prompt,
        }
        if self.filter_key:
            named["filter"] = self.filter_key
        if self.scope:
            named["scope"] = self.scope
        parts = [part for name in sorted(named) for part in (name, named[name])]
        return LLMCache.key(self.mode, QUERY, _ANSWER_KEY_POLICY, *parts)


@dataclass(eq=False)
class _Batch:
    """Rows on their way to the store."""

    rows: dict[str, Record]
    stored: bool = False
    written: asyncio.Event = field(default_factory=asyncio.Event)


class LLMCache:
    """Replies by key, in front of a key-value store.

    Replies about chunks and summaries are collected and written together, so that a document costs one write and not
    one per chunk; they can be read back at once. What is not yet written when a process dies is asked again. ``hits``
    and ``misses`` count look-ups since it was made.
    """

    def __init__(
        self,
        kv: BaseKVStorage,
        *,
        enabled: bool = True,
        enabled_for_extract: bool = True,
        flush_rows: int = 64,
    ) -> None:
        """Put a cache in front of a store.

        Args:
            kv: Holds the rows.
            enabled: Keep answers and keywords.
            enabled_for_extract: Keep replies of ingestion: extraction and summaries.
            flush_rows: Collected rows that are written without waiting for :meth:`flush`.
        """
        self._kv = kv
        self._enabled = enabled
        self._enabled_for_extract = enabled_for_extract
        self._flush_rows = flush_rows
        self.hits = 0
        self.misses = 0
        self._buffer: dict[str, Record] = {}
        self._in_flight: list[_Batch] = []

    @staticmethod
    def key(mode: str, cache_type: str, *parts: JsonScalar) -> str:
        """Return the key for a reply.

        Args:
            mode: Retrieval mode, or ``default`` for ingestion.
            cache_type: ``extract``, ``summary``, ``keywords``, ``query``, ...
            parts: All that the reply depends on, in a fixed order.
        """
        return f"{mode}:{cache_type}:{compute_args_hash(*parts)}"

    def is_enabled(self, cache_type: str) -> bool:
        """Tell whether replies of a type are kept."""
        return self._enabled_for_extract if cache_type in (EXTRACT, SUMMARY) else self._enabled

    async def get(self, key: str) -> str | None:
        """Return the reply under a key, or ``None``.

        Raises:
            StorageError: The store could not be read.
        """
        if not self.is_enabled(_type_of(key)):
            return None
        row = self._unwritten(key) or await self._kv.get_by_id(key)
        reply = row.get("return") if row else None
        if not isinstance(reply, str):
            self.misses += 1
            return None
        self.hits += 1
        return reply

    async def put(
        self,
        key: str,
        reply: str,
        *,
        cache_type: str | None = None,
        chunk_id: str | None = None,
        prompt: str = "",
        queryparam: JsonObject | None = None,
    ) -> None:
        """Keep a reply.

        Args:
            key: As made by :meth:`key` or :meth:`AnswerIdentity.cache_key`.
            reply: The model's reply.
            cache_type: Stored with it; ``None`` for the type in the key.
            chunk_id: Chunk that it is about.
            prompt: What was asked; only its head is kept, and only for replies that are not about chunks.
            queryparam: Parameters of the query, for people who look into the store.

        Raises:
            StorageError: The store could not be written.
        """
        cache_type = cache_type or _type_of(key)
        if not self.is_enabled(cache_type):
            return
        collected = cache_type in (EXTRACT, SUMMARY)
        row: Record = {
            "return": whole_characters(reply),
            "cache_type": cache_type,
            "chunk_id": chunk_id,
            "original_prompt": "" if collected else truncate_clusters(prompt, MAX_PROMPT_HEAD_CHARS),
            "queryparam": queryparam,
        }
        if not collected:
            await self._kv.upsert({key: row})
            return
        self._buffer[key] = row
        if len(self._buffer) >= self._flush_rows:
            await self._write_buffer()

    async def flush(self) -> None:
        """Write everything that was collected so far.

        Raises:
            StorageError: The store could not be written; the rows stay collected.
        """
        earlier = list(self._in_flight)
        if self._buffer:
            await self._write_buffer()
        for batch in earlier:
            await batch.written.wait()
        if not all(batch.stored for batch in earlier):
            # Their rows are collected again.
            await self.flush()

    async def delete(self, keys: Iterable[str]) -> None:
        """Forget replies by key; unknown keys are passed over.

        Raises:
            StorageError: The store could not be written.
        """
        wanted = list(keys)
        await self._settle()
        for key in wanted:
            self._buffer.pop(key, None)
        await self._kv.delete(wanted)

    async def clear(self, modes: Iterable[str] | None = None) -> None:
        """Forget replies.

        Args:
            modes: Only those of these modes (``default`` for ingestion); ``None`` for all.

        Raises:
            StorageError: The store could not be read or written.
        """
        await self._settle()
        if modes is None:
            self._buffer.clear()
            await self._delete_from("")
            return
        for mode in modes:
            prefix = f"{mode}:"
            for key in [key for key in self._buffer if key.startswith(prefix)]:
                del self._buffer[key]
            await self._delete_from(prefix)

    async def _delete_from(self, prefix: str) -> None:
        after = prefix
        while page := await self._kv.scan(after=after, limit=_PAGE_ROWS):
            keys = [key for key, _ in page if key.startswith(prefix)]
            await self._kv.delete(keys)
            if len(keys) < len(page):
                return
            after = keys[-1]

    def _unwritten(self, key: str) -> Record | None:
        for rows in (self._buffer, *(batch.rows for batch in reversed(self._in_flight))):
            if key in rows:
                return rows[key]
        return None

    async def _settle(self) -> None:
        while self._in_flight:
            await self._in_flight[0].written.wait()

    async def _write_buffer(self) -> None:
        batch = _Batch(self._buffer)
        self._buffer = {}
        self._in_flight.append(batch)
        try:
            await self._kv.upsert(batch.rows)
            batch.stored = True
        finally:
            self._in_flight.remove(batch)
            if not batch.stored:
                self._buffer = {**batch.rows, **self._buffer}
            batch.written.set()


def _type_of(key: str) -> str:
    _, _, rest = key.partition(":")
    return rest.partition(":")[0]
