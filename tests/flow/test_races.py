"""Two changes of one document at once, step for step: neither undoes the other, nothing stays behind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from lightrag import LightRAG
from lightrag.contracts.sources import SourceRepair
from lightrag.exceptions import LightRAGError, ModelError, NotFoundError, PipelineBusyError, PipelineCancelledError
from lightrag.ingest.state import PipelineState, pipeline_state
from lightrag.runtime.locks import WorkspaceLock
from tests.fakes.audit import disagreements
from tests.fakes.facts import FactModel
from tests.flow.conftest import EngineFactory

SCOPED: dict[str, Any] = {"enable_kg_scope_materialization": True, "scope_tag_prefixes": ["tenant:"]}
FAMILIES: dict[str, dict[str, Any]] = {
    "sqlite": {},
    "files": {
        "kv_storage": "JsonKVStorage",
        "doc_status_storage": "JsonDocStatusStorage",
        "graph_storage": "NetworkXStorage",
        "vector_storage": "NanoVectorDBStorage",
    },
}
pytestmark = pytest.mark.parametrize("family", FAMILIES)


class Meanwhile:
    """Lets something else happen in the moment after a store was read for the first time.

    It runs beside whoever reads, and has a moment to get as far as it is let.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, store: Any, method: str, act: Callable[[], Awaitable[Any]]):
        self._act = act
        self._read = getattr(store, method)
        self.task: asyncio.Task[Any] | None = None
        monkeypatch.setattr(store, method, self._hooked)

    async def _hooked(self, *args: Any, **kwargs: Any) -> Any:
        found = await self._read(*args, **kwargs)
        if self.task is None:
            self.task = asyncio.ensure_future(self._act())
            await asyncio.wait({self.task}, timeout=0.3)
        return found

    async def outcome(self) -> Any:
        """Return what came of it, or the error."""
        assert self.task is not None, "nothing was read"
        return (await asyncio.gather(self.task, return_exceptions=True))[0]


async def tags(engine: LightRAG, doc_id: str) -> list[str]:
    row = await engine.doc_status.get_by_id(doc_id)
    assert row is not None
    return list(row["metadata"]["user_tags"])


async def failed_document(make_engine: EngineFactory, family: str) -> tuple[LightRAG, FactModel]:
    """Return an engine with a failed document ``d``, whose next attempt succeeds."""

    def refuse(task: str, _prompt: str) -> str | None:
        if task == "extract":
            raise ModelError("out of order")
        return None

    model = FactModel(refuse)
    engine = await make_engine(model, **FAMILIES[family])
    await engine.ainsert("Hub -> Leaf: the hub holds a leaf", ids="d", metadata={"tags": ["public"]})
    assert await engine.get_processing_status() == {"failed": 1}
    model.intercept = None
    return engine, model


async def test_deletion_takes_chunks_that_are_added_meanwhile(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, family: str
) -> None:
    engine = await make_engine(**FAMILIES[family])
    await engine.ainsert_custom_chunks("Hub -> A: one", ["Hub -> A: one"], doc_id="d")
    more = Meanwhile(
        monkeypatch, engine.doc_status, "get_by_id",
        lambda: engine.ainsert_custom_chunks("Hub -> A: one", ["Hub -> B: two"], doc_id="d"),
    )  # fmt: skip
    assert (await engine.adelete_by_doc_id("d")).status == "success"
    await more.outcome()
    stored = await engine.doc_status.get_by_id("d")
    if stored is None:
        assert await engine.chunks_vdb.query("two", 10) == []
        assert await engine.get_graph_labels() == []
    assert await disagreements(engine) == []


async def test_retry_keeps_tags_that_are_changed_meanwhile(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, family: str
) -> None:
    engine, _ = await failed_document(make_engine, family)
    change = Meanwhile(
        monkeypatch, engine.full_docs, "filter_keys",
        lambda: engine.aupdate_document_metadata("d", {"tags": ["secret"]}),
    )  # fmt: skip
    await engine.aretry_document("d")
    assert not isinstance(await change.outcome(), BaseException)
    assert await tags(engine, "d") == ["secret"]
    await engine.apipeline_process_enqueue_documents()
    assert await engine.get_processing_status() == {"processed": 1}
    assert await tags(engine, "d") == ["secret"]


@pytest.mark.parametrize("retry", ["aretry_document", "aretry_failed_documents"])
async def test_retry_brings_no_deleted_document_back(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, family: str, retry: str
) -> None:
    engine, _ = await failed_document(make_engine, family)
    deletion = Meanwhile(monkeypatch, engine.full_docs, "filter_keys", lambda: engine.adelete_by_doc_id("d"))
    await getattr(engine, retry)(*(["d"] if retry == "aretry_document" else []))
    result = await deletion.outcome()
    if result.status == "success":
        assert await engine.doc_status.get_by_id("d") is None
    await engine.apipeline_process_enqueue_documents()
    assert await disagreements(engine) == []


