from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lightrag.exceptions import StorageError
from lightrag.kg.files.lock import LOCK_NAME, FolderLock
from tests.kg.files_impl.workspace import workspace_in

ROOT = Path(__file__).resolve().parents[3]


@contextmanager
def another_process(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "tests.kg.files_impl.holding_child", str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"holding\n"
        try:
            yield child
        finally:
            child.send_signal(signal.SIGKILL)


async def test_two_processes_in_one_folder(tmp_path: Path) -> None:
    with another_process(tmp_path) as child:
        with pytest.raises(StorageError, match="in use by another process") as caught:
            await workspace_in(tmp_path).kv()
        assert f"(process {child.pid})" in str(caught.value)
        assert repr(str(tmp_path)) in str(caught.value)
        # Another workspace of the same working directory is another folder.
        other = workspace_in(tmp_path, "other")
        assert await (await other.kv()).is_empty()
        await other.close()
    # Its end gives the folder free, however it ended, and what it had acknowledged is there.
    workspace = workspace_in(tmp_path)
    assert await (await workspace.kv()).get_by_id("held")
    await workspace.close()


async def test_a_reader_keeps_away_from_a_writer(tmp_path: Path) -> None:
    with another_process(tmp_path):
        workspace = workspace_in(tmp_path)
        store = workspace.build("kv", "full_docs")
        store.global_config = {**store.global_config, "read_only": True}
        with pytest.raises(StorageError, match="in use by another process"):
            await store.initialize()


def test_a_released_lock_leaves_nothing(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    with pytest.raises(StorageError):
        FolderLock(tmp_path)
    lock.release()
    lock.release()
    assert list(tmp_path.iterdir()) == []
    FolderLock(tmp_path).release()


def test_readers_write_nothing_and_do_not_exclude_each_other(tmp_path: Path) -> None:
    FolderLock(tmp_path, read_only=True).release()
    assert list(tmp_path.iterdir()) == []
    (tmp_path / LOCK_NAME).write_text("left over\n")
    first, second = FolderLock(tmp_path, read_only=True), FolderLock(tmp_path, read_only=True)
    with pytest.raises(StorageError):
        FolderLock(tmp_path)
    first.release()
    second.release()
    assert (tmp_path / LOCK_NAME).read_text() == "left over\n"
