from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from lightrag import LightRAG
from lightrag.exceptions import InputError, StorageError
from lightrag.graph.check import graph_consistency
from lightrag.kg.sqlite.kv import SQLiteKVStorage
from lightrag.migrate import MigrationProgress, MigrationReport, migrate_workspace
from lightrag.settings import Settings, load_settings
from tests.fakes.audit import snapshot
from tests.fakes.facts import FactModel, make_embedding
from tests.kg.files_impl.workspace import STORAGES, content_of, copy_of_peer_folder

SQLITE = {
    "kv_storage": "SQLiteKVStorage",
    "doc_status_storage": "SQLiteDocStatusStorage",
    "graph_storage": "SQLiteGraphStorage",
    "vector_storage": "SQLiteVectorDBStorage",
}
FAMILIES = {"sqlite": SQLITE, "files": STORAGES}
TEXTS = {
    "d1": "the Hub -> Ada: the Hub paid Ada\nAda -> Oslo: Ada lives in Oslo",
    "d2": "the Hub -> Velmouth: the Hub built Velmouth\nAda -> Velmouth: Ada left Velmouth",
    "d3": "Bo -> Ada: Bo knows Ada",
}
SCOPES: dict[str, Any] = {"enable_kg_scope_materialization": True, "scope_tag_prefixes": ["tenant:"]}


def settings_of(folder: Path, family: str, **fields: Any) -> Settings:
    return load_settings(working_dir=str(folder), **{**FAMILIES[family], **fields})


@asynccontextmanager
async def engine_in(folder: Path, family: str, **fields: Any) -> AsyncIterator[LightRAG]:
    engine = LightRAG(
        working_dir=str(folder),
        llm_model_func=FactModel(),
        embedding_func=make_embedding(),
        entity_extract_max_gleaning=0,
        **{**FAMILIES[family], **fields},
    )
    await engine.initialize_storages()
    try:
        yield engine
    finally:
        await engine.finalize_storages()


async def fill(folder: Path, family: str) -> dict[str, Any]:
    async with engine_in(folder, family, **SCOPES) as engine:
        for key, text in TEXTS.items():
            await engine.ainsert(text, ids=key, file_paths=f"{key}.md", metadata={"tags": ["tenant:1", key]})
            # Said by hand in between, which must stay between.
            await engine.aedit_entity("Ada", {"description": f"Ada, by hand, after {key}."})
        await engine.ainsert("Not a fact.", ids="d4")
        return await snapshot(engine)


async def arrival(engine: LightRAG) -> list[tuple[str, str]]:
    documents = [*TEXTS, "manual_edit", "manual_creation"]
    return [(row.object_id, row.chunk_id) for row in await engine.context.stores.evidence.of_documents(documents)]


@pytest.mark.parametrize(("source", "target"), [("files", "sqlite"), ("sqlite", "files"), ("files", "files")])
async def test_everything_is_copied_and_the_source_is_only_read(tmp_path: Path, source: str, target: str) -> None:
    (tmp_path / "a").mkdir()
    before = await fill(tmp_path / "a", source)
    async with engine_in(tmp_path / "a", source, **SCOPES) as engine:
        order = await arrival(engine)
    files = content_of(tmp_path / "a")
    told: list[MigrationProgress] = []
    report = await migrate_workspace(
        settings_of(tmp_path / "a", source), settings_of(tmp_path / "b", target), progress=told.append
    )
    if source == "files":
        assert content_of(tmp_path / "a") == files
    assert not report.resumed
    assert report.counts["doc_status"] == 4
    assert report.counts["entities of the graph"] == len(before["nodes"])
    assert report.counts["evidence"] == len(before["evidence"])
    steps = {progress.step: progress for progress in told}
    assert steps["vectors of entities"].done == steps["vectors of entities"].total == len(before["entity vectors"])
    assert steps["doc_status"].total is None
    async with engine_in(tmp_path / "b", target, **SCOPES) as engine:
        assert await snapshot(engine) == before
        assert await arrival(engine) == order
        assert await graph_consistency(engine.context) == []
        assert (await engine.adelete_by_doc_id("d2")).status == "success"
        assert await graph_consistency(engine.context) == []


