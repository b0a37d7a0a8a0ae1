"""The fakes keep the contracts where a test would lean on them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lightrag.contracts.evidence import Evidence, ObjectKind
from lightrag.exceptions import EmbeddingMismatchError
from lightrag.query_filters import VectorQueryFilter
from lightrag.stores import Stores
from tests.fakes.models import HashEmbedder, hash_vector
from tests.fakes.stores import fake_stores


@pytest.fixture
def stores() -> Stores:
    return fake_stores(HashEmbedder().function())


async def test_a_unit_of_work_commits_all_stores_together(stores: Stores) -> None:
    async with stores.unit_of_work():
        await stores.text_chunks.upsert({"a": {"content": "text"}})
        await stores.graph.upsert_edge("x", "y", {"weight": 1.0})
        await stores.mark_corpus_changed()
        assert await stores.text_chunks.get_by_id("a") is None
        assert await stores.graph.count_edges() == 0
        assert await stores.corpus_version() == ""
    assert await stores.text_chunks.get_by_id("a") is not None
    assert await stores.graph.has_edge("y", "x")
    assert await stores.corpus_version()


async def test_an_exception_discards_everything(stores: Stores) -> None:
    async def fail_half_way() -> None:
        async with stores.unit_of_work():
            await stores.full_docs.upsert({"a": {"content": "text"}})
            await stores.chunks.upsert({"a": {"content": "text"}})
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail_half_way()
    assert await stores.full_docs.is_empty()
    assert await stores.chunks.count() == 0
    await stores.full_docs.upsert({"b": {"content": "text"}})
    assert not await stores.full_docs.is_empty()


async def test_what_is_read_is_a_copy(stores: Stores) -> None:
    row = {"content": "text", "tags": ["a"]}
    await stores.full_docs.upsert({"a": row})
    row["tags"].append("b")
    read = await stores.full_docs.get_by_id("a")
    assert read is not None
    assert read["tags"] == ["a"]
    read["tags"].append("c")
    assert (await stores.full_docs.get_by_id("a") or {})["tags"] == ["a"]


async def test_search_is_ranked_bounded_and_filtered(stores: Stores) -> None:
    base = {"filter_dated": False, "filter_start_ms": -(2**53 - 1), "filter_end_ms": 2**53 - 1}
    await stores.chunks.upsert(
        {
            "near": {"content": "harbour dues on coal", "filter_tags": ["law"], **base},
            "far": {"content": "harbour seals", "filter_tags": ["nature"], **base},
            "not stamped": {"content": "harbour dues"},
            "else": {"content": "nothing of it", **base},
        }
    )
    query = hash_vector("harbour dues on coal")
    rows = await stores.chunks.query("", 10, query_embedding=query)
    assert [row["id"] for row in rows] == ["near", "not stamped", "far"]
    assert rows[0]["distance"] == pytest.approx(1.0)
    assert len(await stores.chunks.query("harbour dues on coal", 1)) == 1
    law = VectorQueryFilter(required_tags=["law"])
    filtered = await stores.chunks.query("", 10, query_embedding=query, metadata_filter=law)
    assert [row["id"] for row in filtered] == ["near", "not stamped"]
    with pytest.raises(EmbeddingMismatchError):
        await stores.chunks.query("", 1, query_embedding=np.zeros(3))


async def test_evidence_keeps_its_order(stores: Stores) -> None:
    def row(chunk: str, text: str, document: str = "d1") -> Evidence:
        return Evidence(ObjectKind.ENTITY, "e", chunk, document, text)

    evidence = stores.evidence
    await evidence.add([row("c1", "one"), row("c2", "two", "d2")])
    await evidence.add([row("c3", "three"), row("c1", "one again")])
    rows = (await evidence.of_objects(ObjectKind.ENTITY, ["e", "unknown"]))["e"]
    assert [item.description for item in rows] == ["one again", "two", "three"]
    limited = await evidence.sources_of_objects(ObjectKind.ENTITY, ["e"], document_ids={"d1"}, limit=1)
    assert [source.chunk_id for source in limited["e"]] == ["c1"]
    assert await evidence.of_objects(ObjectKind.ENTITY, ["e"], document_ids=set()) == {}
    await evidence.drop_documents({"d1"})
    assert [item.chunk_id for item in await evidence.of_documents({"d1", "d2"})] == ["c2"]


async def test_evidence_of_some_scopes_of_a_document_goes(stores: Stores) -> None:
    row = Evidence(ObjectKind.ENTITY, "e", "c1", "d1")
    scopes = [replace(row, object_id=f"e\x1f{tag}", tenant_tag=tag) for tag in ("t:1", "t:2")]
    await stores.evidence.add([row, *scopes, replace(scopes[0], chunk_id="c2", document_id="d2")])
    await stores.evidence.drop_of_document("d1", {"t:1"})
    left = await stores.evidence.of_documents({"d1", "d2"})
    assert [(item.document_id, item.tenant_tag) for item in left] == [("d1", ""), ("d1", "t:2"), ("d2", "t:1")]


async def test_evidence_moves_to_another_object(stores: Stores) -> None:
    evidence = stores.evidence
    old = Evidence(ObjectKind.ENTITY, "old", "c1", "d1", "text")
    await evidence.add([old, replace(old, chunk_id="c2"), replace(old, object_id="new", description="")])
    await evidence.reassign(ObjectKind.ENTITY, {"old": "new"})
    rows = await evidence.of_objects(ObjectKind.ENTITY, ["old", "new"])
    assert list(rows) == ["new"]
    assert {row.chunk_id: row.description for row in rows["new"]} == {"c1": "text", "c2": "text"}


async def test_removing_a_node_removes_its_edges(stores: Stores) -> None:
    graph = stores.graph
    await graph.upsert_edges_batch([("a", "b", {}), ("b", "c", {})])
    await graph.remove_nodes(["b"])
    assert await graph.get_all_labels() == ["a", "c"]
    assert await graph.count_edges() == 0
    assert await graph.node_degrees_batch(["a", "b"]) == {"a": 0, "b": 0}
    assert await graph.get_node_edges("a") == []
    assert await graph.get_node_edges("b") is None
