"""From a document to an answer: what a person who adds documents and asks relies on."""

from __future__ import annotations

import asyncio

import pytest

from lightrag import QueryParam
from lightrag.exceptions import InputError, QueryValidationError, StorageError
from tests.fakes.facts import FactModel, make_embedding
from tests.flow.conftest import EngineFactory

HARBOUR = "The harbour record.\nAda Quay -> Velmouth: Ada Quay surveyed the harbour of Velmouth\n"
BRIDGE = "The bridge record.\nVelmouth -> Hallow Bridge: Velmouth paid for the Hallow Bridge\n"


async def statuses(engine, track_id):
    return {row.file_path: row for row in (await engine.aget_docs_by_track_id(track_id)).values()}


@pytest.mark.parametrize("mode", ["local", "global", "hybrid", "naive", "mix"])
async def test_every_mode_answers_with_references(make_engine: EngineFactory, mode: str) -> None:
    engine = await make_engine()
    track_id = await engine.ainsert([HARBOUR, BRIDGE], file_paths=["harbour.md", "acts/bridge.md"])
    rows = await statuses(engine, track_id)
    assert {path: row.status for path, row in rows.items()} == {
        "harbour.md": "processed",
        "acts/bridge.md": "processed",
    }
    data = await engine.aquery_data("Who paid for the Hallow Bridge in Velmouth?", QueryParam(mode=mode))
    assert data["status"] == "success"
    assert {reference["file_path"] for reference in data["data"]["references"]} >= {"acts/bridge.md"}
    if mode != "naive":
        names = {entity["entity_name"] for entity in data["data"]["entities"]}
        assert names <= {"Ada Quay", "Velmouth", "Hallow Bridge"}
        assert "Velmouth" in names
        hub = next(entity for entity in data["data"]["entities"] if entity["entity_name"] == "Velmouth")
        assert set(hub["file_path"].split("<SEP>")) == {"harbour.md", "acts/bridge.md"}
    answer = await engine.aquery("Who paid for the Hallow Bridge in Velmouth?", QueryParam(mode=mode))
    assert answer == "answer to Who paid for the Hallow Bridge in Velmouth?"


async def test_everything_is_there_after_reopening(make_engine: EngineFactory) -> None:
    first = await make_engine()
    await first.ainsert([HARBOUR, BRIDGE], file_paths=["harbour.md", "bridge.md"])
    before = await first.aquery_data("Velmouth bridge", QueryParam(mode="mix"))
    await first.finalize_storages()
    second = await make_engine()
    assert await second.aquery_data("Velmouth bridge", QueryParam(mode="mix")) == before


