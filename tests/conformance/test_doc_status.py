from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lightrag.constants import UNKNOWN_SOURCE
from lightrag.contracts.doc_status import BaseDocStatusStorage, DocProcessingStatus, DocStatus
from lightrag.exceptions import InputError
from tests.conformance.conftest import HOSTILE_IDS, IMPOSSIBLE_IDS
from tests.conformance.families import Workspace


def document(number: int, status: DocStatus = DocStatus.PENDING, **changes: Any) -> dict[str, Any]:
    row = DocProcessingStatus(
        content_summary=f"summary {number}",
        content_length=number,
        file_path=f"folder/{number}.md",
        status=status,
        created_at=f"2024-01-01T00:00:00.{number:06}+00:00",
        updated_at=f"2024-02-01T00:00:00.{999_999 - number:06}+00:00",
        track_id=f"track-{number % 2}",
        content_hash=f"hash-{number}",
        metadata={"note": number},
    ).to_row()
    return {**row, **changes}


async def fill(store: BaseDocStatusStorage, count: int = 6) -> None:
    states = list(DocStatus)
    await store.upsert({f"doc-{number}": document(number, states[number % 3]) for number in range(count)})


async def test_rows_come_back_as_written(workspace: Workspace) -> None:
    store = await workspace.doc_status()
    row = document(
        1,
        DocStatus.FAILED,
        chunks_count=2,
        chunks_list=["c1", "c2"],
        error_msg="why",
        metadata={"user_tags": ["a"], "nested": {"n": None}},
        further="kept",
    )
    await store.upsert({"doc-1": row})
    assert await store.get_by_id("doc-1") == row
    assert await store.get_by_ids(["nobody", "doc-1"]) == [None, row]
    assert await store.filter_keys({"doc-1", "doc-2"}) == {"doc-2"}
    again = await store.get_docs_by_statuses([DocStatus.FAILED])
    assert again["doc-1"] == DocProcessingStatus.from_row(row)


@pytest.mark.parametrize("odd", [{"track_id": None}, {"content_hash": ""}, {"file_path": ""}, {"error_msg": None}])
async def test_absent_and_empty_fields_stay_what_they_are(workspace: Workspace, odd: dict[str, Any]) -> None:
    store = await workspace.doc_status()
    row = document(1, **odd)
    await store.upsert({"doc-1": row})
    stored = await store.get_by_id("doc-1")
    assert stored is not None
    assert {name: value for name, value in stored.items() if value is not None} == {
        name: value for name, value in row.items() if value is not None
    }


async def test_it_is_a_key_value_store(workspace: Workspace) -> None:
    store = await workspace.doc_status()
    assert await store.is_empty()
    await fill(store)
    keys = [key for key, _ in await store.scan()]
    assert keys == sorted(f"doc-{number}" for number in range(6))
    assert [key for key, _ in await store.scan(after="doc-2", limit=2)] == ["doc-3", "doc-4"]
    await store.delete(["doc-0", "nobody"])
    assert await store.get_by_id("doc-0") is None
    assert (await store.drop())["status"] == "success"
    assert await store.is_empty()


async def test_counts(workspace: Workspace) -> None:
    store = await workspace.doc_status()
    assert await store.get_status_counts() == {}
    await fill(store, 7)
    assert await store.get_status_counts() == {"pending": 3, "parsing": 2, "analyzing": 2}
    counts = await store.get_all_status_counts()
    assert counts["all"] == 7
    assert counts["processed"] == 0


async def test_by_state_oldest_first(workspace: Workspace) -> None:
    store = await workspace.doc_status()
    await store.upsert({f"doc-{number}": document(number) for number in (3, 1, 2)})
    await store.upsert({"doc-0": document(1), "other": document(0, DocStatus.FAILED)})
    assert list(await store.get_docs_by_statuses([DocStatus.PENDING])) == ["doc-0", "doc-1", "doc-2", "doc-3"]
    assert next(iter(await store.get_docs_by_statuses([DocStatus.PENDING, DocStatus.FAILED]))) == "other"
    assert await store.get_docs_by_statuses([]) == {}


