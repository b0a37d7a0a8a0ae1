"""What calls cost: told by the provider, estimated, streamed, failed, cancelled, repeated; prices and trackers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from lightrag.exceptions import ModelError, ModelReplyError
from lightrag.runtime.calls import BoundedCalls
from lightrag.runtime.events import ModelEvent
from lightrag.runtime.model_errors import ProviderError
from lightrag.runtime.model_set import TextModel
from lightrag.runtime.observation import CallObserver, Observation, watched
from lightrag.runtime.retries import NO_RETRIES, RetryPolicy
from lightrag.runtime.subjects import working_on
from lightrag.runtime.usage import Prices, RoleUsage, TokenEstimate, TokenTracker, report_usage
from tests.fakes.models import WordTokenizer


class World:
    """A model that is watched."""

    def __init__(self, func: Any, **limits: Any) -> None:
        self.observation = Observation()
        self.events: list[ModelEvent] = []
        self.observation.events.on("model", self.events.append)
        observer = CallObserver("query", self.observation, WordTokenizer())
        calls = BoundedCalls(func, 4, **{"retry": NO_RETRIES, **limits})
        self.model = TextModel("query", "id", calls, {}, observer)

    @property
    def usage(self) -> RoleUsage:
        return self.observation.usage()["query"]


async def telling(prompt: str, **_: Any) -> str:
    report_usage(100, 7)
    return "a reply of five words"


async def silent(prompt: str, **_: Any) -> str:
    return "a reply of five words"


async def test_what_the_provider_tells_is_counted() -> None:
    world = World(telling)
    assert await world.model.text("question") == "a reply of five words"
    await world.model.text("question")
    usage = world.usage
    assert (usage.calls, usage.failed, usage.prompt_tokens, usage.completion_tokens) == (2, 0, 200, 14)
    assert usage.estimated_calls == 0
    assert usage.cost is None
    assert usage.seconds > 0


async def test_what_it_does_not_tell_is_estimated_from_all_that_was_sent() -> None:
    world = World(silent)
    await world.model.text(
        "three word question", system_prompt="two words", history=[{"role": "user", "content": "one"}]
    )
    usage = world.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.estimated_calls) == (6, 5, 1)


def test_an_estimate_counts_some_and_scales_the_others() -> None:
    tokenizer = WordTokenizer()
    estimate = TokenEstimate(tokenizer)
    assert estimate.tokens(["one two three four"]) == 4
    for _ in range(1000):
        assert estimate.tokens(["five six seven eig"]) == 4
    assert estimate.tokens(["x" * 36]) == 8, "scaled by what was counted before"
    assert tokenizer.encoded == 11, "the first, second, fourth ... and 256th call, then each 256th"
    assert estimate.tokens([]) == 0


async def test_a_stream_is_counted_when_it_ends() -> None:
    async def stream(prompt: str, **_: Any) -> AsyncIterator[str]:
        async def pieces() -> AsyncIterator[str]:
            yield "one "
            yield "two"
            report_usage(9, 2, cost=0.5)

        return pieces()

    world = World(stream)
    reply = await world.model.reply("question", stream=True)
    assert "query" in world.observation.usage()
    assert world.usage.calls == 0
    assert [piece async for piece in reply] == ["one ", "two"]
    assert (world.usage.calls, world.usage.prompt_tokens, world.usage.completion_tokens) == (1, 9, 2)
    assert world.usage.cost == 0.5


async def test_a_stream_that_is_closed_counts_what_came() -> None:
    async def stream(prompt: str, **_: Any) -> AsyncIterator[str]:
        async def pieces() -> AsyncIterator[str]:
            while True:
                yield "word "

        return pieces()

    world = World(stream)
    reply = await world.model.reply("question", stream=True)
    assert await anext(reply) == "word "
    assert await anext(reply) == "word "
    await reply.aclose()  # type: ignore[attr-defined]
    await reply.aclose()  # type: ignore[attr-defined]
    await asyncio.sleep(0)
    assert (world.usage.calls, world.usage.completion_tokens) == (1, 3)
    assert [event.outcome for event in world.events] == ["cancelled"]


async def test_a_stream_that_breaks_is_a_failure() -> None:
    async def stream(prompt: str, **_: Any) -> AsyncIterator[str]:
        async def pieces() -> AsyncIterator[str]:
            yield "one"
            raise ProviderError("gone")

        return pieces()

    world = World(stream)
    reply = await world.model.reply("question", stream=True)
    with pytest.raises(ProviderError):
        [piece async for piece in reply]
    assert (world.usage.calls, world.usage.failed) == (1, 1)


async def test_failures_cost_what_the_provider_said_before_them() -> None:
    async def refuses(prompt: str, **_: Any) -> str:
        raise ProviderError("no", status_code=401)

    async def empty(prompt: str, **_: Any) -> str:
        report_usage(50, 1)
        raise ModelReplyError("empty")

    world = World(refuses)
    with pytest.raises(ModelError):
        await world.model.text("question")
    assert (world.usage.calls, world.usage.failed, world.usage.prompt_tokens) == (1, 1, 0)
    assert world.usage.estimated_calls == 0
    world = World(empty)
    with pytest.raises(ModelReplyError):
        await world.model.text("question")
    assert (world.usage.failed, world.usage.prompt_tokens, world.usage.completion_tokens) == (1, 50, 1)


async def test_repeated_attempts_are_one_call_and_all_of_their_tokens() -> None:
    attempts = 0

    async def second_time(prompt: str, **_: Any) -> str:
        nonlocal attempts
        attempts += 1
        report_usage(10, 0 if attempts == 1 else 5)
        if attempts == 1:
            raise ProviderError("busy", status_code=503)
        return "done"

    world = World(second_time, retry=RetryPolicy(first_wait=0.001, longest_wait=0.002))
    assert await world.model.text("question") == "done"
    assert (world.usage.calls, world.usage.failed, world.usage.prompt_tokens) == (1, 0, 20)
    assert world.usage.completion_tokens == 5


async def test_a_cancelled_call_is_noted() -> None:
    async def hangs(prompt: str, **_: Any) -> str:
        await asyncio.Event().wait()
        return ""

    world = World(hangs)
    task = asyncio.create_task(world.model.text("question"))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0)
    assert [event.outcome for event in world.events] == ["cancelled"]
    assert world.usage.failed == 1


async def test_events_name_what_the_call_was_for() -> None:
    world = World(telling)
    with working_on(document_id="doc-1", track_id="t-1"):
        await world.model.text("question")
    await asyncio.sleep(0)
    (event,) = world.events
    assert (event.role, event.outcome, event.document_id, event.track_id, event.query_id) == (
        "query",
        "done",
        "doc-1",
        "t-1",
        "",
    )
    assert (event.prompt_tokens, event.completion_tokens, event.estimated) == (100, 7, False)


async def test_prices_give_costs_and_a_cost_that_is_told_wins() -> None:
    async def priced(prompt: str, **_: Any) -> str:
        report_usage(1_000_000, 500_000)
        return "x"

    world = World(priced)
    assert world.model.observer is not None
    world.model.observer.meter.prices = Prices(2.0, 8.0)
    await world.model.text("question")
    assert world.usage.cost == pytest.approx(6.0)

    async def told(prompt: str, **_: Any) -> str:
        report_usage(1_000_000, 500_000, cost=0.25)
        return "x"

    world.model.calls = BoundedCalls(told, 1)
    await world.model.text("question")
    assert world.usage.cost == pytest.approx(6.25)


async def test_functions_by_keyword_are_watched() -> None:
    observation = Observation()
    observer = CallObserver("rerank", observation, WordTokenizer())

    async def rerank(*, query: str, documents: list[str]) -> list[int]:
        return [0]

    call = watched(rerank, observer, lambda given: [given["query"], *given["documents"]])
    assert await call(query="one", documents=["two words", "and three more"]) == [0]
    assert observation.usage()["rerank"].prompt_tokens == 6


def test_reporting_outside_a_call_does_nothing() -> None:
    report_usage(1, 2)


def test_a_tracker_adds_up_and_starts_afresh_in_a_block() -> None:
    tracker = TokenTracker()
    tracker.add_usage({"prompt_tokens": 3, "completion_tokens": 2})
    tracker.add_usage({"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 5})
    assert tracker.get_usage() == {
        "prompt_tokens": 4,
        "completion_tokens": 3,
        "total_tokens": 10,
        "call_count": 2,
    }
    with tracker as same:
        assert same.get_usage()["call_count"] == 0
