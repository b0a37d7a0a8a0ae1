"""What each leg finds, in which order, and with how many reads."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from lightrag.contracts.query import QueryParam
from lightrag.query.modes import run_query, to_data
from tests.query.corpus import Document, Engine, Writer, archive, make_engine

QUESTION = "Who levies harbour dues on coal?"


async def data_of(engine: Engine, mode: str, **options: Any) -> dict[str, Any]:
    options = {"hl_keywords": ["harbour dues"], "ll_keywords": ["dock board"], **options}
    result = to_data(await run_query(engine.context, QUESTION, QueryParam(mode=mode, **options), data_only=True))
    assert result["status"] == "success", result
    return result["data"]


def names(data: dict[str, Any]) -> list[str]:
    return [row["entity_name"] for row in data["entities"]]


def pairs(data: dict[str, Any]) -> list[tuple[str, str]]:
    return [(row["src_id"], row["tgt_id"]) for row in data["relationships"]]


async def test_local_follows_entities_to_their_edges_by_degree_then_weight() -> None:
    engine = await archive()
    data = await data_of(engine, "local", top_k=1)
    assert names(data) == ["Westhaven Dock Board"]
    # Degrees: board 4, Coal 2, Pier 2, Harbour Act 1, Ana Brook 1.
    assert pairs(data) == [
        ("Pier", "Westhaven Dock Board"),  # 6, weight 5
        ("Coal", "Westhaven Dock Board"),  # 6, weight 1
        ("Harbour Act", "Westhaven Dock Board"),  # 5, weight 2
        ("Ana Brook", "Westhaven Dock Board"),  # 5, weight 1
    ]


async def test_global_follows_relations_to_their_ends() -> None:
    engine = await archive()
    data = await data_of(engine, "global", hl_keywords=["weighing coal at the pier"], top_k=1)
    assert pairs(data) == [("Coal", "Pier")]
    assert names(data) == ["Coal", "Pier"]


async def test_hybrid_takes_turns() -> None:
    engine = await archive()
    options = {"ll_keywords": ["Ana Brook merchant"], "hl_keywords": ["weighing coal at the pier"], "top_k": 1}
    data = await data_of(engine, "hybrid", **options)
    assert names(data) == ["Ana Brook", "Coal", "Pier"]
    assert pairs(data) == [("Ana Brook", "Westhaven Dock Board"), ("Coal", "Pier")]


async def test_mix_adds_chunks_of_the_vector_search_in_front() -> None:
    engine = await archive()
    hybrid = await data_of(engine, "hybrid", top_k=1)
    mix = await data_of(engine, "mix", top_k=1)
    naive = await data_of(engine, "naive")
    assert names(mix) == names(hybrid)
    assert pairs(mix) == pairs(hybrid)
    assert mix["chunks"][0]["chunk_id"] == naive["chunks"][0]["chunk_id"]
    assert len({chunk["chunk_id"] for chunk in mix["chunks"]}) == len(mix["chunks"])


async def test_naive_returns_the_nearest_chunks() -> None:
    engine = await archive()
    data = await data_of(engine, "naive", chunk_top_k=2)
    assert len(data["chunks"]) == 2
    assert data["chunks"][0]["chunk_id"] == "doc-1-chunk-001"


async def test_a_mode_with_one_leg_takes_the_keywords_there_are() -> None:
    engine = await archive()
    assert names(await data_of(engine, "local", ll_keywords=[], hl_keywords=["dock board"]))
    assert pairs(await data_of(engine, "global", hl_keywords=[], ll_keywords=["harbour dues"]))
    # With two legs the one without keywords rests.
    assert names(await data_of(engine, "hybrid", hl_keywords=[], top_k=1)) == ["Westhaven Dock Board"]


async def test_vector_rows_without_a_node_or_an_edge_are_passed_over() -> None:
    engine = await archive()
    stores = engine.context.stores
    await stores.entities.upsert({"ent-x": {"content": "dock board", "entity_name": "Ghost", "graph_node_id": "Ghost"}})
    await stores.relationships.upsert({"rel-x": {"content": "harbour dues", "src_id": "Ghost", "tgt_id": "Coal"}})
    data = await data_of(engine, "hybrid")
    assert "Ghost" not in names(data)
    assert all("Ghost" not in pair for pair in pairs(data))


async def test_a_chunk_without_a_row_makes_room_for_the_next() -> None:
    engine = await archive()
    await engine.context.stores.text_chunks.delete(["doc-1-chunk-000"])
    data = await data_of(engine, "local", chunk_top_k=2)
    ids = [chunk["chunk_id"] for chunk in data["chunks"]]
    assert len(ids) == 2
    assert "doc-1-chunk-000" not in ids


async def test_a_searched_chunk_without_a_row_comes_from_its_vector_row() -> None:
    engine = await archive()
    await engine.context.stores.text_chunks.drop()
    data = await data_of(engine, "naive", chunk_top_k=1)
    assert data["chunks"] == [
        {
            "reference_id": "1",
            "content": "The Westhaven Dock Board levies harbour dues on every vessel that lands coal.",
            "file_path": "acts/harbour.md",
            "chunk_id": "doc-1-chunk-001",
        }
    ]


async def test_isolated_entities_are_found() -> None:
    engine = make_engine()
    await Writer(engine).add(Document("a.md", ["A lone buoy."], [(0, "Buoy", "thing", "A lone buoy.")]))
    data = await data_of(engine, "local", ll_keywords=["buoy"])
    assert names(data) == ["Buoy"]
    assert data["relationships"] == []
    assert [chunk["content"] for chunk in data["chunks"]] == ["A lone buoy."]


@pytest.mark.parametrize("method", ["VECTOR", "WEIGHT"])
async def test_chunks_through_the_graph(method: str) -> None:
    engine = await archive(kg_chunk_pick_method=method)
    data = await data_of(engine, "local", top_k=1)
    assert {chunk["chunk_id"] for chunk in data["chunks"]} >= {"doc-1-chunk-001", "doc-2-chunk-000"}
    assert ("chunks.similarities" in engine.reads) == (method == "VECTOR")


async def test_similarity_decides_which_chunks_of_an_entity_are_read() -> None:
    engine = await archive(related_chunk_number=1)
    data = await data_of(engine, "local", top_k=1, max_relation_tokens=1)
    assert data["relationships"] == []
    assert [chunk["chunk_id"] for chunk in data["chunks"]] == ["doc-1-chunk-001"]


async def test_without_vectors_chunks_are_chosen_by_weight() -> None:
    engine = await archive()
    await engine.context.stores.chunks.drop()
    data = await data_of(engine, "local", top_k=1, max_relation_tokens=1)
    assert [chunk["chunk_id"] for chunk in data["chunks"]] == [
        "doc-1-chunk-000", "doc-1-chunk-001", "doc-2-chunk-000",
    ]  # fmt: skip


async def test_counts_of_each_step() -> None:
    engine = await archive()
    param = QueryParam(mode="local", ll_keywords=["dock board"], top_k=1, chunk_top_k=2, max_relation_tokens=90)
    result = await run_query(engine.context, QUESTION, param, data_only=True)
    assert result.processing is not None
    assert result.processing["total_entities_found"] == 1
    assert result.processing["total_relations_found"] == 4
    assert 0 < result.processing["relations_after_truncation"] < 4
    assert result.processing["merged_chunks_count"] == 3
    assert result.processing["final_chunks_count"] == 2


async def test_a_hub_is_not_read_beyond_the_budget() -> None:
    engine = make_engine()
    spokes = [(0, "Hub", f"Spoke {number:03}", "spoke", "Joined.", float(number)) for number in range(200)]
    spokes += [(0, "Spoke 000", f"Leaf {number}", "leaf", "Joined.", 1.0) for number in range(5)]
    await Writer(engine).add(Document("hub.md", ["The hub."], [(0, "Hub", "thing", "The hub of the wheel.")], spokes))
    read: list[int] = []
    graph = engine.context.stores.graph
    original = graph.get_edges_batch

    async def counting(pairs: Any) -> Any:
        read.append(len(pairs))
        return await original(pairs)

    graph.get_edges_batch = counting
    data = await data_of(engine, "local", ll_keywords=["hub of the wheel"], top_k=1, max_relation_tokens=60)
    full = await data_of(engine, "local", ll_keywords=["hub of the wheel"], top_k=1)
    # The best connected spoke leads although its weight is the lowest; then weight decides, so the whole tie is read.
    assert pairs(data) == pairs(full)[: len(pairs(data))]
    assert pairs(full)[0] == ("Hub", "Spoke 000")
    assert pairs(full)[1] == ("Hub", "Spoke 199")
    assert read[0] == 200


async def test_a_hub_with_distinct_degrees_is_read_only_in_part() -> None:
    engine = make_engine()
    spokes = [(0, "Hub", f"Spoke {number:02}", "spoke", "Joined.", 1.0) for number in range(40)]
    for number in range(40):
        spokes += [(0, f"Spoke {number:02}", f"Leaf {number}-{leaf}", "leaf", "Joined.", 1.0) for leaf in range(number)]
    await Writer(engine).add(Document("hub.md", ["The hub."], [(0, "Hub", "thing", "The hub of the wheel.")], spokes))
    result = await run_query(
        engine.context,
        QUESTION,
        QueryParam(mode="local", ll_keywords=["hub of the wheel"], top_k=1, max_relation_tokens=60),
        data_only=True,
    )
    assert result.processing is not None
    assert result.processing["total_relations_found"] == 40
    assert [row["tgt_id"] for row in result.relations][:2] == ["Spoke 39", "Spoke 38"]


async def test_one_embedding_call_and_few_reads() -> None:
    engine = await archive()
    await data_of(engine, "mix")
    assert engine.embedder.calls == [[QUESTION, "dock board", "harbour dues"]]
    assert Counter(engine.reads) == Counter(
        [
            "entities.query",
            "relationships.query",
            "chunks.query",
            "chunk_entity_relation.get_nodes_batch",
            "chunk_entity_relation.get_nodes_edges_batch",
            "chunk_entity_relation.node_degrees_batch",
            "chunk_entity_relation.get_edges_batch",
            "evidence.sources_of_objects",
            "evidence.sources_of_objects",
            "chunks.similarities",
            "text_chunks.get_by_ids",
        ]
    )
    engine.reads.clear()
    await data_of(engine, "naive")
    assert engine.reads == ["chunks.query", "text_chunks.get_by_ids"]


async def test_without_a_filter_no_store_hears_of_filters(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = await archive()
    heard: list[dict[str, Any]] = []
    stores = engine.context.stores
    for store in (stores.entities, stores.relationships, stores.chunks):
        original = store.query

        async def spy(*args: Any, _original: Any = original, **options: Any) -> Any:
            heard.append(options)
            return await _original(*args, **options)

        monkeypatch.setattr(store, "query", spy)
    await data_of(engine, "mix")
    assert len(heard) == 3
    assert all("metadata_filter" not in options for options in heard)
    assert not any(name.startswith("doc_status") for name in engine.reads)


async def test_results_show_canonical_names_of_scoped_ids() -> None:
    engine = make_engine()
    await Writer(engine).add(
        Document(
            "a.md",
            ["A buoy in the harbour."],
            [(0, "Buoy\x1ftenant:1", "thing", "A buoy."), (0, "Harbour\x1ftenant:1", "place", "A harbour.")],
            [(0, "Buoy\x1ftenant:1", "Harbour\x1ftenant:1", "place", "It lies there.", 1.0)],
        )
    )
    data = await data_of(engine, "local", ll_keywords=["buoy"])
    assert names(data) == ["Buoy"]
    assert pairs(data) == [("Buoy", "Harbour")]


async def test_two_vector_rows_of_one_object_are_one_result() -> None:
    engine = await archive()
    stores = engine.context.stores
    await stores.entities.upsert({"ent-again": {"content": "dock board", "entity_name": "Westhaven Dock Board"}})
    await stores.relationships.upsert({"rel-again": {"content": "harbour dues", "src_id": "Pier", "tgt_id": "Coal"}})
    data = await data_of(engine, "hybrid")
    assert len(names(data)) == len(set(names(data)))
    assert len(pairs(data)) == len(set(pairs(data)))
    assert ("Coal", "Pier") in pairs(data)
