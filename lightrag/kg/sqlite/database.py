"""A workspace's database: one file, one writer, a few readers, shared by all its stores in this process."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lightrag.exceptions import StorageError
from lightrag.kg.sqlite import schema
from lightrag.kg.sqlite.connection import connect_reader, connect_writer, translated
from lightrag.kg.sqlite.dictionary import sweep
from lightrag.kg.sqlite.matrix import VectorMatrix
from lightrag.kg.sqlite.writer import DatabaseWriter, Exclusive, Write
from lightrag.kg.workspaces import check_workspace
from lightrag.kg.writer import Transactional

if TYPE_CHECKING:
    from lightrag.kg.sqlite.filter_memory import FilterMemory
    from lightrag.kg.sqlite.selection import Selection

T = TypeVar("T")
Read = Callable[[sqlite3.Connection], T]

FILE_NAME = "lightrag.sqlite"

# Reads of up to so many rows are done where they are asked for: they take less than handing them to a thread and back.
INLINE_ROWS = 2048
# For reads whose number of rows nobody knows.
MANY_ROWS = INLINE_ROWS + 1
_READER_THREADS = 4


class Database(Transactional[Write]):
    """The opened file. Made by :func:`acquire`; every holder calls :func:`release` once.

    Attributes:
        path: The file.
        lock: Held while memory follows a commit; whoever holds it sees vectors, documents and evidence of one commit.
        tables: How many opened stores keep their rows in a table.
        filters: What is in memory to filter by documents; ``None`` until a query is filtered.
    """

    _writer: DatabaseWriter

    def __init__(self, path: Path) -> None:
        """Open or create the file and start its writer.

        Raises:
            StorageError: It cannot be opened; the message says why.
            SchemaVersionError: It was written by a newer version.
        """
        self.path = path
        self.lock = threading.RLock()
        self.tables: Counter[str] = Counter()
        self.filters: FilterMemory | None = None
        self._matrices: dict[str, VectorMatrix] = {}
        self._matrices_lock = threading.Lock()
        self._idle: deque[sqlite3.Connection] = deque()
        self._closed = False
        self._holes = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = connect_writer(path)
            try:
                schema.migrate(connection, path)
                self._version = _data_version(connection)
                self._watch = connect_reader(path)
            except BaseException:
                connection.close()
                raise
        except OSError as error:
            raise StorageError(f"folder {str(path.parent)!r} cannot be used: {error}") from error
        except sqlite3.Error as error:
            raise translated(error, path) from error
        self._watch_lock = threading.Lock()
        self._watched = _data_version(self._watch)
        self._threads = ThreadPoolExecutor(_READER_THREADS, thread_name_prefix="sqlite-reader")
        self._writer = DatabaseWriter(path, connection, self)

    # --- reading -----------------------------------------------------------------------------------------------

    async def read(self, query: Read[T], *, rows: int = 1) -> T:
        """Run a query on a snapshot of the last commit.

        Args:
            query: Reads through the connection it is given, and leaves no cursor open.
            rows: About how many rows it touches; many are read in a thread.

        Raises:
            StorageError: The file cannot be read.
        """
        if rows <= INLINE_ROWS:
            return self.read_now(query)
        return await self.in_thread(self.read_now, query)

    def read_now(self, query: Read[T]) -> T:
        """Run a query in the calling thread."""
        if self._closed:
            raise StorageError(f"database {str(self.path)!r} is closed; initialize the store first")
        try:
            try:
                connection = self._idle.pop()
            except IndexError:
                connection = connect_reader(self.path)
            try:
                return query(connection)
            finally:
                self._put_back(connection)
        except sqlite3.Error as error:
            raise translated(error, self.path) from error

    async def in_thread(self, function: Callable[..., T], *arguments: object) -> T:
        """Run a function in one of the reader threads."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)

    def _put_back(self, connection: sqlite3.Connection) -> None:
        if self._closed:
            connection.close()
        else:
            self._idle.append(connection)

    # --- writing -----------------------------------------------------------------------------------------------

    def submit(self, write: Write) -> Future[None]:
        """Queue a write, for callers without an event loop."""
        return self._writer.submit(write)

    def exclusive(self, function: Exclusive) -> Future[None]:
        """Queue a function that runs on the writer's connection between two transactions."""
        return self._writer.exclusive(function)

    def left_holes(self) -> None:
        """Note that rows were deleted: names that nothing refers to any more are swept out when the file is closed."""
        self._holes = True

    # --- memory ------------------------------------------------------------------------------------------------

    def matrix(self, table: str, dimension: int) -> VectorMatrix:
        """Return the vectors of a table, shared by everybody who has this database open."""
        with self._matrices_lock:
            matrix = self._matrices.get(table)
            if matrix is None or matrix.dimension != dimension:
                matrix = self._matrices[table] = VectorMatrix(table, dimension)
            return matrix

    async def loaded(self, matrix: VectorMatrix) -> VectorMatrix:
        """Return a matrix that holds what is committed, by this process or another one."""
        if matrix.state is None or self._changed_elsewhere():
            await asyncio.wrap_future(self.exclusive(lambda connection: self._load(connection, matrix)))
        return matrix

    def _load(self, connection: sqlite3.Connection, matrix: VectorMatrix) -> None:
        self.after_group(connection)
        if matrix.state is None:
            matrix.load(connection)

    async def filtered(self, wanted: Selection) -> FilterMemory:
        """Return what is in memory to filter by documents, with everything that a selection takes."""
        from lightrag.kg.sqlite.filter_memory import FilterMemory

        with self.lock:
            memory = self.filters = self.filters or FilterMemory(self.lock)
        if not memory.is_ready(wanted) or self._changed_elsewhere():
            await asyncio.wrap_future(self.exclusive(lambda connection: self._load_filters(connection, memory, wanted)))
        return memory

    def _load_filters(self, connection: sqlite3.Connection, memory: FilterMemory, wanted: Selection) -> None:
        with snapshot(connection):
            # Looked at inside: another process may write at any time, and what is read must be what was looked at.
            self.after_group(connection)
            if not memory.is_ready(wanted):
                memory.load(connection, wanted)

    def filters_now(self) -> FilterMemory | None:
        """Return what is in memory to filter by documents if there is any and it is of the last commit."""
        return None if self.filters is None or self._changed_elsewhere() else self.filters

    def _changed_elsewhere(self) -> bool:
        with self._watch_lock:
            try:
                return _data_version(self._watch) != self._watched
            except sqlite3.Error as error:
                raise translated(error, self.path) from error

    def before_group(self, connection: sqlite3.Connection) -> None:
        """Forget what is in memory when another process has written since; called by the writer."""
        version = _data_version(connection)
        if version != self._version:
            self._version = version
            self.forget()

    def after_group(self, connection: sqlite3.Connection) -> None:
        """Take the state after our own commit as the one that readers know; called by the writer.

        The order matters: whatever another process commits before the first look is seen by the second one, and
        whatever it commits later differs from what was seen.
        """
        with self._watch_lock:
            self._watched = _data_version(self._watch)
        self.before_group(connection)

    def forget(self) -> None:
        """Drop from memory all vectors and what filters need."""
        with self.lock:
            with self._matrices_lock:
                for matrix in self._matrices.values():
                    matrix.forget()
            self.forget_filters()

    def forget_filters(self) -> None:
        """Drop from memory what filters need."""
        if self.filters is not None:
            self.filters.forget()

    # --- closing -----------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Fold the log into the file and close it. Waits for queued writes."""
        try:
            if self._holes:
                self._writer.submit(sweep).result()
            self._writer.exclusive(_checkpoint).result()
        except StorageError:
            # Everything acknowledged is in the log already; the next one who opens the file folds it in.
            pass
        finally:
            self._closed = True
            self._writer.stop()
            self._threads.shutdown()
            self._watch.close()
            while self._idle:
                self._idle.pop().close()


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Let several statements of a read see the same commit."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("COMMIT")


