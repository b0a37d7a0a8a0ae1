"""The writer: the one thread that changes what a folder holds, in memory and on disk.

Whoever waits when the writer becomes free is served together, with one wait for the disk for all of them. A write is
visible in memory a moment before it is durable; who wrote is answered afterwards, and when the disk refuses, what was
visible is taken back.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol

from lightrag.exceptions import StorageError
from lightrag.kg.files.table import Change, Write

# Writes made durable together at the most; bounds how long the first of them waits.
_MAX_GROUP = 256


class Target(Protocol):
    """What a writer writes to; all methods are called in the writer's thread."""

    def carry_out(self, write: Write) -> Change:
        """Carry a write out in memory; when it raises, nothing has changed."""

    def make_durable(self, changes: Sequence[Change]) -> None:
        """Put changes on the disk; when it raises, they have been taken back."""


@dataclass(slots=True, eq=False)
class _Job:
    write: Write | None
    alone: Callable[[], Any] | None = None
    future: Future[Any] = field(default_factory=Future)


class Writer:
    """Runs writes in the order they were submitted. Safe to use from any thread and event loop."""

    def __init__(self, name: str, target: Target) -> None:
        """Start the thread.

        Args:
            name: Of the folder, for messages.
            target: What is written to.
        """
        self._name = name
        self._target = target
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._loop, name=f"files-writer {name}", daemon=True)
        self._thread.start()

    def submit(self, write: Write) -> Future[None]:
        """Queue a write; the future is done when the write is durable.

        Raises:
            StorageError: The folder has been closed.
        """
        return self._put(_Job(write))

    def alone(self, function: Callable[[], Any]) -> Future[Any]:
        """Queue a function that runs between two groups of writes; the future has its result."""
        return self._put(_Job(None, function))

    def stop(self) -> None:
        """Run what is queued and end the thread."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        self._thread.join()

    def _put(self, job: _Job) -> Future[Any]:
        # The lock orders submissions and the end mark: nothing can be queued behind it and wait for ever.
        with self._lock:
            if self._closed:
                raise StorageError(f"folder {self._name!r} is closed; initialize the store first")
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
            if job.write is not None:
                group.append(job)
                continue
            self._commit(group)
            group = []
            self._run(job)
        self._commit(group)

    def _run(self, job: _Job) -> None:
        assert job.alone is not None
        try:
            result = job.alone()
        except Exception as error:  # noqa: BLE001 - the boundary of the thread: the error belongs to the caller
            job.future.set_exception(error)
        else:
            job.future.set_result(result)

    def _commit(self, group: Sequence[_Job]) -> None:
        done: list[tuple[_Job, Change]] = []
        for job in group:
            assert job.write is not None
            try:
                done.append((job, self._target.carry_out(job.write)))
            except Exception as error:  # noqa: BLE001 - the boundary of the thread, as above
                job.future.set_exception(error)
        if not done:
            return
        try:
            self._target.make_durable([change for _, change in done])
        except Exception as error:  # noqa: BLE001 - the boundary of the thread, as above
            for job, _ in done:
                job.future.set_exception(error)
        else:
            for job, _ in done:
                job.future.set_result(None)
