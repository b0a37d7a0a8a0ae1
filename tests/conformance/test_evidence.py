from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise

import pytest

from lightrag.contracts.evidence import Evidence, EvidenceSource, ObjectKind, relation_key
from lightrag.exceptions import InputError
from tests.conformance.conftest import HOSTILE_IDS, IMPOSSIBLE_IDS
from tests.conformance.families import Workspace

ENTITY, RELATION = ObjectKind.ENTITY, ObjectKind.RELATION


def said(object_id: str, chunk: str, text: str = "text", kind: ObjectKind = ENTITY, tenant: str = "") -> Evidence:
    """A row whose chunk is ``<document>-<number>``."""
    document = chunk.rpartition("-")[0] or chunk
    return Evidence(kind, object_id, chunk, document, text, file_path=f"{document}.md", tenant_tag=tenant)


def ids(rows: list[Evidence]) -> list[tuple[str, str]]:
    return [(row.object_id, row.chunk_id) for row in rows]


def bare(row: Evidence) -> Evidence:
    return replace(row, sequence=0)


async def test_rows_come_back_as_added(workspace: Workspace) -> None:
    store = await workspace.evidence()
    entity = Evidence(ENTITY, "Ann", "d1-c1", "d1", "a person", "person", "", 0.0, "a/1.md", 1_700_000_000, "t:1")
    relation = Evidence(RELATION, relation_key("Bob", "Ann"), "d1-c1", "d1", "know", "", "k1,k2", 2.5, "a/1.md", 5, "")
    await store.add([entity, relation])
    rows = await store.of_objects(ENTITY, ["Ann", "nobody"])
    assert list(rows) == ["Ann"]
    assert [bare(row) for row in rows["Ann"]] == [entity]
    stored = (await store.of_objects(RELATION, [relation.object_id]))[relation.object_id]
    assert [bare(row) for row in stored] == [relation]
    assert stored[0].sequence > rows["Ann"][0].sequence
    assert await store.of_objects(RELATION, ["Ann"]) == {}
    assert await store.count() == 2


async def test_rows_keep_their_order_of_arrival(workspace: Workspace) -> None:
    store = await workspace.evidence()
    await store.add([said("b", "d2-1"), said("a", "d1-2"), said("a", "d1-1")])
    await store.add([said("a", "d0-1"), said("b", "d0-1")])
    rows = await store.of_objects(ENTITY, ["a", "b"])
    assert ids(rows["a"]) == [("a", "d1-2"), ("a", "d1-1"), ("a", "d0-1")]
    assert ids(await store.of_documents(["d0", "d1", "d2"])) == [
        ("b", "d2-1"),
        ("a", "d1-2"),
        ("a", "d1-1"),
        ("a", "d0-1"),
        ("b", "d0-1"),
    ]
    sequences = [row.sequence for row in await store.of_documents(["d0", "d1", "d2"])]
    assert sequences == sorted(set(sequences))


async def test_a_replaced_row_keeps_its_place(workspace: Workspace) -> None:
    store = await workspace.evidence()
    await store.add([said("a", "d1-1", "first"), said("a", "d1-2", "second")])
    await store.add([said("a", "d1-1", "rewritten")])
    rows = (await store.of_objects(ENTITY, ["a"]))["a"]
    assert [row.description for row in rows] == ["rewritten", "second"]
    await store.add([said("a", "d1-3", "x"), said("a", "d1-3", "y")])
    assert [row.description for row in (await store.of_objects(ENTITY, ["a"]))["a"]] == ["rewritten", "second", "y"]
    assert await store.count() == 3


async def test_only_rows_of_some_documents(workspace: Workspace) -> None:
    store = await workspace.evidence()
    await store.add([said("a", "d1-1"), said("a", "d2-1"), said("b", "d2-2"), said("c", "d3-1")])
    rows = await store.of_objects(ENTITY, ["a", "b", "c"], document_ids={"d2", "unknown"})
    assert {name: ids(found) for name, found in rows.items()} == {"a": [("a", "d2-1")], "b": [("b", "d2-2")]}
    assert await store.of_objects(ENTITY, ["a", "b"], document_ids=[]) == {}
    assert await store.of_objects(ENTITY, ["a"], document_ids=["unknown"]) == {}
    assert await store.sources_of_objects(ENTITY, ["a"], document_ids=set()) == {}


