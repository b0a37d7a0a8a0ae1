"""Every write that changes what speaks of an entity or relation leaves its dates and tags as they follow from that."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from lightrag import LightRAG
from lightrag.exceptions import LightRAGError
from lightrag.graph.create import create_entity, create_relation
from lightrag.graph.edit_entity import EditOptions, edit_entity
from lightrag.graph.edit_relation import edit_relation
from lightrag.graph.merge_entities import MergeOptions, merge_entities
from lightrag.graph.remove import remove_entity, remove_relation
from lightrag.ingest.custom_documents import CustomOptions
from lightrag.ingest.custom_kg import insert_custom_kg
from tests.fakes.facts import FactModel, make_embedding
from tests.fakes.filtering import FILES
from tests.fakes.summaries import stale_summaries, summary_of
from tests.flow.conftest import EngineFactory

EARLY: dict[str, Any] = {"start_date": "1903-04-01T00:00:00+01:00", "end_date": "1928-03-31T00:00:00Z", "tags": ["act"]}
OPEN: dict[str, Any] = {"start_date": "1928-04-01T00:00:00Z", "tags": ["act", "patent"]}
UNDATED: dict[str, Any] = {"tags": ["letter"]}

Fields = dict[str, Any]


def text_of(doc_id: str, *pairs: tuple[str, str]) -> str:
    return "\n".join([f"Page {doc_id}.", *(f"{source} -> {target}: {doc_id} links them" for source, target in pairs)])


async def insert(engine: LightRAG, doc_id: str, metadata: Fields | None, *pairs: tuple[str, str]) -> None:
    await engine.ainsert(text_of(doc_id, *pairs), ids=doc_id, file_paths=doc_id, metadata=metadata)


Engines = Callable[..., Awaitable[LightRAG]]


PUSHDOWN: Fields = {"enable_vector_metadata_filters": True}
KINDS: dict[str, Fields] = {
    "graph only": {},
    "pushdown": PUSHDOWN,
    "widened": {**PUSHDOWN, "kg_union_skip_open_bounds": False},
    "files": {**PUSHDOWN, **FILES},
}


@pytest.fixture(params=KINDS)
def opened(request: pytest.FixtureRequest, make_engine: EngineFactory) -> Engines:
    """Return a function that opens an engine whose hub is told of by two documents."""

    async def open_engine(model: Any = None) -> LightRAG:
        engine = await make_engine(model, **KINDS[request.param])
        await insert(engine, "early", EARLY, ("Hub", "Ada"), ("Hub", "Bea"))
        await insert(engine, "open", OPEN, ("Hub", "Ada"))
        return engine

    return open_engine


# --- what documents do ------------------------------------------------------------------------------------------------


async def test_merging_unites_dates_and_tags_of_the_evidence_alone(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await insert(engine, "early", EARLY, ("Hub", "Ada"), ("Hub", "Bea"))
    await insert(engine, "open", OPEN, ("Hub", "Ada"))
    await insert(engine, "undated", UNDATED, ("Hub", "Cid"))
    hub = await summary_of(engine, "Hub")
    assert hub == {
        "filter_start_date": "1903-04-01T00:00:00+01:00",
        "filter_end_date": "1928-03-31T00:00:00Z",
        "filter_tags": ["act", "letter", "patent"],
        "filter_dated": True,
        "filter_start_ms": hub["filter_start_ms"],
        "filter_end_ms": hub["filter_end_ms"],
        "has_undated_evidence": True,
        "has_open_start": False,
        "has_open_end": True,
        "filter_doc_count": 3,
    }
    # A relation has the dates of its own evidence, not those of its ends.
    assert (await summary_of(engine, "Hub", "Bea"))["filter_tags"] == ["act"]
    assert (await summary_of(engine, "Hub", "Ada"))["filter_tags"] == ["act", "patent"]
    undated = await summary_of(engine, "Hub", "Cid")
    assert (undated["filter_dated"], undated["filter_start_date"], undated["filter_end_date"]) == (False, "", "")


@pytest.mark.parametrize("skip_open_bounds", [True, False])
@pytest.mark.parametrize("way", ["field", "vector option"])
async def test_open_bounds_widen_the_union_only_when_asked_to(
    make_engine: EngineFactory, skip_open_bounds: bool, way: str
) -> None:
    asked: dict[str, Any] = {"kg_union_skip_open_bounds": skip_open_bounds}
    engine = await make_engine(**(asked if way == "field" else {"vector_db_storage_cls_kwargs": asked}))
    await insert(engine, "early", EARLY, ("Hub", "Ada"))
    await insert(engine, "open", OPEN, ("Hub", "Ada"))
    hub = await summary_of(engine, "Hub")
    assert hub["filter_end_date"] == (EARLY["end_date"] if skip_open_bounds else "")
    assert hub["filter_start_date"] == EARLY["start_date"]


async def test_merging(opened: Engines) -> None:
    engine = await opened()
    assert await stale_summaries(engine) == []
    await insert(engine, "undated", UNDATED, ("Hub", "Ada"), ("Ada", "Cid"))
    assert (await summary_of(engine, "Hub"))["filter_doc_count"] == 3
    assert await stale_summaries(engine) == []


async def test_several_documents_merged_at_once(opened: Engines) -> None:
    engine = await opened()
    for number, metadata in enumerate((EARLY, OPEN, UNDATED, {})):
        await engine.apipeline_enqueue_documents(
            text_of(f"many-{number}", ("Hub", "Ada"), ("Hub", f"Leaf {number}")),
            ids=f"many-{number}",
            document_metadata=metadata,
        )
    await engine.apipeline_process_enqueue_documents()
    assert (await summary_of(engine, "Hub"))["filter_doc_count"] == 6
    assert await stale_summaries(engine) == []


async def test_deleting_a_document(opened: Engines) -> None:
    engine = await opened()
    await engine.adelete_by_doc_id("early")
    hub = await summary_of(engine, "Hub")
    assert (hub["filter_start_date"], hub["filter_tags"]) == (OPEN["start_date"], OPEN["tags"])
    assert (await summary_of(engine, "Hub", "Ada"))["filter_doc_count"] == 1
    assert await stale_summaries(engine) == []
    await engine.adelete_by_doc_id("open")
    assert await engine.get_graph_labels() == []
    assert await stale_summaries(engine) == []


async def test_resuming_after_an_attempt_that_got_into_the_graph(
    opened: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stores without transactions can hold a document's evidence although its status was never written."""
    engine = await opened()
    upsert = engine.doc_status.upsert
    lost: list[str] = []

    async def lose_processed(data: dict[str, Any]) -> None:
        if any(row["status"] == "processed" for row in data.values()):
            lost.extend(data)
        else:
            await upsert(data)

    with monkeypatch.context() as patch:
        patch.setattr(engine.doc_status, "upsert", lose_processed)
        await insert(engine, "resumed", UNDATED, ("Hub", "Ada"), ("Hub", "Dot"))
    assert lost == ["resumed"]
    row = (await engine.aget_docs_by_ids("resumed"))["resumed"]
    assert row.status == "processing"
    assert (await summary_of(engine, "Hub"))["filter_doc_count"] == 3
    await engine.apipeline_process_enqueue_documents()
    assert (await engine.aget_docs_by_ids("resumed"))["resumed"].status == "processed"
    assert (await summary_of(engine, "Hub"))["filter_doc_count"] == 3
    assert (await summary_of(engine, "Dot"))["filter_tags"] == ["letter"]
    assert await stale_summaries(engine) == []


