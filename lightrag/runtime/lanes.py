"""The queue of bounded calls inside one event loop: who runs, who waits, and how both are stopped."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Awaitable, Callable
from itertools import count
from typing import TypeVar

from lightrag.exceptions import ModelError, ModelTimeoutError

T = TypeVar("T")


class Lane:
    """Slots and waiters of one event loop.

    A call runs in the task of its caller, so that cancelling the caller cancels the call, and an uncontended
    call costs no task and no future.

    Attributes:
        name: Names the calls in messages.
        limit: Calls that may run at a time; may be changed at any moment, followed by :meth:`wake`.
        running: Slots taken.
    """

    def __init__(self, name: str, limit: int, on_wait: Callable[[int], None]) -> None:
        """Open an empty lane.

        Args:
            name: Names the calls in messages.
            limit: Calls that may run at a time.
            on_wait: Told ``+1`` when a call starts to wait and ``-1`` when it stops.
        """
        self.name = name
        self.limit = limit
        self.running = 0
        self._on_wait = on_wait
        self._closed = False
        self._order = count()
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._deadlines: set[asyncio.Timeout] = set()

    async def enter(self, priority: int) -> None:
        """Take a slot, waiting if need be: lower priorities first, first come first served inside one.

        Raises:
            ModelError: The lane was closed.
        """
        if self._closed:
            raise self._closed_error()
        if self.running < self.limit and not self._waiting:
            self.running += 1
            return
        turn = asyncio.get_running_loop().create_future()
        entry = (priority, next(self._order), turn)
        heapq.heappush(self._waiting, entry)
        self._on_wait(1)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self.leave()  # the slot had just been handed over
            else:
                self._forget(entry)
            raise
        finally:
            self._on_wait(-1)

    def leave(self) -> None:
        """Give a slot back."""
        self.running -= 1
        self.wake()

    def wake(self) -> None:
        """Hand free slots to those who wait."""
        while self._waiting and self.running < self.limit:
            _, _, turn = heapq.heappop(self._waiting)
            if not turn.done():
                self.running += 1
                turn.set_result(None)

    async def within(self, work: Awaitable[T], seconds: float | None) -> T:
        """Await something, for a limited time, and until the lane is closed.

        Args:
            work: What to await; it is cancelled when the time is over.
            seconds: How long; ``None`` for no limit.

        Raises:
            ModelTimeoutError: The time was over.
            ModelError: The lane was closed.
        """
        deadline: asyncio.Timeout | None = None
        try:
            async with asyncio.timeout(seconds) as deadline:
                self._deadlines.add(deadline)
                return await work
        except TimeoutError as error:
            if deadline is None or not deadline.expired():
                raise
            if self._closed:
                raise self._closed_error() from error
            raise ModelTimeoutError(f"{self.name} gave no reply within {seconds:g} s") from error
        finally:
            if deadline is not None:
                self._deadlines.discard(deadline)

    def close(self) -> None:
        """Refuse new calls, fail those that wait, stop those that run; to be called inside the event loop."""
        self._closed = True
        for _, _, turn in self._waiting:
            if not turn.done():
                turn.set_exception(self._closed_error())
        self._waiting.clear()
        now = asyncio.get_running_loop().time()
        for deadline in self._deadlines:
            if not deadline.expired():
                deadline.reschedule(now)

    @property
    def idle(self) -> bool:
        """Tell whether nothing is being awaited."""
        return not self._deadlines

    def _forget(self, entry: tuple[int, int, asyncio.Future[None]]) -> None:
        if entry in self._waiting:
            self._waiting.remove(entry)
            heapq.heapify(self._waiting)

    def _closed_error(self) -> ModelError:
        return ModelError(f"{self.name} was shut down")
