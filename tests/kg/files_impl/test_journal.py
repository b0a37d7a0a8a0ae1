from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lightrag.contracts.graph import BaseGraphStorage
from lightrag.contracts.kv import BaseKVStorage
from lightrag.exceptions import SchemaVersionError, StorageError, StorageFullError
from lightrag.kg.files import journal as journals
from lightrag.kg.files.folder import DataFolder
from lightrag.kg.files.journal import JOURNAL_NAME, Journal, read_journal
from tests.kg.files_impl.workspace import workspace_in


def written(path: Path, *contents: bytes) -> Journal:
    journal = Journal(path, 0)
    for content in contents:
        journal.append([content])
    journal.close()
    return journal


def test_frames_come_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / JOURNAL_NAME
    journal = Journal(path, 0)
    journal.append([b"one", b""])
    journal.append([b"three" * 10_000])
    assert read_journal(path) == ([b"one", b"", b"three" * 10_000], journal.size)
    assert journal.size == path.stat().st_size


def test_a_missing_journal_is_empty(tmp_path: Path) -> None:
    assert read_journal(tmp_path / JOURNAL_NAME) == ([], 0)


def test_whatever_is_cut_off_the_end_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / JOURNAL_NAME
    written(path, b"first", b"second")
    whole = path.read_bytes()
    frames_at = {len(whole): [b"first", b"second"]}
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        frames, end = read_journal(path)
        assert frames in ([], [b"first"])
        assert end <= length
        frames_at[length] = frames
    assert frames_at[len(whole) - 1] == [b"first"]


def test_a_journal_is_continued_behind_its_last_whole_frame(tmp_path: Path) -> None:
    path = tmp_path / JOURNAL_NAME
    written(path, b"first", b"second")
    path.write_bytes(path.read_bytes()[:-1])
    frames, size = read_journal(path)
    journal = Journal(path, size)
    journal.append([b"third"])
    assert frames == [b"first"]
    assert read_journal(path)[0] == [b"first", b"third"]


def test_a_changed_byte_ends_the_journal(tmp_path: Path) -> None:
    path = tmp_path / JOURNAL_NAME
    written(path, b"first", b"second")
    data = bytearray(path.read_bytes())
    data[-2] ^= 1
    path.write_bytes(data)
    assert read_journal(path)[0] == [b"first"]


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / JOURNAL_NAME
    path.write_bytes(b"something else entirely")
    with pytest.raises(StorageError, match="not a journal"):
        read_journal(path)
    path.write_bytes(b"lightrag-journal 2\n")
    with pytest.raises(SchemaVersionError, match="newer version"):
        read_journal(path)


def failing(after: int, number: int) -> Callable[..., int]:
    """A write that succeeds for some bytes and then fails."""
    real = os.write
    left = [after]

    def write(descriptor: int, data: bytes) -> int:
        if left[0] <= 0:
            raise OSError(number, os.strerror(number))
        part = bytes(data[: left[0]])
        left[0] -= len(part)
        return real(descriptor, part)

    return write


async def change_everything(store: BaseKVStorage, graph: BaseGraphStorage) -> None:
    async with store.transaction():
        await store.upsert({"a": {"n": 2}, "b": {}})
        await store.delete(["gone"])
        await graph.remove_nodes(["x"])
        await graph.upsert_edge("y", "z", {})


@pytest.mark.parametrize("after", [0, 1, 30])
async def test_a_full_disk_stores_nothing_and_takes_back_what_was_visible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    workspace = workspace_in(tmp_path)
    store, graph = await workspace.kv(), await workspace.graph()
    await store.upsert({"a": {"n": 1}, "gone": {}})
    await graph.upsert_edge("x", "y", {"n": 1})
    with monkeypatch.context() as patched:
        patched.setattr(journals.os, "write", failing(after, errno.ENOSPC))
        with pytest.raises(StorageFullError, match="Nothing of this write"):
            await change_everything(store, graph)
    rows = await store.get_by_ids(["a", "b", "gone"])
    assert [row and row.get("n", "-") for row in rows] == [1, None, "-"]
    assert await graph.get_edge("y", "x") == {"n": 1}
    assert await graph.node_degrees_batch(["x", "y", "z"]) == {"x": 1, "y": 1, "z": 0}
    await store.upsert({"c": {}})
    # As if the process had died here: nothing but the journal knows of all this.
    frames, _ = read_journal(tmp_path / JOURNAL_NAME)
    assert len(frames) == 3
    await workspace.close()
    again = await workspace_in(tmp_path).kv()
    assert [key for key, _ in await again.scan()] == ["a", "c", "gone"]
    await again.finalize()


async def test_a_disk_that_fails_is_an_error_with_the_name_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await workspace_in(tmp_path).kv()
    with monkeypatch.context() as patched:
        patched.setattr(journals.os, "write", failing(0, errno.EIO))
        with pytest.raises(StorageError, match=JOURNAL_NAME):
            await store.upsert({"a": {}})
    assert await store.is_empty()
    await store.finalize()


async def test_operations_of_stores_that_nobody_opens_again_reach_their_files(tmp_path: Path) -> None:
    """A process dies, and the next one opens only one of the stores."""
    first = workspace_in(tmp_path)
    await (await first.graph()).upsert_edge("a", "b", {"n": 1})
    await (await first.kv("text_chunks")).upsert({"c": {"n": 2}})
    # Close without folding.
    folder = first.opened[0].folder
    folder.dirty.clear()
    await first.close()
    assert not (tmp_path / "kv_store_text_chunks.json").exists()
    assert (tmp_path / JOURNAL_NAME).exists()
    second = workspace_in(tmp_path)
    await second.kv("full_docs")
    await second.close()
    assert not (tmp_path / JOURNAL_NAME).exists()
    assert '"c"' in (tmp_path / "kv_store_text_chunks.json").read_text()
    third = workspace_in(tmp_path)
    assert await (await third.graph()).get_edge("a", "b") == {"n": 1}
    await third.close()


def test_leftovers_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    (tmp_path / "kv_store_full_docs.json.lightrag-new").write_text("half")
    DataFolder(tmp_path).close()
    assert list(tmp_path.iterdir()) == []