async def test_failing_and_trying_again(opened: Engines) -> None:
    def fail(task: str, prompt: str) -> str | None:
        if task == "extract" and "Page bad" in prompt:
            raise ValueError("no such model")
        return None

    model = FactModel(fail)
    engine = await opened(model)
    await insert(engine, "bad", UNDATED, ("Hub", "Ada"))
    assert (await summary_of(engine, "Hub"))["filter_doc_count"] == 2
    model.intercept = None
    await engine.aretry_failed_documents()
    assert (await summary_of(engine, "Hub"))["filter_tags"] == ["act", "letter", "patent"]
    assert await stale_summaries(engine) == []


@pytest.mark.parametrize("metadata", [None, UNDATED, EARLY])
async def test_custom_graphs(opened: Engines, metadata: Fields | None) -> None:
    engine = await opened()
    graph = custom_graph(("Hub", "Ada"), ("Hub", "Customs House"))
    await insert_custom_kg(engine.context, engine._state, graph, CustomOptions(doc_id="graph", metadata=metadata))
    hub = await summary_of(engine, "Hub")
    assert hub["filter_doc_count"] == 3
    assert hub["has_undated_evidence"] is (metadata is not EARLY)
    assert (await summary_of(engine, "Customs House"))["filter_tags"] == (metadata or {}).get("tags", [])
    assert await stale_summaries(engine) == []
    # The same graph with other metadata replaces it.
    await insert_custom_kg(engine.context, engine._state, graph, CustomOptions(doc_id="graph", metadata=OPEN))
    assert (await summary_of(engine, "Customs House"))["filter_tags"] == OPEN["tags"]
    assert await stale_summaries(engine) == []
    await engine.adelete_by_doc_id("graph")
    assert (await summary_of(engine, "Hub"))["filter_doc_count"] == 2
    assert await stale_summaries(engine) == []


