from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lightrag.contracts.doc_status import DocProcessingStatus, DocStatus
from lightrag.exceptions import (
    EmbeddingMismatchError,
    InputError,
    SchemaVersionError,
    StorageError,
    StorageFullError,
)
from lightrag.kg.sqlite import connection as connection_module
from lightrag.kg.sqlite import schema
from lightrag.kg.sqlite.database import FILE_NAME, acquire, database_path, release
from tests.conformance.families import DIMENSION, Workspace, embedding, family_named, text_vector
from tests.kg.sqlite_impl.another_process import in_another_process

ROOT = Path(__file__).resolve().parents[3]
ONES = np.ones(DIMENSION, dtype=np.float32)


# --- one file per workspace ----------------------------------------------------------------------------------------


def test_where_the_file_lies(tmp_path: Path) -> None:
    assert database_path(str(tmp_path), "") == tmp_path / FILE_NAME
    assert database_path(str(tmp_path / "x" / ".."), "w") == tmp_path / "w" / FILE_NAME


def test_one_database_per_file_and_process(tmp_path: Path) -> None:
    first, second = acquire(str(tmp_path), "w"), acquire(str(tmp_path / "x" / ".."), "w")
    other = acquire(str(tmp_path), "v")
    assert first is second
    assert other is not first
    release(second)
    assert first.read_now(lambda c: c.execute("SELECT 1").fetchone()) == (1,)
    release(first)
    with pytest.raises(StorageError):
        first.read_now(lambda c: c.execute("SELECT 1").fetchone())
    release(other)
    again = acquire(str(tmp_path), "w")
    assert again is not first
    release(again)


async def test_closing_the_last_store_leaves_one_file(open_workspace: Callable[..., Workspace], tmp_path: Path) -> None:
    workspace = open_workspace()
    await (await workspace.kv()).upsert({"a": {"text": "x" * 10_000}})
    assert {path.name for path in tmp_path.iterdir()} > {FILE_NAME}
    await workspace.close()
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


async def test_a_store_that_was_refused_holds_nothing_open(
    open_workspace: Callable[..., Workspace], tmp_path: Path
) -> None:
    workspace = open_workspace()
    await (await workspace.vectors()).upsert({"a": {"content": "a", "vector": ONES}})
    with pytest.raises(EmbeddingMismatchError):
        await workspace.vectors(func=embedding(model="model-b"))
    await workspace.close()
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


async def test_nothing_touches_the_disk_before_initialize(tmp_path: Path) -> None:
    Workspace(family_named("sqlite"), tmp_path / "x").build("kv", "full_docs")
    assert not list(tmp_path.iterdir())


async def test_a_store_that_is_not_open_says_so(tmp_path: Path) -> None:
    store = Workspace(family_named("sqlite"), tmp_path).build("kv", "full_docs")
    with pytest.raises(StorageError, match="full_docs"):
        await store.get_by_id("a")


async def test_namespaces_must_be_plain(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="namespace"):
        await Workspace(family_named("sqlite"), tmp_path).open("kv", "a; DROP TABLE texts")
    assert not list(tmp_path.iterdir())


async def test_the_store_keeps_no_reader_waiting_for_a_long_write(open_workspace: Callable[..., Workspace]) -> None:
    store = await open_workspace().kv()
    await store.upsert({"a": {}})
    writing = asyncio.create_task(store.upsert({f"n{number}": {"text": "x" * 100} for number in range(50_000)}))
    seen = 0
    while not writing.done():
        assert await store.get_by_id("a") is not None
        seen += 1
        await asyncio.sleep(0)
    await writing
    assert seen > 10


# --- files that cannot be used --------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"this is no database " * 500, b"SQLite format 3\0" + b"\xff" * 5000])
async def test_a_damaged_file_is_named(
    open_workspace: Callable[..., Workspace], tmp_path: Path, content: bytes
) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    with pytest.raises(StorageError, match=FILE_NAME):
        await open_workspace().kv()
    assert (tmp_path / FILE_NAME).read_bytes() == content


async def test_damage_found_while_reading_is_named(open_workspace: Callable[..., Workspace], tmp_path: Path) -> None:
    workspace = open_workspace()
    store = await workspace.kv()
    await store.upsert({f"n{number}": {"text": "x" * 500} for number in range(200)})
    await workspace.close()
    with (tmp_path / FILE_NAME).open("r+b") as file:
        file.seek(20 * connection_module.PAGE_BYTES)
        file.write(b"\xff" * 80 * connection_module.PAGE_BYTES)
    store = await open_workspace().kv()
    with pytest.raises(StorageError, match=FILE_NAME):
        await store.scan(limit=1000)


