"""Bounded calls: how many at once, in which order, for how long, how often, and how they stop."""

from __future__ import annotations

import asyncio
import gc
import logging
import random
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest

from lightrag.exceptions import InputError, ModelError, ModelTimeoutError
from lightrag.runtime import calls as calls_module
from lightrag.runtime.calls import BoundedCalls, QueueStatus
from lightrag.runtime.model_errors import ProviderError
from lightrag.runtime.retries import NO_RETRIES, RetryPolicy

QUICK = RetryPolicy(first_wait=0.001, longest_wait=0.002)


class Gate:
    """A function whose calls end when the test says so."""

    def __init__(self) -> None:
        self.started: list[Any] = []
        self.cancelled: list[Any] = []
        self.running = 0
        self.most = 0
        self._open: dict[Any, asyncio.Future[Any]] = {}

    async def __call__(self, name: Any) -> Any:
        self.started.append(name)
        self.running += 1
        self.most = max(self.most, self.running)
        self._open[name] = asyncio.get_running_loop().create_future()
        try:
            return await self._open[name]
        except asyncio.CancelledError:
            self.cancelled.append(name)
            raise
        finally:
            self.running -= 1

    async def end(self, name: Any, result: Any = None) -> None:
        self._open[name].set_result(result)
        await settle()


async def settle() -> None:
    """Let everything that can run, run."""
    for _ in range(20):
        await asyncio.sleep(0)


