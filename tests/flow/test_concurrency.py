"""Loops, threads, processes and impatient callers: nothing is lost, nothing stays, nothing hangs."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from lightrag import LightRAG, QueryParam
from lightrag.exceptions import AccessDeniedError, ModelError, PipelineCancelledError
from lightrag.kg.sqlite.doc_status import SQLiteDocStatusStorage
from lightrag.sync import run_sync
from tests.fakes.audit import disagreements
from tests.fakes.facts import FactModel, make_embedding
from tests.flow.conftest import EngineFactory

ROOT = Path(__file__).resolve().parents[2]
SCOPED: dict[str, Any] = {"enable_kg_scope_materialization": True, "scope_tag_prefixes": ["tenant:"]}


def make(directory: Path, **fields: Any) -> LightRAG:
    return LightRAG(
        working_dir=str(directory),
        llm_model_func=FactModel(),
        embedding_func=make_embedding(),
        entity_extract_max_gleaning=0,
        **fields,
    )


def fact(name: str) -> str:
    return f"Hub -> Leaf {name}: the Hub holds leaf {name}\n"


class RecordedLock:
    def __init__(self, name: str, taken: list[str]) -> None:
        self.name, self.taken = name, taken

    async def acquire(self, *, wait: bool) -> bool:
        self.taken.append(self.name)
        return True

    async def release(self) -> None:
        pass


async def test_locks_reach_as_far_as_the_stores(make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []
    monkeypatch.setattr(SQLiteDocStatusStorage, "workspace_lock", lambda _, name: RecordedLock(name, taken))
    engine = await make_engine()
    await engine.ainsert(fact("a"), ids="a")
    assert set(taken) == {"enqueue", "pipeline", "graph"}


def test_one_engine_in_several_loops(tmp_path: Path) -> None:
    engine = make(tmp_path)

    async def life(number: int) -> None:
        await engine.initialize_storages()
        await asyncio.gather(*(engine.ainsert(fact(f"{number}-{part}"), ids=f"{number}-{part}") for part in range(4)))

    for number in range(3):
        asyncio.run(life(number))

    async def end() -> None:
        assert await engine.get_processing_status() == {"processed": 12}
        assert await disagreements(engine) == []
        await engine.finalize_storages()

    asyncio.run(end())


def test_one_engine_in_several_threads(tmp_path: Path) -> None:
    engine = make(tmp_path)
    run_sync(engine.initialize_storages())
    failures: list[BaseException] = []

    def insert(thread: int) -> None:
        try:
            for number in range(3):
                engine.insert(fact(f"{thread}-{number}"), ids=f"{thread}-{number}")
        except BaseException as error:  # noqa: BLE001 - told to the test
            failures.append(error)

    threads = [threading.Thread(target=insert, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    assert not any(thread.is_alive() for thread in threads)
    run_sync(engine.apipeline_process_enqueue_documents())
    assert run_sync(engine.get_processing_status()) == {"processed": 12}
    assert run_sync(disagreements(engine)) == []
    run_sync(engine.finalize_storages())


CHILD = """
import asyncio, sys
from pathlib import Path
from tests.flow.test_concurrency import fact, make
async def main():
    engine = make(Path(sys.argv[1]))
    await engine.initialize_storages()
    for number in range(8):
        await engine.ainsert(fact(f"{sys.argv[2]}-{number}"), ids=f"{sys.argv[2]}-{number}")
    await engine.finalize_storages()
asyncio.run(main())
"""


FORK = """
import os, sys, warnings
from lightrag import LightRAG
from lightrag.exceptions import StorageError
from lightrag.sync import run_sync
from tests.fakes.facts import FactModel, make_embedding

warnings.simplefilter("ignore")
engine = LightRAG(
    working_dir=sys.argv[1], llm_model_func=FactModel(), embedding_func=make_embedding(),
    auto_manage_storages_states=sys.argv[2] == "itself",
)
if sys.argv[2] != "itself":
    run_sync(engine.initialize_storages())
