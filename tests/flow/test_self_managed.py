"""An engine that opens with its first call and closes by itself: with its loop, with its process, after use."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lightrag import LightRAG, QueryParam
from lightrag.exceptions import StorageError
from tests.fakes.facts import FactModel, make_embedding

ROOT = Path(__file__).resolve().parents[2]
TEXT = "Ann -> Oslo: lives in\nBob -> Rome: visits"


def make(folder: Path, **fields: Any) -> LightRAG:
    return LightRAG(
        working_dir=str(folder),
        llm_model_func=FactModel(),
        embedding_func=make_embedding(),
        entity_extract_max_gleaning=0,
        **{"auto_manage_storages_states": True, **fields},
    )


def test_it_opens_with_the_first_call_and_closes_with_the_loop(tmp_path: Path) -> None:
    rag = make(tmp_path)

    async def first() -> None:
        assert not rag.is_open
        await rag.ainsert(TEXT)
        assert rag.is_open

    async def second() -> Any:
        return await rag.aquery("Ann lives in Oslo", QueryParam(mode="naive", only_need_context=True))

    asyncio.run(first())
    assert not rag.is_open
    assert "Oslo" in asyncio.run(second())
    assert not rag.is_open


async def test_calls_that_come_together_open_it_once(tmp_path: Path) -> None:
    rag = make(tmp_path)
    await asyncio.gather(*(rag.get_graph_labels() for _ in range(5)))
    context = rag.context
    await rag.get_processing_status()
    assert rag.context is context
    await rag.finalize_storages()
    assert await rag.get_processing_status() == {}
    assert rag.context is not context, "a call after the end opens it again"
    await rag.finalize_storages()


async def test_without_the_field_nothing_opens_by_itself(tmp_path: Path) -> None:
    rag = make(tmp_path, auto_manage_storages_states=False)
    with pytest.raises(StorageError, match="initialize_storages"):
        await rag.ainsert(TEXT)
    assert not (tmp_path / "rag.db").exists()


async def test_a_view_opens_its_engine(tmp_path: Path) -> None:
    rag = make(tmp_path)
    assert await rag.restricted(["a"]).get_processing_status() == {}
    assert rag.is_open
    await rag.finalize_storages()


def test_blocking_twins_open_it_too(tmp_path: Path) -> None:
    rag = make(tmp_path)
    rag.insert(TEXT)
    assert rag.is_open
    assert "Oslo" in rag.query("Ann lives in Oslo", QueryParam(mode="naive", only_need_context=True))
    asyncio.new_event_loop().close()
    from lightrag.sync import run_sync

    run_sync(rag.finalize_storages())
    assert not rag.is_open


SCRIPT = """
import sys
from pathlib import Path
from tests.flow.test_self_managed import TEXT, make

rag = make(Path(sys.argv[1]))
closed = rag.finalize_storages

async def noted():
    await closed()
    print("closed", rag.is_open)

rag.finalize_storages = noted
{use}
print("end of the script", rag.is_open)
"""


@pytest.mark.parametrize("use", ["rag.insert(TEXT)", "import asyncio; asyncio.run(rag.ainsert(TEXT))"])
def test_it_is_closed_when_the_process_ends(use: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT.replace("{use}", use), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    still_open = use == "rag.insert(TEXT)"
    assert sorted(lines) == ["closed False", f"end of the script {still_open}"]
    assert not list(tmp_path.glob("*-wal")), "closing has written everything into the one file"
