from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from lightrag.exceptions import EmbeddingMismatchError, InputError
from lightrag.query_filters import DocumentMetadata, as_filter, document_matches_filter, normal_form
from tests.conformance.conftest import HOSTILE_IDS, IMPOSSIBLE_IDS
from tests.conformance.families import DIMENSION, Workspace, embedding, text_vector


def unit(*values: float) -> np.ndarray:
    vector = np.zeros(DIMENSION, dtype=np.float32)
    vector[: len(values)] = values
    return vector


def row(vector: np.ndarray, content: str = "text", **fields: Any) -> dict[str, Any]:
    return {"content": content, "vector": vector, **fields}


async def test_the_nearest_come_first_with_their_fields(workspace: Workspace) -> None:
    store = await workspace.vectors(fields=["file_path"])
    await store.upsert(
        {
            "far": row(unit(0, 1), file_path="far.md"),
            "near": row(unit(1, 0.1), "near text", file_path="near.md", unknown="dropped"),
            "opposite": row(unit(-1), file_path="opposite.md"),
            "nearest": row(unit(5), file_path="nearest.md"),
        }
    )
    found = await store.query("", 3, unit(2))
    assert [hit["id"] for hit in found] == ["nearest", "near", "far"]
    assert [hit["distance"] for hit in found] == pytest.approx([1.0, 1 / np.sqrt(1.01), 0.0], abs=1e-6)
    assert found[1]["file_path"] == "near.md"
    assert found[1]["content"] == "near text"
    assert "unknown" not in found[1]
    assert "vector" not in found[1]
    assert abs(found[1]["created_at"] - time.time()) < 60


async def test_rows_below_the_floor_are_never_returned(workspace: Workspace) -> None:
    store = await workspace.vectors(floor=0.5)
    await store.upsert({"above": row(unit(1, 1.7)), "at": row(unit(1)), "below": row(unit(1, 1.8))})
    assert [hit["id"] for hit in await store.query("", 10, unit(1))] == ["at", "above"]
    await store.upsert({"above": row(unit(0, 1))})
    assert [hit["id"] for hit in await store.query("", 10, unit(1))] == ["at"]


async def test_equal_rows_are_ordered_by_id(workspace: Workspace) -> None:
    store = await workspace.vectors()
    vector = text_vector("x")
    names = [f"n{number:02}" for number in range(40)]
    for name in reversed(names):
        await store.upsert({name: row(vector)})
    await store.upsert({names[7]: row(vector, "rewritten")})
    assert [hit["id"] for hit in await store.query("", 5, vector)] == names[:5]
    assert [hit["id"] for hit in await store.query("", 100, vector)] == names


async def test_zero_vectors_are_stored_and_match_nothing(workspace: Workspace) -> None:
    store = await workspace.vectors()
    await store.upsert({"zero": row(unit()), "other": row(unit(1))})
    assert [hit["id"] for hit in await store.query("", 10, unit(1))] == ["other"]
    assert await store.query("", 10, unit()) == []
    assert await store.get_vectors_by_ids(["zero"]) == {"zero": [0.0] * DIMENSION}
    assert await store.similarities(["zero", "other"], unit(1)) == pytest.approx({"zero": 0.0, "other": 1.0}, abs=1e-6)
    await store.upsert({"zero": row(unit(1))})
    assert len(await store.query("", 10, unit(1))) == 2


async def test_texts_without_vectors_are_embedded(workspace: Workspace) -> None:
    asked: list[tuple[list[str], str | None]] = []
    plain = embedding()

    async def watched(texts: Sequence[str], context: str | None = None, **_: Any) -> np.ndarray:
        asked.append((list(texts), context))
        return await plain.func(texts)

    func = embedding()
    func.func, func.supports_asymmetric = watched, True
    store = await workspace.vectors(func=func)
    await store.upsert({f"id-{text}": {"content": text} for text in "abcdefg"} | {"own": row(unit(1), "own")})
    assert sorted(text for texts, _ in asked for text in texts) == list("abcdefg")
    assert {context for _, context in asked} == {"document"}
    asked.clear()
    found = await store.query("c", 1)
    assert found[0]["id"] == "id-c"
    assert found[0]["distance"] == pytest.approx(1.0, abs=1e-5)
    assert asked == [(["c"], "query")]


async def test_a_row_whose_vector_is_none_is_embedded(workspace: Workspace) -> None:
    store = await workspace.vectors()
    await store.upsert({"a": {"content": "a", "vector": None}})
    assert (await store.query("a", 1))[0]["id"] == "a"