class Failing:
    """A function that fails with the given errors, one by one, and then succeeds."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.times: list[float] = []

    async def __call__(self) -> str:
        self.times.append(time.monotonic())
        if self.errors:
            raise self.errors.pop(0)
        return "done"


async def test_arguments_and_result_pass_through() -> None:
    async def func(*args: Any, **kwargs: Any) -> Any:
        return args, kwargs

    assert await BoundedCalls(func, 1)(1, a=2, _priority=3) == ((1,), {"a": 2})


async def test_no_more_than_the_limit_at_once_and_in_order() -> None:
    gate = Gate()
    calls = BoundedCalls(gate, 2)
    tasks = [asyncio.create_task(calls(name)) for name in range(5)]
    await settle()
    assert gate.started == [0, 1]
    assert calls.status() == QueueStatus("model", 2, None, running=2, queued=3, done=0, failed=0)
    await gate.end(1, "one")
    assert gate.started == [0, 1, 2]
    for name in (0, 2, 3, 4):
        await gate.end(name)
    assert await asyncio.gather(*tasks) == [None, "one", None, None, None]
    assert gate.most == 2
    assert calls.status() == QueueStatus("model", 2, None, running=0, queued=0, done=5, failed=0)


async def test_lower_priorities_go_first() -> None:
    gate = Gate()
    calls = BoundedCalls(gate, 1)
    order = [("first", 10), ("extract 1", 10), ("extract 2", 10), ("summary", 8), ("query 1", 5), ("query 2", 5)]
    tasks = [asyncio.create_task(calls(name, _priority=priority)) for name, priority in order]
    await settle()
    for _ in order:
        await gate.end(gate.started[-1])
    assert gate.started == ["first", "query 1", "query 2", "summary", "extract 1", "extract 2"]
    await asyncio.gather(*tasks)


async def test_a_newcomer_does_not_overtake_those_who_wait() -> None:
    gate = Gate()
    calls = BoundedCalls(gate, 1)
    tasks = [asyncio.create_task(calls(name)) for name in ("a", "b")]
    await settle()
    gate._open["a"].set_result(None)
    tasks.append(asyncio.create_task(calls("c")))
    await settle()
    assert gate.started == ["a", "b"]
    await gate.end("b")
    await gate.end("c")
    await asyncio.gather(*tasks)


async def test_a_call_that_takes_too_long_is_cancelled() -> None:
    gate = Gate()
    calls = BoundedCalls(gate, 1, timeout=0.05, name="embedding", retry=NO_RETRIES)
    with pytest.raises(ModelTimeoutError, match=r"embedding gave no reply within 0\.05 s"):
        await calls("slow")
    assert gate.cancelled == ["slow"]
    assert calls.status().failed == 1
    assert calls.status().running == 0


async def test_waiting_for_a_slot_does_not_count_as_time() -> None:
    gate = Gate()
    calls = BoundedCalls(gate, 1, timeout=1.0)
    first = asyncio.create_task(calls("first"))
    second = asyncio.create_task(calls("second"))
    await asyncio.sleep(0.6)
    await gate.end("first")
    await asyncio.sleep(0.5)
    await gate.end("second", "in time")
    assert await second == "in time"
    await first


async def test_a_time_out_of_the_function_itself_stays_what_it_is() -> None:
    with pytest.raises(ModelError, match="mine") as caught:
        await BoundedCalls(Failing(TimeoutError("mine")), 1, timeout=5, retry=NO_RETRIES)()
    assert not isinstance(caught.value, ModelTimeoutError)
    assert isinstance(caught.value.__cause__, TimeoutError)


async def test_passing_failures_are_tried_again() -> None:
    func = Failing(ConnectionError("a"), ProviderError("b", status_code=503), ProviderError("c", status_code=429))
    assert await BoundedCalls(func, 1, retry=QUICK)() == "done"
    assert len(func.times) == 4


async def test_the_last_failure_is_raised_as_the_cause_of_a_model_error() -> None:
    errors = [ConnectionError(str(number)) for number in range(9)]
    func = Failing(*errors)
    calls = BoundedCalls(func, 1, retry=QUICK)
    with pytest.raises(ModelError, match=r"ConnectionError: .*3") as caught:
        await calls()
    assert caught.value.__cause__ is errors[3]
    assert len(func.times) == QUICK.max_attempts
    assert (calls.status().done, calls.status().failed) == (0, 1)


@pytest.mark.parametrize("error", [ProviderError("no", status_code=400), ValueError("bug"), ModelError("no")])
async def test_other_failures_are_not(error: Exception) -> None:
    func = Failing(error)
    with pytest.raises(ModelError) as caught:
        await BoundedCalls(func, 1, retry=QUICK)()
    assert error in (caught.value, caught.value.__cause__)
    assert len(func.times) == 1


async def test_time_outs_are_tried_again_only_so_often() -> None:
    gate = Gate()
    with pytest.raises(ModelTimeoutError):
        await BoundedCalls(gate, 1, timeout=0.02, retry=QUICK)("slow")
    assert gate.cancelled == ["slow"] * QUICK.max_timeouts


async def test_the_provider_says_how_long_to_wait(caplog: pytest.LogCaptureFixture) -> None:
    func = Failing(ProviderError("slow down", status_code=429, retry_after=0.2))
    with caplog.at_level(logging.WARNING, "lightrag.models"):
        await BoundedCalls(func, 1, name="llm", retry=QUICK)()
    assert func.times[1] - func.times[0] >= 0.2
    assert "llm: attempt 1 of 4 failed, next in 0.2 s: slow down" in caplog.text


async def test_a_provider_that_wants_too_much_patience_fails_the_call() -> None:
    func = Failing(ProviderError("come back tomorrow", status_code=429, retry_after=86_400))
    with pytest.raises(ProviderError, match="tomorrow"):
        await BoundedCalls(func, 1, retry=QUICK)()


async def test_waits_grow() -> None:
    func = Failing(*(ConnectionError() for _ in range(3)))
    await BoundedCalls(func, 1, retry=RetryPolicy(first_wait=0.03))()
    waits = [later - earlier for earlier, later in pairwise(func.times)]
    assert waits[0] >= 0.03
    assert waits[1] >= 0.06
    assert waits[2] >= 0.12


async def test_a_call_keeps_its_slot_while_it_waits_to_try_again() -> None:
    func = Failing(ProviderError("slow down", status_code=429, retry_after=0.05))
    calls = BoundedCalls(func, 1, retry=QUICK)
    await asyncio.gather(calls(), calls())
    assert func.times[1] - func.times[0] >= 0.05


async def test_cancelling_a_caller_cancels_its_call() -> None:
    gate = Gate()
    calls = BoundedCalls(gate, 1)
    first, second = asyncio.create_task(calls("first")), asyncio.create_task(calls("second"))
    await settle()
    first.cancel()
    await settle()
    assert gate.cancelled == ["first"]
    assert gate.started == ["first", "second"]
    await gate.end("second")
    await second
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_cancelling_a_waiting_caller_leaves_the_queue() -> None:
    gate = Gate()
    calls = BoundedCalls(gate, 1)
    tasks = [asyncio.create_task(calls(name)) for name in ("a", "b", "c")]
    await settle()
    tasks[1].cancel()
    await settle()
    assert calls.status().queued == 1
    await gate.end("a")
    assert gate.started == ["a", "c"]
    await gate.end("c")
    await asyncio.gather(*tasks, return_exceptions=True)
    assert calls.status().running == 0


async def test_a_slot_handed_to_a_caller_that_is_just_cancelled_is_not_lost() -> None:
    gate = Gate()
    calls = BoundedCalls(gate, 1)
    tasks = [asyncio.create_task(calls(name)) for name in ("a", "b", "c")]
    await settle()
    gate._open["a"].set_result(None)
    await asyncio.sleep(0)  # "a" ends and hands its slot to "b" ...
    tasks[1].cancel()  # ... which is cancelled before it wakes
    await settle()
    assert gate.started[-1] == "c"
    await gate.end("c")
    await asyncio.gather(*tasks, return_exceptions=True)
    assert calls.status().running == 0
    assert calls.status().queued == 0


async def test_limits_change_while_calls_wait() -> None:
    gate = Gate()
    calls = BoundedCalls(gate, 1)
    tasks = [asyncio.create_task(calls(name)) for name in range(4)]
    await settle()
    calls.configure(max_async=3)
    await settle()
    assert gate.started == [0, 1, 2]
    calls.configure(max_async=1)
    await gate.end(0)
    await gate.end(1)
    assert gate.started == [0, 1, 2], "fewer slots than calls that run: nobody new"
    await gate.end(2)
    await gate.end(3)
    await asyncio.gather(*tasks)
    calls.configure(timeout=0.02)
    with pytest.raises(ModelTimeoutError):
        await calls("slow")
    calls.configure(timeout=None)
    assert calls.status().timeout is None
    calls.configure(max_async=2)
    assert (calls.status().max_async, calls.status().timeout) == (2, None)


@pytest.mark.parametrize("wrong", [{"max_async": 0}, {"max_async": -1}, {"timeout": 0}, {"timeout": -2.0}])
def test_limits_are_positive(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="must be greater than 0"):
        BoundedCalls(Gate(), **{"max_async": 1, **wrong})
    with pytest.raises(InputError, match="must be greater than 0"):
        BoundedCalls(Gate(), 1).configure(**wrong)


async def test_shutdown_stops_what_runs_and_what_waits() -> None:
    gate = Gate()
    calls = BoundedCalls(gate, 1, name="llm")
    tasks = [asyncio.create_task(calls(name)) for name in ("a", "b")]
    await settle()
    await calls.shutdown()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert [str(outcome) for outcome in outcomes] == ["llm was shut down"] * 2
    assert all(type(outcome) is ModelError for outcome in outcomes)
    assert gate.cancelled == ["a"]
    assert gate.started == ["a"]
    with pytest.raises(ModelError, match="shut down"):
        await calls("c")
    await calls.shutdown()


async def test_shutdown_ends_a_wait_for_another_attempt() -> None:
    func = Failing(ProviderError("slow down", status_code=429, retry_after=60))
    calls = BoundedCalls(func, 1)
    task = asyncio.create_task(calls())
    await settle()
    await asyncio.wait_for(calls.shutdown(), 2)
    with pytest.raises(ModelError, match="shut down"):
        await task


async def test_shutdown_does_not_wait_for_ever() -> None:
    async def stubborn() -> None:
        while not released.is_set():
            with suppress(asyncio.CancelledError):
                await released.wait()

    released = asyncio.Event()
    calls = BoundedCalls(stubborn, 1)
    task = asyncio.create_task(calls())
    await settle()
    await asyncio.wait_for(calls.shutdown(grace=0.1), 20)
    released.set()
    await asyncio.gather(task, return_exceptions=True)


def streaming(pieces: list[Any], closed: list[str] | None = None) -> Callable[[], Any]:
    async def produce() -> AsyncIterator[Any]:
        try:
            for piece in pieces:
                if isinstance(piece, Exception):
                    raise piece
                if piece is None:
                    await asyncio.sleep(60)
                yield piece
        finally:
            if closed is not None:
                closed.append("closed")

    async def func() -> AsyncIterator[Any]:
        return produce()

    return func


async def test_a_stream_keeps_its_slot_until_its_end() -> None:
    calls = BoundedCalls(streaming(["a", "b"]), 1)
    stream = await calls()
    second = asyncio.create_task(calls())
    assert [await anext(stream), await anext(stream)] == ["a", "b"]
    await settle()
    assert calls.status().running == 1
    assert calls.status().queued == 1
    with pytest.raises(StopAsyncIteration):
        await anext(stream)
    assert [piece async for piece in await second] == ["a", "b"]
    assert calls.status() == QueueStatus("model", 1, None, running=0, queued=0, done=2, failed=0)


async def test_closing_a_stream_closes_its_source_and_frees_its_slot() -> None:
    closed: list[str] = []
    calls = BoundedCalls(streaming(["a", "b"], closed), 1)
    stream = await calls()
    assert await anext(stream) == "a"
    await stream.aclose()
    await stream.aclose()
    assert closed == ["closed"]
    assert calls.status().running == 0
    with pytest.raises(StopAsyncIteration):
        await anext(stream)


async def test_a_forgotten_stream_frees_its_slot() -> None:
    calls = BoundedCalls(streaming(["a", "b"]), 1)
    async for _ in await calls():
        break
    gc.collect()
    await settle()
    assert calls.status().running == 0
    assert [piece async for piece in await calls()] == ["a", "b"]


async def test_a_stream_that_fails_or_stalls_frees_its_slot() -> None:
    calls = BoundedCalls(streaming(["a", ValueError("broken")]), 1)
    stream = await calls()
    assert await anext(stream) == "a"
    with pytest.raises(ModelError, match="ValueError: broken"):
        await anext(stream)
    assert (calls.status().running, calls.status().failed) == (0, 1)

    closed: list[str] = []
    stalled = BoundedCalls(streaming(["a", None], closed), 1, timeout=0.05)
    stream = await stalled()
    assert await anext(stream) == "a"
    with pytest.raises(ModelTimeoutError):
        await anext(stream)
    assert closed == ["closed"]
    assert stalled.status().running == 0


async def test_a_slow_reader_is_not_a_slow_model() -> None:
    stream = await BoundedCalls(streaming(["a", "b"]), 1, timeout=0.5)()
    assert await anext(stream) == "a"
    await asyncio.sleep(0.6)
    assert await anext(stream) == "b"
    await stream.aclose()


async def test_shutdown_closes_streams() -> None:
    closed: list[str] = []
    calls = BoundedCalls(streaming(["a", None], closed), 2)
    idle, reading = await calls(), await calls()
    await anext(idle)
    await anext(reading)
    task = asyncio.create_task(anext(reading))
    await settle()
    await calls.shutdown()
    with pytest.raises(ModelError, match="shut down"):
        await task
    assert closed == ["closed", "closed"]
    assert calls.status().running == 0


def test_one_object_serves_one_event_loop_after_another() -> None:
    async def func(value: int) -> int:
        await asyncio.sleep(0)
        return value

    calls = BoundedCalls(func, 1)

    async def several() -> list[int]:
        return await asyncio.gather(*(calls(number) for number in range(3)))

    assert asyncio.run(several()) == [0, 1, 2]
    assert asyncio.run(several()) == [0, 1, 2]
    assert calls.status().done == 6


def test_an_event_loop_that_died_takes_no_slot_with_it() -> None:
    gate = Gate()
    calls = BoundedCalls(gate, 1)
    loop = asyncio.new_event_loop()
    task = loop.create_task(calls("left behind"))
    loop.run_until_complete(asyncio.sleep(0.01))
    loop.close()
    assert calls.status().running == 0

    async def func() -> str:
        waiting = asyncio.create_task(calls("next"))
        await settle()
        await gate.end("next", "served")
        return str(await waiting)

    assert asyncio.run(func()) == "served"
    task._log_destroy_pending = False  # type: ignore[attr-defined]


def test_threads_with_a_loop_each() -> None:
    async def func(value: int) -> int:
        await asyncio.sleep(0.001)
        return value

    calls = BoundedCalls(func, 2)
    results: list[list[int]] = []

    async def several() -> list[int]:
        return await asyncio.gather(*(calls(number) for number in range(20)))

    threads = [threading.Thread(target=lambda: results.append(asyncio.run(several()))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [list(range(20))] * 4


async def test_under_random_load_no_slot_is_lost_or_doubled() -> None:
    rng = random.Random(7)
    running = most = 0

    async def func(duration: float, fail: bool) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        try:
            await asyncio.sleep(duration)
            if fail:
                raise ValueError("planned")
        finally:
            running -= 1

    calls = BoundedCalls(func, 3, timeout=0.004, retry=NO_RETRIES)
    tasks = []
    for _ in range(300):
        fail, duration = rng.random() < 0.2, rng.choice([0, 0.001, 0.02])
        tasks.append(asyncio.create_task(calls(duration, fail, _priority=rng.randrange(3))))
        if rng.random() < 0.3:
            rng.choice(tasks).cancel()
        if rng.random() < 0.2:
            await asyncio.sleep(0.001)
    await asyncio.gather(*tasks, return_exceptions=True)
    status = calls.status()
    assert most == 3
    assert running == 0
    assert (status.running, status.queued) == (0, 0)


async def test_a_call_that_succeeds_prepares_no_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    async def func() -> str:
        return "done"

    def prepared(*_: object) -> None:
        raise AssertionError("retries were prepared")

    monkeypatch.setattr(calls_module, "retrying", prepared)
    assert await BoundedCalls(func, 4, timeout=30.0)() == "done"