async def test_retry_resets_no_document_that_is_in_a_run(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, family: str
) -> None:
    engine, _ = await failed_document(make_engine, family)

    async def first() -> None:
        await engine.aretry_document("d")
        await engine.apipeline_process_enqueue_documents()

    other = Meanwhile(monkeypatch, engine.full_docs, "filter_keys", first)
    await engine.aretry_document("d")
    await other.outcome()
    await engine.apipeline_process_enqueue_documents()
    row = await engine.doc_status.get_by_id("d")
    assert row is not None
    assert row["status"] == "processed"


async def test_repair_of_a_source_and_new_tags_are_both_kept(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, family: str
) -> None:
    engine = await make_engine(**FAMILIES[family])
    for number in (1, 2):
        await engine.ainsert(f"Hub -> Leaf{number}: x", ids=f"d{number}", file_paths=f"{number}.md")
    await engine.doc_status.update_doc_status_fields({f"d{number}": {"file_path": "same.md"} for number in (1, 2)})
    seen = await engine.arepair_source_conflict(SourceRepair("same.md", "d1", 0, ""))
    wanted = SourceRepair("same.md", "d1", seen.candidate_count, seen.fingerprint)
    repair = Meanwhile(
        monkeypatch, engine.doc_status, "get_by_id", lambda: engine.arepair_source_conflict(wanted, dry_run=False)
    )
    await engine.aupdate_document_metadata("d2", {"tags": ["secret"]})
    result = await repair.outcome()
    row = await engine.doc_status.get_by_id("d2")
    assert row is not None
    assert row["metadata"]["user_tags"] == ["secret"]
    assert isinstance(result, PipelineBusyError) or row["metadata"].get("original_doc_id") == "d1"


async def test_rebuilding_scopes_puts_no_document_back_into_a_scope_that_it_has_left(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, family: str
) -> None:
    # Without scopes first, so that there is something for the rebuild to do.
    earlier = await make_engine(**FAMILIES[family])
    await earlier.ainsert("Hub -> Vault: the vault is in tenant two", ids="d", metadata={"tags": ["tenant:1"]})
    await earlier.finalize_storages()
    engine = await make_engine(**SCOPED, **FAMILIES[family])
    rebuild: list[asyncio.Task[Any]] = []
    read = engine.doc_status.get_by_id

    async def began_before(*args: Any) -> Any:
        # The change has begun, and the rebuild begins now.
        found = await read(*args)
        if not rebuild:
            rebuild.append(asyncio.create_task(engine.arebuild_scopes()))
            await asyncio.sleep(0.2)
        return found

    monkeypatch.setattr(engine.doc_status, "get_by_id", began_before)
    await engine.aupdate_document_metadata("d", {"tags": ["tenant:2"]})
    await asyncio.gather(*rebuild, return_exceptions=True)
    assert list(await engine.alist_scopes()) == ["tenant:2"]
    assert await disagreements(engine) == []


async def test_who_may_change_a_document_is_asked_when_it_is_changed(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, family: str
) -> None:
    engine = await make_engine(**FAMILIES[family])
    view = engine.restricted(required_tags=["red"])
    acts: dict[str, Callable[[], Awaitable[Any]]] = {
        "deleted": lambda: view.adelete_by_doc_id("deleted"),
        "changed": lambda: view.aupdate_document_metadata("changed", {"tags": ["red"]}),
    }
    for doc_id, act in acts.items():
        await engine.ainsert(f"Hub -> {doc_id}: x", ids=doc_id, metadata={"tags": ["red"]})

        def hide(doc_id: str = doc_id) -> Awaitable[Any]:
            return engine.aupdate_document_metadata(doc_id, {"tags": ["blue"]})

        with monkeypatch.context() as patch:
            hidden = Meanwhile(patch, engine.doc_status, "get_by_id", hide)
            try:
                assert (await act()).status == "not_found"
            except LightRAGError as error:
                assert isinstance(error, NotFoundError)  # noqa: PT017 - a deletion tells it in another way
            assert not isinstance(await hidden.outcome(), BaseException)
        assert await tags(engine, doc_id) == ["blue"]


async def test_limited_access_is_not_told_what_keeps_it_waiting(make_engine: EngineFactory, family: str) -> None:
    engine = await make_engine(**FAMILIES[family])
    await engine.ainsert("Hub -> Mine: x", ids="own", metadata={"tags": ["red"]})
    view = engine.restricted(required_tags=["red"])
    engine._state.begin("deleting document doc-of-somebody-else", destructive=True)
    try:
        told = [(await view.adelete_by_doc_id("own")).message]
        for act in (view.aupdate_document_metadata("own", {"tags": ["red", "x"]}), view.areserve_admission()):
            with pytest.raises(PipelineBusyError) as caught:
                await act
            told.append(str(caught.value))
        custom = engine.restricted(required_tags=["red"])
        assert custom.pipeline_status()["job_name"] == "-"
    finally:
        engine._state.end()
    assert len(told) == 3
    assert "somebody-else" not in " ".join(told)