engine.insert("Ada -> Oslo: Ada lives in Oslo")
child = os.fork()
if child == 0:
    try:
        engine.query("Ada")
    except StorageError as error:
        print("told:", error, flush=True)
    run_sync(engine.finalize_storages())
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
print("parent:", engine.query("Ada"), flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
@pytest.mark.parametrize("opened", ["itself", "by hand"])
def test_an_engine_in_a_fork_says_so_and_the_parent_goes_on(tmp_path: Path, opened: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORK, str(tmp_path / "store"), opened],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "told: the stores were opened in process" in done.stdout, done.stderr
    assert "make an engine after the fork" in done.stdout
    assert "parent: answer to Ada" in done.stdout
    assert done.returncode == 0, done.stderr


async def test_two_processes_in_one_directory(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CHILD, str(tmp_path)]
    children = [subprocess.Popen([*command, name], cwd=ROOT) for name in ("a", "b")]  # noqa: ASYNC220
    for child in children:
        assert await asyncio.to_thread(child.wait, 100) == 0
    engine = make(tmp_path)
    await engine.initialize_storages()
    try:
        await engine.apipeline_process_enqueue_documents()
        assert await engine.get_processing_status() == {"processed": 16}
        assert await disagreements(engine) == []
        hub = await engine.chunk_entity_relation_graph.get_node("Hub")
        assert hub is not None
        assert hub["evidence_count"] == 16
    finally:
        await engine.finalize_storages()


async def test_a_caller_that_leaves_during_a_delete(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    names = [f"d{number}" for number in range(12)]
    await engine.ainsert([fact(name) for name in names], ids=names)
    for name in names[:-1]:
        task = asyncio.create_task(engine.adelete_by_doc_id(name))
        for _ in range(int(name[1:])):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await engine.adelete_by_doc_id(name)
        assert await disagreements(engine) == []
    hub = await engine.chunk_entity_relation_graph.get_node("Hub")
    assert hub is not None
    assert hub["description"] == "Hub is told of in: the Hub holds leaf d11"


@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize("kind", ["graph", "chunks"])
async def test_a_caller_that_leaves_a_custom_document(make_engine: EngineFactory, kind: str, replaced: bool) -> None:
    engine = await make_engine()

    async def add(name: str, text: str) -> None:
        if kind == "chunks":
            await engine.ainsert_custom_chunks(text, [f"Ada -> Oslo: {text}"], name)
            return
        entity = {"entity_name": "Ada", "entity_type": "person", "description": text, "source_id": "s"}
        chunk = {"content": text, "source_id": "s"}
        await engine.ainsert_custom_kg({"chunks": [chunk], "entities": [entity], "relationships": []}, name)

    for steps in range(0, 90, 3):
        name = f"k{steps}"
        if replaced:
            await add(name, f"before {steps}")
        task = asyncio.create_task(add(name, f"after {steps}"))
        for _ in range(steps):
            await asyncio.sleep(0.0002 if steps % 2 else 0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert await disagreements(engine) == []
        row = (await engine.aget_docs_by_ids(name)).get(name)
        assert row is None or row.status == "processed"


async def test_a_caller_that_leaves_does_not_take_others_along(make_engine: EngineFactory) -> None:
    entered, go_on = asyncio.Event(), asyncio.Event()

    class Waiting(FactModel):
        async def __call__(self, *args: Any, **kwargs: Any) -> str:
            entered.set()
            await go_on.wait()
            return await super().__call__(*args, **kwargs)

    engine = await make_engine(Waiting())
    first = asyncio.create_task(engine.ainsert(fact("a"), ids="a"))
    await entered.wait()
    await engine.ainsert(fact("b"), ids="b")
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    go_on.set()
    for _ in range(500):
        if await engine.get_processing_status() == {"processed": 2}:
            break
        await asyncio.sleep(0.01)
    assert await engine.get_processing_status() == {"processed": 2}


async def test_closing_in_the_middle_leaves_documents_to_be_taken_up_again(make_engine: EngineFactory) -> None:
    entered = asyncio.Event()

    class Hanging(FactModel):
        async def __call__(self, *args: Any, **kwargs: Any) -> str:
            entered.set()
            await asyncio.sleep(60)
            return ""

    engine = await make_engine(Hanging())
    running = asyncio.create_task(engine.ainsert([fact("a"), fact("b")], ids=["a", "b"]))
    await entered.wait()
    await engine.finalize_storages()
    with pytest.raises(PipelineCancelledError, match="taken up again"):
        await running
    again = await make_engine()
    await again.apipeline_process_enqueue_documents()
    assert await again.get_processing_status() == {"processed": 2}


async def test_closing_before_a_run_has_begun_gives_the_pipeline_back(make_engine: EngineFactory) -> None:
    for steps in range(8):
        engine = await make_engine()
        await engine.apipeline_enqueue_documents(fact(f"s{steps}"), ids=f"s{steps}")
        task = asyncio.create_task(engine.apipeline_process_enqueue_documents())
        for _ in range(steps):
            await asyncio.sleep(0)
        await engine.finalize_storages()
        await asyncio.gather(task, return_exceptions=True)
        assert not engine.pipeline_status()["busy"]
        await engine.initialize_storages()
        await engine.apipeline_process_enqueue_documents()
        assert await engine.get_processing_status() == {"processed": steps + 1}
        await engine.finalize_storages()


async def test_documents_that_come_during_another_job_are_processed(make_engine: EngineFactory) -> None:
    engine = await make_engine(**SCOPED)
    await engine.ainsert([fact(str(number)) for number in range(5)], metadata={"tags": ["tenant:a"]})
    job = asyncio.create_task(engine.arebuild_scopes())
    await asyncio.sleep(0)
    await engine.ainsert(fact("late"), ids="late")
    await job
    assert await engine.get_processing_status() == {"processed": 6}


async def test_a_model_that_cancels_itself_stops_nobody_else(make_engine: EngineFactory) -> None:
    def cancel(task: str, prompt: str) -> str | None:
        if "spoil" in prompt:
            raise asyncio.CancelledError
        return None

    engine = await make_engine(FactModel(cancel))
    await engine.ainsert([fact("spoil"), fact("good")], ids=["spoil", "good"])
    rows = await engine.aget_docs_by_ids(["spoil", "good"])
    assert {name: row.status.value for name, row in rows.items()} == {"spoil": "failed", "good": "processed"}
    engine.context.models.query.calls._func = FactModel(cancel)
    with pytest.raises(ModelError, match="cancelled from inside"):
        await engine.aquery("spoil", QueryParam(mode="bypass"))


async def test_filters_after_the_newest_document_is_gone(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    for name in ("a", "b", "c"):
        await engine.ainsert(fact(name), ids=name, metadata={"tags": [f"t:{name}"]})
    await engine.aquery_data("Hub", QueryParam(mode="mix"))
    await engine.adelete_by_doc_id("c")
    for mode in ("naive", "local", "global", "mix"):
        data = await engine.aquery_data("Hub leaf", QueryParam(mode=mode, required_tags=["t:a"]))
        assert data["status"] == "success"


async def test_half_a_surrogate_pair_in_a_question(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await engine.ainsert(fact("a"))
    assert await engine.aquery("Hub \ud800 leaf", QueryParam(mode="naive")) == "answer to Hub  leaf"


async def test_limited_callers_learn_nothing_of_others_and_cannot_write_to_them(make_engine: EngineFactory) -> None:
    engine = await make_engine(**SCOPED)
    await engine.ainsert(fact("b"), ids="secret-id", file_paths="secret.md", metadata={"tags": ["tenant:b"]})
    view = engine.restricted(required_tags=["tenant:a"])
    copy = await view.aget_docs_by_track_id(await view.ainsert(fact("b"), file_paths="copy.md"))
    assert [row.status for row in copy.values()] == ["processed"]
    await view.adelete_by_doc_id(*copy)
    refused = await view.aget_docs_by_track_id(await view.ainsert(fact("a"), file_paths="secret.md"))
    assert len(refused) == 1
    assert "secret-id" not in str(refused)
    assert not any(row.metadata["original_track_id"] for row in refused.values())
    assert (await view.adelete_by_doc_id("secret-id")).status == "not_found"
    both = {"tags": ["tenant:a", "tenant:b"]}
    with pytest.raises(AccessDeniedError, match="tenant:b"):
        await view.ainsert(fact("x"), metadata=both)
    await view.ainsert(fact("mine"), ids="mine")
    with pytest.raises(AccessDeniedError, match="tenant:b"):
        await view.aupdate_document_metadata("mine", both)
    assert (await view.afilter_preview(QueryParam())).total_documents == 1
    hidden = engine.restricted(forbidden_tags=["tenant:b"])
    with pytest.raises(AccessDeniedError):
        await hidden.aquery("Hub", QueryParam(required_tags=["tenant:b"]))
