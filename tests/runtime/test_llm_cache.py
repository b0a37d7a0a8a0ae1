"""The cache of model replies: rows, keys, batches."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightrag.contracts.kv import Record
from lightrag.exceptions import StorageError
from lightrag.runtime.llm_cache import AnswerIdentity, LLMCache
from tests.fakes.kv import FakeKVStorage


@dataclass(kw_only=True, eq=False)
class Store(FakeKVStorage):
    """Counts writes, and can be made slow or broken."""

    writes: int = 0
    broken: bool = False
    gate: asyncio.Event | None = None

    async def upsert(self, data: Mapping[str, Record]) -> None:
        self.writes += 1
        if self.gate is not None:
            await self.gate.wait()
        if self.broken:
            raise StorageError("disk on fire")
        await super().upsert(data)


@dataclass(kw_only=True, eq=False)
class Busy(Store):
    """Gets a further reply with every write, as while documents are extracted."""

    cache: LLMCache | None = None

    async def upsert(self, data: Mapping[str, Record]) -> None:
        assert self.cache is not None
        await asyncio.sleep(0)
        await self.cache.put(LLMCache.key("default", "extract", f"further {self.writes}"), "further")
        await super().upsert(data)


@dataclass(kw_only=True, eq=False)
class BrokenOnce(Store):
    """Fails the first write."""

    async def upsert(self, data: Mapping[str, Record]) -> None:
        self.broken = self.writes == 0
        await super().upsert(data)


def make_store() -> Store:
    return Store(namespace="llm_response_cache", workspace="", global_config={})


def keys(count: int, cache_type: str = "extract", mode: str = "default") -> list[str]:
    return [LLMCache.key(mode, cache_type, str(number)) for number in range(count)]


async def test_a_row_has_the_shape_that_tools_expect() -> None:
    store = make_store()
    cache = LLMCache(store)
    key = LLMCache.key("mix", "query", "q")
    await cache.put(key, "answer", prompt="p" * 1000, queryparam={"mode": "mix"})
    mode, cache_type, digest = key.split(":")
    assert (mode, cache_type, len(digest)) == ("mix", "query", 32)
    row = {name: value for name, value in store.rows[key].items() if name not in ("create_time", "update_time", "_id")}
    assert row == {
        "return": "answer",
        "cache_type": "query",
        "chunk_id": None,
        "original_prompt": "p" * 200,
        "queryparam": {"mode": "mix"},
    }
    assert await cache.get(key) == "answer"
    assert await cache.get(LLMCache.key("mix", "query", "other")) is None


async def test_replies_about_chunks_are_written_together_and_read_at_once() -> None:
    store = make_store()
    cache = LLMCache(store)
    wanted = keys(10)
    for number, key in enumerate(wanted):
        await cache.put(key, f"reply {number}", chunk_id=f"chunk-{number}", prompt="the whole chunk")
    assert store.writes == 0
    assert [await cache.get(key) for key in wanted] == [f"reply {number}" for number in range(10)]
    await cache.flush()
    assert store.writes == 1
    assert [await cache.get(key) for key in wanted] == [f"reply {number}" for number in range(10)]
    assert store.rows[wanted[3]]["chunk_id"] == "chunk-3"
    assert store.rows[wanted[3]]["original_prompt"] == ""
    await cache.flush()
    assert store.writes == 1


async def test_many_replies_do_not_wait_for_the_flush() -> None:
    store = make_store()
    cache = LLMCache(store, flush_rows=4)
    for key in keys(10):
        await cache.put(key, "r")
    assert store.writes == 2
    assert len(store.rows) == 8


async def test_answers_are_written_at_once() -> None:
    store = make_store()
    await LLMCache(store).put(LLMCache.key("mix", "keywords", "q"), "{}")
    assert store.writes == 1


async def test_rows_on_their_way_can_be_read_and_flush_waits_for_them() -> None:
    store = make_store()
    store.gate = asyncio.Event()
    cache = LLMCache(store, flush_rows=2)
    first, second, third = keys(3)
    await cache.put(first, "1")
    writing = asyncio.create_task(cache.put(second, "2"))
    await asyncio.sleep(0)
    await cache.put(third, "3")
    assert [await cache.get(key) for key in (first, second, third)] == ["1", "2", "3"]
    flushing = asyncio.create_task(cache.flush())
    await asyncio.sleep(0.01)
    assert not flushing.done()
    store.gate.set()
    await asyncio.gather(writing, flushing)
    assert len(store.rows) == 3


async def test_flush_waits_for_a_write_that_someone_else_began() -> None:
    store = make_store()
    store.gate = asyncio.Event()
    cache = LLMCache(store, flush_rows=1)
    writing = asyncio.create_task(cache.put(keys(1)[0], "1"))
    await asyncio.sleep(0)
    flushing = asyncio.create_task(cache.flush())
    await asyncio.sleep(0.01)
    assert not flushing.done()
    store.gate.set()
    await asyncio.gather(writing, flushing)
    assert len(store.rows) == 1


async def test_flush_does_not_wait_for_what_comes_after_it() -> None:
    cache = LLMCache(store := Busy(namespace="llm_response_cache", workspace="", global_config={}))
    store.cache = cache
    await cache.put(keys(1)[0], "first")
    await asyncio.wait_for(cache.flush(), 5)
    assert store.writes == 1


async def test_flush_writes_again_what_someone_else_could_not() -> None:
    store = BrokenOnce(namespace="llm_response_cache", workspace="", global_config={}, gate=asyncio.Event())
    assert store.gate is not None
    cache = LLMCache(store, flush_rows=1)
    writing = asyncio.create_task(cache.put(keys(1)[0], "1"))
    await asyncio.sleep(0)
    flushing = asyncio.create_task(cache.flush())
    await asyncio.sleep(0)
    store.gate.set()
    with pytest.raises(StorageError):
        await writing
    await flushing
    assert len(store.rows) == 1


async def test_a_failed_write_loses_nothing() -> None:
    store = make_store()
    store.broken = True
    cache = LLMCache(store)
    key = keys(1)[0]
    await cache.put(key, "paid for")
    with pytest.raises(StorageError):
        await cache.flush()
    assert await cache.get(key) == "paid for"
    store.broken = False
    await cache.flush()
    assert store.rows[key]["return"] == "paid for"


async def test_a_newer_reply_survives_the_failed_write_of_an_older_one() -> None:
    store = make_store()
    store.gate, store.broken = asyncio.Event(), True
    cache = LLMCache(store)
    key = keys(1)[0]
    await cache.put(key, "old")
    flushing = asyncio.create_task(cache.flush())
    await asyncio.sleep(0)
    await cache.put(key, "new")
    store.gate.set()
    with pytest.raises(StorageError):
        await flushing
    assert await cache.get(key) == "new"


async def test_each_kind_can_be_switched_off() -> None:
    extract, summary, query = (LLMCache.key("default", kind, "x") for kind in ("extract", "summary", "query"))
    no_extract = LLMCache(make_store(), enabled_for_extract=False)
    only_extract = LLMCache(make_store(), enabled=False)
    for cache in (no_extract, only_extract):
        for key in (extract, summary, query):
            await cache.put(key, "r")
    assert [await no_extract.get(key) for key in (extract, summary, query)] == [None, None, "r"]
    assert [await only_extract.get(key) for key in (extract, summary, query)] == ["r", "r", None]


async def test_forgetting_replies() -> None:
    store = make_store()
    cache = LLMCache(store)
    written, buffered, kept = keys(3)
    await cache.put(written, "1")
    await cache.flush()
    await cache.put(buffered, "2")
    await cache.put(kept, "3")
    await cache.delete([written, buffered, "unknown"])
    assert [await cache.get(key) for key in (written, buffered, kept)] == [None, None, "3"]
    await cache.flush()
    assert set(store.rows) == {kept}


async def test_clearing_modes() -> None:
    store = make_store()
    cache = LLMCache(store)
    ingest, mix, local = keys(600), keys(3, "query", "mix"), keys(3, "query", "local")
    for key in (*ingest[:-1], *mix, *local):
        await cache.put(key, "r")
    await cache.flush()
    await cache.put(ingest[-1], "buffered")
    await cache.clear(["mix"])
    assert set(store.rows) == {*ingest[:-1], *local}
    await cache.clear(["default"])
    assert await cache.get(ingest[-1]) is None
    assert set(store.rows) == set(local)
    await cache.put(ingest[0], "buffered")
    await cache.clear()
    await cache.flush()
    assert store.rows == {}


BASE = AnswerIdentity(
    mode="mix",
    query="who?",
    model="query|m@h",
    corpus_version="v1",
    filter_key="tags:a",
    scope="tenant:x",
    system_prompt="S",
    user_prompt="U",
    parameters={"top_k": 1, "chunk_top_k": 11, "hl": "a,b"},
)
CHANGES: list[dict[str, Any]] = [
    {"mode": "local"},
    {"query": "who??"},
    {"model": "query|m2@h"},
    {"corpus_version": "v2"},
    {"filter_key": ""},
    {"filter_key": "tags:b"},
    {"scope": ""},
    {"scope": "tenant:y"},
    {"system_prompt": None},
    {"system_prompt": ""},
    {"system_prompt": "U", "user_prompt": "S"},
    {"user_prompt": None},
    {"parameters": {"top_k": 11, "chunk_top_k": 1, "hl": "a,b"}},
    {"parameters": {"top_k": "1", "chunk_top_k": 11, "hl": "a,b"}},
    {"parameters": {"top_k": 1, "chunk_top_k": 11}},
    {"parameters": {"top_k": 1, "chunk_top_k": 11, "hl": "a,b", "rerank": None}},
    {"filter_key": "", "parameters": {**BASE.parameters, "filter": "tags:a"}},
    {"scope": "", "parameters": {**BASE.parameters, "scope": "tenant:x"}},
]


def test_everything_that_shapes_an_answer_is_in_its_key() -> None:
    everything = [BASE, *(replace(BASE, **change) for change in CHANGES)]
    assert len({identity.cache_key() for identity in everything}) == len(everything)
    assert BASE.cache_key().startswith("mix:query:")


def test_the_order_of_parameters_is_not() -> None:
    turned = dict(reversed(list(BASE.parameters.items())))
    assert replace(BASE, parameters=turned).cache_key() == BASE.cache_key()


@given(st.lists(st.text(max_size=3), min_size=4, max_size=4), st.lists(st.text(max_size=3), min_size=4, max_size=4))
def test_texts_do_not_run_together(first: list[str], second: list[str]) -> None:
    def key(texts: list[str]) -> str:
        query, system, user, version = texts
        return AnswerIdentity("mix", query, "m", version, system_prompt=system, user_prompt=user).cache_key()

    assert (key(first) == key(second)) is (first == second)
