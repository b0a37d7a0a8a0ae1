"""One thread through which every change of an embedded workspace goes, and blocks of writes that are one change."""

from __future__ import annotations

import asyncio
import queue
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from lightrag.exceptions import StorageError

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


@dataclass(slots=True, eq=False)
class _Block(Generic[W]):
    """Writes collected by a :meth:`Transactional.transaction`."""

    writes: list[W] = field(default_factory=list)
    closed: bool = False


_BLOCKS: ContextVar[Mapping[int, _Block[Any]]] = ContextVar("blocks", default={})  # noqa: B039 - never changed in place


class Transactional(Generic[W]):
    """What all stores of a workspace write to."""

    _writer: Writer[W]

    async def write(self, write: W) -> None:
        """Commit a write; inside a :meth:`transaction` only remember it.

        Raises:
            StorageFullError: The disk is full; nothing of the write was stored.
            StorageError: It could not be stored.
        """
        block = _BLOCKS.get().get(id(self))
        if block is not None and not block.closed:
            block.writes.append(write)
            return
        await _settled(self._writer.submit(write))

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Collect the writes of the block, those of tasks started in it included, and commit them as one.

        A block inside another one joins it; when it fails, only its own writes are forgotten.
        """
        blocks = _BLOCKS.get()
        outer = blocks.get(id(self))
        block: _Block[W] = _Block()
        token = _BLOCKS.set({**blocks, id(self): block})
        try:
            yield
        finally:
            block.closed = True
            _BLOCKS.reset(token)
        if not block.writes:
            return
        if outer is not None and not outer.closed:
            outer.writes.extend(block.writes)
            return
        await _settled(self._writer.submit(self._writer.joined(block.writes)))


async def _settled(commit: Future[None]) -> None:
    """Await a commit to its end, also when the caller is cancelled meanwhile.

    The writer makes the commit in any case. A caller that left before would give back its locks while what it wrote
    is not there yet, and the next one would compute from the state before.
    """
    waiting = asyncio.wrap_future(commit)
    cancelled: asyncio.CancelledError | None = None
    while not waiting.done():
        try:
            await asyncio.shield(waiting)
        except asyncio.CancelledError as error:
            if waiting.cancelled():
                raise
            cancelled = error
    if cancelled is not None:
        raise cancelled
    waiting.result()
