"""One folder, two engines in turn: the published package, run in its own environment, and ours."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from lightrag import LightRAG, QueryParam
from lightrag.contracts.doc_status import DocStatus
from lightrag.contracts.evidence import ObjectKind
from lightrag.contracts.models import EmbeddingFunc
from lightrag.contracts.sources import SourceRepair
from lightrag.graph.check import graph_consistency
from tests.compat import marked_models

ROOT = Path(__file__).resolve().parents[2]
PEER = ROOT / "scripts" / "bench" / ".work" / "peer-venv" / "bin" / "python"

pytestmark = pytest.mark.skipif(
    not PEER.exists(), reason="the published package is not installed: bash scripts/bench/setup_peer.sh"
)

STORAGES = {
    "kv_storage": "JsonKVStorage",
    "doc_status_storage": "JsonDocStatusStorage",
    "graph_storage": "NetworkXStorage",
    "vector_storage": "NanoVectorDBStorage",
}
FIRST = "Text of a. [[Ann|Oslo|lives in]] and so on."
SECOND = "Text of b. [[Ann|Rome|was born in]] and [[Bob|Rome|visits]]."
THIRD = "Text of c. [[Cyd|Oslo|left]] and [[Ann|Cyd|married]]."
FOURTH = "Text of d. [[Dan|Rome|built]] and [[Ann|Dan|hired]]."


def peer(folder: Path, *steps: list[Any]) -> list[Any]:
    """Let the published package do something in a folder."""
    script = Path(__file__).with_name("peer_process.py")
    done = subprocess.run(
        [PEER, script, folder, marked_models.__file__],
        input=json.dumps(steps),
        capture_output=True,
        text=True,
        check=False,
        # It reads a .env from its folder, and must not find our package before its own.
        cwd=folder,
        env={name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LIGHTRAG"))},
        timeout=300,
    )
    marked = [line for line in done.stdout.splitlines() if line.startswith("OUTCOMES ")]
    assert marked, done.stderr[-3000:]
    outcomes: list[Any] = json.loads(marked[0].removeprefix("OUTCOMES "))
    return outcomes


@asynccontextmanager
async def ours(folder: Path, **fields: Any) -> AsyncIterator[LightRAG]:
    engine = LightRAG(
        working_dir=str(folder),
        llm_model_func=marked_models.complete,
        embedding_func=EmbeddingFunc(marked_models.DIMENSION, marked_models.embed, model_name="marked"),
        tokenizer=marked_models.ByteTokenizer(),
        enable_llm_cache=False,
        **{**STORAGES, **fields},
    )
    await engine.initialize_storages()
    try:
        yield engine
    finally:
        await engine.finalize_storages()


async def chunks_of(engine: LightRAG, question: str, **parameters: Any) -> list[str]:
    param = QueryParam(mode="naive", enable_rerank=False, **parameters)
    found = await engine.aquery_data(question, param)
    return sorted(chunk["content"] for chunk in found["data"].get("chunks", []))


async def labels_of(engine: LightRAG) -> list[str]:
    return sorted(await engine.context.stores.graph.get_all_labels())


async def test_what_the_peer_wrote_is_ours_to_query_change_and_delete(tmp_path: Path) -> None:
    _, labels = peer(tmp_path, ["insert", {"a": FIRST, "b": SECOND}], ["labels"])
    async with ours(tmp_path) as engine:
        assert await labels_of(engine) == labels == ["Ann", "Bob", "Oslo", "Rome"]
        assert await graph_consistency(engine.context) == []
        assert await chunks_of(engine, "Text") == [FIRST, SECOND]
        node = await engine.context.stores.graph.get_node("Ann")
        assert node is not None
        assert node["description"] == "Ann is known for: lives in.<SEP>Ann is known for: was born in."
        await engine.aupdate_document_metadata("a", {"tags": ["north"]})
        filtered = QueryParam(mode="local", ll_keywords=["Ann"], required_tags=["north"], enable_rerank=False)
        found = await engine.aquery_data("Ann", filtered)
        assert [(item["entity_name"], item["description"]) for item in found["data"]["entities"]] == [
            ("Ann", "Ann is known for: lives in.")
        ]
        await engine.ainsert(THIRD, ids="c", file_paths="c.txt")
        assert (await engine.adelete_by_doc_id("a")).status == "success"
        assert await graph_consistency(engine.context) == []
        assert await labels_of(engine) == ["Ann", "Bob", "Cyd", "Oslo", "Rome"]
    labels, chunks, ann, ends, legs, status = peer(
        tmp_path,
        ["labels"],
        ["chunks", "Text"],
        ["entity", "Ann"],
        ["relation", "Ann", "Cyd"],
        ["legs", "Cyd", ["Cyd"]],
        ["status"],
    )
    assert labels == ["Ann", "Bob", "Cyd", "Oslo", "Rome"]
    assert chunks == [SECOND, THIRD]
    assert ann["source_id"] == "b-chunk-000<SEP>c-chunk-000"
    assert ann["file_path"] == "b.txt<SEP>c.txt"
    assert ann["description"] == "Ann is known for: was born in.<SEP>Ann is known for: married."
    assert ends["description"] == "Ann married Cyd."
    assert isinstance(ends["weight"], float)
    assert legs["entities"] >= 2
    assert legs["chunks"] == 2
    assert status["processed"] == 2


async def test_what_the_peer_changes_in_between_is_taken_over(tmp_path: Path) -> None:
    peer(tmp_path, ["insert", {"a": FIRST}])
    async with ours(tmp_path) as engine:
        await engine.ainsert([SECOND, THIRD], ids=["b", "c"], file_paths=["b.txt", "c.txt"])
        await engine.aupdate_document_metadata("b", {"tags": ["kept"]})
    deleted_theirs, deleted_ours, _, _, labels, ann = peer(
        tmp_path,
        ["delete", "a"],
        ["delete", "c"],
        ["insert", {"d": FOURTH}],
        ["edit", "Bob", {"description": "Bob, as edited."}],
        ["labels"],
        ["entity", "Ann"],
    )
    assert (deleted_theirs, deleted_ours) == ("success", "success")
    assert labels == ["Ann", "Bob", "Dan", "Rome"]
    async with ours(tmp_path) as engine:
        assert await labels_of(engine) == labels
        assert await graph_consistency(engine.context) == []
        evidence = engine.context.stores.evidence
        assert await evidence.of_documents(["a", "c"]) == []
        rows = (await evidence.of_objects(ObjectKind.ENTITY, ["Ann"]))["Ann"]
        assert {row.document_id for row in rows} == {"b", "d"}
        nodes = await engine.context.stores.graph.get_nodes_batch(["Ann", "Bob"])
        assert nodes["Ann"]["description"] == ann["description"]
        assert nodes["Bob"]["description"] == "Bob, as edited."
        assert nodes["Ann"]["filter_tags"] == ["kept"]
        assert await chunks_of(engine, "Text", required_tags=["kept"]) == [SECOND]
        assert (await engine.adelete_by_doc_id("b")).status == "success"
        assert await labels_of(engine) == ["Ann", "Dan", "Rome"]
        assert await graph_consistency(engine.context) == []
    assert peer(tmp_path, ["labels"], ["chunks", "Text"]) == [["Ann", "Dan", "Rome"], [FOURTH]]


async def test_a_document_that_the_peer_replaced_has_new_evidence(tmp_path: Path) -> None:
    async with ours(tmp_path) as engine:
        await engine.ainsert([FIRST, SECOND], ids=["a", "b"], file_paths=["a.txt", "b.txt"])
    outcome, _, labels = peer(tmp_path, ["delete", "a"], ["insert", {"a": FOURTH}], ["labels"])
    assert outcome == "success"
    async with ours(tmp_path) as engine:
        rows = await engine.context.stores.evidence.of_documents(["a"])
        assert {row.object_id for row in rows if row.kind is ObjectKind.ENTITY} == {"Ann", "Dan", "Rome"}
        assert await labels_of(engine) == labels
        assert await graph_consistency(engine.context) == []


async def test_scopes_are_hidden_from_the_peer_and_follow_its_deletions(tmp_path: Path) -> None:
    scopes: dict[str, Any] = {"enable_kg_scope_materialization": True, "scope_tag_prefixes": ["tenant:"]}
    async with ours(tmp_path, **scopes) as engine:
        for key, text in (("a", FIRST), ("b", SECOND)):
            await engine.ainsert(text, ids=key, file_paths=f"{key}.txt", metadata={"tags": ["tenant:1"]})
        everything = await labels_of(engine)
        assert "Ann\x1ftenant:1" in everything
    (tmp_path / "alone").mkdir()
    _, alone = peer(tmp_path / "alone", ["insert", {"a": FIRST, "b": SECOND}], ["legs", "Ann", ["Ann"]])
    labels, legs, deleted = peer(tmp_path, ["labels"], ["legs", "Ann", ["Ann"]], ["delete", "a"])
    assert labels == ["Ann", "Bob", "Oslo", "Rome"]
    assert legs == alone
    assert deleted == "success"
    async with ours(tmp_path, **scopes) as engine:
        left = await labels_of(engine)
        assert left == sorted(
            [*(name for name in labels if name != "Oslo")]
            + [f"{name}\x1ftenant:1" for name in labels if name != "Oslo"]
        )
        assert await graph_consistency(engine.context) == []


async def test_objects_without_documents(tmp_path: Path) -> None:
    custom = {
        "chunks": [{"content": "A custom text.", "source_id": "s", "file_path": "custom.txt"}],
        "entities": [
            {"entity_name": "Eve", "entity_type": "person", "description": "Eve, by hand.", "source_id": "s"},
            {"entity_name": "Uri", "entity_type": "person", "description": "Uri, by hand.", "source_id": "s"},
        ],
        "relationships": [
            {"src_id": "Eve", "tgt_id": "Uri", "description": "Eve knows Uri.", "keywords": "k", "source_id": "s"}
        ],
    }
    peer(tmp_path, ["custom", custom], ["insert", {"a": FIRST}])
    async with ours(tmp_path) as engine:
        assert await labels_of(engine) == ["Ann", "Eve", "Oslo", "Uri"]
        rows = (await engine.context.stores.evidence.of_objects(ObjectKind.ENTITY, ["Eve"]))["Eve"]
        assert [row.description for row in rows] == ["Eve, by hand."]
        # The package keeps no document of a custom graph; without one a repair would take it for remains.
        assert await engine.acheck(repair=True) == []
        assert await labels_of(engine) == ["Ann", "Eve", "Oslo", "Uri"]
        await engine.aupdate_document_metadata("s", {"tags": ["custom"]})
        assert await chunks_of(engine, "text", required_tags=["custom"]) == ["A custom text."]
        assert (await engine.adelete_by_doc_id("a")).status == "success"
        assert await labels_of(engine) == ["Eve", "Uri"]
    again = {
        "chunks": [{"content": "More text of it.", "source_id": "s"}],
        "entities": [{"entity_name": "Fay", "description": "Fay, by hand.", "source_id": "s"}],
        "relationships": [],
    }
    assert peer(tmp_path, ["labels"], ["custom", again], ["status"])[0] == ["Eve", "Uri"]
    async with ours(tmp_path) as engine:
        assert await engine.acheck(repair=True) == []
        assert await chunks_of(engine, "text", required_tags=["custom"]) == ["A custom text.", "More text of it."]
        assert (await engine.adelete_by_doc_id("s")).status == "success"
        assert await labels_of(engine) == []
    assert peer(tmp_path, ["labels"], ["chunks", "text"]) == [[], []]


async def test_without_kept_replies_no_text_of_one_document_shows_under_a_filter_for_another(tmp_path: Path) -> None:
    peer(tmp_path, ["insert", {"a": FIRST, "b": SECOND}])
    (tmp_path / "kv_store_llm_response_cache.json").unlink()
    async with ours(tmp_path) as engine:
        node = await engine.context.stores.graph.get_node("Ann")
        assert node is not None
        assert node["entity_type"] == "person"
        assert set(node["description"].split("\n")) == {"Ann is known for: lives in.", "Ann is known for: was born in."}
        rows = await engine.context.stores.evidence.of_objects(ObjectKind.ENTITY, ["Ann", "Oslo"])
        # Of Oslo only one document speaks, so all that is said of it comes from there.
        assert [(row.document_id, row.description) for row in rows["Oslo"]] == [("a", "Oslo is known for: lives in.")]
        assert [row.description for row in rows["Ann"] if row.document_id in ("a", "b")] == ["", ""]
        await engine.aupdate_document_metadata("a", {"tags": ["north"]})
        param = QueryParam(mode="local", ll_keywords=["Ann"], required_tags=["north"], enable_rerank=False)
        found = await engine.aquery_data("Ann", param)
        assert "born" not in json.dumps(found["data"])
        assert [item["entity_name"] for item in found["data"]["entities"]] == ["Ann"]
        processed = await engine.doc_status.get_docs_by_statuses([DocStatus.PROCESSED])
        assert set(processed) == {"a", "b"}


async def test_documents_that_wait_are_processed_by_either(tmp_path: Path) -> None:
    peer(tmp_path, ["enqueue", {"a": FIRST}])
    async with ours(tmp_path) as engine:
        await engine.apipeline_process_enqueue_documents()
        processed = await engine.doc_status.get_docs_by_statuses([DocStatus.PROCESSED])
        assert set(processed) == {"a"}
        await engine.apipeline_enqueue_documents(SECOND, ids="b", file_paths="b.txt")
    _, status, labels = peer(tmp_path, ["process"], ["status"], ["labels"])
    assert (status["processed"], status["failed"]) == (2, 0)
    assert labels == ["Ann", "Bob", "Oslo", "Rome"]
    async with ours(tmp_path) as engine:
        assert await labels_of(engine) == labels
        assert await graph_consistency(engine.context) == []


async def test_options_of_waiting_documents_are_followed_by_either(tmp_path: Path) -> None:
    peer(tmp_path, ["enqueue", {"a": FIRST, "b": SECOND}, {"process_options": ["F!", "F"]}])
    async with ours(tmp_path) as engine:
        await engine.apipeline_process_enqueue_documents()
        rows = await engine.aget_docs_by_ids(["a", "b"])
        assert rows["a"].metadata["skip_kg"] is True
        assert rows["b"].metadata["chunk_method"] == "fixed_token"
        assert await labels_of(engine) == ["Ann", "Bob", "Rome"]
        options = {"chunk_token_size": 20, "fixed_token": {"chunk_overlap_token_size": 0}}
        await engine.apipeline_enqueue_documents(
            [THIRD, FOURTH], ["c", "d"], ["c.txt", "d.txt"], process_options=["F!", "F"], chunk_options=[{}, options]
        )
    _, status, labels, pieces = peer(tmp_path, ["process"], ["status"], ["labels"], ["pieces", "d"])
    assert (status["processed"], status["failed"]) == (4, 0)
    # Nothing of the third document; in the fourth the facts were cut through.
    assert "Cyd" not in labels
    assert pieces > 2


async def test_custom_chunks_that_broke_off_in_the_peer_are_taken_back(tmp_path: Path) -> None:
    _, there, new = peer(
        tmp_path,
        ["insert", {"a": FIRST}],
        ["broken_chunks", FIRST, [SECOND], "a"],
        ["broken_chunks", THIRD, [THIRD], "c"],
    )
    assert there == new == "model down"
    async with ours(tmp_path) as engine:
        assert await engine.get_processing_status() == {"failed": 2}
        outcome = await engine.arollback_failed_custom_chunk_patches()
        assert (outcome["rolled_back_count"], set(outcome["rolled_back_sample"])) == (2, {"a", "c"})
        assert await engine.get_processing_status() == {"processed": 1}
        assert await labels_of(engine) == ["Ann", "Oslo"]
        assert await chunks_of(engine, "Text") == [FIRST]
        assert await graph_consistency(engine.context) == []
        assert (await engine.adelete_by_doc_id("a")).status == "success"
        assert await labels_of(engine) == []
    assert peer(tmp_path, ["labels"], ["status"])[0] == []


async def test_a_conflict_that_the_peer_made_is_repaired_for_both(tmp_path: Path) -> None:
    peer(tmp_path, ["insert", {"a": FIRST}], ["unreadable", "a.txt"])
    async with ours(tmp_path) as engine:
        page = await engine.alist_source_conflicts()
        assert [(item.canonical_source_key, item.candidate_count) for item in page.conflicts] == [("a.txt", 2)]
        wanted = SourceRepair("a.txt", "a", 0, "")
        tried = await engine.arepair_source_conflict(wanted)
        seen = SourceRepair("a.txt", "a", tried.candidate_count, tried.fingerprint)
        assert (await engine.arepair_source_conflict(seen, dry_run=False)).committed
        assert (await engine.alist_source_conflicts()).conflicts == ()
    assert peer(tmp_path, ["source", "a.txt"]) == [["SourceUnique", "a"]]
