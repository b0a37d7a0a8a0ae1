"""The public shapes of results, mode by mode."""

from __future__ import annotations

from typing import Any

import pytest

from lightrag.contracts.evidence import Evidence, ObjectKind
from lightrag.contracts.query import QueryParam
from lightrag.exceptions import ModelError, QueryValidationError, StorageError
from lightrag.query.modes import MODES, run_query, run_query_safely, to_answer, to_data, to_llm
from tests.query.corpus import CREATED_AT, archive, make_engine

QUESTION = "Who levies harbour dues on coal?"
GRAPH_MODES = ["local", "global", "hybrid", "mix"]


def keyed(mode: str, **options: Any) -> QueryParam:
    options = {"hl_keywords": ["harbour dues"], "ll_keywords": ["dock board"], **options}
    return QueryParam(mode=mode, **options)


@pytest.mark.parametrize("mode", GRAPH_MODES)
async def test_data_of_graph_modes(mode: str) -> None:
    engine = await archive()
    data = to_data(await run_query(engine.context, QUESTION, keyed(mode), data_only=True))

    assert set(data) == {"status", "message", "data", "metadata"}
    assert data["status"] == "success"
    assert set(data["data"]) == {"entities", "relationships", "chunks", "references"}
    for entity in data["data"]["entities"]:
        assert list(entity) == ["entity_name", "entity_type", "description", "source_id", "file_path", "created_at"]
        assert entity["created_at"] == CREATED_AT
    for relation in data["data"]["relationships"]:
        assert list(relation) == [
            "src_id", "tgt_id", "description", "keywords", "weight", "source_id", "file_path", "created_at",
        ]  # fmt: skip
    for chunk in data["data"]["chunks"]:
        assert list(chunk) == ["reference_id", "content", "file_path", "chunk_id"]
    assert data["data"]["entities"]
    assert data["data"]["relationships"]
    assert data["data"]["chunks"]
    metadata = data["metadata"]
    assert set(metadata) == {"query_mode", "keywords", "processing_info"}
    assert metadata["query_mode"] == mode
    assert metadata["keywords"] == {"high_level": ["harbour dues"], "low_level": ["dock board"]}
    info = metadata["processing_info"]
    assert set(info) == {
        "total_entities_found",
        "total_relations_found",
        "entities_after_truncation",
        "relations_after_truncation",
        "merged_chunks_count",
        "final_chunks_count",
    }
    assert info["entities_after_truncation"] == len(data["data"]["entities"])
    assert info["relations_after_truncation"] == len(data["data"]["relationships"])
    assert info["final_chunks_count"] == len(data["data"]["chunks"])
    assert not engine.llm.calls
    assert not engine.keyword_llm.calls


async def test_sources_of_an_entity_come_from_its_evidence() -> None:
    engine = await archive()
    data = to_data(await run_query(engine.context, QUESTION, keyed("local"), data_only=True))
    board = next(row for row in data["data"]["entities"] if row["entity_name"] == "Westhaven Dock Board")
    assert board["source_id"] == "doc-1-chunk-000<SEP>doc-1-chunk-001<SEP>doc-2-chunk-000"
    assert board["file_path"] == "acts/harbour.md<SEP>letters/ana.md"
    assert board["entity_type"] == "organization"


async def test_sources_are_capped() -> None:
    engine = await archive(max_source_ids_per_entity=2, max_file_paths=1, file_path_more_placeholder="more")
    data = to_data(await run_query(engine.context, QUESTION, keyed("local"), data_only=True))
    board = next(row for row in data["data"]["entities"] if row["entity_name"] == "Westhaven Dock Board")
    assert board["source_id"] == "doc-1-chunk-000<SEP>doc-1-chunk-001"
    engine = await archive(
        max_source_ids_per_entity=2, max_file_paths=1, file_path_more_placeholder="more", source_ids_limit_method="FIFO"
    )
    data = to_data(await run_query(engine.context, QUESTION, keyed("local"), data_only=True))
    board = next(row for row in data["data"]["entities"] if row["entity_name"] == "Westhaven Dock Board")
    assert board["source_id"] == "doc-1-chunk-001<SEP>doc-2-chunk-000"
    assert board["file_path"] == "acts/harbour.md<SEP>more"


async def test_an_object_without_evidence_names_its_own_sources() -> None:
    engine = await archive()
    stores = engine.context.stores
    await stores.graph.upsert_node(
        "Dock board office", {"entity_type": "location", "source_id": "doc-1-chunk-002", "file_path": "by hand"}
    )
    await stores.entities.upsert({"ent-office": {"content": "dock board", "entity_name": "Dock board office"}})
    data = to_data(await run_query(engine.context, QUESTION, keyed("local"), data_only=True))
    office = data["data"]["entities"][0]
    assert office == {
        "entity_name": "Dock board office",
        "entity_type": "location",
        "description": "",
        "source_id": "doc-1-chunk-002",
        "file_path": "by hand",
        "created_at": 0,
    }
    assert "doc-1-chunk-002" in [chunk["chunk_id"] for chunk in data["data"]["chunks"]]