def custom_graph(*pairs: tuple[str, str]) -> dict[str, Any]:
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    return {
        "chunks": [{"content": f"custom text of {names}", "source_id": "s"}],
        "entities": [{"entity_name": name, "description": f"{name} by hand", "source_id": "s"} for name in names],
        "relationships": [
            {"src_id": source, "tgt_id": target, "description": "linked", "keywords": "k", "source_id": "s"}
            for source, target in pairs
        ],
    }


@pytest.mark.parametrize(
    "patch", [{"tags": ["letter"]}, {"start_date": None, "end_date": None}, {"end_date": "1950-01-01T00:00:00Z"}]
)
async def test_changing_a_documents_metadata(opened: Engines, patch: Fields) -> None:
    engine = await opened()
    before = await summary_of(engine, "Hub", "Bea")
    await engine.aupdate_document_metadata("early", patch)
    assert await summary_of(engine, "Hub", "Bea") != before
    assert await stale_summaries(engine) == []


# --- what people do ---------------------------------------------------------------------------------------------------


async def test_creating_an_entity_is_undated_until_documents_speak_of_it(opened: Engines) -> None:
    engine = await opened()
    await create_entity(engine.context, engine._state, "Dot", {"description": "made by hand"})
    dot = await summary_of(engine, "Dot")
    assert (dot["filter_dated"], dot["filter_tags"], dot["has_undated_evidence"]) == (False, [], True)
    assert await stale_summaries(engine) == []
    await insert(engine, "later", OPEN, ("Dot", "Hub"))
    dot = await summary_of(engine, "Dot")
    assert (dot["filter_dated"], dot["filter_tags"], dot["has_undated_evidence"]) == (True, OPEN["tags"], True)
    assert await stale_summaries(engine) == []


async def test_creating_objects_that_name_their_chunks_gives_them_the_dates_of_the_documents(opened: Engines) -> None:
    engine = await opened()
    source = {"description": "made by hand", "source_id": "early-chunk-000<SEP>no such chunk"}
    await create_entity(engine.context, engine._state, "Dot", source)
    assert (await summary_of(engine, "Dot"))["filter_tags"] == EARLY["tags"]
    await create_relation(engine.context, engine._state, ("Dot", "Ada"), {**source, "source_id": "open-chunk-000"})
    assert (await summary_of(engine, "Dot", "Ada"))["filter_tags"] == OPEN["tags"]
    # Its document speaks of both ends now.
    assert (await summary_of(engine, "Dot"))["filter_doc_count"] == 2
    assert await stale_summaries(engine) == []


async def test_editing_an_entity_changes_no_dates(opened: Engines) -> None:
    engine = await opened()
    before = await summary_of(engine, "Hub")
    await edit_entity(engine.context, engine._state, "Hub", {"description": "corrected", "entity_type": "person"})
    assert await summary_of(engine, "Hub") == before
    await edit_entity(engine.context, engine._state, "Hub", {"note": "a word of my own"})
    assert await summary_of(engine, "Hub") == before
    assert await stale_summaries(engine) == []


async def test_renaming_an_entity_takes_its_dates_along_and_leaves_none_behind(opened: Engines) -> None:
    engine = await opened()
    hub, link = await summary_of(engine, "Hub"), await summary_of(engine, "Hub", "Bea")
    await edit_entity(engine.context, engine._state, "Hub", {"entity_name": "Guild"})
    assert await summary_of(engine, "Guild") == hub
    assert await summary_of(engine, "Guild", "Bea") == link
    assert await engine.chunk_entity_relation_graph.get_node("Hub") is None
    assert await stale_summaries(engine) == []
    await insert(engine, "later", UNDATED, ("Hub", "Bea"), ("Guild", "Bea"))
    assert (await summary_of(engine, "Hub"))["filter_tags"] == ["letter"]
    assert await stale_summaries(engine) == []


async def test_merging_entities_unites_their_dates(opened: Engines) -> None:
    engine = await opened()
    await insert(engine, "undated", UNDATED, ("Bea", "Cid"))
    await merge_entities(engine.context, engine._state, ["Ada", "Bea"], "Cid", MergeOptions())
    cid = await summary_of(engine, "Cid")
    assert (cid["filter_tags"], cid["filter_doc_count"]) == (["act", "letter", "patent"], 3)
    assert (await summary_of(engine, "Hub", "Cid"))["filter_tags"] == ["act", "patent"]
    assert await stale_summaries(engine) == []


