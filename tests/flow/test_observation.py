"""What listeners hear of a document and of a query, what the log carries, and what it all cost."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from typing import Any

import pytest

from lightrag import LightRAG, QueryParam
from lightrag.runtime.events import EVENTS
from lightrag.runtime.usage import report_usage
from tests.fakes.facts import FactModel
from tests.flow.conftest import EngineFactory

TEXT = "Ann -> Oslo: lives in\nBob -> Rome: visits"
OTHER = "Cyd -> Oslo: left\nAnn -> Cyd: married"


def collected(rag: LightRAG) -> list[dict[str, Any]]:
    heard: list[dict[str, Any]] = []
    rag.on("*", lambda event: heard.append(event.to_dict()))
    return heard


async def told() -> None:
    """Let the listeners of the last event run."""
    await asyncio.sleep(0)


def of(heard: list[dict[str, Any]], kind: str, **fields: Any) -> list[dict[str, Any]]:
    return [event for event in heard if event["event"] == kind and all(event[name] == fields[name] for name in fields)]


async def test_a_document_from_admission_to_answerable(make_engine: EngineFactory) -> None:
    rag = await make_engine()
    heard = collected(rag)
    track_id = await rag.ainsert(TEXT, ids="doc-a", file_paths="a.md")
    await told()
    states = of(heard, "document")
    assert [event["status"] for event in states] == ["pending", "processing", "processed"]
    assert {(event["document_id"], event["track_id"], event["file_path"]) for event in states} == {
        ("doc-a", track_id, "a.md")
    }
    assert [event["chunks"] for event in states] == [None, None, 1]
    (chunk,) = of(heard, "chunk")
    assert (chunk["document_id"], chunk["track_id"], chunk["position"], chunk["total"]) == ("doc-a", track_id, 1, 1)
    assert (chunk["entities"], chunk["relations"]) == (4, 2)
    (merge,) = of(heard, "merge")
    assert merge["document_ids"] == ("doc-a",)
    assert merge["track_ids"] == (track_id,)
    assert merge["evidence"] == 6
    extraction = of(heard, "model", role="extract")
    assert [(event["document_id"], event["track_id"]) for event in extraction] == [("doc-a", track_id)]
    progress = of(heard, "pipeline")
    assert (progress[0]["busy"], progress[-1]["busy"]) == (True, False)
    assert (progress[-1]["documents"], progress[-1]["finished"]) == (1, 1)
    order = [event["event"] for event in heard if event["event"] in ("chunk", "merge")]
    assert order == ["chunk", "merge"]


async def test_every_document_keeps_its_own_ids(make_engine: EngineFactory) -> None:
    rag = await make_engine()
    heard = collected(rag)
    first = await rag.apipeline_enqueue_documents([TEXT], ids=["doc-a"], file_paths=["a.md"])
    second = await rag.apipeline_enqueue_documents([OTHER], ids=["doc-b"], file_paths=["b.md"])
    await rag.apipeline_process_enqueue_documents()
    for kind in ("chunk", "model"):
        found = {(event["document_id"], event["track_id"]) for event in of(heard, kind) if event["document_id"]}
        assert found == {("doc-a", first), ("doc-b", second)}, kind


async def test_failures_refusals_retries_and_deletions_are_heard(make_engine: EngineFactory) -> None:
    broken = True

    def intercept(task: str, prompt: str) -> str | None:
        if task == "extract" and broken and "Bob" in prompt:
            raise RuntimeError("no model today")
        return None

    rag = await make_engine(FactModel(intercept))
    heard = collected(rag)
    await rag.ainsert(TEXT, ids="doc-a", file_paths="a.md")
    (failed,) = of(heard, "document", status="failed")
    assert "no model today" in failed["error"]
    assert of(heard, "model", role="extract", outcome="failed")
    heard.clear()
    await rag.ainsert(TEXT, ids="doc-a", file_paths="a.md")
    (refused,) = of(heard, "document", status="failed")
    assert refused["document_id"].startswith("dup-")
    broken = False
    heard.clear()
    assert await rag.aretry_failed_documents() == 1
    assert [event["status"] for event in of(heard, "document")] == ["pending", "processing", "processed"]
    assert {event["error"] for event in of(heard, "document")} == {""}
    heard.clear()
    await rag.adelete_by_doc_id("doc-a")
    await told()
    assert [(event["document_id"], event["status"]) for event in of(heard, "document")] == [("doc-a", "deleted")]


async def test_a_cancelled_run_is_heard(make_engine: EngineFactory) -> None:
    rag = await make_engine()
    heard = collected(rag)
    texts = [f"Ann{number} -> Oslo: lives in" for number in range(30)]

    def cancel(event: Any) -> None:
        if event.status == "processing":
            rag.cancel_pipeline()

    rag.on("document", cancel)
    model = rag.context.models.extract

    async def slow(prompt: str, **kwargs: Any) -> str:
        await asyncio.sleep(30)
        return ""

    rag.update_llm_role_config("extract", model_func=slow)
    assert model.role == "extract"
    await rag.ainsert(texts)
    last = {event["document_id"]: event["status"] for event in of(heard, "document")}
    assert Counter(last.values()) == {"failed": 30}


async def test_a_query_step_by_step(make_engine: EngineFactory) -> None:
    rag = await make_engine()
    await rag.ainsert(TEXT)
    heard = collected(rag)
    await rag.aquery("Ann lives in Oslo, who else visits Rome?", QueryParam(mode="mix"))
    await rag.aquery_data("Bob visits Rome", QueryParam(mode="naive"))
    await told()
    steps = of(heard, "query")
    ids = list(dict.fromkeys(event["query_id"] for event in steps))
    assert len(ids) == 2
    assert [event["step"] for event in steps if event["query_id"] == ids[0]] == [
        "started",
        "extracting_keywords",
        "retrieving_entities",
        "retrieving_relations",
        "retrieving_chunks",
        "generating_response",
        "finished",
    ]
    assert [event["step"] for event in steps if event["query_id"] == ids[1]] == [
        "started",
        "retrieving_chunks",
        "finished",
    ]
    calls = of(heard, "model", query_id=ids[0])
    assert Counter(event["role"] for event in calls) == {"keyword": 1, "embedding": 1, "query": 1}


async def test_a_failing_query_ends_as_failed(make_engine: EngineFactory) -> None:
    def intercept(task: str, prompt: str) -> str | None:
        if task == "answer":
            raise RuntimeError("no model today")
        return None

    rag = await make_engine(FactModel(intercept))
    await rag.ainsert(TEXT)
    heard = collected(rag)
    outcome = await rag.aquery_llm("Ann lives in Oslo, who else visits Rome?")
    assert outcome["status"] == "failure"
    await told()
    assert of(heard, "query")[-1]["step"] == "failed"


async def test_an_observer_hears_everything_from_the_start(make_engine: EngineFactory) -> None:
    heard: list[Any] = []
    rag = await make_engine(observer=heard.append)
    await rag.ainsert(TEXT)
    await rag.aquery("Ann lives in Oslo, who else visits Rome?")
    assert {event.name for event in heard} == set(EVENTS)


async def test_log_lines_carry_document_track_and_query(
    make_engine: EngineFactory, caplog: pytest.LogCaptureFixture
) -> None:
    def intercept(task: str, prompt: str) -> str | None:
        if task == "extract":
            return "this is no record"
        if task == "answer":
            raise RuntimeError("no model today")
        return None

    rag = await make_engine(FactModel(intercept))
    with caplog.at_level(logging.INFO, "lightrag"):
        track_id = await rag.ainsert(TEXT, ids="doc-a", file_paths="a.md")
        await rag.aquery_llm("Where does Ann live?", QueryParam(mode="bypass"))
    lines = [record.__dict__ for record in caplog.records if record.name == "lightrag.ingest"]
    assert len(lines) >= 4
    assert {(line.get("document_id"), line.get("track_id")) for line in lines} == {("doc-a", track_id)}
    assert any("C[1/1]" in record.getMessage() for record in caplog.records)


async def test_the_log_tells_what_becomes_of_documents(
    make_engine: EngineFactory, caplog: pytest.LogCaptureFixture
) -> None:
    rag = await make_engine()
    with caplog.at_level(logging.INFO, "lightrag"):
        await rag.ainsert(TEXT, ids="doc-a", file_paths="a.md")
        await rag.ainsert([TEXT, "Bob visits Rome."], file_paths=["again.md", "b.md"])
        await rag.adelete_by_doc_id("doc-a")
    lines = [record.getMessage() for record in caplog.records if record.name == "lightrag.documents"]
    assert lines == ["a.md: pending", "a.md: processed", "b.md: pending", "b.md: processed", "a.md: deleted"]
    (refused,) = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert refused == (
        "1 of 2 documents not taken; again.md: the same content is already stored as 'doc-a' (status processed)"
    )


async def test_usage_by_role_and_its_cost(make_engine: EngineFactory) -> None:
    class Telling(FactModel):
        async def __call__(self, prompt: str, *rest: Any, **kwargs: Any) -> str:
            report_usage(1000, 100)
            return await super().__call__(prompt, *rest, **kwargs)

    rag = await make_engine(Telling(), llm_input_price=1.0, llm_output_price=10.0, embedding_price=0.5)
    await rag.ainsert(TEXT)
    await rag.aquery("Ann lives in Oslo, who else visits Rome?")
    await rag.aquery("Ann lives in Oslo, who else visits Rome?")
    usage = rag.usage()
    assert {role: usage[role].calls for role in ("extract", "keyword", "query")} == {
        "extract": 1,
        "keyword": 1,
        "query": 1,
    }, "a reply from the cache costs nothing"
    assert (usage["extract"].prompt_tokens, usage["extract"].completion_tokens) == (1000, 100)
    assert usage["query"].cost == pytest.approx(0.002)
    embedding = usage["embedding"]
    assert embedding.calls == embedding.estimated_calls > 0
    assert embedding.cost == pytest.approx(embedding.prompt_tokens * 0.5 / 1e6)
    await rag.finalize_storages()
    await rag.initialize_storages()
    assert rag.usage() == usage, "figures outlive the opening and closing of stores"