def _data_version(connection: sqlite3.Connection) -> int:
    """Return a number that changes when another connection has committed."""
    version: int = connection.execute("PRAGMA data_version").fetchone()[0]
    return version


def _checkpoint(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


# --- who has what open -----------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class _Opened:
    database: Database
    holders: int = 0


_OPENED: dict[Path, _Opened] = {}
_OPENING = threading.Lock()


def database_path(working_dir: str, workspace: str) -> Path:
    """Return the file of a workspace.

    Raises:
        InputError: The workspace cannot be the name of a folder.
    """
    check_workspace(workspace)
    return Path(working_dir).resolve() / workspace / FILE_NAME


def acquire(working_dir: str, workspace: str) -> Database:
    """Open the database of a workspace, or share the one that is open. Blocks while the file is opened.

    Raises:
        InputError: The workspace is no plain name.
        StorageError: The file cannot be opened.
        SchemaVersionError: It was written by a newer version.
    """
    path = database_path(working_dir, workspace)
    with _OPENING:
        opened = _OPENED.get(path)
        if opened is None:
            opened = _OPENED[path] = _Opened(Database(path))
        opened.holders += 1
        return opened.database


def release(database: Database) -> None:
    """Give a database back; the last holder closes it. Blocks while the log is folded in."""
    with _OPENING:
        opened = _OPENED[database.path]
        opened.holders -= 1
        if not opened.holders:
            del _OPENED[database.path]
            database.close()