async def test_there_and_back(tmp_path: Path) -> None:
    before = await fill(tmp_path / "a", "files")
    await migrate_workspace(settings_of(tmp_path / "a", "files"), settings_of(tmp_path / "a", "sqlite"))
    await migrate_workspace(settings_of(tmp_path / "a", "sqlite"), settings_of(tmp_path / "b", "files", workspace="w"))
    async with engine_in(tmp_path / "b", "files", workspace="w", **SCOPES) as engine:
        assert await snapshot(engine) == before
    # In the same folder both are there now, and the default no longer refuses it.
    async with engine_in(tmp_path / "a", "sqlite", **SCOPES) as engine:
        assert await snapshot(engine) == before


async def test_what_the_peer_wrote_gets_its_evidence_in_the_new_place(tmp_path: Path) -> None:
    (tmp_path / "peer").mkdir()
    copy_of_peer_folder(tmp_path / "peer")
    # Of one document nothing is left but the lists of chunks.
    path = tmp_path / "peer" / "kv_store_text_chunks.json"
    rows = json.loads(path.read_text())
    rows["doc-a5e54d1fd7bb69a228ef0dcd2431367e-chunk-000"]["llm_cache_list"] = []
    path.write_text(json.dumps(rows))
    files = content_of(tmp_path / "peer")
    await migrate_workspace(settings_of(tmp_path / "peer", "files"), settings_of(tmp_path / "new", "sqlite"))
    assert content_of(tmp_path / "peer") == files
    engine = LightRAG(
        working_dir=str(tmp_path / "new"),
        llm_model_func=FactModel(),
        embedding_func=make_embedding(64, model_name=None),
        **SQLITE,  # type: ignore[arg-type]
    )
    await engine.initialize_storages()
    assert await graph_consistency(engine.context) == []
    assert await engine.context.stores.graph.count_nodes() == 11
    found = await engine.context.stores.evidence.of_documents(["doc-a5e54d1fd7bb69a228ef0dcd2431367e"])
    assert len(found) == 11
    lists = SQLiteKVStorage(
        namespace="entity_chunks", workspace="", global_config=engine.context.stores.text_chunks.global_config
    )
    await lists.initialize()
    assert await lists.is_empty()
    await lists.finalize()
    await engine.finalize_storages()


class StopHereError(Exception):
    pass


async def interrupted(tmp_path: Path, after: int, source: str = "files", target: str = "sqlite") -> None:
    """Copy until some pages have been told, then break off."""
    pages = 0

    def stop(progress: MigrationProgress) -> None:
        nonlocal pages
        pages += 1
        if pages > after:
            raise StopHereError

    with pytest.raises(StopHereError):
        await migrate_workspace(settings_of(tmp_path / "a", source), settings_of(tmp_path / "b", target), progress=stop)


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lightrag.migrate._ROWS", 3)


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("after", [0, 2, 5, 9, 14, 20])
async def test_a_copy_that_broke_off_goes_on_where_it_stopped(tmp_path: Path, after: int) -> None:
    before = await fill(tmp_path / "a", "files")
    await interrupted(tmp_path, after)
    with pytest.raises(StorageError, match="unfinished copy"):
        async with engine_in(tmp_path / "b", "sqlite", **SCOPES):
            pass
    told: list[MigrationProgress] = []
    report = await migrate_workspace(
        settings_of(tmp_path / "a", "files"), settings_of(tmp_path / "b", "sqlite"), progress=told.append
    )
    assert report.resumed
    if after > 5:
        assert "full_docs" not in {progress.step for progress in told}
    async with engine_in(tmp_path / "b", "sqlite", **SCOPES) as engine:
        assert await snapshot(engine) == before


