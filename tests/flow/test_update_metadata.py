"""Metadata of a stored document can be changed, and everything that follows from it follows at once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lightrag import LightRAG, QueryParam
from lightrag.contracts.doc_status import DocProcessingStatus
from lightrag.exceptions import FilterSyntaxError, InputError, NotFoundError, PipelineBusyError, ScopeError
from lightrag.ingest.custom_documents import CustomOptions
from lightrag.ingest.custom_kg import insert_custom_kg
from lightrag.query_filters import DocumentMetadata, public_metadata
from tests.fakes.facts import FactModel, make_embedding
from tests.fakes.filtering import MODES, WAYS, Reciting, files_found, open_in_way
from tests.fakes.summaries import stale_summaries, summary_of
from tests.flow.conftest import EngineFactory

QUESTION = "What did the Hub do in Velmouth?"
GIVEN: dict[str, Any] = {
    "start_date": "1903-04-01T00:00:00+01:00",
    "end_date": "1928-03-31T23:59:59Z",
    "tags": ["act", "lang:en"],
    "meta": {"eli": "http://example.org/1"},
    "modified_at": "2024-01-01T00:00:00Z",
    "doc_type": "pdf",
    "source_path": "acts/1903.pdf",
}
CHANGES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"tags": ["Letter", "letter"]}, {"tags": ["letter"]}),
    ({"tags": []}, {"tags": []}),
    ({"tags": None}, {"tags": []}),
    ({"start_date": "1910-01-01T00:00:00-05:00"}, {"start_date": "1910-01-01T00:00:00-05:00"}),
    ({"end_date": None}, {"end_date": None}),
    ({"start_date": None, "end_date": None}, {"start_date": None, "end_date": None}),
    ({"meta": {"other": [1, {"x": None}]}}, {"meta": {"other": [1, {"x": None}]}}),
    ({"doc_type": "Note", "source_path": "/letters//a.md"}, {"doc_type": "note", "source_path": "letters/a.md"}),
    ({"source_path": None}, {"source_path": "alpha"}),
    ({"modified_at": None}, {"modified_at": None}),
    ({}, {}),
]


def about_hub(word: str) -> str:
    return f"A page of {word}.\nHub -> Velmouth: {word} tells what the Hub did in Velmouth\n"


async def row_of(engine: LightRAG, doc_id: str) -> DocProcessingStatus:
    return (await engine.aget_docs_by_ids(doc_id))[doc_id]


# --- which fields --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("patch", "expected"), CHANGES)
async def test_only_the_given_fields_change(
    make_engine: EngineFactory, patch: dict[str, Any], expected: dict[str, Any]
) -> None:
    engine = await make_engine()
    await engine.ainsert(about_hub("alpha"), ids="alpha", file_paths="alpha", metadata=GIVEN)
    before = await row_of(engine, "alpha")
    returned = await engine.aupdate_document_metadata("alpha", patch)
    after = await row_of(engine, "alpha")
    assert returned == after
    assert public_metadata(after.metadata) == {**public_metadata(before.metadata), **expected}
    own = [
        {name: value for name, value in row.metadata.items() if not name.startswith("user_")} for row in (before, after)
    ]
    assert own[0] == own[1]
    changed = {name for name, value in vars(before).items() if getattr(after, name) != value}
    assert changed <= {"metadata", "updated_at"}


async def test_of_a_model_the_given_fields_change(make_engine: EngineFactory) -> None:
    engine = await make_engine(scope_tag_prefixes=["tenant:"])
    await engine.ainsert(about_hub("alpha"), ids="alpha", file_paths="alpha", metadata=GIVEN)
    before = public_metadata((await row_of(engine, "alpha")).metadata)
    after = await engine.aupdate_document_metadata("alpha", DocumentMetadata(tags=["Act"], end_date=None))
    assert public_metadata(after.metadata) == {**before, "tags": ["act"], "end_date": None}
    with pytest.raises(ScopeError):
        await engine.aupdate_document_metadata("alpha", DocumentMetadata(tags=["tenant:a/b"]))
    with pytest.raises(FilterSyntaxError, match="a patch is"):
        await engine.aupdate_document_metadata("alpha", ["act"])  # type: ignore[arg-type]
    assert (await row_of(engine, "alpha")).metadata == after.metadata


async def test_a_document_without_metadata_can_be_given_some(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await engine.ainsert(about_hub("alpha"), ids="alpha", file_paths="alpha")
    await engine.aupdate_document_metadata("alpha", {"tags": ["act"], "start_date": GIVEN["start_date"]})
    assert await files_found(engine, QUESTION, QueryParam(mode="mix", required_tags=["act"])) == {"alpha"}
    assert await stale_summaries(engine) == []


# --- what follows --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
async def test_questions_follow_at_once_in_every_mode(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    engine = await open_in_way(make_engine, monkeypatch, way)
    for name in ("alpha", "beta"):
        await engine.ainsert(about_hub(name), ids=name, file_paths=name, metadata=GIVEN)

    async def found(**fields: Any) -> list[set[str]]:
        return [await files_found(engine, QUESTION, QueryParam(mode=mode, **fields)) for mode in MODES]

    letters, undated = {"required_tags": ["letter"]}, {"date_filter": {"undated": "only"}}
    typed, folder = {"doc_types": ["note"]}, {"path_prefixes": ["letters"]}
    recent = {"modified_after": "2025-01-01T00:00:00Z"}
    for fields in (letters, undated, typed, folder, recent):
        assert await found(**fields) == [set()] * len(MODES)
    await engine.aupdate_document_metadata(
        "beta",
        {
            "tags": ["letter"],
            "start_date": None,
            "end_date": None,
            "doc_type": "note",
            "source_path": "letters/b.md",
            "modified_at": "2025-06-01T00:00:00Z",
        },
    )
    for fields in (letters, undated, typed, folder, recent):
        assert await found(**fields) == [{"beta"}] * len(MODES), fields
    for fields in ({"required_tags": ["act"]}, {"date_filter": {"shape": "dated"}}, {"doc_types": ["pdf"]}):
        assert await found(**fields) == [{"alpha"}] * len(MODES), fields
        preview = await engine.afilter_preview(QueryParam(**fields))
        assert (preview.eligible_documents, [row["doc_id"] for row in preview.examples]) == (1, ["alpha"])
    # Nothing of the document that left the selection is told of the objects that both speak of.
    data = (await engine.aquery_data(QUESTION, QueryParam(mode="mix", required_tags=["act"])))["data"]
    assert "beta" not in str(data)


@pytest.mark.parametrize("pushdown", [False, True])
@pytest.mark.parametrize(("patch", "expected"), CHANGES)
async def test_summaries_and_stamped_rows_follow(
    make_engine: EngineFactory, pushdown: bool, patch: dict[str, Any], expected: dict[str, Any]
) -> None:
    engine = await make_engine(enable_vector_metadata_filters=pushdown)
    await engine.ainsert(about_hub("alpha"), ids="alpha", file_paths="alpha", metadata=GIVEN)
    await engine.ainsert(about_hub("beta"), ids="beta", file_paths="beta", metadata={"tags": ["act"]})
    await engine.aupdate_document_metadata("alpha", patch)
    assert await stale_summaries(engine) == []
    tags = set(expected.get("tags", GIVEN["tags"])) | {"act"}
    assert set((await summary_of(engine, "Hub"))["filter_tags"]) == tags


async def test_facets_follow(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await engine.ainsert(about_hub("alpha"), ids="alpha", file_paths="alpha", metadata=GIVEN)
    assert (await engine.afacets()).tags == {"": {"act": 1}, "lang": {"en": 1}}
    await engine.aupdate_document_metadata("alpha", {"tags": ["type:letter"], "start_date": None, "end_date": None})
    facets = await engine.afacets()
    assert (facets.tags, facets.undated, facets.histogram) == ({"type": {"letter": 1}}, 1, [])


@pytest.mark.parametrize("mode", MODES)
async def test_cached_answers_follow(make_engine: EngineFactory, mode: str) -> None:
    model = Reciting()
    engine = await make_engine(model, vector_db_storage_cls_kwargs={"cosine_better_than_threshold": -1.0})
    for name in ("alpha", "beta"):
        await engine.ainsert(about_hub(name), ids=name, file_paths=name, metadata=GIVEN)
    param = QueryParam(mode=mode, required_tags=["act"])
    assert "beta" in str(await engine.aquery(QUESTION, param))
    asked = model.count("answer")
    await engine.aupdate_document_metadata("beta", {"tags": ["draft"]})
    answer = str(await engine.aquery(QUESTION, param))
    assert "alpha" in answer
    assert "beta" not in answer
    assert model.count("answer") == asked + 1
    await engine.aupdate_document_metadata("beta", {"tags": ["act"]})
    assert "beta" in str(await engine.aquery(QUESTION, param))


async def test_answers_that_show_dates_follow_too(make_engine: EngineFactory) -> None:
    engine = await make_engine(Reciting())
    await engine.ainsert(about_hub("alpha"), ids="alpha", file_paths="alpha", metadata=GIVEN)
    param = QueryParam(mode="naive", include_document_metadata=True)
    assert "1903-04-01" in str(await engine.aquery(QUESTION, param))
    await engine.aupdate_document_metadata("alpha", {"start_date": "1910-01-01T00:00:00Z"})
    answer = str(await engine.aquery(QUESTION, param))
    assert "1910-01-01" in answer
    assert "1903-04-01" not in answer


async def test_no_model_is_asked(make_engine: EngineFactory) -> None:
    model = FactModel()
    embedding, embedded = make_embedding(), 0
    embed = embedding.func

    async def counting(texts: list[str]) -> Any:
        nonlocal embedded
        embedded += len(texts)
        return await embed(texts)

    embedding.func = counting
    engine = await make_engine(
        model, embedding_func=embedding, enable_vector_metadata_filters=True, force_llm_summary_on_merge=2
    )
    for name in ("alpha", "beta", "gamma"):
        await engine.ainsert(about_hub(name), ids=name, file_paths=name, metadata=GIVEN)
    calls, texts = len(model.calls), embedded
    hub = await engine.chunk_entity_relation_graph.get_node("Hub")
    for patch, _ in CHANGES:
        await engine.aupdate_document_metadata("beta", patch)
    assert (len(model.calls), embedded) == (calls, texts)
    after = await engine.chunk_entity_relation_graph.get_node("Hub")
    assert hub is not None
    assert after is not None
    assert after["description"] == hub["description"]
    assert "summary of" in after["description"]


async def test_it_is_there_after_reopening(make_engine: EngineFactory) -> None:
    first = await make_engine(enable_vector_metadata_filters=True)
    await first.ainsert(about_hub("alpha"), ids="alpha", file_paths="alpha", metadata=GIVEN)
    await first.aupdate_document_metadata("alpha", {"tags": ["letter"]})
    await first.finalize_storages()
    second = await make_engine(enable_vector_metadata_filters=True)
    assert public_metadata((await row_of(second, "alpha")).metadata)["tags"] == ["letter"]
    assert await files_found(second, QUESTION, QueryParam(mode="mix", required_tags=["letter"])) == {"alpha"}
    assert await stale_summaries(second) == []


async def test_custom_graphs_can_be_changed(make_engine: EngineFactory) -> None:
    engine = await make_engine(
        enable_vector_metadata_filters=True, vector_db_storage_cls_kwargs={"cosine_better_than_threshold": -1.0}
    )
    graph = {
        "chunks": [{"content": "custom text", "source_id": "s"}],
        "entities": [{"entity_name": "Hub", "description": "by hand", "source_id": "s"}],
        "relationships": [],
    }
    await insert_custom_kg(engine.context, engine._state, graph, CustomOptions(doc_id="graph", file_path="graph"))
    await engine.aupdate_document_metadata("graph", {"tags": ["act"]})
    assert await files_found(engine, QUESTION, QueryParam(mode="local", required_tags=["act"])) == {"graph"}
    assert await stale_summaries(engine) == []


async def test_a_document_joins_and_leaves_scopes(make_engine: EngineFactory) -> None:
    engine = await make_engine(scope_tag_prefixes=["tenant:"], enable_kg_scope_materialization=True)
    await engine.ainsert(about_hub("alpha"), ids="alpha", file_paths="alpha", metadata={"tags": ["tenant:a"]})
    await engine.aupdate_document_metadata("alpha", {"tags": ["tenant:b", "act"]})
    nodes = {node["id"] for node in await engine.chunk_entity_relation_graph.get_all_nodes()}
    assert nodes == {"Hub", "Velmouth", "Hub\x1ftenant:b", "Velmouth\x1ftenant:b"}
    assert await stale_summaries(engine) == []
    await engine.aupdate_document_metadata("alpha", {"tags": []})
    assert {node["id"] for node in await engine.chunk_entity_relation_graph.get_all_nodes()} == {"Hub", "Velmouth"}
    assert await stale_summaries(engine) == []
    with pytest.raises(InputError, match="tenant:"):
        await engine.aupdate_document_metadata("alpha", {"tags": ["tenant:日本"]})


# --- refused -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({"tag": ["x"]}, "did you mean 'tags'"),
        ({"startDate": None}, "did you mean 'start_date'"),
        ({"user_tags": ["x"]}, "unknown field 'user_tags'"),
        ({"start_date": "1910-01-01T00:00:00"}, "timezone offset or Z"),
        ({"start_date": "1930-01-01T00:00:00Z"}, "lies after the end"),
        ({"tags": ["!!!"]}, "none of the characters"),
        ({"tags": "act"}, "tags is a list"),
        ({"meta": [1]}, "meta is a JSON object"),
        ({"source_path": "../x"}, "leads out of its root"),
    ],
)
async def test_what_is_not_valid_changes_nothing(
    make_engine: EngineFactory, patch: dict[str, Any], message: str
) -> None:
    engine = await make_engine()
    await engine.ainsert(about_hub("alpha"), ids="alpha", file_paths="alpha", metadata=GIVEN)
    before, version = await row_of(engine, "alpha"), await engine.context.stores.corpus_version()
    with pytest.raises(FilterSyntaxError, match=message):
        await engine.aupdate_document_metadata("alpha", {"doc_type": "note", **patch})
    assert await row_of(engine, "alpha") == before
    assert await engine.context.stores.corpus_version() == version


async def test_unknown_documents_and_refused_duplicates(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await engine.ainsert(about_hub("alpha"), ids="alpha", file_paths="alpha", metadata=GIVEN)
    track_id = await engine.ainsert(about_hub("alpha"), file_paths="copy", metadata={"tags": ["new"]})
    ((stub, row),) = (await engine.aget_docs_by_track_id(track_id)).items()
    with pytest.raises(InputError, match="refused duplicate; change 'alpha'"):
        await engine.aupdate_document_metadata(stub, {"tags": ["x"]})
    with pytest.raises(NotFoundError, match="'nobody' does not exist"):
        await engine.aupdate_document_metadata("nobody", {"tags": ["x"]})
    assert await row_of(engine, stub) == row


# --- documents that are not processed, and a busy pipeline ---------------------------------------------------------


async def test_a_waiting_and_a_failed_document_can_be_changed(make_engine: EngineFactory) -> None:
    model = FactModel(lambda task, prompt: "no rows" if task == "extract" and "bad" in prompt else None)
    engine = await make_engine(model)
    await engine.apipeline_enqueue_documents(
        [about_hub("bad"), about_hub("waiting")], ids=["bad", "waiting"], document_metadata=GIVEN
    )
    await engine.aupdate_document_metadata("waiting", {"tags": ["changed"]})
    assert (await row_of(engine, "waiting")).status == "pending"
    await engine.apipeline_process_enqueue_documents()
    assert (await row_of(engine, "bad")).status == "failed"
    await engine.aupdate_document_metadata("bad", {"tags": ["changed"]})
    model.intercept = None
    await engine.aretry_failed_documents()
    for name in ("bad", "waiting"):
        row = await row_of(engine, name)
        assert (row.status, row.metadata["user_tags"]) == ("processed", ["changed"])
    assert set((await summary_of(engine, "Hub"))["filter_tags"]) == {"changed"}
    assert await stale_summaries(engine) == []


async def test_a_busy_pipeline_refuses_the_change(make_engine: EngineFactory) -> None:
    started, go_on = asyncio.Event(), asyncio.Event()

    class Slow(FactModel):
        async def __call__(self, *args: Any, **kwargs: Any) -> str:
            started.set()
            await go_on.wait()
            return await super().__call__(*args, **kwargs)

    engine = await make_engine(Slow())
    await engine.apipeline_enqueue_documents(about_hub("alpha"), ids="alpha", document_metadata=GIVEN)
    run = asyncio.create_task(engine.apipeline_process_enqueue_documents())
    await started.wait()
    with pytest.raises(PipelineBusyError, match="busy"):
        await engine.aupdate_document_metadata("alpha", {"tags": ["x"]})
    go_on.set()
    await run
    assert (await row_of(engine, "alpha")).metadata["user_tags"] == GIVEN["tags"]


async def test_a_pipeline_that_begins_while_the_change_waits_refuses_it(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await engine.apipeline_enqueue_documents(about_hub("alpha"), ids="alpha", document_metadata=GIVEN)
    async with engine.context.graph_lock:
        change = asyncio.create_task(engine.aupdate_document_metadata("alpha", {"tags": ["x"]}))
        await asyncio.sleep(0)
        engine._state.begin("something else")
    with pytest.raises(PipelineBusyError, match="busy"):
        await change
    engine._state.end()
    assert (await row_of(engine, "alpha")).metadata["user_tags"] == GIVEN["tags"]


async def test_a_run_that_begins_during_a_change_reads_what_was_changed(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run begins between reading the row of a waiting document and writing it."""
    engine = await make_engine()
    await engine.apipeline_enqueue_documents(about_hub("alpha"), ids="alpha", document_metadata=GIVEN)
    get_by_id = engine.doc_status.get_by_id
    runs: list[asyncio.Task[None]] = []

    async def read_and_begin(doc_id: str) -> Any:
        row = await get_by_id(doc_id)
        runs.append(asyncio.create_task(engine.apipeline_process_enqueue_documents()))
        await asyncio.sleep(0.2)
        return row

    with monkeypatch.context() as patch:
        patch.setattr(engine.doc_status, "get_by_id", read_and_begin)
        await engine.aupdate_document_metadata("alpha", {"tags": ["x"]})
    await runs[0]
    assert (await row_of(engine, "alpha")).status == "processed"
    assert (await row_of(engine, "alpha")).metadata["user_tags"] == ["x"]
    assert await stale_summaries(engine) == []
