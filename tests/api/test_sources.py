"""Source paths that several documents have: listed, tried, repaired."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lightrag.contracts.doc_status import DocProcessingStatus
from lightrag.ingest.state import pipeline_state
from tests.api.conftest import FACTS, Serve, Server


async def two_of_one_path(server: Server, path: str = "facts.md") -> tuple[str, str]:
    """Store two documents, and give the second the path of the first, as another program might."""
    first = await server.add(FACTS, path)
    second = await server.add("Zoe -> Oslo: Zoe lives there.\n", f"other-{path}")
    await server.engine.doc_status.update_doc_status_fields({second: {"file_path": path}})
    return first, second


async def repair(server: Server, **body: Any) -> Any:
    return await server.client.post("/documents/source_conflicts/repair", json=body)


async def test_without_conflicts_the_list_is_empty(server: Server) -> None:
    await server.add()
    answer = await server.client.get("/documents/source_conflicts")
    assert answer.json() == {"conflicts": [], "next_cursor": None}


async def test_conflicts_are_listed_page_by_page(server: Server) -> None:
    await two_of_one_path(server, "b.md")
    row = (await server.engine.doc_status.get_doc_by_file_path("b.md"))[1].to_row()
    await server.engine.doc_status.upsert({"x1": {**row, "file_path": "a.md"}, "x2": {**row, "file_path": "a.md"}})
    first = (await server.client.get("/documents/source_conflicts", params={"limit": 1})).json()
    assert [item["canonical_source_key"] for item in first["conflicts"]] == ["a.md"]
    assert first["conflicts"][0]["sample_doc_ids"] == ["x1", "x2"]
    following = {"limit": 1, "cursor": first["next_cursor"]}
    second = (await server.client.get("/documents/source_conflicts", params=following)).json()
    assert [(item["canonical_source_key"], item["candidate_count"]) for item in second["conflicts"]] == [("b.md", 2)]
    assert second["next_cursor"] is None


async def test_a_trial_gives_what_the_repair_needs(server: Server) -> None:
    first, second = await two_of_one_path(server)
    wanted = {"canonical_source_key": "facts.md", "primary_doc_id": second}
    tried = (await repair(server, **wanted)).json()
    assert (tried["candidate_count"], tried["demoted_sample_doc_ids"], tried["committed"]) == (2, [first], False)
    assert len((await server.client.get("/documents/source_conflicts")).json()["conflicts"]) == 1
    tokens = {
        "expected_candidate_count": tried["candidate_count"],
        "expected_candidate_fingerprint": tried["fingerprint"],
    }
    made = await repair(server, **wanted, **tokens, dry_run=False)
    assert made.status_code == 200, made.text
    assert made.json() == {**tried, "committed": True}
    assert (await server.client.get("/documents/source_conflicts")).json()["conflicts"] == []
    assert (await server.engine.doc_status.get_doc_by_file_path("facts.md"))[0] == second


async def test_a_demoted_document_is_found_until_it_is_deleted(server: Server) -> None:
    first, second = await two_of_one_path(server)
    wanted = {"canonical_source_key": "facts.md", "primary_doc_id": second}
    tried = (await repair(server, **wanted)).json()
    tokens = {"expected_candidate_count": 2, "expected_candidate_fingerprint": tried["fingerprint"]}
    assert (await repair(server, **wanted, **tokens, dry_run=False)).status_code == 200
    question = {"query": "Ada wrote the first program", "mode": "naive"}
    for filtered in ({}, {"search_filters": {"document_ids": [first]}}):
        found = (await server.client.post("/query/data", json={**question, **filtered})).json()
        assert any("Ada" in chunk["content"] for chunk in found["data"]["chunks"]), filtered
    patched = await server.client.patch(f"/documents/{first}/metadata", json={"tags": ["old"]})
    assert patched.status_code == 200
    deleted = await server.client.request("DELETE", "/documents/delete_document", json={"doc_ids": [first]})
    assert deleted.json()["status"] == "deletion_started", deleted.text
    await server.settle()
    found = (await server.client.post("/query/data", json=question)).json()
    assert not any("Ada" in chunk["content"] for chunk in found["data"].get("chunks", []))


async def test_a_repair_of_what_has_changed_is_refused(server: Server) -> None:
    first, _ = await two_of_one_path(server)
    wanted = {"canonical_source_key": "facts.md", "primary_doc_id": first}
    tried = (await repair(server, **wanted)).json()
    third = DocProcessingStatus.from_row(await server.engine.doc_status.get_by_id(first)).to_row()
    await server.engine.doc_status.upsert({"third": third})
    tokens = {"expected_candidate_count": 2, "expected_candidate_fingerprint": tried["fingerprint"]}
    answer = await repair(server, **wanted, **tokens, dry_run=False)
    assert answer.status_code == 409
    assert answer.json()["code"] == "source_conflict_changed"
    assert "look again" in answer.json()["detail"]
    assert (await server.client.get("/documents/source_conflicts")).json()["conflicts"][0]["candidate_count"] == 3


async def test_a_repair_needs_its_tokens_and_a_document_of_that_path(server: Server) -> None:
    first, _ = await two_of_one_path(server)
    answer = await repair(server, canonical_source_key="facts.md", primary_doc_id=first, dry_run=False)
    assert answer.status_code == 422
    assert "expected_candidate_fingerprint" in answer.text
    answer = await repair(server, canonical_source_key="facts.md", primary_doc_id="doc-of-another")
    assert answer.status_code == 400
    assert "'doc-of-another' does not have the source path" in answer.json()["detail"]


async def test_a_repair_waits_for_nobody(server: Server) -> None:
    first, _ = await two_of_one_path(server)
    wanted = {"canonical_source_key": "facts.md", "primary_doc_id": first}
    tried = (await repair(server, **wanted)).json()
    state = pipeline_state(server.engine.working_dir, server.engine.workspace)
    state.begin("something else")
    tokens = {"expected_candidate_count": 2, "expected_candidate_fingerprint": tried["fingerprint"]}
    answer = await repair(server, **wanted, **tokens, dry_run=False)
    state.end()
    assert answer.status_code == 409
    assert answer.json()["code"] == "pipeline_busy"


async def test_nothing_is_cleared_while_documents_are_stored(serve: Serve) -> None:
    server = await serve()
    token = await server.engine.areserve_admission(3)
    status = (await server.client.get("/documents/pipeline_status")).json()
    assert status["pending_enqueues"] == 3
    assert (await server.client.delete("/documents")).json()["status"] == "busy"
    server.engine.release_admission(token)
    assert (await server.client.delete("/documents")).json()["status"] == "success"


async def test_a_full_queue_does_not_keep_a_scan_out(serve: Serve, tmp_path: Path) -> None:
    server = await serve(engine_fields={"max_pending_documents": 1})
    (tmp_path / "inputs").mkdir(exist_ok=True)
    for name in ("a.txt", "b.txt", "c.txt"):
        (tmp_path / "inputs" / name).write_text(f"{name} -> Oslo: lies there.\n")
    await server.client.post("/documents/scan")
    await server.settle()
    counts = (await server.client.get("/documents/status_counts")).json()["status_counts"]
    assert (counts["processed"], counts["all"]) == (3, 3)
