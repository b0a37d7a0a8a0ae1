"""The writer: one thread and one connection through which every change of a database goes.

Each write of a group has a savepoint of its own, so a write that fails takes back nothing but itself.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Protocol, TypeVar

from lightrag.kg.sqlite.connection import is_full, log_outgrows_disk, translated
from lightrag.kg.writer import Job, Writer

logger = logging.getLogger("lightrag.kg.sqlite")

T = TypeVar("T")
AfterCommit = Callable[[], None]
# Changes rows, and returns what has to follow in memory once the change is committed. It is called again when the
# transaction it was part of was lost, so it must depend on nothing but the connection.
Write = Callable[[sqlite3.Connection], AfterCommit | None]
Exclusive = Callable[[sqlite3.Connection], None]


class Memory(Protocol):
    """What a database keeps in memory of its rows; all methods are called in the writer's thread.

    Attributes:
        lock: Held while memory follows a commit, so that others see all of it or nothing.
    """

    lock: threading.RLock

    def before_group(self, connection: sqlite3.Connection) -> None:
        """Look, inside a new transaction, whether another process has changed the file."""

    def after_group(self, connection: sqlite3.Connection) -> None:
        """Note that a transaction of our own was committed."""

    def forget(self) -> None:
        """Drop everything; it is loaded again when needed."""


class _GroupLostError(Exception):
    """SQLite rolled the whole transaction back by itself, as it does when the disk is full."""


class DatabaseWriter(Writer[Write]):
    """Commits the writes of a group in one transaction.

    Attributes:
        path: The database file.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, memory: Memory) -> None:
        """Start the thread, which owns the connection from now on.

        Args:
            path: The database file, for messages.
            connection: Opened by :func:`~lightrag.kg.sqlite.connection.connect_writer`.
            memory: Told about every transaction.
        """
        self.path = path
        self._connection = connection
        self._memory = memory
        super().__init__(str(path))

    def exclusive(self, function: Exclusive) -> Future[None]:
        """Queue a function that runs between two transactions, such as loading and checkpoints."""
        return self.alone(lambda: function(self._connection))

    def stop(self) -> None:
        """Run what is queued, end the thread and close its connection."""
        super().stop()
        self._connection.close()

    def joined(self, writes: Sequence[Write]) -> Write:
        """Return the write that carries out several."""

        def run(connection: sqlite3.Connection) -> AfterCommit:
            hooks = [hook for write in writes if (hook := write(connection)) is not None]

            def follow() -> None:
                for hook in hooks:
                    hook()

            return follow

        return run

    def commit(self, group: Sequence[Job[Write]]) -> None:
        """Commit a group of writes and finish the future of each."""
        if not group:
            return
        outcomes, lost = self._try(group)
        if outcomes is None and lost is not None and len(group) == 1:
            outcomes = [lost]
        if outcomes is None:
            # Nothing of the group is stored. Alone, each shows whether it is the one that cannot be.
            for job in group:
                self.commit([job])
            return
        if len(group) == 1 and is_full(outcomes[0]) and self._fold_log():
            again, lost = self._try(group)
            outcomes = again or [lost]
        for job, failure in zip(group, outcomes, strict=True):
            if len(group) > 1 and is_full(failure):
                self.commit([job])
            elif failure is None:
                job.future.set_result(None)
            else:
                self.fail(job, failure)

    def _try(self, group: Sequence[Job[Write]]) -> tuple[list[BaseException | None] | None, BaseException | None]:
        """Commit a group; return what failed by job, or ``None`` and why nothing of it is stored."""
        _, refused = _attempt(self._connection.execute, "BEGIN IMMEDIATE")
        if refused is not None:
            # Whoever holds the file would make every one of them wait as long again.
            return [refused] * len(group), None
        outcomes, lost = _attempt(self._transaction, group)
        return outcomes, lost.__cause__ if isinstance(lost, _GroupLostError) else lost

    def _fold_log(self) -> bool:
        """Fold the log into the file, which can make room on a full disk; tell whether it did."""
        row, _ = _attempt(lambda: self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone())
        return row is not None and row[0] == 0

    def _transaction(self, group: Sequence[Job[Write]]) -> list[BaseException | None]:
        """Finish a transaction that has begun; return what failed, by job."""
        connection = self._connection
        try:
            self._memory.before_group(connection)
            outcomes: list[BaseException | None] = []
            hooks: list[AfterCommit] = []
            for job in group:
                hook, failure = self._in_savepoint(job)
                outcomes.append(failure)
                if hook is not None:
                    hooks.append(hook)
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        self._committed(hooks)
        if log_outgrows_disk(self.path):
            self._fold_log()
        return outcomes

    def _committed(self, hooks: Sequence[AfterCommit]) -> None:
        with self._memory.lock:
            for hook in hooks:
                _, failure = _attempt(hook)
                if failure is not None:
                    # The rows are stored; only what memory knows of them is in doubt.
                    logger.warning("memory of %s could not follow a commit and is dropped", self.path, exc_info=failure)
                    self._memory.forget()
        _, failure = _attempt(self._memory.after_group, self._connection)
        if failure is not None:
            logger.warning("version of %s could not be read; memory is dropped", self.path, exc_info=failure)
            self._memory.forget()

    def _in_savepoint(self, job: Job[Write]) -> tuple[AfterCommit | None, BaseException | None]:
        connection = self._connection
        connection.execute("SAVEPOINT write")
        hook, failure = _attempt(job.work, connection)
        if failure is not None:
            if not connection.in_transaction:
                raise _GroupLostError from failure
            connection.execute("ROLLBACK TO write")
        connection.execute("RELEASE write")
        return hook, failure

    def fail(self, job: Job[Any], error: BaseException) -> None:
        """Finish the future of a job that did not work, with the error that says what it means."""
        known = translated(error, self.path) if isinstance(error, Exception) else error
        if known is not error:
            known.__cause__ = error
        super().fail(job, known)


def _attempt(function: Callable[..., T], *arguments: object) -> tuple[T | None, BaseException | None]:
    try:
        return function(*arguments), None
    except Exception as error:  # noqa: BLE001 - the boundary of the thread: what a write raises belongs to its caller
        return None, error
