"""Stores of several families in one workspace: no common transaction, and still nothing half done after a crash."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from lightrag import LightRAG, QueryParam
from lightrag.contracts.doc_status import DocStatus
from lightrag.contracts.evidence import ObjectKind
from lightrag.exceptions import DuplicateError, LightRAGError, NotFoundError, StorageError
from lightrag.graph.change import entity_vector_id, relation_vector_id
from lightrag.graph.merge import load_records
from lightrag.kg.sqlite.doc_status import SQLiteDocStatusStorage
from lightrag.query_filters import as_filter, document_matches_filter
from tests.fakes.audit import disagreements, snapshot
from tests.fakes.facts import FactModel, make_embedding
from tests.fakes.servers import KilledError, Steps, registered

ONE_DATABASE = "one database"
MIXES: dict[str, dict[str, str]] = {
    "files, and vectors and graph in sqlite": {
        "kv_storage": "JsonKVStorage",
        "doc_status_storage": "JsonDocStatusStorage",
        "vector_storage": "SQLiteVectorDBStorage",
        "graph_storage": "SQLiteGraphStorage",
    },
    "sqlite, and vectors and graph in files": {
        "kv_storage": "SQLiteKVStorage",
        "doc_status_storage": "SQLiteDocStatusStorage",
        "vector_storage": "NanoVectorDBStorage",
        "graph_storage": "NetworkXStorage",
    },
    "rows and vectors on servers, graph in sqlite": {
        "kv_storage": "ElsewhereKVStorage",
        "doc_status_storage": "ElsewhereDocStatusStorage",
        "vector_storage": "ElsewhereVectorDBStorage",
        "graph_storage": "SQLiteGraphStorage",
    },
    "everything on servers": {
        "kv_storage": "ElsewhereKVStorage",
        "doc_status_storage": "ElsewhereDocStatusStorage",
        "vector_storage": "ElsewhereVectorDBStorage",
        "graph_storage": "ElsewhereGraphStorage",
        "evidence_storage": "ElsewhereEvidenceStorage",
    },
}


# Every step of a process that is not killed takes a life; so many are passed over from one to the next.
STRIDES = dict(zip(MIXES, (3, 4, 7, 11), strict=True))


@pytest.fixture(autouse=True)
def _servers() -> Iterator[None]:
    with registered():
        yield


@pytest.fixture(params=MIXES)
def mix(request: pytest.FixtureRequest) -> dict[str, str]:
    return MIXES[request.param]


async def opened(folder: Path, storages: dict[str, str]) -> LightRAG:
    engine = LightRAG(
        working_dir=str(folder),
        llm_model_func=FactModel(),
        embedding_func=make_embedding(),
        entity_extract_max_gleaning=0,
        force_llm_summary_on_merge=3,
        max_parallel_insert=1,
        enable_kg_scope_materialization=True,
        scope_tag_prefixes=["tenant:"],
        **storages,
    )
    await engine.initialize_storages()
    return engine


def text_of(name: str) -> str:
    return (
        f"{name} opens.\nHub -> Ada: {name} tells how Hub paid Ada\nAda -> Leaf {name}: {name} tells of the leaf\n"
        f"Hub -> Harbour: {name} built the harbour\n"
    )


async def insert(engine: LightRAG, name: str, **metadata: Any) -> None:
    if not await engine.aget_docs_by_ids([name]):
        await engine.apipeline_enqueue_documents(
            [text_of(name)], ids=[name], file_paths=[f"{name}.md"], document_metadata=metadata
        )
    await engine.apipeline_process_enqueue_documents()
    await engine.aretry_failed_documents()


async def rename(engine: LightRAG) -> None:
    # One that broke off has been carried to its end when it is asked for again.
    with suppress(NotFoundError):
        await engine.aedit_entity("Harbour", {"entity_name": "Port", "description": "where ships lie", "berths": 3})


async def bring_graph(engine: LightRAG, description: str) -> None:
    graph = {"entities": [{"entity_name": "Quay", "description": description, "source_id": "s"}]}
    graph["chunks"] = [{"content": description, "source_id": "s"}]
    try:
        await engine.ainsert_custom_kg(graph, full_doc_id="kg")
    except DuplicateError:
        await engine.adelete_by_doc_id("kg")
        await engine.ainsert_custom_kg(graph, full_doc_id="kg")


async def add_chunk(engine: LightRAG) -> None:
    await engine.ainsert_custom_chunks(text_of("one"), ["Hub -> Gate: one tells of the gate\n"], doc_id="one")


ACTS: tuple[Any, ...] = (
    lambda engine: insert(engine, "one", tags=["act", "tenant:a"], start_date="1910-01-01T00:00:00Z"),
    lambda engine: insert(engine, "two", tags=["letter"]),
    lambda engine: engine.aupdate_document_metadata(
        "one", {"tags": ["draft", "tenant:b"], "start_date": "1920-01-01T00:00:00Z"}
    ),
    rename,
    add_chunk,
    lambda engine: engine.adelete_by_doc_id("two"),
    lambda engine: bring_graph(engine, "a wall of stone"),
    lambda engine: bring_graph(engine, "a wall of concrete"),
    lambda engine: engine.adelete_by_entity("Leaf one"),
    lambda engine: insert(engine, "three", tags=["act", "tenant:b"]),
)


async def act(engine: LightRAG, number: int) -> None:
    await ACTS[number](engine)


async def unlike(engine: LightRAG) -> list[str]:
    """Return vectors whose text is not the one that follows from the graph."""
    stores = engine.context.stores
    found = []
    for kind, store, vector_id in (
        (ObjectKind.ENTITY, stores.entities, entity_vector_id),
        (ObjectKind.RELATION, stores.relationships, relation_vector_id),
    ):
        keys = await stores.evidence.scan_objects(kind, limit=10**6)
        records = await load_records(engine.context, *((keys, []) if kind is ObjectKind.ENTITY else ([], keys)))
        for (_, key), record in records.items():
            row = await store.get_by_id(vector_id(key)) or {}
            if row.get("content") != record.vector_content():
                found.append(f"vector of {key!r} says {row.get('content')!r}, its node {record.vector_content()!r}")
    return found


async def faults(engine: LightRAG) -> list[str]:
    found = [*await disagreements(engine), *await unlike(engine), *await engine.acheck()]
    rows = await engine.aget_docs_by_ids(["one", "two", "three", "kg"])
    processed = [name for name, row in rows.items() if row.status is DocStatus.PROCESSED]
    told = {row.document_id for row in await engine.context.stores.evidence.of_documents(processed)}
    found.extend(f"{name} is processed and has nothing in the graph" for name in processed if name not in told)
    return found


async def whole(folder: Path) -> dict[str, Any]:
    """Return what the acts end in when nothing goes wrong, in one database."""
    engine = await opened(folder, {})
    for number in range(len(ACTS)):
        await act(engine, number)
    try:
        assert await faults(engine) == []
        return await snapshot(engine)
    finally:
        await engine.finalize_storages()


async def live_until(folder: Path, storages: dict[str, str], last: int) -> int | None:
    """Act until the process dies at a step; return the act it died in, or ``None`` when it came to its end."""
    number = 0
    steps = Steps(last)
    engine = await opened(folder, storages)
    stores = engine.context.stores
    try:
        with steps.counted():
            for number in range(len(ACTS)):
                await act(engine, number)
            return None
    except KilledError:
        return number
    finally:
        # What a process leaves behind that is no more: nothing is flushed.
        engine._context = None
        for store in stores.all():
            await store.finalize()


async def test_a_mixed_set_ends_as_one_database_does(tmp_path: Path, mix: dict[str, str]) -> None:
    assert await live_until(tmp_path / "mixed", mix, 10**6) is None
    engine = await opened(tmp_path / "mixed", mix)
    assert await faults(engine) == []
    assert await snapshot(engine) == await whole(tmp_path / "twin")
    await engine.finalize_storages()


@pytest.mark.parametrize("name", [ONE_DATABASE, *MIXES])
async def test_killed_at_any_step(tmp_path: Path, name: str) -> None:
    mix = MIXES.get(name, {})
    twin = await whole(tmp_path / "twin")
    problems: list[str] = []
    last = lives = 0
    while True:
        folder = tmp_path / str(last)
        died_in = await live_until(folder, mix, last)
        if died_in is None:
            break
        where = f"killed after step {last} in act {died_in}"
        engine = await opened(folder, mix)
        try:
            problems.extend(f"{where}, opened: {found}" for found in await faults(engine))
            await engine.apipeline_process_enqueue_documents()
            rows = await engine.aget_docs_by_ids(["one", "two", "three"])
            problems.extend(
                f"{where}: {name} is {row.status}" for name, row in rows.items() if row.status != DocStatus.PROCESSED
            )
            problems.extend(f"{where}, processed: {found}" for found in await faults(engine))
            for number in range(died_in, len(ACTS)):
                await act(engine, number)
            problems.extend(f"{where}, at the end: {found}" for found in await faults(engine))
            end = await snapshot(engine)
            problems.extend(f"{where}: other {part}" for part in twin if end[part] != twin[part])
        except LightRAGError as error:
            problems.append(f"{where}: {error!r}")
        finally:
            await engine.finalize_storages()
        last += STRIDES.get(name, 1)
        lives += 1
    assert lives > 5
    assert not problems, "\n".join(problems)


# --- a server that goes away and comes back --------------------------------------------------------------------------

FILTERS: tuple[dict[str, Any], ...] = (
    {"forbidden_tags": ["letter"]},
    {"required_tags": ["act"]},
    {"required_tags": ["tenant:b"]},
    {"date_filter": {"undated": "only"}},
)
NAMED = re.compile(r"\b(one|two|three)\b")


async def leaks(engine: LightRAG) -> list[str]:
    """Return what filtered queries show of documents that their status rows exclude."""
    found = []
    rows = await engine.aget_docs_by_ids(["one", "two", "three"])
    for given in FILTERS:
        allowed = {
            name for name, row in rows.items() if document_matches_filter(row.metadata, as_filter(given), doc_id=name)
        }
        for mode in ("local", "global", "naive", "mix"):
            try:
                data = await engine.aquery_data("What links Hub, Ada and the leaf?", QueryParam(mode=mode, **given))
            except StorageError:
                continue
            shown = set(NAMED.findall(json.dumps(data["data"])))
            found.extend(f"{mode} with {given} shows {name}" for name in sorted(shown - allowed))
    return found


async def settled(engine: LightRAG, number: int) -> None:
    """Do an act once more, as people do when a server is back; documents that failed are tried again."""
    await engine.aretry_failed_documents()
    await engine.apipeline_process_enqueue_documents()
    await act(engine, number)


async def has_failed(engine: LightRAG) -> bool:
    rows = await engine.aget_docs_by_ids(["one", "two", "three"])
    return any(row.status is not DocStatus.PROCESSED for row in rows.values())


async def live_with_an_outage(engine: LightRAG, steps: Steps) -> list[str]:
    """Act while a server takes no writes from a step on, until the act has been seen to fail; return what is wrong."""
    problems: list[str] = []
    with steps.counted():
        for number in range(len(ACTS)):
            try:
                await act(engine, number)
                failed = steps.last is not None and await has_failed(engine)
            except LightRAGError:
                failed = True
            if failed:
                problems.extend(await leaks(engine))
                versions = {await engine.context.stores.corpus_version() for _ in range(2)}
                unfinished = await engine.context.stores.unfinished()
                if unfinished is not None and len(versions) == 1:
                    problems.append("answers are cached in the middle of a change")
                steps.last = None
                await settled(engine, number)
                problems.extend(await leaks(engine))
    return problems


@pytest.mark.parametrize("server", ["server-of-rows", "server-of-vectors", "server-of-graphs", "server-of-evidence"])
async def test_a_server_that_goes_away_and_comes_back(tmp_path: Path, server: str) -> None:
    twin = await whole(tmp_path / "twin")
    problems: list[str] = []
    last = lives = 0
    while True:
        steps = Steps(last, StorageError, only=server)
        engine = await opened(tmp_path / str(last), MIXES["everything on servers"])
        try:
            found = await live_with_an_outage(engine, steps)
            found.extend(await faults(engine))
            end = await snapshot(engine)
            found.extend(f"other {part}" for part in twin if end[part] != twin[part])
        finally:
            await engine.finalize_storages()
        problems.extend(f"away after step {last}: {one}" for one in found)
        if steps.last is not None:
            break
        last += 5
        lives += 1
    assert lives > 3
    assert not problems, "\n".join(problems)


async def test_a_document_that_comes_again_outlives_its_deletion(tmp_path: Path) -> None:
    """A deletion that broke off at its very end must not be carried on when the document has been sent anew."""
    is_done, last = False, 0
    while not is_done:
        engine = await opened(tmp_path / str(last), MIXES["everything on servers"])
        await insert(engine, "two", tags=["letter"])
        steps = Steps(last, StorageError)
        with steps.counted():
            try:
                await engine.adelete_by_doc_id("two")
                is_done = True
            except StorageError:
                pass
            steps.last = None
            await engine.apipeline_enqueue_documents([text_of("two")], ids=["two"], file_paths=["two.md"])
            await insert(engine, "three")
        rows = await engine.aget_docs_by_ids(["two", "three"])
        assert {name: row.status.value for name, row in rows.items()} == {"two": "processed", "three": "processed"}
        assert (await snapshot(engine))["texts"] == {"two", "three"}, f"after step {last}"
        assert await faults(engine) == []
        await engine.finalize_storages()
        last += 1


# --- clearing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [ONE_DATABASE, *MIXES])
async def test_killed_while_everything_is_cleared(tmp_path: Path, name: str) -> None:
    storages = MIXES.get(name, {})
    ended = False
    last = 0
    while not ended:
        folder = tmp_path / str(last)
        engine = await opened(folder, storages)
        await insert(engine, "one", tags=["act"])
        stores = engine.context.stores
        steps = Steps(last)
        try:
            with steps.counted():
                assert await stores.drop_all(keep=[stores.llm_response_cache]) == {}
            ended = True
        except KilledError:
            pass
        engine._context = None
        for store in stores.all():
            await store.finalize()
        engine = await opened(folder, storages)
        state = await snapshot(engine)
        is_there = bool(await engine.aget_docs_by_ids(["one"]))
        assert is_there is (last == 0), f"after step {last}"
        assert all(bool(part) is is_there for part in state.values()), f"after step {last}: {state}"
        assert await faults(engine) == []
        await engine.finalize_storages()
        last += 1


# --- what a query costs ----------------------------------------------------------------------------------------------


async def test_documents_are_counted_once_until_the_corpus_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an index a count reads every status row, which a query must not do again and again."""
    engine = await opened(tmp_path, MIXES["everything on servers"])
    await insert(engine, "one", tags=["act"])
    pages = 0
    read_page = SQLiteDocStatusStorage.get_docs_by_statuses_page

    async def counting(self: Any, *arguments: Any, **options: Any) -> Any:
        nonlocal pages
        pages += 1
        return await read_page(self, *arguments, **options)

    monkeypatch.setattr(SQLiteDocStatusStorage, "get_docs_by_statuses_page", counting)

    async def eligible(**given: Any) -> int:
        data = await engine.aquery_data("What links Hub and Ada?", QueryParam(mode="mix", **given))
        return int(data["metadata"]["filter"]["eligible_documents"])

    assert [await eligible(required_tags=["act"]), await eligible(forbidden_tags=["act"])] == [1, 0]
    before = pages
    assert [await eligible(required_tags=["act"]), await eligible(forbidden_tags=["act"])] == [1, 0]
    assert pages == before
    await insert(engine, "two", tags=["act"])
    assert await eligible(required_tags=["act"]) == 2
    await engine.aupdate_document_metadata("one", {"tags": []})
    assert [await eligible(required_tags=["act"]), await eligible(forbidden_tags=["act"])] == [1, 1]
    await engine.finalize_storages()