async def test_sources(workspace: Workspace) -> None:
    store = await workspace.evidence()
    await store.add([said("a", "d2-1"), said("a", "d1-1"), said("a", "d1-2"), said("b", "d1-1")])
    sources = await store.sources_of_objects(ENTITY, ["a", "b", "nobody"])
    assert sources == {
        "a": [
            EvidenceSource("d2-1", "d2", "d2.md"),
            EvidenceSource("d1-1", "d1", "d1.md"),
            EvidenceSource("d1-2", "d1", "d1.md"),
        ],
        "b": [EvidenceSource("d1-1", "d1", "d1.md")],
    }
    oldest = await store.sources_of_objects(ENTITY, ["a", "b"], limit=2)
    assert [source.chunk_id for source in oldest["a"]] == ["d2-1", "d1-1"]
    assert len(oldest["b"]) == 1
    within = await store.sources_of_objects(ENTITY, ["a", "b"], document_ids=["d1"], limit=1)
    assert {name: [source.chunk_id for source in found] for name, found in within.items()} == {
        "a": ["d1-1"],
        "b": ["d1-1"],
    }


async def test_objects_of_documents(workspace: Workspace) -> None:
    store = await workspace.evidence()
    key = relation_key("a", "b")
    await store.add([said("b", "d1-1"), said(key, "d1-1", kind=RELATION), said("a", "d1-1"), said("c", "d2-1")])
    await store.add([said("b", "d1-2")])
    assert await store.objects_of_documents(["d1"]) == {ENTITY: ["b", "a"], RELATION: [key]}
    assert not any((await store.objects_of_documents(["unknown"])).values())
    assert not any((await store.objects_of_documents([])).values())


async def test_dropping_documents(workspace: Workspace) -> None:
    store = await workspace.evidence()
    await store.add([said("a", "d1-1"), said("a", "d2-1"), said("b", "d1-1")])
    await store.drop_documents(["d1", "unknown"])
    assert ids(await store.of_documents(["d1", "d2"])) == [("a", "d2-1")]
    assert await store.of_objects(ENTITY, ["b"]) == {}
    await store.add([said("b", "d1-1", "second life")])
    assert [row.description for row in (await store.of_objects(ENTITY, ["b"]))["b"]] == ["second life"]


async def test_dropping_some_scopes_of_a_document(workspace: Workspace) -> None:
    store = await workspace.evidence()
    await store.add(
        [
            said("a", "d1-1"),
            said("a\x1ft:1", "d1-1", tenant="t:1"),
            said("a\x1ft:2", "d1-1", tenant="t:2"),
            said("a\x1ft:1", "d2-1", tenant="t:1"),
        ]
    )
    await store.drop_of_document("d1", [])
    await store.drop_of_document("d1", ["unknown"])
    assert await store.count() == 4
    await store.drop_of_document("d1", ["t:1"])
    assert ids(await store.of_documents(["d1", "d2"])) == [("a", "d1-1"), ("a\x1ft:2", "d1-1"), ("a\x1ft:1", "d2-1")]
    await store.drop_of_document("d1", ["", "t:2"])
    assert ids(await store.of_documents(["d1", "d2"])) == [("a\x1ft:1", "d2-1")]


async def test_dropping_objects(workspace: Workspace) -> None:
    store = await workspace.evidence()
    key = relation_key("a", "b")
    await store.add([said("a", "d1-1"), said("b", "d1-1"), said(key, "d1-1", kind=RELATION)])
    await store.drop_objects(ENTITY, ["a", "unknown", key])
    assert await store.objects_of_documents(["d1"]) == {ENTITY: ["b"], RELATION: [key]}
    await store.drop_objects(RELATION, {key})
    assert await store.objects_of_documents(["d1"]) == {ENTITY: ["b"], RELATION: []}