async def test_more_than_there_is_and_nothing(workspace: Workspace) -> None:
    store = await workspace.vectors()
    assert await store.query("anything", 5) == []
    assert await store.query("", 5, unit(1)) == []
    await store.upsert({"a": row(unit(1))})
    assert len(await store.query("", 100, unit(1))) == 1
    assert await store.query("", 0, unit(1)) == []
    await store.upsert({})
    await store.delete([])
    assert await store.get_by_ids([]) == []
    assert await store.get_vectors_by_ids([]) == {}
    assert await store.similarities([], unit(1)) == {}


async def test_reading_by_id(workspace: Workspace) -> None:
    store = await workspace.vectors()
    vector = text_vector("a")
    await store.upsert({"a": row(vector, "text a", file_path="a.md"), "b": row(unit(1))})
    rows = await store.get_by_ids(["b", "missing", "a"])
    assert [found and found["id"] for found in rows] == ["b", None, "a"]
    assert rows[2] is not None
    assert rows[2]["content"] == "text a"
    assert rows[2]["file_path"] == "a.md"
    assert "vector" not in rows[2]
    assert await store.get_by_id("missing") is None
    vectors = await store.get_vectors_by_ids(["a", "missing"])
    assert list(vectors) == ["a"]
    assert vectors["a"] == pytest.approx((vector / np.linalg.norm(vector)).tolist(), abs=1e-6)
    assert await store.count() == 2


async def test_similarities_are_those_of_the_search(workspace: Workspace) -> None:
    store = await workspace.vectors()
    await store.upsert({f"n{number}": row(text_vector(str(number))) for number in range(30)})
    target = text_vector("q")
    found = {hit["id"]: hit["distance"] for hit in await store.query("", 30, target)}
    assert await store.similarities([*found, "missing"], target) == pytest.approx(found, abs=1e-5)


async def test_replacing_and_deleting(workspace: Workspace) -> None:
    store = await workspace.vectors()
    await store.upsert({name: row(unit(1), name) for name in "abc"})
    assert len(await store.query("", 5, unit(1))) == 3
    await store.upsert({"a": row(unit(0, 1), "new text")})
    assert [hit["id"] for hit in await store.query("", 1, unit(0, 1))] == ["a"]
    assert (await store.query("", 1, unit(0, 1)))[0]["content"] == "new text"
    await store.delete(["b", "unknown"])
    assert [hit["id"] for hit in await store.query("", 5, unit(1, 0.01))] == ["c", "a"]
    assert await store.count() == 2
    assert sorted(await store.scan_ids()) == ["a", "c"]
    await store.upsert({"b": row(unit(1), "again")})
    assert (await store.query("", 1, unit(1)))[0]["id"] == "b"


async def test_pages_stay_full_when_the_nearest_rows_are_deleted(workspace: Workspace) -> None:
    store = await workspace.vectors()
    await store.upsert({f"n{number}": row(unit(1, number / 10)) for number in range(9)})
    assert [hit["id"] for hit in await store.query("", 3, unit(1))] == ["n0", "n1", "n2"]
    await store.delete(["n0", "n1", "n3"])
    assert [hit["id"] for hit in await store.query("", 3, unit(1))] == ["n2", "n4", "n5"]
    assert set(await store.similarities(["n1", "n2"], unit(1))) == {"n2"}


async def test_fields_of_a_replaced_row_go(workspace: Workspace) -> None:
    store = await workspace.vectors()
    await store.upsert({"a": row(unit(1), file_path="a.md", filter_tags=["x"])})
    await store.upsert({"a": row(unit(1), tenant_tag="t:1")})
    found = await store.get_by_id("a")
    assert found is not None
    assert "file_path" not in found
    assert not found.get("filter_tags")
    assert found["tenant_tag"] == "t:1"


async def test_entities_and_relations_by_name(workspace: Workspace) -> None:
    entities, relations = await workspace.vectors("entities"), await workspace.vectors("relationships")
    quoted = 'Ann "A" \\ O\'Neil'
    await entities.upsert(
        {
            "ent-1": row(unit(1), entity_name=quoted, tenant_tag=""),
            "ent-2": row(unit(1), entity_name=quoted, tenant_tag="t:1"),
            "ent-3": row(unit(1), entity_name="Bob", tenant_tag=""),
        }
    )
    await relations.upsert(
        {
            "rel-1": row(unit(1), src_id=quoted, tgt_id="Bob"),
            "rel-2": row(unit(1), src_id="Bob", tgt_id="Cy"),
            "rel-3": row(unit(1), src_id="Aa", tgt_id=quoted),
        }
    )
    await entities.delete_entity(quoted)
    await relations.delete_entity_relation(quoted)
    await entities.delete_entity("nobody")
    await relations.delete_entity_relation("nobody")
    assert sorted(await entities.scan_ids()) == ["ent-2", "ent-3"]
    assert await relations.scan_ids() == ["rel-2"]
    assert {hit["id"] for hit in await relations.query("", 9, unit(1))} == {"rel-2"}


