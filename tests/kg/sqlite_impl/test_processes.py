"""Several processes have one file open."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from lightrag.exceptions import StorageError
from lightrag.kg.sqlite import connection as connection_module
from lightrag.kg.sqlite.database import FILE_NAME
from lightrag.kg.sqlite.writer import DatabaseWriter, Write
from lightrag.kg.writer import Job
from tests.conformance.families import DIMENSION, Workspace
from tests.kg.sqlite_impl.another_process import in_another_process

ONES = np.ones(DIMENSION, dtype=np.float32)


async def test_what_another_process_writes_is_found(open_workspace: Callable[..., Workspace], tmp_path: Path) -> None:
    workspace = open_workspace()
    kv, vectors = await workspace.kv(), await workspace.vectors()
    await vectors.upsert({"own": {"content": "own", "vector": ONES}})
    assert len(await vectors.query("", 10, ONES)) == 1
    in_another_process(
        """
await (await workspace.kv()).upsert({"a": {"n": 1}})
vectors = await workspace.vectors()
await vectors.upsert({"theirs": {"content": "theirs", "vector": ONES * 2}})
print([row["id"] for row in await vectors.query("", 10, ONES)])
""",
        tmp_path,
    )
    assert await kv.get_by_id("a") is not None
    assert [row["id"] for row in await vectors.query("", 10, ONES)] == ["own", "theirs"]
    assert set(await vectors.similarities(["own", "theirs"], ONES)) == {"own", "theirs"}
    in_another_process("""await (await workspace.vectors()).delete(["theirs", "own"])""", tmp_path)
    # Our own write, before any search has looked: it must not hide theirs.
    await vectors.upsert({"new": {"content": "new", "vector": ONES}})
    assert [row["id"] for row in await vectors.query("", 10, ONES)] == ["new"]


async def test_our_own_writes_load_nothing_again(
    open_workspace: Callable[..., Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = await open_workspace().vectors()
    await vectors.upsert({"a": {"content": "a", "vector": ONES}})
    await vectors.query("", 1, ONES)
    matrix = vectors.database.matrix("vectors_chunks", DIMENSION)  # type: ignore[attr-defined]
    loads: list[str] = []
    monkeypatch.setattr(matrix, "load", lambda connection: loads.append("load"))
    for number in range(20):
        await vectors.upsert({f"n{number}": {"content": "a", "vector": ONES}})
        assert len(await vectors.query("", 100, ONES)) == number + 2
    assert loads == []


async def test_two_processes_write_at_the_same_time(open_workspace: Callable[..., Workspace], tmp_path: Path) -> None:
    kv = await open_workspace().kv()

    async def ours() -> None:
        for number in range(100):
            await kv.upsert({f"ours-{number}": {}})

    theirs = asyncio.to_thread(
        in_another_process,
        """
store = await workspace.kv()
for number in range(100):
    await store.upsert({f"theirs-{number}": {}})
""",
        tmp_path,
    )
    await asyncio.gather(ours(), theirs)
    assert len(await kv.scan(limit=1000)) == 200


async def test_two_processes_create_the_file_at_the_same_time(tmp_path: Path) -> None:
    code = 'await (await workspace.kv()).upsert({"NAME": {}})'
    await asyncio.gather(
        *(asyncio.to_thread(in_another_process, code.replace("NAME", f"n{n}"), tmp_path) for n in range(3))
    )
    said = in_another_process("print(len(await (await workspace.kv()).scan()))", tmp_path)
    assert said == "3"


async def test_a_file_locked_by_another_process_is_named(
    open_workspace: Callable[..., Workspace], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "BUSY_SECONDS", 0.2)
    store = await open_workspace().kv()
    await store.upsert({"a": {}})
    holder = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    groups: list[int] = []
    commit = DatabaseWriter.commit

    def counted(writer: DatabaseWriter, group: Sequence[Job[Write]]) -> None:
        groups.append(len(group))
        commit(writer, group)

    monkeypatch.setattr(DatabaseWriter, "commit", counted)
    results = await asyncio.gather(*(store.upsert({f"n{n}": {}}) for n in range(20)), return_exceptions=True)
    # Those behind the first wait once together, not one after another.
    assert sum(groups) == 20
    assert len(groups) <= 2
    assert all(isinstance(result, StorageError) for result in results)
    assert "locked by another process" in str(results[0])
    assert FILE_NAME in str(results[0])
    assert await store.get_by_id("a") is not None
    holder.execute("ROLLBACK")
    holder.close()
    await store.upsert({"b": {}})
    assert [key for key, _ in await store.scan()] == ["a", "b"]