async def test_moving_rows_to_another_object(workspace: Workspace) -> None:
    store = await workspace.evidence()
    await store.add([said("old", "d1-1", "o1"), said("new", "d1-2", "n2"), said("old", "d2-1", "o3")])
    await store.reassign(ENTITY, {"old": "new", "unknown": "elsewhere"})
    rows = await store.of_objects(ENTITY, ["old", "new", "elsewhere"])
    assert list(rows) == ["new"]
    assert [row.description for row in rows["new"]] == ["o1", "n2", "o3"]


@pytest.mark.parametrize(
    ("moved", "other", "kept"),
    [("moved", "other", "other"), ("moved", "", "moved"), ("", "other", "other"), ("", "", "")],
)
async def test_moving_to_an_object_with_a_row_of_the_same_chunk(
    workspace: Workspace, moved: str, other: str, kept: str
) -> None:
    store = await workspace.evidence()
    await store.add([said("old", "d1-1", moved), said("new", "d1-1", other)])
    await store.reassign(ENTITY, {"old": "new"})
    assert await store.count() == 1
    assert [row.description for row in (await store.of_objects(ENTITY, ["new"]))["new"]] == [kept]


async def test_two_objects_can_swap_and_many_can_become_one(workspace: Workspace) -> None:
    store = await workspace.evidence()
    await store.add([said("a", "d1-1", "was a"), said("b", "d1-1", "was b"), said("c", "d1-2", "was c")])
    await store.reassign(ENTITY, {"a": "b", "b": "a", "c": "c"})
    rows = await store.of_objects(ENTITY, ["a", "b", "c"])
    assert {name: found[0].description for name, found in rows.items()} == {"a": "was b", "b": "was a", "c": "was c"}
    await store.reassign(ENTITY, {"a": "z", "b": "z", "c": "z"})
    assert [row.chunk_id for row in (await store.of_objects(ENTITY, ["z"]))["z"]] == ["d1-1", "d1-2"]


async def test_moving_relations(workspace: Workspace) -> None:
    store = await workspace.evidence()
    old, new = relation_key("a", "b"), relation_key("z", "b")
    await store.add([said(old, "d1-1", kind=RELATION), said("a", "d1-1")])
    await store.reassign(RELATION, {old: new})
    assert await store.objects_of_documents(["d1"]) == {RELATION: [new], ENTITY: ["a"]}


async def test_scanning_objects(workspace: Workspace) -> None:
    store = await workspace.evidence()
    names = sorted(["a", "B", "c d", "é", "日本", "😀", *(f"n{number}" for number in range(12))])
    keys = [relation_key(first, second) for first, second in pairwise(names)]
    await store.add([said(name, "d1-1") for name in reversed(names)])
    await store.add([said(key, "d1-1", kind=RELATION) for key in reversed(keys)])
    for kind, expected in ((ENTITY, names), (RELATION, sorted(keys))):
        seen: list[str] = []
        while page := await store.scan_objects(kind, after=seen[-1] if seen else "", limit=5):
            assert len(page) <= 5
            seen += page
        assert seen == expected


async def test_scanning_one_scope(workspace: Workspace) -> None:
    store = await workspace.evidence()
    await store.add([said("a", "d1-1"), said("a\x1ft:1", "d1-1", tenant="t:1"), said("b", "d1-1")])
    assert await store.scan_objects(ENTITY, tenant_tag="") == ["a", "b"]
    assert await store.scan_objects(ENTITY, tenant_tag="t:1") == ["a\x1ft:1"]
    assert await store.scan_objects(ENTITY, tenant_tag="t:2") == []
    assert await store.scan_objects(ENTITY) == ["a", "a\x1ft:1", "b"]