async def test_filter_fields_come_back_only_if_given(workspace: Workspace) -> None:
    store = await workspace.vectors()
    given = {
        "filter_tags": ["a", "b"],
        "filter_dated": True,
        "filter_start_ms": -(2**53 - 1),
        "filter_end_ms": 1_700_000_000_000,
        "full_doc_id": "doc-1",
        "tenant_tag": "",
    }
    await store.upsert({"a": row(unit(1), **given), "b": row(unit(1))})
    found = await store.get_by_id("a")
    assert found is not None
    assert {name: found[name] for name in given} == given
    assert "doc_type" not in found
    bare = await store.get_by_id("b")
    assert bare is not None
    assert set(bare) == {"id", "content", "created_at"}


@pytest.mark.parametrize("bad", [{"filter_tags": "a"}, {"filter_dated": 1}, {"modified_at": "today"}, {"doc_type": 3}])
async def test_filter_fields_of_another_type_are_refused(workspace: Workspace, bad: dict[str, Any]) -> None:
    store = await workspace.vectors()
    with pytest.raises(InputError):
        await store.upsert({"good": row(unit(1)), "bad": row(unit(1), **bad)})
    assert await store.count() == 0


@pytest.mark.parametrize(
    "vector",
    [
        np.ones(DIMENSION + 1, dtype=np.float32),
        np.ones((1, DIMENSION), dtype=np.float32),
        unit(float("nan")),
        unit(float("inf")),
    ],
)
async def test_vectors_that_do_not_fit_are_refused_before_anything_is_stored(
    workspace: Workspace, vector: np.ndarray
) -> None:
    store = await workspace.vectors()
    with pytest.raises(EmbeddingMismatchError):
        await store.upsert({"good": row(unit(1)), "bad": row(vector)})
    assert await store.count() == 0
    await store.upsert({"good": row(unit(1))})
    with pytest.raises(EmbeddingMismatchError):
        await store.query("", 5, vector)


async def test_vectors_of_any_length_are_compared_by_angle(workspace: Workspace) -> None:
    store = await workspace.vectors()
    await store.upsert({"huge": row(unit(3e38, 3e38)), "tiny": row(unit(1e-40)), "plain": row(unit(0, 2))})
    found = await store.query("", 3, unit(1e30, 1e29))
    assert [hit["id"] for hit in found] == ["tiny", "huge", "plain"]


async def test_another_model_or_dimension_is_refused_before_any_write(workspace: Workspace) -> None:
    store = await workspace.vectors()
    await store.upsert({"a": row(unit(1))})
    for func, named in ((embedding(DIMENSION + 1), str(DIMENSION + 1)), (embedding(model="model-b"), "model-b")):
        with pytest.raises(EmbeddingMismatchError, match="model-a") as caught:
            await workspace.vectors(func=func)
        assert named in str(caught.value)
    unnamed = await workspace.vectors(func=embedding(model=None))
    assert await unnamed.count() == 1
    await store.delete(["a"])
    other = await workspace.vectors(func=embedding(DIMENSION + 1, "model-b"))
    await other.upsert({"a": row(np.ones(DIMENSION + 1, dtype=np.float32))})
    assert (await other.query("", 1, np.ones(DIMENSION + 1)))[0]["id"] == "a"


@pytest.mark.parametrize("key", HOSTILE_IDS)
async def test_hostile_ids_and_texts(workspace: Workspace, key: str) -> None:
    store = await workspace.vectors()
    await store.upsert({key: row(unit(1), key, file_path=key, entity_name=key), "z": row(unit(0, 1))})
    found = (await store.query("", 1, unit(1)))[0]
    assert (found["id"], found["content"], found["file_path"]) == (key, key, key)
    assert set(await store.similarities([key], unit(1))) == {key}
    assert key in await store.scan_ids()
    await store.delete_entity(key)
    assert await store.scan_ids() == ["z"]


@pytest.mark.parametrize("key", IMPOSSIBLE_IDS)
async def test_impossible_ids_are_refused_and_poison_nothing(workspace: Workspace, key: str) -> None:
    store = await workspace.vectors()
    with pytest.raises(InputError):
        await store.upsert({"good": row(unit(1)), key: row(unit(1))})
    with pytest.raises(InputError):
        await store.upsert({"good": row(unit(1), "lone \ud800")})
    assert await store.count() == 0
    await store.delete([key])
    assert await store.get_by_ids([key]) == [None]
    assert await store.similarities([key], unit(1)) == {}
    await store.upsert({"good": row(unit(1))})
    assert await store.count() == 1


