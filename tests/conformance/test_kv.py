from __future__ import annotations

import asyncio
import time

import pytest

from lightrag.exceptions import InputError
from tests.conformance.conftest import HOSTILE_IDS, IMPOSSIBLE_IDS
from tests.conformance.families import Workspace

ROW = {"content": "text", "tokens": 3, "nested": {"list": [1, 2.5, None, True, "x"]}, "empty": ""}


async def test_rows_come_back_with_id_and_times(workspace: Workspace) -> None:
    store = await workspace.kv()
    await store.upsert({"a": dict(ROW)})
    row = await store.get_by_id("a")
    assert row is not None
    added = {name: row.pop(name) for name in ("_id", "create_time", "update_time")}
    assert row == ROW
    assert added["_id"] == "a"
    assert isinstance(added["create_time"], int)
    assert abs(added["create_time"] - time.time()) < 60
    assert added["update_time"] >= added["create_time"]


async def test_unknown_ids_are_none_in_place(workspace: Workspace) -> None:
    store = await workspace.kv()
    await store.upsert({"a": {"n": 1}, "b": {"n": 2}})
    rows = await store.get_by_ids(["b", "nobody", "a", "b"])
    assert [row and row["n"] for row in rows] == [2, None, 1, 2]
    assert await store.get_by_id("nobody") is None