async def test_renaming_onto_another_entity_merges_the_dates(opened: Engines) -> None:
    engine = await opened()
    await insert(engine, "undated", UNDATED, ("Bea", "Cid"))
    await edit_entity(engine.context, engine._state, "Cid", {"entity_name": "Ada"}, EditOptions(allow_merge=True))
    assert (await summary_of(engine, "Ada"))["filter_tags"] == ["act", "letter", "patent"]
    assert (await summary_of(engine, "Ada", "Bea"))["filter_tags"] == ["letter"]
    assert await stale_summaries(engine) == []


async def test_relations_by_hand(opened: Engines) -> None:
    engine = await opened()
    await create_relation(engine.context, engine._state, ("Ada", "Bea"), {"description": "linked by hand"})
    made = await summary_of(engine, "Ada", "Bea")
    assert (made["filter_dated"], made["filter_tags"], made["has_undated_evidence"]) == (False, [], True)
    before = await summary_of(engine, "Hub", "Ada")
    await edit_relation(engine.context, engine._state, ("Hub", "Ada"), {"description": "corrected", "weight": 3.0})
    assert await summary_of(engine, "Hub", "Ada") == before
    assert await stale_summaries(engine) == []
    await remove_relation(engine.context, engine._state, ("Hub", "Ada"))
    assert await engine.chunk_entity_relation_graph.get_edge("Hub", "Ada") is None
    assert (await summary_of(engine, "Hub"))["filter_doc_count"] == 2
    assert await stale_summaries(engine) == []


async def test_deleting_an_entity(opened: Engines) -> None:
    engine = await opened()
    await remove_entity(engine.context, engine._state, "Hub")
    assert await engine.get_graph_labels() == ["Ada", "Bea"]
    assert await stale_summaries(engine) == []


async def test_nobody_sets_derived_fields_by_hand(opened: Engines) -> None:
    engine = await opened()
    for name in ("filter_tags", "filter_start_date", "has_undated_evidence", "filter_doc_count"):
        with pytest.raises(LightRAGError, match=name):
            await edit_entity(engine.context, engine._state, "Hub", {name: []})
        with pytest.raises(LightRAGError, match=name):
            await create_entity(engine.context, engine._state, "Dot", {name: []})
    assert await stale_summaries(engine) == []


# --- in any order -----------------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["Ada", "Bea", "Cid", "Dot"])
PAIRS = st.lists(st.tuples(NAMES, NAMES).filter(lambda pair: pair[0] != pair[1]), min_size=1, max_size=3)
DATES = st.sampled_from(["1903-04-01T00:00:00+01:00", "1928-03-31T23:00:00Z", "1928-04-01T00:00:00+01:00"])
METADATA = st.fixed_dictionaries(
    {"tags": st.lists(st.sampled_from(["act", "letter", "tenant:a", "tenant:b"]), max_size=3, unique=True)},
    optional={"start_date": DATES, "end_date": st.just("1950-01-01T00:00:00Z")},
)
TENANTS = st.sampled_from([None, "tenant:a"])


