"""A workspace's folder: its tables in memory, one journal, one writer, shared by all stores in this process."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from lightrag.exceptions import StorageError, StorageFullError
from lightrag.kg.files.atomic import remove_leftovers
from lightrag.kg.files.fold import fold, is_due
from lightrag.kg.files.journal import JOURNAL_NAME, Journal, read_journal
from lightrag.kg.files.json_file import encode
from lightrag.kg.files.kinds import new_table
from lightrag.kg.files.lock import FolderLock
from lightrag.kg.files.sources import SourceLimits
from lightrag.kg.files.table import Change, Operation, Table, Write
from lightrag.kg.files.writer import FolderWriter
from lightrag.kg.writer import Transactional

logger = logging.getLogger("lightrag.kg.files")

T = TypeVar("T")

_NO_ROOM = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))


class DataFolder(Transactional[Write]):
    """The opened folder. Made by :func:`acquire`; every holder calls :func:`release` once.

    Attributes:
        path: The folder.
        read_only: Nothing is written, not even a lock.
        lock: Held while tables change, and by whoever reads several things that must agree.
        tables: Tables in memory, by name.
        dirty: Names of tables that differ from their files.
        limits: How many sources an object names in its files.
        eligibility: What is kept to filter by documents; see :mod:`lightrag.kg.files.eligibility`.
        next_fold_at: Size of the journal, in bytes, from which the files are written anew.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open the folder, making it if needed, and read its journal.

        Raises:
            StorageError: It is in use by another process, or cannot be used; the message says why.
            SchemaVersionError: A newer version wrote it.
        """
        self.path = path
        self.read_only = read_only
        self.lock = threading.RLock()
        self.tables: dict[str, Table] = {}
        self.dirty: set[str] = set()
        self.limits = SourceLimits()
        self.eligibility: Any = None
        self._open_stores: Counter[str] = Counter()
        try:
            if not read_only:
                path.mkdir(parents=True, exist_ok=True)
            self._process_lock = FolderLock(path, read_only=read_only)
            try:
                self.next_fold_at = sum(file.stat().st_size for file in path.glob("*") if file.is_file())
                self._pending = self._open_journal()
            except BaseException:
                self._process_lock.release()
                raise
        except OSError as error:
            raise StorageError(f"folder {str(path)!r} cannot be used: {error}") from error
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="files-reader")
        self._writer = FolderWriter(str(path), self)

    def _open_journal(self) -> dict[str, list[Operation]]:
        """Return the operations of the journal by table; each table carries them out when it is loaded."""
        path = self.path / JOURNAL_NAME
        contents, size = read_journal(path)
        if not self.read_only:
            remove_leftovers(self.path)
        self.journal = Journal(path, size)
        pending: dict[str, list[Operation]] = {}
        for content in contents:
            for name, operation in json.loads(content.decode("utf-8", "surrogatepass")):
                pending.setdefault(name, []).append(operation)
        self.dirty.update(pending)
        return pending

    # --- tables ------------------------------------------------------------------------------------------------

    async def open_table(self, name: str) -> Table:
        """Return a table, reading its files if nobody has yet.

        Raises:
            StorageError: A file is damaged.
        """
        return await asyncio.wrap_future(self._writer.alone(lambda: self.load_table(name)))

    def load_table(self, name: str) -> Table:
        """Return a table, reading its files if nobody has yet; called in the writer's thread."""
        known = self.tables.get(name)
        if known is not None:
            return known
        table = new_table(name, self.path)
        try:
            table.load()
        except OSError as error:
            raise translated(error, self.path) from error
        for operation in self._pending.get(name, ()):
            table.apply(operation)
        self._pending.pop(name, None)
        with self.lock:
            self.tables[name] = table
        return table

    def opened(self, name: str, stores: int) -> None:
        """Count the stores that have a table open, up or down."""
        self._open_stores[name] += stores

    def is_open(self, name: str) -> bool:
        """Tell whether a store has a table open; others may be in memory because files are made from them."""
        return self._open_stores[name] > 0

    async def in_thread(self, function: Callable[..., T], *arguments: object) -> T:
        """Run a function in one of the reader threads."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)

    # --- writing -----------------------------------------------------------------------------------------------

    def carry_out(self, write: Write) -> Change:
        """Carry a write out in memory; called by the writer."""
        if self.read_only:
            raise StorageError(f"folder {str(self.path)!r} was opened to be read only")
        change = Change()
        with self.lock:
            try:
                write(change)
            except BaseException:
                change.take_back()
                raise
        return change

    def make_durable(self, changes: Sequence[Change]) -> None:
        """Put changes into the journal; called by the writer."""
        written = [change for change in changes if change.operations]
        if not written:
            return
        try:
            self.journal.append([encode(change.operations).encode("utf-8", "surrogatepass") for change in written])
        except BaseException as error:
            with self.lock:
                for change in reversed(written):
                    change.take_back()
            if isinstance(error, OSError):
                raise translated(error, self.journal.path) from error
            raise
        self.dirty.update(name for change in written for name, _ in change.operations)
        if is_due(self):
            self._fold()

    def _fold(self) -> None:
        try:
            fold(self)
        except (OSError, StorageError) as error:
            # Everything acknowledged is in the journal. It is tried again when that is twice as large, and at the end.
            self.next_fold_at = 2 * self.journal.size
            logger.warning("the files of %s could not be renewed, the journal is kept: %s", self.path, error)

    # --- closing -----------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Bring the files up to date and let go of the folder. Waits for queued writes."""
        if not self.read_only:
            self._writer.alone(self._fold).result()
        self._writer.stop()
        self._threads.shutdown()
        self.journal.close()
        self._process_lock.release()


def translated(error: OSError, path: Path) -> StorageError:
    """Return the error that says what a failure of the file system means."""
    if error.errno in _NO_ROOM:
        return StorageFullError(f"no room left to write {str(path)!r}: {error}. Nothing of this write was stored")
    return StorageError(f"{str(path)!r} cannot be used: {error}")


# --- who has what open -----------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class _Opened:
    folder: DataFolder
    holders: int = 0


_OPENED: dict[Path, _Opened] = {}
_OPENING = threading.Lock()


def acquire(path: Path, config: Mapping[str, Any], *, read_only: bool = False) -> DataFolder:
    """Open a folder, or share the one that is open. Blocks while it is opened.

    Args:
        path: The folder, resolved.
        config: Settings of the engine.
        read_only: Write nothing, unless somebody in this process has opened the folder for writing.

    Raises:
        StorageError: It cannot be opened, or somebody in this process has opened it for reading only.
        SchemaVersionError: A newer version wrote it.
    """
    with _OPENING:
        opened = _OPENED.get(path)
        if opened is None:
            opened = _OPENED[path] = _Opened(DataFolder(path, read_only=read_only))
        if opened.folder.read_only and not read_only:
            raise StorageError(f"folder {str(path)!r} is open to be read only; close that first")
        opened.holders += 1
        opened.folder.limits = SourceLimits.of(config)
        return opened.folder


def release(folder: DataFolder) -> None:
    """Give a folder back; the last holder closes it. Blocks while its files are written."""
    with _OPENING:
        opened = _OPENED[folder.path]
        opened.holders -= 1
        if not opened.holders:
            del _OPENED[folder.path]
            folder.close()