async def test_replacing_keeps_the_creation_time(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    store = await workspace.kv()
    monkeypatch.setattr(time, "time", lambda: 1_700_000_000.5)
    await store.upsert({"a": {"n": 1, "gone": True}})
    monkeypatch.setattr(time, "time", lambda: 1_700_000_100.5)
    await store.upsert({"a": {"n": 2}})
    row = await store.get_by_id("a")
    assert row == {"n": 2, "_id": "a", "create_time": 1_700_000_000, "update_time": 1_700_000_100}


async def test_a_row_that_was_read_can_be_written_back(workspace: Workspace) -> None:
    store = await workspace.kv()
    await store.upsert({"a": {"n": 1}})
    row = await store.get_by_id("a")
    assert row is not None
    await store.upsert({"b": row})
    copied = await store.get_by_id("b")
    assert copied is not None
    assert copied["_id"] == "b"
    assert copied["n"] == 1


async def test_what_is_read_is_a_copy(workspace: Workspace) -> None:
    store = await workspace.kv()
    given = {"list": [1]}
    await store.upsert({"a": given})
    given["list"].append(2)
    first, second = await store.get_by_ids(["a", "a"])
    assert first is not None
    assert second is not None
    first["list"].append(3)
    assert second["list"] == [1]
    again = await store.get_by_id("a")
    assert again is not None
    assert again["list"] == [1]


async def test_filter_keys_gives_the_missing_ones(workspace: Workspace) -> None:
    store = await workspace.kv()
    await store.upsert({"a": {}, "b": {}})
    assert await store.filter_keys({"a", "b", "c", "nul\0"}) == {"c", "nul\0"}
    assert await store.filter_keys(set()) == set()


async def test_delete_and_is_empty(workspace: Workspace) -> None:
    store = await workspace.kv()
    assert await store.is_empty()
    await store.upsert({"a": {}, "b": {}})
    assert not await store.is_empty()
    await store.delete(["a", "unknown"])
    assert await store.get_by_id("a") is None
    await store.delete(["b"])
    assert await store.is_empty()


async def test_empty_arguments_do_nothing(workspace: Workspace) -> None:
    store = await workspace.kv()
    await store.upsert({})
    await store.delete([])
    assert await store.get_by_ids([]) == []
    assert await store.scan() == []


async def test_scan_pages_by_key(workspace: Workspace) -> None:
    store = await workspace.kv()
    keys = sorted([f"k{number:03}" for number in range(25)] + ["Z", "é", "日本", "😀", "\uffff"])
    await store.upsert({key: {"key": key} for key in keys})
    seen: list[str] = []
    while page := await store.scan(after=seen[-1] if seen else "", limit=7):
        assert len(page) <= 7
        for key, row in page:
            assert row["key"] == row["_id"] == key
            seen.append(key)
    assert seen == keys


@pytest.mark.parametrize("key", HOSTILE_IDS)
async def test_hostile_keys_and_texts_come_back_letter_for_letter(workspace: Workspace, key: str) -> None:
    store = await workspace.kv()
    await store.upsert({key: {"text": key, key: 1}})
    row = await store.get_by_id(key)
    assert row is not None
    assert row["_id"] == key
    assert row["text"] == key
    assert row[key] == 1
    assert await store.filter_keys({key, key + "x"}) == {key + "x"}
    assert [found for found, _ in await store.scan()] == [key]
    await store.delete([key])
    assert await store.is_empty()


@pytest.mark.parametrize("key", IMPOSSIBLE_IDS)
async def test_impossible_keys_are_refused_and_poison_nothing(workspace: Workspace, key: str) -> None:
    store = await workspace.kv()
    await store.upsert({"before": {}})
    with pytest.raises(InputError):
        await store.upsert({"good": {}, key: {}})
    assert await store.get_by_ids([key, "before", "good"]) == [None, await store.get_by_id("before"), None]
    assert await store.filter_keys({key}) == {key}
    await store.delete([key])
    await store.upsert({"after": {}})
    assert await store.get_by_id("after")


@pytest.mark.parametrize("value", ["lone \ud800 surrogate", float("nan"), {1, 2}, object()])
async def test_values_without_a_json_form_are_refused(workspace: Workspace, value: object) -> None:
    store = await workspace.kv()
    with pytest.raises(InputError):
        await store.upsert({"good": {"n": 1}, "bad": {"value": value}})
    assert await store.is_empty()
    await store.upsert({"good": {"n": 1}})
    assert not await store.is_empty()


async def test_nul_in_a_text_is_kept_or_refused(workspace: Workspace) -> None:
    store = await workspace.kv()
    try:
        await store.upsert({"a": {"text": "x\0y"}})
    except InputError:
        assert await store.is_empty()
    else:
        row = await store.get_by_id("a")
        assert row is not None
        assert row["text"] == "x\0y"


async def test_large_values(workspace: Workspace) -> None:
    store = await workspace.kv()
    text = "ä" * 3_000_000
    await store.upsert({"a": {"text": text}})
    row = await store.get_by_id("a")
    assert row is not None
    assert row["text"] == text


async def test_fifty_thousand_ids(workspace: Workspace) -> None:
    store = await workspace.kv()
    keys = [f"key-{number}" for number in range(50_000)]
    await store.upsert({key: {"n": number} for number, key in enumerate(keys)})
    rows = await store.get_by_ids([*keys, "missing"])
    assert [row and row["n"] for row in rows] == [*range(50_000), None]
    assert await store.filter_keys({*keys, "missing"}) == {"missing"}
    await store.delete(keys[1:])
    assert [key for key, _ in await store.scan()] == keys[:1]


async def test_many_writers_at_a_time(workspace: Workspace) -> None:
    store = await workspace.kv()

    async def work(number: int) -> None:
        await store.upsert({f"own-{number}": {"n": number}, "shared": {"n": number}})
        row = await store.get_by_id(f"own-{number}")
        assert row is not None
        assert row["n"] == number

    await asyncio.gather(*(work(number) for number in range(100)))
    assert len(await store.scan(limit=1000)) == 101


async def test_namespaces_do_not_mix_and_drop_empties_one(workspace: Workspace) -> None:
    documents, chunks = await workspace.kv("full_docs"), await workspace.kv("text_chunks")
    await documents.upsert({"a": {"n": 1}})
    await chunks.upsert({"a": {"n": 2}})
    assert (await documents.drop())["status"] == "success"
    assert await documents.is_empty()
    row = await chunks.get_by_id("a")
    assert row is not None
    assert row["n"] == 2
    await documents.upsert({"a": {"n": 3}})
    assert not await documents.is_empty()


async def test_two_objects_of_one_namespace_see_each_other(workspace: Workspace) -> None:
    first, second = await workspace.kv(), await workspace.kv()
    await first.upsert({"a": {"n": 1}})
    assert await second.get_by_id("a")
    await first.finalize()
    await second.upsert({"b": {}})
    assert await second.get_by_id("b")


async def test_initialize_and_finalize_are_idempotent(workspace: Workspace) -> None:
    store = await workspace.kv()
    await store.initialize()
    await store.upsert({"a": {"n": 1}})
    await store.finalize()
    await store.finalize()
    await store.initialize()
    assert await store.get_by_id("a")