class Workspace(RuleBasedStateMachine):
    """Whatever documents and people do: after each step every summary is the one computed from scratch."""

    fields: ClassVar[Fields] = PUSHDOWN

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        self.documents: list[str] = []
        self.number = 0
        self.model = FactModel()

    @initialize()
    def open(self) -> None:
        self.engine = LightRAG(
            working_dir=self.folder.name,
            llm_model_func=self.model,
            embedding_func=make_embedding(),
            entity_extract_max_gleaning=0,
            scope_tag_prefixes=["tenant:"],
            enable_kg_scope_materialization=True,
            **self.fields,
        )
        self.run_sync(self.engine.initialize_storages())

    def teardown(self) -> None:
        self.run_sync(self.engine.finalize_storages())
        self.loop.close()
        self.folder.cleanup()

    def run_sync(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(coroutine)

    def attempt(self, change: Callable[..., Coroutine[Any, Any, Any]], *arguments: Any, **options: Any) -> None:
        """Change the graph by hand; what cannot be done must change nothing, which the invariant sees."""
        with suppress(LightRAGError):
            self.run_sync(change(self.engine.context, self.engine._state, *arguments, **options))

    def new_id(self) -> str:
        self.number += 1
        self.documents.append(f"doc-{self.number}")
        return self.documents[-1]

    @rule(metadata=METADATA, pairs=PAIRS)
    def insert(self, metadata: Fields, pairs: list[tuple[str, str]]) -> None:
        self.run_sync(insert(self.engine, self.new_id(), metadata, *pairs))

    @rule(metadata=METADATA, pairs=PAIRS)
    def fail_and_retry(self, metadata: Fields, pairs: list[tuple[str, str]]) -> None:
        def fail(task: str, prompt: str) -> str | None:
            return "no rows" if task == "extract" else None

        self.model.intercept = fail
        self.run_sync(insert(self.engine, self.new_id(), metadata, *pairs))
        self.model.intercept = None
        self.run_sync(self.engine.aretry_failed_documents())

    @rule(metadata=METADATA, pairs=PAIRS)
    def insert_custom_graph(self, metadata: Fields, pairs: list[tuple[str, str]]) -> None:
        options = CustomOptions(doc_id=self.new_id(), metadata=metadata)
        self.run_sync(insert_custom_kg(self.engine.context, self.engine._state, custom_graph(*pairs), options))

    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        if self.documents:
            doc_id = data.draw(st.sampled_from(self.documents))
            self.documents.remove(doc_id)
            self.run_sync(self.engine.adelete_by_doc_id(doc_id))

    @rule(data=st.data(), patch=METADATA, clear=st.booleans())
    def update(self, data: st.DataObject, patch: Fields, clear: bool) -> None:
        if self.documents:
            doc_id = data.draw(st.sampled_from(self.documents))
            given = {"start_date": None, "end_date": None, **patch} if clear else patch
            with suppress(LightRAGError):
                self.run_sync(self.engine.aupdate_document_metadata(doc_id, given))

    @rule(name=NAMES, tenant_tag=TENANTS, data=st.data())
    def create(self, name: str, tenant_tag: str | None, data: st.DataObject) -> None:
        source = data.draw(st.sampled_from(["", *(f"{doc_id}-chunk-000" for doc_id in self.documents)]))
        self.attempt(create_entity, name, {"description": "made", "source_id": source}, tenant_tag=tenant_tag)

    @rule(ends=st.tuples(NAMES, NAMES), tenant_tag=TENANTS, data=st.data())
    def relate(self, ends: tuple[str, str], tenant_tag: str | None, data: st.DataObject) -> None:
        source = data.draw(st.sampled_from(["", *(f"{doc_id}-chunk-000" for doc_id in self.documents)]))
        self.attempt(create_relation, ends, {"description": "made", "source_id": source}, tenant_tag=tenant_tag)

    @rule(name=NAMES, new=st.none() | NAMES, allow_merge=st.booleans(), tenant_tag=TENANTS)
    def edit(self, name: str, new: str | None, allow_merge: bool, tenant_tag: str | None) -> None:
        given = {"description": "said"} if new is None else {"entity_name": new}
        self.attempt(edit_entity, name, given, EditOptions(allow_merge=allow_merge, tenant_tag=tenant_tag))

    @rule(ends=st.tuples(NAMES, NAMES), tenant_tag=TENANTS)
    def edit_link(self, ends: tuple[str, str], tenant_tag: str | None) -> None:
        self.attempt(edit_relation, ends, {"description": "said"}, tenant_tag=tenant_tag)

    @rule(sources=st.lists(NAMES, min_size=1, max_size=3, unique=True), into=NAMES, tenant_tag=TENANTS)
    def merge(self, sources: list[str], into: str, tenant_tag: str | None) -> None:
        self.attempt(merge_entities, sources, into, MergeOptions(tenant_tag=tenant_tag))

    @rule(name=NAMES, tenant_tag=TENANTS)
    def remove(self, name: str, tenant_tag: str | None) -> None:
        self.attempt(remove_entity, name, tenant_tag=tenant_tag)

    @rule(ends=st.tuples(NAMES, NAMES), tenant_tag=TENANTS)
    def unlink(self, ends: tuple[str, str], tenant_tag: str | None) -> None:
        self.attempt(remove_relation, ends, tenant_tag=tenant_tag)

    @invariant()
    def every_summary_is_right(self) -> None:
        if hasattr(self, "engine"):
            assert self.run_sync(stale_summaries(self.engine)) == []


class WidenedWorkspace(Workspace):
    """The same where open bounds widen the union, and only the graph carries the fields."""

    fields: ClassVar[Fields] = {"kg_union_skip_open_bounds": False}


TestInAnyOrder = Workspace.TestCase
TestInAnyOrder.settings = settings(max_examples=12, stateful_step_count=20, deadline=None)
TestInAnyOrderWidened = WidenedWorkspace.TestCase
TestInAnyOrderWidened.settings = settings(max_examples=6, stateful_step_count=20, deadline=None)
