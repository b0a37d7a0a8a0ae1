"""Metadata that a user gives with a document: stored, carried through every state, kept apart from other documents."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from lightrag import DocumentMetadata, LightRAG, QueryParam
from lightrag.contracts.doc_status import DocProcessingStatus
from lightrag.exceptions import FilterSyntaxError, InputError
from lightrag.ingest.custom_chunks import insert_custom_chunks
from lightrag.ingest.custom_documents import CustomOptions
from lightrag.ingest.custom_kg import insert_custom_kg
from lightrag.query_filters import USER_METADATA_KEYS, normalize_tags, public_metadata
from lightrag.utils_pipeline import (
    _DOC_STATUS_METADATA_CARRY_OVER_KEYS,
    _DOC_STATUS_METADATA_DIRECTIVE_KEYS,
    doc_status_reset_metadata,
    doc_status_transition_metadata,
)
from tests.fakes.facts import FactModel
from tests.fakes.filtering import files_found
from tests.flow.conftest import EngineFactory

ACT = "The harbour act.\nAda Quay -> Velmouth: Ada Quay levies dues in Velmouth\n"
GIVEN: dict[str, Any] = {
    "start_date": "2030-03-30T00:00:00+01:00",
    "end_date": "2031-12-31T23:59:59.5-05:00",
    "tags": ["Patent", " Årsrapport ", "channel/ENG", "patent"],
    "meta": {"eli": "http://example.org/1", "rows": [{"n": 1, "ok": None, "text": "日本 🚢"}], "ratio": 0.5},
    "modified_at": "2029-01-01T12:00:00Z",
    "doc_type": " PDF",
    "source_path": "/acts\\1903/harbour.md",
}
STORED: dict[str, Any] = {
    "user_start_date": "2030-03-30T00:00:00+01:00",
    "user_end_date": "2031-12-31T23:59:59.500000-05:00",
    "user_tags": ["patent", "arsrapport", "channel_eng"],
    "user_meta": GIVEN["meta"],
    "user_modified_at": "2029-01-01T12:00:00Z",
    "user_doc_type": "pdf",
    "user_source_path": "acts/1903/harbour.md",
}


def user_part(row: DocProcessingStatus) -> dict[str, Any]:
    return {name: value for name, value in row.metadata.items() if name.startswith("user_")}


async def row_of(engine: LightRAG, doc_id: str) -> DocProcessingStatus:
    return (await engine.aget_docs_by_ids(doc_id))[doc_id]


def failing_once(word: str) -> FactModel:
    """A model that fails on texts with a word until its ``intercept`` is taken away."""

    def fail(task: str, prompt: str) -> str | None:
        if task == "extract" and word in prompt:
            raise ValueError("no such model")
        return None

    return FactModel(fail)


# --- stored ----------------------------------------------------------------------------------------------------------


async def test_it_is_stored_under_its_keys_with_offsets_kept_and_comes_back(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await engine.ainsert(ACT, ids="act", file_paths="act.md", metadata=GIVEN)
    row = await row_of(engine, "act")
    assert row.status == "processed"
    assert user_part(row) == STORED
    public = public_metadata(row.metadata)
    assert (public["start_date"], public["tags"]) == (GIVEN["start_date"], ["patent", "arsrapport", "channel_eng"])
    assert public["meta"] == GIVEN["meta"]


async def test_it_is_there_after_reopening(make_engine: EngineFactory) -> None:
    first = await make_engine()
    await first.ainsert(ACT, ids="act", metadata=GIVEN)
    await first.finalize_storages()
    assert user_part(await row_of(await make_engine(), "act")) == STORED


async def test_one_metadata_is_shared_by_all_texts_of_a_call(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await engine.ainsert(["one", "two"], ids=["1", "2"], metadata=GIVEN)
    await engine.apipeline_enqueue_documents(["three", "four"], ids=["3", "4"], document_metadata=GIVEN)
    rows = await engine.aget_docs_by_ids(["1", "2", "3", "4"])
    assert [user_part(row) for row in rows.values()] == [STORED] * 4
    assert {row.status.value for row in rows.values()} == {"processed", "pending"}


async def test_a_list_of_metadata_has_one_for_each_text(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    each = [{"tags": ["first"]}, None, DocumentMetadata(tags=["third"])]
    await engine.ainsert(["one", "two", "three"], ids=["1", "2", "3"], file_paths=["1", "2", "3"], metadata=each)
    await engine.apipeline_enqueue_documents(["four"], ids=["4"], document_metadata=({"tags": ["fourth"]},))
    rows = await engine.aget_docs_by_ids(["1", "2", "3", "4"])
    assert [rows[key].metadata.get("user_tags") for key in "1234"] == [["first"], None, ["third"], ["fourth"]]
    assert rows["2"].metadata["user_source_path"] == "2"
    assert await files_found(engine, "one two three", QueryParam(mode="naive", required_tags=["first"])) == {"1"}
    with pytest.raises(InputError, match="metadata has 1 entries for 2 documents; give one for each, or one for all"):
        await engine.ainsert(["five", "six"], ids=["5", "6"], metadata=[{}])
    with pytest.raises(FilterSyntaxError, match=r"metadata\[1\]: unknown field 'tag'; did you mean 'tags'"):
        await engine.ainsert(["five", "six"], ids=["5", "6"], metadata=[{}, {"tag": ["x"]}])
    assert await engine.aget_docs_by_ids(["5", "6"]) == {}


async def test_a_model_with_datetimes_says_the_same_as_json(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    start = datetime(2030, 3, 30, tzinfo=timezone(timedelta(hours=1)))
    await engine.ainsert("one", ids="1", metadata=DocumentMetadata(start_date=start, tags=["Patent"]))
    await engine.ainsert("two", ids="2", metadata={"start_date": "2030-03-30T00:00:00+01:00", "tags": ["patent"]})
    rows = await engine.aget_docs_by_ids(["1", "2"])
    assert user_part(rows["1"]) == user_part(rows["2"])


async def test_nothing_given_stores_nothing(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await engine.ainsert("one", ids="1")
    assert user_part(await row_of(engine, "1")) == {}


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"start_date": "2020-01-15T00:00:00"}, "Date must include a timezone offset or Z"),
        ({"start_date": datetime(2020, 1, 15)}, "Date must include a timezone offset or Z"),  # noqa: DTZ001
        ({"end_date": "2020-01-15"}, "Date must include a timezone offset or Z"),
        ({"start_date": "2020-01-02T00:00:00+02:00", "end_date": "2020-01-01T21:00:00Z"}, "lies after the end"),
        ({"tags": ["!!!"]}, "none of the characters"),
        ({"tags": [f"t{number}" for number in range(65)]}, "too many tags; allowed are 64"),
        ({"tags": ["x" * 129]}, "allowed are 128"),
        ({"tags": "act"}, "tags is a list"),
        ({"meta": {"x": "y" * 262_144}}, "allowed are 262144"),
        ({"tag": ["act"]}, "did you mean 'tags'"),
        ({"Start_Date": "2020-01-15T00:00:00Z"}, "did you mean 'start_date'"),
    ],
)
async def test_what_is_not_valid_is_refused_before_anything_is_stored(
    make_engine: EngineFactory, metadata: dict[str, Any], message: str
) -> None:
    engine = await make_engine()
    with pytest.raises(FilterSyntaxError, match=message):
        await engine.ainsert(ACT, metadata=metadata)
    with pytest.raises(FilterSyntaxError, match=message):
        await engine.apipeline_enqueue_documents(ACT, document_metadata=metadata)
    assert await engine.get_processing_status() == {}


def test_tags_have_one_normal_form() -> None:
    assert normalize_tags(["Patent", "Årsrapport", "channel/ENG", " ", "PATENT"]) == [
        "patent",
        "arsrapport",
        "channel_eng",
    ]


async def test_meta_is_never_a_filter(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    meta = {"tags": ["act"], "user_tags": ["act"], "start_date": "1930-01-01T00:00:00Z", "doc_type": "pdf"}
    await engine.ainsert(ACT, ids="act", file_paths="act.md", metadata={"meta": meta})
    window = {"range": {"start": "1930-01-01T00:00:00Z", "end": "1930-12-31T00:00:00Z"}}
    for fields in ({"required_tags": ["act"]}, {"date_filter": window}, {"doc_types": ["pdf"]}):
        assert await files_found(engine, "Velmouth", QueryParam(mode="mix", **fields)) == set()
    assert await files_found(engine, "Velmouth", QueryParam(mode="mix", forbidden_tags=["act"])) == {"act.md"}


# --- carried through every state -------------------------------------------------------------------------------------


def test_both_lists_of_keys_hold_all_of_them() -> None:
    assert set(USER_METADATA_KEYS) == set(STORED)
    assert set(STORED) <= set(_DOC_STATUS_METADATA_CARRY_OVER_KEYS)
    assert set(STORED) <= set(_DOC_STATUS_METADATA_DIRECTIVE_KEYS)


@pytest.mark.parametrize("keep", [doc_status_transition_metadata, doc_status_reset_metadata])
def test_transition_and_reset_keep_what_the_user_gave(keep: Any) -> None:
    kept = keep({"metadata": {**STORED, "user_tags": [], "user_meta": {}, "process_end_time": 7}})
    assert kept == {**STORED, "user_tags": [], "user_meta": {}}


async def test_every_status_row_on_the_way_carries_it(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await make_engine()
    written: list[dict[str, Any]] = []
    upsert = engine.doc_status.upsert

    async def spy(data: dict[str, dict[str, Any]]) -> None:
        written.extend(data.values())
        await upsert(data)

    monkeypatch.setattr(engine.doc_status, "upsert", spy)
    await engine.ainsert(ACT, metadata=GIVEN)
    assert {row["status"] for row in written} >= {"pending", "processing", "processed"}
    for row in written:
        assert {name: row["metadata"].get(name) for name in STORED} == STORED, row["status"]


async def test_failing_and_trying_again_keeps_it(make_engine: EngineFactory) -> None:
    model = failing_once("Ada Quay")
    engine = await make_engine(model)
    await engine.ainsert(ACT, ids="act", file_paths="act.md", metadata=GIVEN)
    failed = await row_of(engine, "act")
    assert (failed.status, user_part(failed)) == ("failed", STORED)
    model.intercept = None
    assert await engine.aretry_failed_documents() == 1
    done = await row_of(engine, "act")
    assert (done.status, user_part(done)) == ("processed", STORED)
    node = await engine.chunk_entity_relation_graph.get_node("Velmouth")
    assert node is not None
    assert (node["filter_start_date"], sorted(node["filter_tags"])) == (
        STORED["user_start_date"],
        sorted(STORED["user_tags"]),
    )
    assert await files_found(engine, "Velmouth", QueryParam(mode="mix", required_tags=["patent"])) == {"act.md"}


async def test_a_reset_to_pending_keeps_it(make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    model = failing_once("Ada Quay")
    engine = await make_engine(model)
    await engine.ainsert(ACT, ids="act", metadata=GIVEN)

    async def nothing(*_arguments: object) -> None:
        return None

    monkeypatch.setattr("lightrag.ingest.pipeline.process_queue", nothing)
    assert await engine.aretry_failed_documents() == 1
    pending = await row_of(engine, "act")
    assert (pending.status, user_part(pending)) == ("pending", STORED)


async def test_cancelling_keeps_it(make_engine: EngineFactory) -> None:
    started = asyncio.Event()

    class Slow(FactModel):
        async def __call__(self, *args: Any, **kwargs: Any) -> str:
            started.set()
            await asyncio.sleep(30)
            return ""

    engine = await make_engine(Slow())
    await engine.apipeline_enqueue_documents([ACT, "two"], ids=["act", "two"], document_metadata=GIVEN)
    run = asyncio.create_task(engine.apipeline_process_enqueue_documents())
    await started.wait()
    assert engine.cancel_pipeline()
    await asyncio.wait_for(run, 10)
    rows = await engine.aget_docs_by_ids(["act", "two"])
    assert [(row.status.value, user_part(row)) for row in rows.values()] == [("failed", STORED)] * 2


async def test_a_document_that_a_crash_interrupted_resumes_with_it(make_engine: EngineFactory) -> None:
    started = asyncio.Event()

    class Hanging(FactModel):
        async def __call__(self, *args: Any, **kwargs: Any) -> str:
            started.set()
            await asyncio.sleep(30)
            return ""

    first = await make_engine(Hanging())
    await first.apipeline_enqueue_documents(ACT, ids="act", file_paths="act.md", document_metadata=GIVEN)
    run = asyncio.create_task(first.apipeline_process_enqueue_documents())
    await started.wait()
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)
    interrupted = await row_of(first, "act")
    assert (interrupted.status, user_part(interrupted)) == ("processing", STORED)
    await first.finalize_storages()
    second = await make_engine()
    await second.apipeline_process_enqueue_documents()
    done = await row_of(second, "act")
    assert (done.status, user_part(done)) == ("processed", STORED)
    assert await files_found(second, "Velmouth", QueryParam(mode="local", required_tags=["patent"])) == {"act.md"}


async def test_a_file_that_is_yet_to_be_parsed_keeps_it(make_engine: EngineFactory, tmp_path: Path) -> None:
    file = tmp_path / "act.md"
    file.write_text(ACT, encoding="utf-8")
    engine = await make_engine()
    await engine.apipeline_enqueue_documents(str(file), ids="act", docs_format="pending_parse", document_metadata=GIVEN)
    await engine.apipeline_process_enqueue_documents()
    row = await row_of(engine, "act")
    assert (row.status, user_part(row)) == ("processed", STORED)


# --- duplicates ------------------------------------------------------------------------------------------------------


async def test_a_duplicate_keeps_its_own_and_the_original_is_untouched(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await engine.ainsert(ACT, ids="act", file_paths="act.md", metadata={"tags": ["old"]})
    before = await row_of(engine, "act")
    track_id = await engine.ainsert(
        [ACT, "Another text."], file_paths=["copy.md", "act.md"], metadata={**GIVEN, "tags": ["new"]}
    )
    stubs = await engine.aget_docs_by_track_id(track_id)
    assert len(stubs) == 2
    for stub in stubs.values():
        assert stub.status == "failed"
        assert stub.metadata["original_doc_id"] == "act"
        assert user_part(stub) == {**STORED, "user_tags": ["new"]}
    assert await row_of(engine, "act") == before


async def test_metadata_of_a_duplicate_filters_nothing(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await engine.ainsert(ACT, ids="act", file_paths="act.md", metadata={"tags": ["old"]})
    await engine.ainsert(ACT, file_paths="copy.md", metadata={"tags": ["new"], "start_date": "1930-01-01T00:00:00Z"})
    for mode in ("mix", "naive"):
        for fields in ({"required_tags": ["new"]}, {"date_filter": {"shape": "dated"}}):
            result = await engine.aquery_data("Velmouth", QueryParam(mode=mode, **fields))
            assert result["status"] == "failure"
            assert result["metadata"]["filter"]["eligible_documents"] == 0
        assert await files_found(engine, "Velmouth", QueryParam(mode=mode, required_tags=["old"])) == {"act.md"}
    facets = await engine.afacets()
    assert (facets.documents, facets.tags, facets.undated) == (1, {"": {"old": 1}}, 1)


async def test_trying_failed_documents_again_leaves_duplicates_alone(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await engine.ainsert(ACT, ids="act", file_paths="act.md", metadata={"tags": ["old"]})
    track_id = await engine.ainsert(ACT, file_paths="copy.md", metadata={"tags": ["new"]})
    stubs = await engine.aget_docs_by_track_id(track_id)
    assert await engine.aretry_failed_documents() == 0
    assert await engine.aget_docs_by_track_id(track_id) == stubs


async def test_deleting_and_inserting_again_replaces_it(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await engine.ainsert(ACT, ids="act", file_paths="act.md", metadata={"tags": ["old"]})
    await engine.adelete_by_doc_id("act")
    await engine.ainsert(ACT, ids="act", file_paths="act.md", metadata={"tags": ["new"]})
    assert user_part(await row_of(engine, "act"))["user_tags"] == ["new"]
    assert await files_found(engine, "Velmouth", QueryParam(mode="mix", required_tags=["old"])) == set()
    assert await files_found(engine, "Velmouth", QueryParam(mode="mix", required_tags=["new"])) == {"act.md"}


# --- documents made in other ways ------------------------------------------------------------------------------------


async def test_custom_graphs_and_custom_chunks_take_it_too(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    graph = {
        "chunks": [{"content": "Ada built the quay.", "source_id": "s"}],
        "entities": [{"entity_name": "Ada", "description": "a builder", "source_id": "s"}],
        "relationships": [],
    }
    options = CustomOptions(doc_id="graph", file_path="graph.json", metadata=GIVEN)
    await insert_custom_kg(engine.context, engine._state, graph, options)
    options = CustomOptions(doc_id="chunks", file_path="chunks.md", metadata=GIVEN)
    await insert_custom_chunks(engine.context, engine._state, ACT, [ACT], options)
    rows = await engine.aget_docs_by_ids(["graph", "chunks"])
    assert [user_part(row) for row in rows.values()] == [STORED] * 2
    found = await files_found(
        engine, "Ada built the quay of Velmouth", QueryParam(mode="mix", required_tags=["patent"])
    )
    assert found == {"graph.json", "chunks.md"}


async def test_custom_documents_refuse_what_is_not_valid(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    options = CustomOptions(doc_id="chunks", metadata={"start_date": "2020-01-15"})
    with pytest.raises(InputError, match="Date must include a timezone offset"):
        await insert_custom_chunks(engine.context, engine._state, ACT, [ACT], options)
    assert await engine.get_processing_status() == {}
