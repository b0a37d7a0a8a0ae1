"""Model calls with bounded concurrency, priorities, time limits and retries.

Nothing is bound to an event loop when a :class:`BoundedCalls` is made: each loop that calls gets a lane of
its own, so an engine works from several ``asyncio.run`` one after another, and from threads with a loop each.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from types import EllipsisType
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, WeakSet, ref

from lightrag.exceptions import InputError, LightRAGError, ModelError
from lightrag.runtime.lanes import Lane
from lightrag.runtime.retries import RetryPolicy, retrying
from lightrag.runtime.subjects import subject_logger

logger = subject_logger("lightrag.models")

N = TypeVar("N", int, float)

DEFAULT_PRIORITY = 10


@dataclass(frozen=True)
class QueueStatus:
    """What a bounded function is doing.

    Attributes:
        name: Its name.
        max_async: Calls that may run at a time.
        timeout: Seconds per attempt, or ``None``.
        running: Calls that run, streams that are still being read included.
        queued: Calls that wait for a slot.
        done: Calls that succeeded so far.
        failed: Calls that failed or were cancelled so far.
    """

    name: str
    max_async: int
    timeout: float | None
    running: int
    queued: int
    done: int
    failed: int


class BoundedCalls:
    """An async function of which only so many calls run at a time.

    Called as the function itself, with one more keyword ``_priority``: lower numbers run first, and calls of
    one priority in the order they came. A call that fails for a passing reason is tried again while it keeps
    its slot, so that a provider that asks for patience gets it. A reply that is an async iterator keeps its
    slot until it is read to its end, closed or forgotten.
    """

    def __init__(
        self,
        func: Callable[..., Awaitable[Any]],
        max_async: int,
        timeout: float | None = None,
        name: str = "model",
        retry: RetryPolicy | None = None,
    ) -> None:
        """Bound a function.

        Args:
            func: The async function.
            max_async: Calls that may run at a time, in one event loop.
            timeout: Seconds per attempt, and between two pieces of a stream; ``None`` for no limit.
            name: Names the function in messages and in its status.
            retry: When to try again; ``None`` for the defaults of :class:`RetryPolicy`.

        Raises:
            InputError: ``max_async`` or ``timeout`` is not positive.
        """
        self._func = func
        self._name = name
        self._retry = RetryPolicy() if retry is None else retry
        self._max_async = _positive("max_async", max_async)
        self._timeout = None if timeout is None else _positive("timeout", timeout)
        self._lanes: WeakKeyDictionary[asyncio.AbstractEventLoop, Lane] = WeakKeyDictionary()
        self._streams: WeakSet[BoundedStream] = WeakSet()
        self._closed = False
        self._queued = 0
        self._done = 0
        self._failed = 0

    async def __call__(self, *args: Any, _priority: int = DEFAULT_PRIORITY, **kwargs: Any) -> Any:
        """Call the function when a slot is free.

        Args:
            args: For the function.
            _priority: Lower numbers run first.
            kwargs: For the function.

        Returns:
            What the function returns; an async iterator comes wrapped, with ``aclose()``.

        Raises:
            ModelTimeoutError: The last attempt gave no reply in time.
            ModelError: The function failed, or the calls were shut down. What a user's function raises is the cause.
        """
        lane = self._lane()
        await lane.enter(_priority)
        stream: BoundedStream | None = None
        succeeded = False
        try:
            reply = await self._attempts(lane, args, kwargs)
            succeeded = True
            if not hasattr(reply, "__aiter__"):
                return reply
            stream = BoundedStream(reply, lane, self._timeout, self._count, self._name)
            self._streams.add(stream)
            return stream
        except LightRAGError:
            raise
        except asyncio.CancelledError as error:
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                raise
            # Nobody cancelled this call: the function did so to itself, which must not stop its caller.
            raise ModelError(f"the {self._name} failed: it was cancelled from inside") from error
        except Exception as error:
            raise _foreign(self._name, error) from error
        finally:
            if stream is None:
                self._count(succeeded)
                lane.leave()

    def configure(self, *, max_async: int | None = None, timeout: float | EllipsisType | None = ...) -> None:
        """Change the limits; calls that run are not touched, calls that wait profit at once.

        Args:
            max_async: New limit; ``None`` keeps it.
            timeout: Seconds for attempts that start from now on, ``None`` for no limit; not given keeps it.

        Raises:
            InputError: A limit is not positive.
        """
        if not isinstance(timeout, EllipsisType):
            self._timeout = None if timeout is None else _positive("timeout", timeout)
        if max_async is None:
            return
        self._max_async = _positive("max_async", max_async)
        for loop, lane in list(self._lanes.items()):
            lane.limit = self._max_async
            if not loop.is_closed():
                loop.call_soon_threadsafe(lane.wake)

    def status(self) -> QueueStatus:
        """Return what is running and what was done."""
        running = sum(lane.running for loop, lane in list(self._lanes.items()) if not loop.is_closed())
        return QueueStatus(
            name=self._name,
            max_async=self._max_async,
            timeout=self._timeout,
            running=running,
            queued=self._queued,
            done=self._done,
            failed=self._failed,
        )

    async def shutdown(self, grace: float = 5.0) -> None:
        """Refuse further calls, fail those that wait, stop those that run and close open streams. Idempotent.

        Args:
            grace: Seconds to wait for functions that are slow to react to their cancellation.
        """
        self._closed = True
        here = asyncio.get_running_loop()
        for loop, lane in list(self._lanes.items()):
            if loop is here:
                lane.close()
            elif not loop.is_closed():
                loop.call_soon_threadsafe(lane.close)
        own = self._lanes.get(here)
        until = here.time() + grace
        while own is not None and not own.idle:
            if here.time() > until:
                logger.warning("%s: %d calls did not stop within %g s", self._name, own.running, grace)
                return
            await asyncio.sleep(0.01)
        for stream in list(self._streams):
            if stream.lane is own:
                await stream.aclose()

    def _lane(self) -> Lane:
        loop = asyncio.get_running_loop()
        lane = self._lanes.get(loop)
        if self._closed:
            raise ModelError(f"{self._name} was shut down")
        if lane is None:
            lane = self._lanes[loop] = Lane(self._name, int(self._max_async), self._count_waiting)
        return lane

    async def _attempts(self, lane: Lane, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        async def attempt() -> Any:
            return await lane.within(self._func(*args, **kwargs), self._timeout)

        async def pause(seconds: float) -> None:
            await lane.within(asyncio.sleep(seconds), None)

        try:
            return await attempt()
        except Exception as error:  # noqa: BLE001 - tried again, or raised by what decides that
            failed = [error]

        async def attempt_again() -> Any:
            if failed:
                raise failed.pop()
            return await attempt()

        # Only for a call that failed: what decides about retries is a few dozen objects that refer to each other.
        return await retrying(self._retry, pause, self._name)(attempt_again)

    def _count(self, succeeded: bool) -> None:
        if succeeded:
            self._done += 1
        else:
            self._failed += 1

    def _count_waiting(self, change: int) -> None:
        self._queued += change


class BoundedStream(AsyncIterator[Any]):
    """A streamed reply that keeps its slot until it ends, is closed, or is forgotten.

    Attributes:
        lane: Where its slot belongs to.
    """

    def __init__(
        self,
        source: AsyncIterable[Any],
        lane: Lane,
        timeout: float | None,
        count: Callable[[bool], None],
        name: str = "model",
    ) -> None:
        """Wrap a reply.

        Args:
            source: The reply.
            lane: Holds the slot.
            timeout: Seconds that the next piece may take; ``None`` for no limit.
            count: Told once whether the stream was read to its end.
            name: Names the function in messages.
        """
        self.lane = lane
        self._name = name
        self._source = source
        self._pieces = aiter(source)
        self._timeout = timeout
        self._count = count
        self._loop = ref(asyncio.get_running_loop())
        self._holds_slot = True

    async def __anext__(self) -> Any:
        if not self._holds_slot:
            raise StopAsyncIteration
        ended = received = False
        try:
            piece = await self.lane.within(self._pieces.__anext__(), self._timeout)
            received = True
            return piece
        except StopAsyncIteration:
            ended = True
            raise
        except LightRAGError:
            raise
        except Exception as error:
            raise _foreign(self._name, error) from error
        finally:
            if not received:
                self._release(succeeded=ended)

    async def aclose(self) -> None:
        """Stop reading: the source is closed, and its connection with it. Idempotent."""
        try:
            close = getattr(self._source, "aclose", None)
            if close is not None:
                await close()
        finally:
            self._release(succeeded=True)

    def _release(self, *, succeeded: bool) -> None:
        if self._holds_slot:
            self._holds_slot = False
            self._count(succeeded)
            self.lane.leave()

    def __del__(self) -> None:
        # A reader that broke out of its loop without closing must not take a slot and a connection with it for
        # ever. The collector may run in any thread, so both go back inside the loop they belong to.
        loop = self._loop() if self._holds_slot else None
        if loop is not None and not loop.is_closed():
            self._holds_slot = False
            self._count(True)
            loop.call_soon_threadsafe(_abandon, self.lane, self._source)


# The loop itself keeps no tasks alive.
_closing: set[asyncio.Task[None]] = set()


def _abandon(lane: Lane, source: Any) -> None:
    """Give back the slot of a stream that nobody will read, and close it; to be called inside its event loop."""
    lane.leave()
    if hasattr(source, "aclose"):
        task = asyncio.get_running_loop().create_task(_close(source))
        _closing.add(task)
        task.add_done_callback(_closed)


async def _close(source: Any) -> None:
    await source.aclose()


def _closed(task: asyncio.Task[None]) -> None:
    _closing.discard(task)
    # A generator of a user's may be closed by the collector at the same moment, or fail on its way out.
    error = None if task.cancelled() else task.exception()
    if error is not None:
        logger.debug("a stream that nobody read failed while it was closed: %r", error)


def _foreign(name: str, error: Exception) -> ModelError:
    return ModelError(f"the {name} failed: {type(error).__name__}: {error}")


def _positive(name: str, value: N) -> N:
    if not value > 0:
        raise InputError(f"{name}={value!r} must be greater than 0")
    return value
