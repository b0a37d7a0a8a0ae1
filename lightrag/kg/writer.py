"""One thread through which every change of an embedded workspace goes."""

from __future__ import annotations

import asyncio
import queue
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from lightrag.exceptions import StorageError
from lightrag.kg.unit_of_work import UnitOfWork, settled

W = TypeVar("W")

# Writes carried out together at the most; bounds how long the first of them waits.
_MAX_GROUP = 256


@dataclass(slots=True, eq=False)
class Job(Generic[W]):
    """What was submitted to a :class:`Writer`.

    Attributes:
        work: The write, or a function without arguments.
        alone: It is such a function, and runs between two groups of writes.
        future: Done when the write is durable, or has what the function returned.
    """

    work: W
    alone: bool = False
    future: Future[Any] = field(default_factory=Future)


class Writer(ABC, Generic[W]):
    """Runs writes in the order they were submitted. Safe to use from any thread and event loop.

    Whoever waits when the thread becomes free is served together, with one wait for the disk for all of them.
    """

    def __init__(self, name: str) -> None:
        """Start the thread.

        Args:
            name: What is written to, for messages.
        """
        self.name = name
        self._queue: queue.SimpleQueue[Job[Any] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._loop, name=f"writer of {name}", daemon=True)
        self._thread.start()

    def submit(self, write: W) -> Future[None]:
        """Queue a write; the future is done when the write is durable and visible.

        Raises:
            StorageError: The writer has been stopped.
        """
        return self._put(Job(write))

    def alone(self, function: Callable[[], Any]) -> Future[Any]:
        """Queue a function that runs between two groups of writes; the future has its result."""
        return self._put(Job(function, alone=True))

    def stop(self) -> None:
        """Run what is queued and end the thread."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        self._thread.join()

    @abstractmethod
    def joined(self, writes: Sequence[W]) -> W:
        """Return the write that carries out several, all or none."""

    @abstractmethod
    def commit(self, group: Sequence[Job[W]]) -> None:
        """Carry out a group of writes and finish the future of each; called in the thread."""

    def fail(self, job: Job[Any], error: BaseException) -> None:
        """Finish the future of a job that did not work."""
        job.future.set_exception(error)

    def _put(self, job: Job[Any]) -> Future[Any]:
        # The lock orders submissions and the end mark: nothing can be queued behind it and wait for ever.
        with self._lock:
            if self._closed:
                raise StorageError(f"{self.name!r} is closed; initialize the store first")
            self._queue.put(job)
        return job.future

    def _loop(self) -> None:
        ended = False
        while not ended:
            jobs = [self._queue.get()]
            with suppress(queue.Empty):
                while len(jobs) < _MAX_GROUP and jobs[-1] is not None:
                    jobs.append(self._queue.get_nowait())
            ended = jobs[-1] is None
            self._work([job for job in jobs if job is not None])

    def _work(self, jobs: Sequence[Job[Any]]) -> None:
        """Run jobs in order, neighbouring writes as one group."""
        group: list[Job[W]] = []
        for job in jobs:
            if not job.future.set_running_or_notify_cancel():
                continue
            if not job.alone:
                group.append(job)
                continue
            self.commit(group)
            group = []
            try:
                result = job.work()
            except Exception as error:  # noqa: BLE001 - the boundary of the thread: the error belongs to the caller
                self.fail(job, error)
            else:
                job.future.set_result(result)
        self.commit(group)


class Transactional(UnitOfWork[W]):
    """What all stores of an embedded workspace write to: every commit is a job of its writer."""

    _writer: Writer[W]

    async def _commit(self, writes: Sequence[W]) -> None:
        write = writes[0] if len(writes) == 1 else self._writer.joined(writes)
        await settled(asyncio.wrap_future(self._writer.submit(write)))