async def test_fifty_thousand_ids(workspace: Workspace) -> None:
    store = await workspace.vectors()
    await store.upsert({f"n{number}": row(text_vector(str(number))) for number in range(300)})
    asked = [f"n{number}" for number in range(50_000)]
    assert sum(found is not None for found in await store.get_by_ids(asked)) == 300
    assert len(await store.similarities(asked, unit(1))) == 300
    assert len(await store.get_vectors_by_ids(asked)) == 300
    await store.delete(asked[100:])
    assert await store.count() == 100


async def test_scan_ids_pages(workspace: Workspace) -> None:
    store = await workspace.vectors()
    ids = sorted(f"n{number}" for number in range(23))
    await store.upsert({name: row(unit(1)) for name in ids})
    seen: list[str] = []
    while page := await store.scan_ids(after=seen[-1] if seen else "", limit=5):
        assert len(page) <= 5
        seen += page
    assert sorted(seen) == ids
    await store.delete(seen[:12])
    assert await store.scan_ids(after=seen[9], limit=3) == seen[12:15]


async def test_searching_while_others_write(workspace: Workspace) -> None:
    store = await workspace.vectors()
    fixed = {f"fixed-{number}": row(unit(1, number / 1000)) for number in range(20)}
    await store.upsert(fixed)

    async def write(number: int) -> None:
        await store.upsert({f"moving-{number % 7}": row(unit(0, 1, number / 10))})
        await store.delete([f"moving-{(number + 3) % 7}"])

    async def search() -> None:
        found = await store.query("", 20, unit(1))
        assert {hit["id"] for hit in found} == set(fixed)

    await asyncio.gather(*(job for number in range(150) for job in (write(number), search())))


async def test_drop_empties_the_namespace_and_forgets_the_model(workspace: Workspace) -> None:
    store, other = await workspace.vectors("chunks"), await workspace.vectors("entities")
    await store.upsert({"a": row(unit(1))})
    await other.upsert({"a": row(unit(1))})
    assert (await store.drop())["status"] == "success"
    assert await store.count() == 0
    assert await store.query("", 5, unit(1)) == []
    assert await other.count() == 1
    await store.upsert({"a": row(unit(0, 1))})
    assert (await store.query("", 5, unit(0, 1)))[0]["id"] == "a"


# --- filters -----------------------------------------------------------------------------------------------------

DOCUMENTS = {
    "old": DocumentMetadata(start_date="1990-01-01T00:00:00+00:00", end_date="1995-01-01T00:00:00+00:00", tags=["a"]),
    "new": DocumentMetadata(start_date="2020-01-01T00:00:00+00:00", tags=["a", "b"]),
    "undated": DocumentMetadata(tags=["b"]),
    "bare": DocumentMetadata(),
}
FILTERS: tuple[dict[str, Any], ...] = (
    {"required_tags": ["a"]},
    {"required_tags": ["a", "b"]},
    {"required_tags": ["a", "b"], "required_tags_mode": "or"},
    {"forbidden_tags": ["b"]},
    {"date_filter": {"range": {"start": "2019-01-01T00:00:00+00:00", "end": "2021-01-01T00:00:00+00:00"}}},
    {"date_filter": {"undated": "only"}},
    {"required_tags": ["nobody-has-it"]},
)


@pytest.mark.parametrize("given", FILTERS, ids=repr)
async def test_a_filter_gives_full_pages_of_exactly_what_it_accepts(
    workspace: Workspace, given: dict[str, Any]
) -> None:
    store, status = await workspace.vectors("chunks"), await workspace.doc_status()
    if not (store.supports_metadata_filters or store.filters_by_documents):
        pytest.skip("cannot filter by itself: the caller gates what it returns")
    wanted = as_filter(given)
    accepted: list[str] = []
    for name, metadata in DOCUMENTS.items():
        stored = metadata.to_storage()
        await status.upsert({name: {"status": "processed", "created_at": "2024", "metadata": stored}})
        fields = normal_form(stored, doc_id=name)
        rows = {f"{name}-{number:02}": row(unit(1, number / 100), **fields) for number in range(12)}
        await store.upsert(rows)
        if document_matches_filter(stored, wanted, doc_id=name):
            accepted += rows
    accepted.sort(key=lambda key: (int(key.rsplit("-", 1)[1]), key))
    for count in (1, 5, 100):
        found = await store.query("", count, unit(1), metadata_filter=wanted)
        assert [hit["id"] for hit in found] == accepted[:count]