@pytest.mark.parametrize("key", HOSTILE_IDS)
async def test_hostile_texts_come_back_letter_for_letter(workspace: Workspace, key: str) -> None:
    store = await workspace.evidence()
    entity = Evidence(ENTITY, key, key + "c", key + "d", key, key, "", 0.0, key, 1, key)
    relation = Evidence(RELATION, relation_key(key, "other"), key + "c", key + "d", key, "", key, 1.0, key, 1, key)
    await store.add([entity, relation])
    assert [bare(row) for row in await store.of_documents([key + "d"])] == [entity, relation]
    assert (await store.sources_of_objects(ENTITY, [key]))[key] == [EvidenceSource(key + "c", key + "d", key)]
    assert await store.scan_objects(RELATION) == [relation.object_id]
    await store.drop_documents([key + "d"])
    assert await store.count() == 0


@pytest.mark.parametrize("key", IMPOSSIBLE_IDS)
async def test_impossible_ids_are_refused_and_poison_nothing(workspace: Workspace, key: str) -> None:
    store = await workspace.evidence()
    for bad in (said(key, "d1-1"), said("a", key), replace(said("a", "d1-1"), description="lone \ud800")):
        with pytest.raises(InputError):
            await store.add([said("good", "d1-1"), bad])
    assert await store.count() == 0
    assert await store.of_objects(ENTITY, [key]) == {}
    await store.drop_documents([key])
    await store.add([said("good", "d1-1")])
    assert await store.count() == 1


@pytest.mark.parametrize("key", ["no separator", "b\x1ea"])
async def test_relations_need_a_relation_key(workspace: Workspace, key: str) -> None:
    store = await workspace.evidence()
    with pytest.raises(InputError):
        await store.add([said(key, "d1-1", kind=RELATION)])
    assert await store.of_objects(RELATION, [key]) == {}


async def test_fifty_thousand_ids_and_empty_arguments(workspace: Workspace) -> None:
    store = await workspace.evidence()
    await store.add([])
    await store.drop_documents([])
    await store.drop_objects(ENTITY, [])
    await store.reassign(ENTITY, {})
    assert await store.of_objects(ENTITY, []) == {}
    assert await store.sources_of_objects(ENTITY, []) == {}
    assert await store.of_documents([]) == []
    count = 50_000
    names = [f"n{number}" for number in range(count)]
    documents = [f"doc{number}" for number in range(count)]
    await store.add([said(name, f"{document}-1") for name, document in zip(names, documents, strict=True)])
    assert len(await store.of_objects(ENTITY, names)) == count
    assert len(await store.sources_of_objects(ENTITY, names, document_ids=documents[:10], limit=3)) == 10
    assert len(await store.of_documents(documents)) == count
    await store.drop_documents(documents[1:])
    assert await store.scan_objects(ENTITY) == ["n0"]


async def test_a_hub_with_many_rows(workspace: Workspace) -> None:
    store = await workspace.evidence()
    await store.add([said("hub", f"d{number}-1", f"text {number}") for number in range(3000)])
    assert [s.chunk_id for s in (await store.sources_of_objects(ENTITY, ["hub"], limit=2))["hub"]] == ["d0-1", "d1-1"]
    rows = (await store.of_objects(ENTITY, ["hub"], document_ids=["d2999", "d5"]))["hub"]
    assert [row.description for row in rows] == ["text 5", "text 2999"]


async def test_many_writers_at_a_time(workspace: Workspace) -> None:
    store = await workspace.evidence()
    await asyncio.gather(*(store.add([said("hub", f"d{n}-1"), said(f"own{n}", f"d{n}-1")]) for n in range(80)))
    assert len((await store.of_objects(ENTITY, ["hub"]))["hub"]) == 80
    assert await store.count() == 160


async def test_drop(workspace: Workspace) -> None:
    store = await workspace.evidence()
    await store.add([said("a", "d1-1")])
    assert (await store.drop())["status"] == "success"
    assert await store.count() == 0
    assert await store.scan_objects(ENTITY) == []
    await store.add([said("a", "d1-1")])
    assert await store.count() == 1