async def test_duplicates_are_refused_in_writing_and_touch_nothing(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await engine.ainsert(HARBOUR, file_paths="harbour.md")
    track_id = await engine.ainsert([HARBOUR, BRIDGE], file_paths=["copy.md", "harbour.md"])
    refused = await engine.aget_docs_by_track_id(track_id)
    assert all(doc_id.startswith("dup-") for doc_id in refused)
    assert {row.metadata["duplicate_kind"] for row in refused.values()} == {"content_hash", "filename"}
    assert all(row.status == "failed" and "DocStatus" not in (row.error_msg or "") for row in refused.values())
    deleted = [await engine.adelete_by_doc_id(doc_id) for doc_id in refused]
    assert [outcome.status for outcome in deleted] == ["success", "success"]
    data = await engine.aquery_data("harbour of Velmouth", QueryParam(mode="naive"))
    assert [chunk["file_path"] for chunk in data["data"]["chunks"]] == ["harbour.md"]


async def test_same_names_in_two_folders_are_two_documents(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    track_id = await engine.ainsert([HARBOUR, BRIDGE], file_paths=["a/readme.md", "b/readme.md"])
    rows = await statuses(engine, track_id)
    assert set(rows) == {"a/readme.md", "b/readme.md"}
    assert {row.status for row in rows.values()} == {"processed"}


async def test_one_bad_document_stops_nothing(make_engine: EngineFactory) -> None:
    def fail_on_bad(task: str, prompt: str) -> str | None:
        if task == "extract" and "BAD" in prompt:
            raise ValueError("no such model")
        return None

    engine = await make_engine(FactModel(fail_on_bad))
    texts = [HARBOUR, "BAD text", "   \n\t ", "\x00\ud800", BRIDGE, "\u200b\u200d\ufeff \u2060"]
    track_id = await engine.ainsert(texts, file_paths=["1.md", "2.md", "3.md", "4.md", "5.md", "6.md"])
    rows = await statuses(engine, track_id)
    assert {path: row.status for path, row in rows.items()} == {
        "1.md": "processed",
        "2.md": "failed",
        "3.md": "failed",
        "4.md": "failed",
        "5.md": "processed",
        "6.md": "failed",
    }
    assert "no such model" in (rows["2.md"].error_msg or "")
    for path in ("3.md", "4.md", "6.md"):
        assert "empty" in (rows[path].error_msg or "")


@pytest.mark.parametrize("reply", ["I am sorry, I cannot do that.", "entity<|#|>Ada", "{", "``` \n```", "[]"])
async def test_an_unusable_reply_is_asked_again_then_the_document_fails(make_engine: EngineFactory, reply: str) -> None:
    model = FactModel(lambda task, prompt: reply if task == "extract" else None)
    engine = await make_engine(model)
    track_id = await engine.ainsert(HARBOUR, ids="doc-1", file_paths="harbour.md")
    row = (await statuses(engine, track_id))["harbour.md"]
    assert row.status == "failed"
    assert "C[1/1]: doc-1-chunk-000" in (row.error_msg or "")
    assert model.count("extract") > 1
    assert await engine.get_graph_labels() == []
    model.intercept = None
    assert await engine.aretry_failed_documents() == 1
    assert (await statuses(engine, track_id))["harbour.md"].status == "processed"
    assert await engine.get_graph_labels() == ["Ada Quay", "Velmouth"]


async def test_a_retry_pays_only_for_what_is_missing(make_engine: EngineFactory) -> None:
    facts = [f"Node {number} -> Centre: fact {number}\n" for number in range(4)]

    def fail_on_third(task: str, prompt: str) -> str | None:
        if task == "extract" and "fact 2" in prompt:
            raise ValueError("gone")
        return None

    model = FactModel(fail_on_third)
    engine = await make_engine(model, chunk_token_size=12, chunk_overlap_token_size=0, llm_model_max_async=1)
    track_id = await engine.ainsert("".join(facts), file_paths="a.md", split_by_character="\n")
    assert (await statuses(engine, track_id))["a.md"].status == "failed"
    paid = model.count("extract")
    model.intercept = None
    await engine.aretry_failed_documents()
    row = (await statuses(engine, track_id))["a.md"]
    assert row.status == "processed"
    chunks = row.chunks_count or 0
    assert model.count("extract") - paid < chunks


async def test_cancelling_fails_what_was_not_finished_and_the_next_run_works(make_engine: EngineFactory) -> None:
    started = asyncio.Event()

    class Slow(FactModel):
        async def __call__(self, *args, **kwargs) -> str:
            started.set()
            await asyncio.sleep(30)
            return ""

    engine = await make_engine(Slow())
    await engine.apipeline_enqueue_documents([HARBOUR, BRIDGE], file_paths=["1.md", "2.md"], track_id="t")
    run = asyncio.create_task(engine.apipeline_process_enqueue_documents())
    await started.wait()
    assert engine.pipeline_status()["busy"]
    assert engine.cancel_pipeline()
    await asyncio.wait_for(run, 10)
    rows = await statuses(engine, "t")
    assert {row.status for row in rows.values()} == {"failed"}
    assert all("cancelled" in (row.error_msg or "") for row in rows.values())
    assert not engine.pipeline_status()["busy"]
    assert not engine.cancel_pipeline()


async def test_interrupted_documents_are_taken_up_again(make_engine: EngineFactory) -> None:
    hang = asyncio.Event()

    class Hanging(FactModel):
        async def __call__(self, *args, **kwargs) -> str:
            hang.set()
            await asyncio.sleep(30)
            return ""

    first = await make_engine(Hanging())
    await first.apipeline_enqueue_documents(HARBOUR, file_paths="1.md", track_id="t")
    run = asyncio.create_task(first.apipeline_process_enqueue_documents())
    await hang.wait()
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)
    assert (await statuses(first, "t"))["1.md"].status == "processing"
    await first.finalize_storages()
    second = await make_engine()
    await second.apipeline_process_enqueue_documents()
    assert (await statuses(second, "t"))["1.md"].status == "processed"


async def test_deleting_takes_only_the_documents_own_share(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await engine.ainsert([HARBOUR, BRIDGE], ids=["doc-h", "doc-b"], file_paths=["harbour.md", "bridge.md"])
    outcome = await engine.adelete_by_doc_id("doc-h")
    assert (outcome.status, outcome.status_code, outcome.file_path) == ("success", 200, "harbour.md")
    assert await engine.get_graph_labels() == ["Hallow Bridge", "Velmouth"]
    node = await engine.chunk_entity_relation_graph.get_node("Velmouth")
    assert node is not None
    assert "surveyed" not in node["description"]
    assert (await engine.adelete_by_doc_id("doc-h")).status == "not_found"
    await engine.ainsert(HARBOUR, ids="doc-h", file_paths="harbour.md")
    assert await engine.get_graph_labels() == ["Ada Quay", "Hallow Bridge", "Velmouth"]


async def test_an_answer_is_never_stale_and_never_crosses(make_engine: EngineFactory) -> None:
    model = FactModel()
    engine = await make_engine(model)
    await engine.ainsert(HARBOUR, file_paths="harbour.md")
    param = QueryParam(mode="naive")
    await engine.aquery("Who surveyed Velmouth?", param)
    await engine.aquery("Who surveyed Velmouth?", param)
    assert model.count("answer") == 1
    await engine.aquery("Who surveyed Velmouth?", param, system_prompt="Be brief. {content_data}")
    assert model.count("answer") == 2
    await engine.ainsert(BRIDGE, ids="doc-b", file_paths="bridge.md")
    await engine.aquery("Who surveyed Velmouth?", param)
    assert model.count("answer") == 3
    await engine.adelete_by_doc_id("doc-b")
    await engine.aquery("Who surveyed Velmouth?", param)
    assert model.count("answer") == 4


async def test_long_descriptions_are_summarised_and_short_ones_are_not(make_engine: EngineFactory) -> None:
    model = FactModel()
    engine = await make_engine(model)
    texts = [f"Node {number} -> Centre: fact number {number}\n" for number in range(9)]
    await engine.ainsert(texts, file_paths=[f"{number}.md" for number in range(9)])
    assert model.count("summary") >= 1
    centre = await engine.chunk_entity_relation_graph.get_node("Centre")
    assert centre is not None
    assert "summary of" in centre["description"]
    leaf = await engine.chunk_entity_relation_graph.get_node("Node 3")
    assert leaf is not None
    assert leaf["description"] == "Node 3 is told of in: fact number 3"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"chunk_token_size": 50, "chunk_overlap_token_size": 50}, "chunk_overlap_token_size=50"),
        ({"top_k": 0}, "top_k"),
        ({"kv_storage": "NoSuchStorage"}, "NoSuchStorage"),
        ({"workspace": "../x"}, "workspace"),
    ],
)
async def test_wrong_settings_are_named(make_engine: EngineFactory, fields: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        await make_engine(**fields)


async def test_another_embedding_model_is_refused(make_engine: EngineFactory) -> None:
    first = await make_engine()
    await first.ainsert(HARBOUR)
    await first.finalize_storages()
    with pytest.raises(StorageError, match="16"):
        await make_engine(embedding_func=make_embedding(16))
    with pytest.raises(StorageError, match="other"):
        await make_engine(embedding_func=make_embedding(model_name="other"))


async def test_using_the_engine_before_opening_it_says_so(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await engine.finalize_storages()
    with pytest.raises(StorageError, match="initialize_storages"):
        await engine.ainsert("x")


async def test_an_empty_question_is_refused(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    with pytest.raises(QueryValidationError):
        await engine.aquery("   ")


async def test_engines_share_nothing_unless_directory_and_workspace_are_the_same(
    make_engine: EngineFactory, tmp_path
) -> None:
    one = await make_engine(working_dir=str(tmp_path / "one"), workspace="w")
    other_dir = await make_engine(working_dir=str(tmp_path / "two"), workspace="w")
    other_space = await make_engine(working_dir=str(tmp_path / "one"), workspace="v")
    same = await make_engine(working_dir=str(tmp_path / "one"), workspace="w")
    await one.ainsert(HARBOUR, file_paths="harbour.md")
    for engine, expected in ((other_dir, 0), (other_space, 0), (same, 1)):
        assert (await engine.get_processing_status()).get("processed", 0) == expected
        data = await engine.aquery_data("harbour of Velmouth", QueryParam(mode="naive"))
        assert len(data.get("data", {}).get("chunks", [])) == expected


def test_the_blocking_twins_do_the_same(tmp_path) -> None:
    from lightrag import LightRAG
    from lightrag.sync import run_sync

    engine = LightRAG(
        working_dir=str(tmp_path),
        llm_model_func=FactModel(),
        embedding_func=make_embedding(),
        entity_extract_max_gleaning=0,
    )
    run_sync(engine.initialize_storages())
    try:
        engine.insert(HARBOUR, file_paths="harbour.md")
        assert engine.query("harbour of Velmouth", QueryParam(mode="naive")).startswith("answer to")
        assert engine.delete_by_doc_id("nothing").status == "not_found"
        with pytest.raises(AttributeError, match="no_such_method"):
            engine.no_such_method()
    finally:
        run_sync(engine.finalize_storages())
