"""An engine over a provider that misbehaves: what is bad fails by name, the rest goes on, and nothing is left open."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from lightrag import LightRAG, QueryParam
from lightrag.exceptions import LightRAGError, ModelReplyError, PipelineCancelledError
from tests.fakes.audit import disagreements
from tests.storms import faults
from tests.storms.engines import NUMBER, engine_at, insert, reasons, retry, running, states
from tests.storms.provider import KEY, Fault, Good, Provider, answer_well

QUESTION = "What did Ada7 write?"
BINDINGS = ("openai", "ollama")

pytestmark = pytest.mark.parametrize("binding", BINDINGS)


@pytest.fixture
async def engine(provider: Provider, tmp_path: Path, binding: str) -> AsyncIterator[LightRAG]:
    opened = engine_at(provider, binding, tmp_path)
    await opened.initialize_storages()
    yield opened
    await opened.finalize_storages()


async def test_a_mixed_storm_stops_nothing_and_leaves_nothing(
    provider: Provider, engine: LightRAG, caplog: pytest.LogCaptureFixture
) -> None:
    chance = random.Random(1)
    kinds = [faults.html, faults.empty, faults.gzip_rubbish, faults.json_null, faults.error_in_200, faults.null_content,
             faults.finish("content_filter", 0.6), faults.finish("length", 0.5), faults.drop_after_headers,
             faults.wrong_types, faults.status(401, f"bad key {KEY}")]  # fmt: skip
    provider.faults = lambda good: chance.choice(kinds) if chance.random() < 0.15 else None
    with caplog.at_level(logging.DEBUG, "lightrag"):
        await insert(engine)
    failed = await reasons(engine)
    assert (await states(engine)) == {"failed": len(failed), "processed": NUMBER - len(failed)}
    assert 0 < len(failed) < NUMBER / 2
    assert all("model 'm'" in reason for reason in failed.values())
    assert KEY not in caplog.text + str(failed)
    assert await disagreements(engine) == []
    assert (running(engine), provider.open) == (0, 0)
    asked = await retry(engine, provider)
    assert asked["extract"] <= len(failed), "what was paid for is not paid for again"
    assert await states(engine) == {"processed": NUMBER}


async def test_a_reply_that_a_filter_ended_early_is_no_extraction(provider: Provider, engine: LightRAG) -> None:
    def part_of_one(good: Good) -> Fault | None:
        hit = good.task == "extract" and "Ada7 " in good.body["messages"][-1]["content"]
        return faults.finish("content_filter", 0.6) if hit else None

    provider.faults = part_of_one
    await insert(engine)
    failed = await reasons(engine)
    assert list(failed) == ["7.md"]
    assert "content_filter" in failed["7.md"]


async def test_an_answer_that_is_not_whole_is_not_kept(provider: Provider, engine: LightRAG) -> None:
    await insert(engine, 8)
    ends = [faults.finish("length", 0.4), faults.finish("content_filter", 0.4)]
    broken = [*ends, faults.cut("polite"), faults.cut("line"), faults.cut("nothing"), faults.error_in_stream]
    for mode in ("naive", "mix", "bypass"):
        for fault in broken:
            provider.faults = only("answer", fault)
            stream = await engine.aquery(QUESTION, QueryParam(mode=mode, stream=True))
            assert not isinstance(stream, str)
            with pytest.raises(LightRAGError):
                [piece async for piece in stream]
    provider.tasks.clear()
    provider.faults = lambda good: None
    assert await engine.aquery(QUESTION, QueryParam(mode="mix")) == f"answer to {QUESTION}"
    assert provider.count("answer") == 1
    assert (running(engine), provider.open) == (0, 0)


def only(task: str, fault: Fault) -> Callable[[Good], Fault | None]:
    return lambda good: fault if good.task == task else None


@pytest.mark.parametrize("mode", ["naive", "bypass"])
async def test_an_answer_that_is_cut_off_says_so(provider: Provider, engine: LightRAG, mode: str) -> None:
    await insert(engine, 8)
    provider.faults = only("answer", faults.finish("length", 0.4))
    reply = (await engine.aquery_llm(QUESTION, QueryParam(mode=mode)))["llm_response"]
    assert reply["content"]
    assert f"answer to {QUESTION}".startswith(reply["content"])
    assert reply["cut_off"]
    provider.faults = only("answer", faults.finish("length", 0))
    with pytest.raises(ModelReplyError, match="cut off"):
        await engine.aquery(QUESTION, QueryParam(mode=mode))
    provider.faults = lambda good: None
    assert "cut_off" not in (await engine.aquery_llm(QUESTION, QueryParam(mode=mode)))["llm_response"]


async def test_a_failing_provider_costs_the_log_one_line_per_question(
    provider: Provider, engine: LightRAG, caplog: pytest.LogCaptureFixture
) -> None:
    await insert(engine, 8)
    provider.faults = only("answer", faults.status(401, "no"))
    await engine.aquery_llm(QUESTION, QueryParam(mode="naive"))
    told = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert [record.exc_info for record in told] == [None]
    assert "answered 401" in told[0].getMessage()


@pytest.mark.parametrize("end", ["cancel", "close"])
@pytest.mark.parametrize(
    "fault",
    [faults.hang, faults.hang_in_body, faults.status(429, headers={"retry-after": "60"})],
    ids=["hang", "body", "429"],
)
async def test_a_run_can_be_ended_while_the_provider_hangs(
    provider: Provider, tmp_path: Path, binding: str, fault: Fault, end: str
) -> None:
    fields = {"default_llm_timeout": 60, "default_embedding_timeout": 60}
    engine = engine_at(provider, binding, tmp_path, **fields)
    await engine.initialize_storages()
    provider.faults = lambda good: fault if good.task == "extract" and provider.count("extract") > 4 else None
    run = asyncio.create_task(insert(engine))
    async with asyncio.timeout(20):
        while provider.count("extract") < 6:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    # The last good reply may still be on its way.
    await asyncio.sleep(0.3)
    # A call that hangs is given 60 seconds, and nobody waits for it.
    async with asyncio.timeout(30):
        if end == "cancel":
            engine.cancel_pipeline()
            await run
            assert running(engine) == 0
            assert "cancelled the pipeline" in next(iter((await reasons(engine)).values()))
        else:
            await engine.finalize_storages()
            with pytest.raises(PipelineCancelledError):
                await run
            engine = engine_at(provider, binding, tmp_path)
            await engine.initialize_storages()
    await asyncio.sleep(0.05)
    assert provider.open == 0
    asked = await retry(engine, provider)
    assert asked["extract"] == NUMBER - 4, "what was paid for is not paid for again"
    assert await states(engine) == {"processed": NUMBER}
    assert await disagreements(engine) == []
    await engine.finalize_storages()


async def test_a_storm_of_refusals_is_waited_out(provider: Provider, engine: LightRAG) -> None:
    codes = [500, 502, 503, 529, 429]
    waits = ["", "0", "-3", "soon", "Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:28:00 +99999999999999999999"]
    served = 0

    def storm(good: Good) -> Fault | None:
        nonlocal served
        served += 1
        if served > 6:
            return answer_well
        headers = {"retry-after": waits[served - 1]} if waits[served - 1] else {}
        return faults.status(codes[served % len(codes)], headers=headers)

    provider.faults = storm
    await insert(engine, 8)
    assert await states(engine) == {"processed": 8}, await reasons(engine)
    assert served > 6