async def test_pages_by_state(workspace: Workspace) -> None:
    store = await workspace.doc_status()
    await store.upsert({f"doc-{number:02}": document(number // 3) for number in range(20)})
    seen: list[str] = []
    after = None
    while page := await store.get_docs_by_statuses_page([DocStatus.PENDING], limit=6, after=after):
        assert len(page) <= 6
        seen += [key for key, _ in page]
        after = (page[-1][1].created_at, page[-1][0])
    assert seen == [f"doc-{number:02}" for number in range(20)]


async def test_by_track(workspace: Workspace) -> None:
    store = await workspace.doc_status()
    await fill(store)
    assert sorted(await store.get_docs_by_track_id("track-1")) == ["doc-1", "doc-3", "doc-5"]
    assert await store.get_docs_by_track_id("nobody") == {}


@pytest.mark.parametrize(
    ("sort", "direction", "first"),
    [
        ("created_at", "asc", "doc-0"),
        ("created_at", "desc", "doc-5"),
        ("updated_at", "desc", "doc-0"),
        ("id", "asc", "doc-0"),
        ("file_path", "desc", "doc-5"),
    ],
)
async def test_pages_for_people(workspace: Workspace, sort: str, direction: str, first: str) -> None:
    store = await workspace.doc_status()
    await fill(store)
    seen: list[str] = []
    for page in (1, 2, 3, 4):
        rows, total = await store.get_docs_paginated(page=page, page_size=2, sort_field=sort, sort_direction=direction)
        assert total == 6
        seen += [key for key, _ in rows]
    assert seen[0] == first
    assert sorted(seen) == [f"doc-{number}" for number in range(6)]


async def test_pages_of_some_states(workspace: Workspace) -> None:
    store = await workspace.doc_status()
    await fill(store)
    rows, total = await store.get_docs_paginated(DocStatus.PENDING, sort_field="id", sort_direction="asc")
    assert ([key for key, _ in rows], total) == (["doc-0", "doc-3"], 2)
    states = [DocStatus.PARSING, DocStatus.ANALYZING]
    rows, total = await store.get_docs_paginated(DocStatus.PENDING, states)
    assert total == 4
    assert {row.status for _, row in rows} == set(states)
    assert await store.get_docs_paginated(status_filters=[]) == ([], 0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"page": 0},
        {"page_size": 0},
        {"page_size": 201},
        {"sort_field": "status; DROP TABLE"},
        {"sort_direction": "sideways"},
    ],
)
async def test_page_arguments_out_of_range(workspace: Workspace, wrong: dict[str, Any]) -> None:
    store = await workspace.doc_status()
    with pytest.raises(InputError):
        await store.get_docs_paginated(**wrong)


async def test_refused_attempts_are_never_found_by_path_or_content(workspace: Workspace) -> None:
    store = await workspace.doc_status()
    same = {"file_path": "a.md", "content_hash": "h"}
    refused = {"status": DocStatus.FAILED, "metadata": {"is_duplicate": True}, "created_at": "2000"}
    await store.upsert({"dup-1": document(1, **same), "doc-marked": document(2, **same, **refused)})
    assert await store.get_doc_by_file_path("a.md") is None
    assert await store.get_doc_by_content_hash("h") is None
    await store.upsert({"doc-1": document(3, **same)})
    by_path, by_content = await store.get_doc_by_file_path("a.md"), await store.get_doc_by_content_hash("h")
    assert by_path is not None
    assert by_content is not None
    assert by_path[0] == by_content[0] == "doc-1"
    assert by_path[1].file_path == "a.md"
    assert await store.get_doc_by_content_hash("h", exclude_doc_id="doc-1") is None
    await store.upsert({"doc-0": document(4, **same | {"file_path": UNKNOWN_SOURCE}), "doc-2": document(2, **same)})
    assert list(await store.get_docs_by_content_hash("h")) == ["doc-2", "doc-1", "doc-0"]
    assert await store.get_doc_by_file_path("b.md") is None


async def test_absent_paths_and_hashes_match_nothing(workspace: Workspace) -> None:
    store = await workspace.doc_status()
    await store.upsert({"doc-1": {"status": "pending", "created_at": "2024"}})
    assert await store.get_doc_by_file_path("") is None
    assert await store.get_doc_by_content_hash("") is None
    assert await store.get_docs_by_content_hash("") == {}


async def test_updating_fields(workspace: Workspace) -> None:
    store = await workspace.doc_status()
    before = document(1)
    await store.upsert({"doc-1": before})
    await store.update_doc_status_fields(
        {"doc-1": {"status": "failed", "error_msg": "why", "metadata": {"new": 1}}, "nobody": {"status": "failed"}}
    )
    after = await store.get_by_id("doc-1")
    assert after is not None
    assert after.pop("updated_at") > before.pop("updated_at")
    assert after == {**before, "status": "failed", "error_msg": "why", "metadata": {"new": 1}}
    assert await store.get_by_id("nobody") is None
    assert list(await store.get_docs_by_statuses([DocStatus.FAILED])) == ["doc-1"]
    await store.update_doc_status_fields({"doc-1": {"metadata": {"is_duplicate": True}, "file_path": "b.md"}})
    assert await store.get_doc_by_file_path("b.md") is None


async def test_updates_of_different_fields_do_not_lose_each_other(workspace: Workspace) -> None:
    store = await workspace.doc_status()
    await store.upsert({"doc-1": document(1)})
    await asyncio.gather(*(store.update_doc_status_fields({"doc-1": {f"field-{n}": n}}) for n in range(40)))
    row = await store.get_by_id("doc-1")
    assert row is not None
    assert [row[f"field-{n}"] for n in range(40)] == list(range(40))


async def test_what_filters_see(workspace: Workspace) -> None:
    store = await workspace.doc_status()
    tagged = {"user_tags": ["a"], "user_start_date": "2020-01-01T00:00:00+00:00"}
    await store.upsert({"doc-1": document(1, DocStatus.PROCESSED, metadata=tagged), "doc-2": document(2)})
    facts = await store.get_facts(["doc-1", "doc-2", "nobody"])
    assert list(facts["doc-1"].tags) == ["a"]
    assert facts["doc-1"].is_dated
    assert not facts["doc-2"].is_dated
    assert not facts["nobody"].is_dated
    assert list(await store.all_facts()) == ["doc-1"]


@pytest.mark.parametrize(
    "metadata",
    [{"user_tags": "not a list"}, {"user_start_date": "not a date"}, {"user_tags": [1, None]}, {"user_start_date": 5}],
)
async def test_metadata_that_no_filter_understands_is_stored_all_the_same(
    workspace: Workspace, metadata: dict[str, Any]
) -> None:
    store = await workspace.doc_status()
    await store.upsert({"doc-1": document(1, metadata=metadata)})
    row = await store.get_by_id("doc-1")
    assert row is not None
    assert row["metadata"] == metadata


@pytest.mark.parametrize("key", HOSTILE_IDS)
async def test_hostile_ids_and_texts(workspace: Workspace, key: str) -> None:
    store = await workspace.doc_status()
    row = document(1, file_path=key, content_hash=key, track_id=key, error_msg=key, metadata={key: key})
    await store.upsert({key: row})
    assert await store.get_by_id(key) == row
    by_path = await store.get_doc_by_file_path(key)
    assert by_path is not None
    assert by_path[0] == key
    assert list(await store.get_docs_by_track_id(key)) == [key]


@pytest.mark.parametrize("key", IMPOSSIBLE_IDS)
async def test_impossible_ids_are_refused_and_poison_nothing(workspace: Workspace, key: str) -> None:
    store = await workspace.doc_status()
    with pytest.raises(InputError):
        await store.upsert({"good": document(1), key: document(2)})
    for field in ("file_path", "error_msg"):
        with pytest.raises(InputError):
            await store.upsert({"good": document(1, **{field: "lone \ud800"})})
    assert await store.is_empty()
    await store.upsert({"good": document(1)})
    with pytest.raises(InputError):
        await store.update_doc_status_fields({"good": {"error_msg": "lone \ud800"}})
    assert await store.get_by_id("good") == document(1)
    assert await store.get_by_id(key) is None


async def test_fifty_thousand_ids_and_empty_arguments(workspace: Workspace) -> None:
    store = await workspace.doc_status()
    await store.upsert({})
    await store.delete([])
    await store.update_doc_status_fields({})
    assert await store.get_by_ids([]) == []
    await fill(store)
    asked = [f"doc-{number}" for number in range(50_000)]
    assert sum(row is not None for row in await store.get_by_ids(asked)) == 6
    assert len(await store.filter_keys(set(asked))) == 49_994
    await store.delete(asked)
    assert await store.is_empty()
