"""The writer: one thread and one connection through which every change of a database goes.

Whoever waits when the writer becomes free is committed together: one transaction and one wait for the disk for all of
them. Each write has a savepoint of its own, so a write that fails takes back nothing but itself.
"""

from __future__ import annotations

import logging
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

from lightrag.exceptions import StorageError
from lightrag.kg.sqlite.connection import is_full, log_outgrows_disk, translated

logger = logging.getLogger("lightrag.kg.sqlite")

T = TypeVar("T")
AfterCommit = Callable[[], None]
# Changes rows, and returns what has to follow in memory once the change is committed. It is called again when the
# transaction it was part of was lost, so it must depend on nothing but the connection.
Write = Callable[[sqlite3.Connection], AfterCommit | None]
Exclusive = Callable[[sqlite3.Connection], None]

# Writes committed together at the most; bounds how long the first of them waits.
_MAX_GROUP = 256


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


@dataclass(slots=True, eq=False)
class _Job:
    run: Write
    # Outside of any transaction and alone: loading, checkpoints.
    exclusive: bool = False
    future: Future[None] = field(default_factory=Future)


class _GroupLostError(Exception):
    """SQLite rolled the whole transaction back by itself, as it does when the disk is full."""


class Writer:
    """Runs writes in the order they were submitted. Safe to use from any thread and event loop.

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
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._loop, name=f"sqlite-writer {path.name}", daemon=True)
        self._thread.start()

    def submit(self, write: Write) -> Future[None]:
        """Queue a write; the future is done when the write is committed and visible.

        Raises:
            StorageError: The database has been closed.
        """
        return self._put(_Job(write))

    def exclusive(self, function: Exclusive) -> Future[None]:
        """Queue a function that runs between two transactions."""
        return self._put(_Job(function, exclusive=True))

    def stop(self) -> None:
        """Run what is queued, end the thread and close its connection."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        self._thread.join()
        self._connection.close()

    def _put(self, job: _Job) -> Future[None]:
        # The lock orders submissions and the end mark: nothing can be queued behind it and wait for ever.
        with self._lock:
            if self._closed:
                raise StorageError(f"database {str(self.path)!r} is closed; initialize the store first")
            self._queue.put(job)
        return job.future

    def _loop(self) -> None:
        ended = False
        while not ended:
            job = self._queue.get()
            if job is None:
                return
            jobs = [job]
            while len(jobs) < _MAX_GROUP:
                try:
                    following = self._queue.get_nowait()
                except queue.Empty:
                    break
                if following is None:
                    ended = True
                    break
                jobs.append(following)
            self._work(jobs)

    def _work(self, jobs: Sequence[_Job]) -> None:
        """Run jobs in order, neighbouring writes as one group."""
        group: list[_Job] = []
        for job in jobs:
            if not job.future.set_running_or_notify_cancel():
                continue
            if not job.exclusive:
                group.append(job)
                continue
            self._commit(group)
            group = []
            self._settle(job, _attempt(job.run, self._connection)[1])
        self._commit(group)

    def _commit(self, group: Sequence[_Job]) -> None:
        if not group:
            return
        outcomes, lost = self._try(group)
        if outcomes is None and lost is not None and len(group) == 1:
            outcomes = [lost]
        if outcomes is None:
            # Nothing of the group is stored. Alone, each shows whether it is the one that cannot be.
            for job in group:
                self._commit([job])
            return
        if len(group) == 1 and is_full(outcomes[0]) and self._fold_log():
            again, lost = self._try(group)
            outcomes = again or [lost]
        for job, failure in zip(group, outcomes, strict=True):
            if len(group) > 1 and is_full(failure):
                self._commit([job])
            else:
                self._settle(job, failure)

    def _try(self, group: Sequence[_Job]) -> tuple[list[BaseException | None] | None, BaseException | None]:
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

    def _transaction(self, group: Sequence[_Job]) -> list[BaseException | None]:
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

    def _in_savepoint(self, job: _Job) -> tuple[AfterCommit | None, BaseException | None]:
        connection = self._connection
        connection.execute("SAVEPOINT write")
        hook, failure = _attempt(job.run, connection)
        if failure is not None:
            if not connection.in_transaction:
                raise _GroupLostError from failure
            connection.execute("ROLLBACK TO write")
        connection.execute("RELEASE write")
        return hook, failure

    def _settle(self, job: _Job, failure: BaseException | None) -> None:
        if failure is None:
            job.future.set_result(None)
            return
        known = translated(failure, self.path) if isinstance(failure, Exception) else failure
        if known is not failure:
            known.__cause__ = failure
        job.future.set_exception(known)


def _attempt(function: Callable[..., T], *arguments: object) -> tuple[T | None, BaseException | None]:
    try:
        return function(*arguments), None
    except Exception as error:  # noqa: BLE001 - the boundary of the thread: what a write raises belongs to its caller
        return None, error
