"""kill -9 at any point: what was acknowledged is there, and nothing is half there (I9)."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lightrag import LightRAG
from tests.fakes.audit import disagreements
from tests.fakes.facts import FactModel, make_embedding

ROOT = Path(__file__).resolve().parents[2]


def run_and_kill(directory: Path, life: str, seconds: float) -> list[str]:
    """Run the child for a while after it has opened its stores; return its complete lines."""
    command = [sys.executable, "-m", "tests.flow.crash_child", str(directory), life]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "open\n"
        time.sleep(seconds)
        child.kill()
        output = child.stdout.read()
    return [line for line in output.splitlines(keepends=True) if line.endswith("\n")]


def named(lines: list[str], word: str) -> set[str]:
    return {name for line in lines if line.startswith(f"{word} ") for name in line.split()[1:]}


@pytest.mark.parametrize("seed", range(6))
async def test_nothing_acknowledged_is_lost_and_nothing_is_half_there(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    stored: set[str] = set()
    processed: set[str] = set()
    deleted: set[str] = set()
    for life in ("first", "second"):
        lines = await asyncio.to_thread(run_and_kill, tmp_path, life, chance.uniform(0.02, 0.9))
        stored |= named(lines, "stored")
        processed |= named(lines, "processed")
        deleted |= named(lines, "deleted")
    engine = LightRAG(
        working_dir=str(tmp_path),
        llm_model_func=FactModel(),
        embedding_func=make_embedding(),
        entity_extract_max_gleaning=0,
        force_llm_summary_on_merge=3,
    )
    await engine.initialize_storages()
    try:
        assert await disagreements(engine) == []
        rows = await engine.aget_docs_by_ids(sorted(stored))
        # The last delete may have been done without having been told.
        assert len(stored - deleted - set(rows)) <= 2
        assert not deleted & set(rows)
        assert {rows[name].status.value for name in processed & set(rows)} <= {"processed"}
        await engine.apipeline_process_enqueue_documents()
        rows = await engine.aget_docs_by_ids(sorted(stored))
        assert {row.status.value for row in rows.values()} <= {"processed"}
        assert await disagreements(engine) == []
    finally:
        await engine.finalize_storages()