async def test_another_process_that_reads_documents_keeps_changes_out(
    make_engine: EngineFactory, family: str, tmp_path: Path
) -> None:
    engine = await make_engine(**SCOPED, **FAMILIES[family])
    await engine.ainsert("Hub -> Leaf: x", ids="d", file_paths="d.md")
    # Another process holds this lock on the file; a second object of this process does the same.
    other = WorkspaceLock(next(tmp_path.rglob("lightrag.pipeline.lock")))
    await other.acquire()
    try:
        assert (await engine.adelete_by_doc_id("d")).status == "not_allowed"
        repair = SourceRepair(
            "d.md", "d", 1, (await engine.arepair_source_conflict(SourceRepair("d.md", "d", 0, ""))).fingerprint
        )
        for act in (
            engine.aupdate_document_metadata("d", {"tags": ["x"]}),
            engine.arebuild_scopes(),
            engine.arepair_source_conflict(repair, dry_run=False),
        ):
            with pytest.raises(PipelineBusyError):
                await act
        assert not engine.pipeline_status()["busy"]
    finally:
        await other.release()
    await engine.aupdate_document_metadata("d", {"tags": ["x"]})
    await engine.arebuild_scopes()
    assert (await engine.adelete_by_doc_id("d")).status == "success"


async def test_documents_of_an_engine_are_processed_when_another_that_ran_them_is_closed(
    make_engine: EngineFactory, family: str
) -> None:
    reached, goes_on = asyncio.Event(), asyncio.Event()

    class Waiting(FactModel):
        async def __call__(self, prompt: str, *args: Any, **kwargs: Any) -> str:
            reached.set()
            await goes_on.wait()
            return await super().__call__(prompt, *args, **kwargs)

    first, second = await make_engine(Waiting(), **FAMILIES[family]), await make_engine(**FAMILIES[family])
    run = asyncio.create_task(first.ainsert("Hub -> A: x", ids="a"))
    await reached.wait()
    await second.ainsert("Hub -> B: y", ids="b")
    await first.finalize_storages()
    assert isinstance((await asyncio.gather(run, return_exceptions=True))[0], PipelineCancelledError)
    for _ in range(100):
        if await second.get_processing_status() == {"processed": 2}:
            break
        await asyncio.sleep(0.05)
    assert await second.get_processing_status() == {"processed": 2}
    assert await disagreements(second) == []


async def test_storm(make_engine: EngineFactory, family: str) -> None:
    """Additions, deletions, retries, new tags and repairs of the same sources, all at once."""
    engine = await make_engine(**SCOPED, **FAMILIES[family])
    loop = asyncio.get_running_loop()
    end = loop.time() + 3.0

    async def ever(act: Callable[[int], Awaitable[Any]]) -> None:
        number = 0
        while loop.time() < end:
            number += 1
            try:
                await act(number)
            except LightRAGError:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0)

    async def repair(_: int) -> None:
        await engine.doc_status.update_doc_status_fields(
            {"d1": {"file_path": "same.md"}, "d2": {"file_path": "same.md"}}
        )
        seen = await engine.arepair_source_conflict(SourceRepair("same.md", "d1", 0, ""))
        await engine.arepair_source_conflict(
            SourceRepair("same.md", "d1", seen.candidate_count, seen.fingerprint), dry_run=False
        )

    await asyncio.gather(
        ever(lambda n: engine.ainsert(f"Hub -> L{n}: {n}", ids=f"d{n % 4}", metadata={"tags": [f"tenant:{n % 2}"]})),
        ever(lambda n: engine.adelete_by_doc_id(f"d{n % 4}")),
        ever(lambda n: engine.aupdate_document_metadata(f"d{n % 4}", {"tags": [f"tenant:{n % 3}"]})),
        ever(lambda _: engine.aretry_failed_documents()),
        ever(lambda _: engine.arebuild_scopes()),
        ever(repair),
    )
    await engine.apipeline_process_enqueue_documents()
    await engine.arebuild_scopes()
    assert not engine.pipeline_status()["busy"]
    assert await disagreements(engine) == []


def test_threads_that_open_a_workspace_at_once_share_its_state(tmp_path: Path, family: str) -> None:
    for number in range(200):
        barrier = threading.Barrier(4)
        found: list[PipelineState] = []

        def open_one(
            place: str = f"{family}-{number}", barrier: threading.Barrier = barrier, found: Any = found
        ) -> None:
            barrier.wait()
            found.append(pipeline_state(str(tmp_path), place))

        threads = [threading.Thread(target=open_one) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(map(id, found))) == 1