async def test_a_folder_in_place_of_the_file(open_workspace: Callable[..., Workspace], tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    with pytest.raises(StorageError, match=FILE_NAME):
        await open_workspace().kv()


async def test_a_file_in_place_of_the_folder(open_workspace: Callable[..., Workspace], tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("x")
    with pytest.raises(StorageError, match="taken"):
        await open_workspace("taken").kv()


async def test_a_database_of_another_program(open_workspace: Callable[..., Workspace], tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE_NAME) as other:
        other.execute("CREATE TABLE precious (x)")
    other.close()
    with pytest.raises(StorageError, match="another program"):
        await open_workspace().kv()


# --- schema versions -------------------------------------------------------------------------------------------------


async def test_a_file_of_a_newer_version_is_refused(open_workspace: Callable[..., Workspace], tmp_path: Path) -> None:
    workspace = open_workspace()
    await workspace.kv()
    await workspace.close()
    with sqlite3.connect(tmp_path / FILE_NAME) as file:
        file.execute(f"PRAGMA user_version={len(schema.MIGRATIONS) + 1}")
    file.close()
    with pytest.raises(SchemaVersionError, match=str(len(schema.MIGRATIONS) + 1)):
        await open_workspace().kv()


async def test_a_file_of_an_older_version_is_brought_up_to_date(
    open_workspace: Callable[..., Workspace], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = open_workspace()
    await (await workspace.kv()).upsert({"a": {"n": 1}})
    await workspace.close()

    def rename(connection: sqlite3.Connection) -> None:
        connection.execute("""UPDATE kv_full_docs SET value = '{"n":2}'""")

    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, rename))
    for _ in range(2):
        row = await (await open_workspace().kv()).get_by_id("a")
        assert row is not None
        assert row["n"] == 2
    database = acquire(str(tmp_path), "")
    assert database.read_now(lambda c: c.execute("PRAGMA user_version").fetchone()) == (len(schema.MIGRATIONS),)
    release(database)


async def test_a_migration_that_fails_changes_nothing(
    open_workspace: Callable[..., Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = open_workspace()
    await (await workspace.kv()).upsert({"a": {"n": 1}})
    await workspace.close()

    def fail(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM kv_full_docs")
        connection.execute("SELECT nonsense")

    with monkeypatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, fail))
        with pytest.raises(StorageError):
            await open_workspace().kv()
    assert await (await open_workspace().kv()).get_by_id("a") is not None


# --- no room ---------------------------------------------------------------------------------------------------------


async def test_a_full_disk_leaves_nothing_by_halves(open_workspace: Callable[..., Workspace]) -> None:
    workspace = open_workspace()
    kv, vectors, graph = await workspace.kv(), await workspace.vectors(), await workspace.graph()
    await kv.upsert({"before": {}})
    await vectors.upsert({"before": {"content": "x", "vector": ONES}})
    limit(kv, 30)

    async def write(name: str) -> None:
        async with kv.transaction():
            await graph.upsert_edge(name, "hub", {})
            await vectors.upsert({f"{name}-{n}": {"content": "x", "vector": text_vector(str(n))} for n in range(20)})
            await kv.upsert({name: {"text": name * 50_000}})

    with pytest.raises(StorageFullError):
        await write("document")
    assert await kv.get_by_id("document") is None
    assert await graph.get_all_labels() == []
    assert [row["id"] for row in await vectors.query("", 100, ONES)] == ["before"]
    await kv.upsert({"small": {}})
    limit(kv, None)
    await write("document")
    assert await kv.get_by_id("document") is not None
    assert await graph.get_all_labels() == ["document", "hub"]
    assert len(await vectors.query("", 100, ONES)) == 21


def limit(store: Any, room: int | None) -> None:
    def change(connection: sqlite3.Connection) -> None:
        used = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={2**30 if room is None else used + room}")

    store.database.exclusive(change).result()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit that could play a full disk")
def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    """The operating system refuses the write itself, in the middle of a commit."""
    said = in_another_process(
        """
import resource, signal
from lightrag.exceptions import StorageError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = await workspace.kv()
await store.upsert({"before": {}})
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
try:
    await store.upsert({"large": {"text": "x" * 1_000_000}})
except StorageError as error:
    print("refused", "lightrag.sqlite" in str(error))
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
await store.upsert({"after": {}})
print([key for key, _ in await store.scan()])
""",
        tmp_path,
    )
    assert said.splitlines() == ["refused True", "['after', 'before']"]


async def test_two_models_that_meet_in_an_empty_namespace(open_workspace: Callable[..., Workspace]) -> None:
    workspace = open_workspace()
    first, second = await workspace.vectors(), await workspace.vectors(func=embedding(model="model-b"))
    await first.upsert({"a": {"content": "a", "vector": ONES}})
    with pytest.raises(EmbeddingMismatchError, match="model-b"):
        await second.upsert({"b": {"content": "b", "vector": ONES}})
    assert await first.scan_ids() == ["a"]


# --- what it costs ------------------------------------------------------------


async def test_one_row_more_writes_little(open_workspace: Callable[..., Workspace], tmp_path: Path) -> None:
    vectors = await open_workspace().vectors()
    rows = np.random.default_rng(1).standard_normal((5000, DIMENSION)).astype(np.float32)
    await vectors.upsert({f"n{n}": {"content": "text", "vector": row} for n, row in enumerate(rows)})
    log = tmp_path / f"{FILE_NAME}-wal"
    before = log.stat().st_size
    await vectors.upsert({"one": {"content": "text", "vector": ONES}})
    assert 0 < log.stat().st_size - before < 30_000


async def test_rows_that_do_not_change_are_not_written(
    open_workspace: Callable[..., Workspace], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = open_workspace()
    kv, vectors, graph = await workspace.kv(), await workspace.vectors(), await workspace.graph()
    status = await workspace.doc_status()

    async def write() -> None:
        await kv.upsert({f"n{n}": {"text": "x" * 300} for n in range(100)})
        await vectors.upsert({f"n{n}": {"content": "x", "vector": text_vector(str(n))} for n in range(100)})
        await graph.upsert_nodes_batch([(f"n{n}", {"text": "x" * 300, "filter_tags": ["a"]}) for n in range(100)])
        await graph.upsert_edges_batch([(f"n{n}", "n0", {"weight": 1.0}) for n in range(1, 100)])
        await status.upsert({f"n{n}": {"status": "processed", "created_at": "2024", "metadata": {}} for n in range(9)})

    await write()
    log = tmp_path / f"{FILE_NAME}-wal"
    before = log.stat().st_size
    row = await kv.get_by_id("n1")
    monkeypatch.setattr(time, "time", lambda: 4_000_000_000.0)
    await write()
    assert log.stat().st_size - before < 10_000
    assert await kv.get_by_id("n1") == row


async def test_names_of_deleted_objects_do_not_stay_in_the_file(
    open_workspace: Callable[..., Workspace], tmp_path: Path
) -> None:
    workspace = open_workspace()
    graph = await workspace.graph()
    await graph.upsert_edge("Secret Agent", "Someone Else", {})
    await graph.upsert_edge("Someone Else", "Third Person", {})
    await graph.remove_nodes(["Secret Agent"])
    await workspace.close()
    data = (tmp_path / FILE_NAME).read_bytes()
    assert b"Secret Agent" not in data
    assert b"Third Person" in data


def test_opening_stores_does_not_import_numpy() -> None:
    code = (
        "import sys; import lightrag.kg.sqlite.kv, lightrag.kg.sqlite.vector, lightrag.kg.sqlite.graph;"
        "import lightrag.kg.sqlite.evidence; print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


async def test_lists_of_any_length_do_not_hold_the_event_loop(
    open_workspace: Callable[..., Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    status = await open_workspace().doc_status()
    row = DocProcessingStatus("s", 1, "x", DocStatus.PROCESSED, "2024", "2024", track_id="all").to_row()
    await status.upsert({f"doc-{number}": row for number in range(3)})
    store: Any = status
    before: list[str] = []
    in_thread = type(store.database).in_thread

    async def watched(self: Any, function: Any, *arguments: Any) -> Any:
        before.append("thread")
        return await in_thread(self, function, *arguments)

    monkeypatch.setattr(type(store.database), "in_thread", watched)
    assert len(await status.get_docs_by_track_id("all")) == 3
    assert len(await status.get_docs_by_statuses([DocStatus.PROCESSED])) == 3
    assert len(before) == 2
    assert len(await status.get_docs_by_statuses_page([DocStatus.PROCESSED], limit=2)) == 2
    assert len(before) == 2
