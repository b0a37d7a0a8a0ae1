"""The import path of the published package's shared state: harmless, and working where something is to be done."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from lightrag import LightRAG
from lightrag.exceptions import InputError
from lightrag.kg import shared_storage as shared
from tests.fakes.facts import FactModel, make_embedding

TEXTS = [f"Ann{number} -> Oslo: lives in" for number in range(12)]


def make(folder: Path, workspace: str = "") -> LightRAG:
    return LightRAG(
        working_dir=str(folder),
        workspace=workspace,
        llm_model_func=FactModel(),
        embedding_func=make_embedding(),
        entity_extract_max_gleaning=0,
    )


async def test_the_usual_beginning_of_existing_code(tmp_path: Path) -> None:
    rag = make(tmp_path, "usual")
    await rag.initialize_storages()
    await shared.initialize_pipeline_status()
    shared.initialize_share_data(2)
    assert shared.is_share_data_initialized()
    await rag.ainsert(TEXTS[0])
    status = await shared.get_namespace_data("pipeline_status", workspace="usual")
    async with shared.get_pipeline_status_lock(workspace="usual"):
        assert status["busy"] is False
        assert "processed" in status["history_messages"][-1]
    assert set(status) == set(rag.pipeline_status())
    assert len(status) == len(list(status))
    await rag.finalize_storages()
    shared.finalize_share_data()


async def test_the_status_can_cancel_and_nothing_else(tmp_path: Path) -> None:
    rag = make(tmp_path, "cancelled")
    await rag.initialize_storages()
    status = await shared.get_namespace_data("pipeline_status", workspace="cancelled")

    async def slow(prompt: str, **_: object) -> str:
        status["cancellation_requested"] = True
        await asyncio.sleep(30)
        return ""

    rag.update_llm_role_config("extract", model_func=slow)
    await rag.ainsert(TEXTS)
    assert await rag.get_processing_status() == {"failed": 12}
    with pytest.raises(InputError, match="'busy' of the pipeline belongs to the engine"):
        status["busy"] = True
    with pytest.raises(InputError):
        del status["busy"]
    await rag.finalize_storages()


async def test_the_default_workspace_and_doubt(tmp_path: Path) -> None:
    shared.set_default_workspace("doubt")
    try:
        assert shared.get_default_workspace() == "doubt"
        assert shared.get_final_namespace("x") == "doubt:x"
        assert shared.get_final_namespace("x", "") == "x"
        with pytest.raises(InputError, match="0 engines in this process have the workspace 'doubt'"):
            await shared.get_namespace_data("pipeline_status")
        first = make(tmp_path / "a", "doubt")
        assert (await shared.get_namespace_data("pipeline_status"))["busy"] is False
        second = make(tmp_path / "b", "doubt")
        with pytest.raises(InputError, match="2 engines"):
            await shared.get_namespace_data("pipeline_status")
        assert first is not second
    finally:
        shared.set_default_workspace()


async def test_other_namespaces_are_mappings_of_this_process() -> None:
    data = await shared.get_namespace_data("mine", workspace="w")
    data["x"] = 1
    assert (await shared.get_namespace_data("mine", workspace="w"))["x"] == 1
    assert await shared.get_namespace_data("mine", workspace="v") == {}


async def test_locks_lock() -> None:
    assert shared.get_namespace_lock("n", "w") is shared.get_namespace_lock("n", "w")
    assert shared.get_internal_lock() is not shared.get_data_init_lock()
    order: list[str] = []

    async def work(name: str, keys: str | list[str]) -> None:
        async with shared.get_storage_keyed_lock(keys, "kind"):
            order.append(f"{name} in")
            await asyncio.sleep(0.01)
            order.append(f"{name} out")

    await asyncio.wait_for(asyncio.gather(work("a", ["x", "y"]), work("b", ["y", "x"]), work("c", "z")), 2)
    assert order.index("c in") < order.index("a out")
    assert [entry for entry in order if entry[0] in "ab"] in (
        ["a in", "a out", "b in", "b out"],
        ["b in", "b out", "a in", "a out"],
    )
