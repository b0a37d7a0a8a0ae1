"""What the pipeline does, stopping it, the cache."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.api.conftest import FACTS, Server


async def test_status(server: Server) -> None:
    await server.add()
    told = (await server.client.get("/documents/pipeline_status")).json()
    assert set(told) >= {
        "busy", "job_name", "job_start", "docs", "batchs", "cur_batch", "latest_message", "history_messages",
        "update_status", "recovery_required", "recovery_kind", "recovery_message", "destructive_busy", "scanning",
        "scanning_exclusive", "pending_enqueues", "cancellation_requested", "cancellation_reason",
        "cancellation_detail",
    }  # fmt: skip
    assert told["busy"] is False
    assert any("facts.md" in line for line in told["history_messages"])


async def test_history_is_cut(server: Server) -> None:
    state = server.engine._state
    for number in range(1500):
        state.say(f"line {number}")
    history = (await server.client.get("/documents/pipeline_status")).json()["history_messages"]
    assert len(history) == 1001
    assert "earlier lines left out" in history[0]
    assert history[-1] == "line 1499"


async def test_cancelling(server: Server) -> None:
    await server.settle()
    assert (await server.client.post("/documents/cancel_pipeline")).json()["status"] == "not_busy"
    original = server.engine.llm_model_func
    assert original is server.model
    release = asyncio.Event()

    async def slow(*args: Any, **kwargs: Any) -> Any:
        await release.wait()

    server.engine.context.models.extract.calls._func = slow
    await server.client.post("/documents/text", json={"text": FACTS, "file_source": "a.md"})
    while not server.engine.pipeline_status()["busy"]:  # noqa: ASYNC110 - the engine has no event for it
        await asyncio.sleep(0.01)
    told = (await server.client.post("/documents/cancel_pipeline")).json()
    assert told["status"] == "cancellation_requested"
    await server.settle()
    (document,) = (await server.client.post("/documents/paginated", json={})).json()["documents"]
    assert document["status"] == "failed"
    assert "cancelled" in document["error_msg"]


async def test_cache_is_cleared(server: Server) -> None:
    await server.add()
    question = {"query": "Who wrote the program?"}
    for _ in range(2):
        await server.client.post("/query", json=question)
    assert server.model.count("answer") == 1
    told = (await server.client.post("/documents/clear_cache", json={})).json()
    assert told["status"] == "success"
    await server.client.post("/query", json=question)
    assert server.model.count("answer") == 2
    assert (await server.client.post("/documents/clear_cache")).status_code == 200
    assert (await server.client.post("/documents/clear_cache", json={"modes": []})).status_code == 422


async def test_recovery_needs_confirmation(server: Server) -> None:
    assert (await server.client.post("/documents/recovery/force_reset", json={})).status_code == 400
    told = (await server.client.post("/documents/recovery/force_reset", json={"confirm": True})).json()
    assert told["status"] == "no_recovery_required"
    assert told["cancelled_manual_retries"] == 0


async def test_documents_are_processed_once_the_pipeline_is_free(server: Server) -> None:
    await server.settle()
    server.engine._state.begin("something else")
    answer = await server.client.post("/documents/text", json={"text": FACTS, "file_source": "a.md"})
    assert answer.status_code == 200
    await asyncio.sleep(0.2)
    assert (await server.engine.get_processing_status()) == {"pending": 1}
    server.engine._state.end()
    await server.settle()
    assert (await server.engine.get_processing_status()) == {"processed": 1}


async def test_deletion_waits_for_the_pipeline(server: Server) -> None:
    doc_id = await server.add()
    original, calls = server.engine.adelete_by_doc_id, []

    async def busy_at_first(doc_id: str, **options: Any) -> Any:
        calls.append(doc_id)
        if len(calls) == 1:
            server.engine._state.begin("something else")
        result = await original(doc_id, **options)
        if len(calls) == 1:
            server.engine._state.end()
        return result

    server.engine.adelete_by_doc_id = busy_at_first  # type: ignore[method-assign]
    await server.client.request("DELETE", "/documents/delete_document", json={"doc_ids": [doc_id]})
    await server.settle()
    assert len(calls) == 2
    assert (await server.engine.get_processing_status()) == {}