async def test_what_people_say_by_hand_is_named_but_is_no_chunk() -> None:
    engine = await archive()
    statement = Evidence(
        ObjectKind.ENTITY, "Harbour Act", "manual_creation", "manual_creation", file_path="manual_creation"
    )
    correction = Evidence(ObjectKind.ENTITY, "Pier", "manual_edit-000001", "manual_edit", file_path="manual_creation")
    await engine.context.stores.evidence.add([statement, correction])
    result = await run_query(engine.context, QUESTION, keyed("local", ll_keywords=["act pier"]), data_only=True)
    rows = {row["entity_name"]: row for row in result.entities}
    assert rows["Harbour Act"]["source_id"] == "doc-1-chunk-000<SEP>manual_creation"
    assert rows["Harbour Act"]["file_path"] == "acts/harbour.md<SEP>manual_creation"
    assert rows["Pier"]["source_id"] == "doc-1-chunk-000<SEP>doc-1-chunk-002"
    assert rows["Pier"]["file_path"] == "acts/harbour.md"
    assert result.processing is not None
    assert result.processing["merged_chunks_count"] == len(result.chunks)


async def test_data_of_naive() -> None:
    engine = await archive()
    data = to_data(await run_query(engine.context, QUESTION, keyed("naive"), data_only=True))
    assert data["data"]["entities"] == data["data"]["relationships"] == []
    assert data["data"]["chunks"]
    assert data["metadata"] == {
        "query_mode": "naive",
        "keywords": {"high_level": [], "low_level": []},
        "processing_info": {
            "total_chunks_found": len(data["data"]["chunks"]),
            "final_chunks_count": len(data["data"]["chunks"]),
        },
    }
    assert engine.embedder.calls == [[QUESTION]]


async def test_data_of_bypass() -> None:
    engine = await archive()
    data = to_data(await run_query(engine.context, QUESTION, keyed("bypass"), data_only=True))
    assert data["status"] == "success"
    assert data["data"] == {"entities": [], "relationships": [], "chunks": [], "references": []}
    assert data["metadata"] == {"query_mode": "bypass", "keywords": {"high_level": [], "low_level": []}}
    assert not engine.llm.calls
    assert not engine.reads


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "bypass"])
async def test_nothing_found(mode: str) -> None:
    engine = make_engine()
    result = await run_query(engine.context, QUESTION, keyed(mode))
    assert to_data(result) == {
        "status": "failure",
        "message": "Query returned no results",
        "data": {},
        "metadata": {"failure_reason": "no_results", "mode": mode},
    }
    answer = to_answer(result)
    assert isinstance(answer, str)
    assert answer.endswith("[no-context]")
    assert to_llm(result)["llm_response"] == {
        "content": answer,
        "response_iterator": None,
        "is_streaming": False,
        "llm_generated": False,
    }
    assert not engine.llm.calls


async def test_nothing_found_is_text_also_when_streaming() -> None:
    engine = make_engine()
    answer = to_answer(await run_query(engine.context, QUESTION, keyed("mix", stream=True)))
    assert isinstance(answer, str)
    assert answer.endswith("[no-context]")


async def test_llm_shape() -> None:
    engine = await archive()
    engine.llm.default = "The board does [1]."
    shape = to_llm(await run_query(engine.context, QUESTION, keyed("mix")))
    assert set(shape) == {"status", "message", "data", "metadata", "llm_response"}
    assert shape["llm_response"] == {
        "content": "The board does [1].",
        "response_iterator": None,
        "is_streaming": False,
        "llm_generated": True,
    }


async def test_a_failing_model_is_a_failed_result_or_an_error() -> None:
    engine = await archive()
    engine.llm.default = ModelError("no answer")
    with pytest.raises(ModelError, match="no answer"):
        await run_query(engine.context, QUESTION, keyed("mix"))
    shape = to_llm(await run_query_safely(engine.context, QUESTION, keyed("mix")))
    assert shape["status"] == "failure"
    assert "no answer" in shape["message"]
    assert shape["data"] == {}
    assert shape["llm_response"] == {
        "content": None,
        "response_iterator": None,
        "is_streaming": False,
        "llm_generated": False,
    }


async def test_whatever_a_model_function_raises_is_a_failed_result() -> None:
    engine = await archive()
    engine.llm.default = KeyError("choices")
    shape = to_llm(await run_query_safely(engine.context, QUESTION, keyed("naive")))
    assert shape["status"] == "failure"
    assert shape["llm_response"]["content"] is None


async def test_a_failing_store_is_a_failed_result(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = await archive()

    async def broken(*_args: Any, **_options: Any) -> Any:
        raise StorageError("connection lost")

    monkeypatch.setattr(engine.context.stores.graph, "get_nodes_batch", broken)
    shape = to_llm(await run_query_safely(engine.context, QUESTION, keyed("local")))
    assert (shape["status"], shape["metadata"]["mode"]) == ("failure", "local")
    assert "connection lost" in shape["message"]


async def test_a_query_that_cannot_be_run_raises_everywhere() -> None:
    engine = await archive()
    for run in (run_query, run_query_safely):
        with pytest.raises(QueryValidationError):
            await run(engine.context, "  ", keyed("mix"))