@pytest.mark.usefixtures("small_pages")
async def test_a_copy_of_a_source_that_has_changed_begins_again(tmp_path: Path) -> None:
    await fill(tmp_path / "a", "files")
    await interrupted(tmp_path, 20)
    async with engine_in(tmp_path / "a", "files", **SCOPES) as engine:
        await engine.adelete_by_doc_id("d1")
        before = await snapshot(engine)
    report = await migrate_workspace(settings_of(tmp_path / "a", "files"), settings_of(tmp_path / "b", "sqlite"))
    assert not report.resumed
    async with engine_in(tmp_path / "b", "sqlite", **SCOPES) as engine:
        assert await snapshot(engine) == before


async def test_a_target_with_other_data_is_refused(tmp_path: Path) -> None:
    await fill(tmp_path / "a", "files")
    async with engine_in(tmp_path / "b", "sqlite") as engine:
        await engine.ainsert("Other text.", ids="other")
        before = await snapshot(engine)
    with pytest.raises(StorageError, match="holds data already"):
        await migrate_workspace(settings_of(tmp_path / "a", "files"), settings_of(tmp_path / "b", "sqlite"))
    async with engine_in(tmp_path / "b", "sqlite") as engine:
        assert await snapshot(engine) == before


async def test_a_count_that_differs_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill(tmp_path / "a", "files")
    real = SQLiteKVStorage.upsert

    async def loses_a_row(store: SQLiteKVStorage, data: dict[str, Any]) -> None:
        await real(store, {key: row for key, row in data.items() if key != "d2"})

    with monkeypatch.context() as patched:
        patched.setattr(SQLiteKVStorage, "upsert", loses_a_row)
        with pytest.raises(StorageError, match="full_docs: 4 and 3"):
            await migrate_workspace(settings_of(tmp_path / "a", "files"), settings_of(tmp_path / "b", "sqlite"))


async def test_the_source_must_say_what_its_vectors_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give the embedding function"):
        await migrate_workspace(settings_of(tmp_path / "a", "files"), settings_of(tmp_path / "b", "sqlite"))
    func = make_embedding()
    report: MigrationReport = await migrate_workspace(
        settings_of(tmp_path / "a", "files"), settings_of(tmp_path / "b", "sqlite"), embedding_func=func
    )
    assert not any(report.counts.values())
    assert not (tmp_path / "a").exists() or content_of(tmp_path / "a") == {}


async def test_a_source_whose_process_was_killed_is_copied_from_its_journal(tmp_path: Path) -> None:
    async with engine_in(tmp_path / "open", "files") as engine:
        for key, text in TEXTS.items():
            await engine.ainsert(text, ids=key)
        before = await snapshot(engine)
        # What a killed process leaves: what was acknowledged, before any file was made of it.
        shutil.copytree(tmp_path / "open", tmp_path / "a")
    assert not (tmp_path / "a" / "vdb_chunks.json").exists()
    left = content_of(tmp_path / "a")
    await migrate_workspace(settings_of(tmp_path / "a", "files"), settings_of(tmp_path / "b", "sqlite"))
    assert content_of(tmp_path / "a") == left
    async with engine_in(tmp_path / "b", "sqlite") as engine:
        assert await snapshot(engine) == before


async def test_a_source_in_use_is_refused(tmp_path: Path) -> None:
    await fill(tmp_path / "a", "files")
    async with engine_in(tmp_path / "a", "files") as engine:
        await engine.ainsert("More.", ids="d9")
        # In this process, the copy shares the open folder and sees what is not in the files yet.
        report = await migrate_workspace(settings_of(tmp_path / "a", "files"), settings_of(tmp_path / "b", "sqlite"))
        assert report.counts["doc_status"] == 5
    await asyncio.sleep(0)
