"""Prompts, the model, and streams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from lightrag.contracts.query import QueryParam
from lightrag.exceptions import InputError, ModelError
from lightrag.prompts import PROMPTS
from lightrag.query.modes import run_query, to_answer, to_llm
from tests.query.corpus import Engine, archive

QUESTION = "Who levies harbour dues on coal?"
KEYS = {"hl_keywords": ["harbour dues"], "ll_keywords": ["dock board"]}


async def prompt_of(engine: Engine, system_prompt: str | None = None, **options: object) -> str:
    """Return the system prompt that the model receives."""
    param = QueryParam(**{"mode": "naive", **options})
    await run_query(engine.context, QUESTION, param, system_prompt=system_prompt)
    call = engine.llm.calls[-1]
    assert call.prompt == QUESTION
    assert call.system_prompt is not None
    return call.system_prompt


async def test_our_prompt_holds_context_form_and_wishes() -> None:
    engine = await archive(user_prompt_prefix="Be brief.")
    prompt = await prompt_of(engine, response_type="Bullet Points", user_prompt="In verse.")
    assert "levies harbour dues on every vessel" in prompt
    assert "Bullet Points" in prompt
    assert "Be brief.\nIn verse." in prompt
    assert "Be brief." not in await prompt_of(engine, user_prompt="Else.", disable_user_prompt_prefix=True)


async def test_a_system_prompt_with_slots() -> None:
    engine = await archive()
    prompt = await prompt_of(engine, "FORM {response_type} WISH {user_prompt} DATA {content_data} END", user_prompt="X")
    assert prompt.startswith("FORM Multiple Paragraphs WISH X DATA ")
    assert prompt.endswith(" END")
    assert "levies harbour dues" in prompt
    assert "levies harbour dues" in await prompt_of(engine, "{context_data}", mode="mix", **KEYS)
    assert "levies harbour dues" in await prompt_of(engine, "{context_data}", mode="naive")


async def test_a_system_prompt_without_slots_still_sees_the_context() -> None:
    engine = await archive()
    prompt = await prompt_of(engine, "You are a pirate.")
    assert prompt.startswith("You are a pirate.")
    assert "levies harbour dues" in prompt


@pytest.mark.parametrize(
    "template",
    [
        'Reply as {"answer": "..."} from {content_data}',
        "{content_data} {unknown}",
        "{content_data} {",
        "} {content_data}",
        "{content_data} {0} {}",
        "{content_data.__class__} {content_data}",
    ],
)
async def test_other_braces_in_a_system_prompt_do_no_harm(template: str) -> None:
    engine = await archive()
    prompt = await prompt_of(engine, template)
    assert "levies harbour dues" in prompt
    assert prompt.count("levies harbour dues") == 1


async def test_doubled_braces_are_braces() -> None:
    engine = await archive()
    assert (await prompt_of(engine, '{{"a": 1}} {content_data}')).startswith('{"a": 1} ')


async def test_slots_inside_the_context_are_not_filled() -> None:
    engine = await archive()
    stores = engine.context.stores
    row = await stores.text_chunks.get_by_id("doc-1-chunk-001")
    assert row is not None
    await stores.text_chunks.upsert({"doc-1-chunk-001": {**row, "content": "{user_prompt} and {response_type}"}})
    for template in (None, "{content_data}", "{content_data} {"):
        assert "{user_prompt} and {response_type}" in await prompt_of(engine, template, user_prompt="secret")


async def test_a_broken_template_of_the_user_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = await archive()
    monkeypatch.setitem(PROMPTS, "naive_rag_response", "{content_data} {nonsense}")
    with pytest.raises(InputError, match="nonsense"):
        await run_query(engine.context, QUESTION, QueryParam(mode="naive"))


async def test_only_the_prompt() -> None:
    engine = await archive()
    shown = await run_query(engine.context, QUESTION, QueryParam(mode="naive", only_need_prompt=True))
    assert not engine.llm.calls
    assert not shown.llm_generated
    sent = await prompt_of(engine)
    assert shown.content == f"{sent}\n\n{QUESTION}"
    both = QueryParam(mode="naive", only_need_prompt=True, only_need_context=True)
    assert (await run_query(engine.context, QUESTION, both)).content == shown.content


async def test_progress() -> None:
    engine = await archive()
    engine.keyword_llm.default = '{"high_level_keywords": ["harbour dues"], "low_level_keywords": ["dock board"]}'
    steps: list[str] = []

    async def progress(step: str) -> None:
        await asyncio.sleep(0)
        steps.append(step)

    await run_query(engine.context, QUESTION, QueryParam(mode="mix"), progress=progress)
    assert steps == [
        "extracting_keywords",
        "retrieving_entities",
        "retrieving_relations",
        "retrieving_chunks",
        "generating_response",
    ]
    steps.clear()
    await run_query(engine.context, QUESTION, QueryParam(mode="local", **KEYS), progress=progress)
    assert steps == ["retrieving_entities", "retrieving_chunks", "generating_response"]
    steps.clear()
    await run_query(engine.context, QUESTION, QueryParam(mode="bypass"), progress=steps.append)
    assert steps == ["generating_response"]


async def test_the_conversation_reaches_the_model() -> None:
    engine = await archive()
    history = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good day"}]
    await run_query(engine.context, QUESTION, QueryParam(mode="naive", conversation_history=history))
    assert engine.llm.calls[-1].history == history


async def test_bypass_is_the_model_with_history_only() -> None:
    engine = await archive()
    history = [{"role": "user", "content": "Hello"}]
    result = await run_query(
        engine.context, QUESTION, QueryParam(mode="bypass", conversation_history=history), system_prompt="Be kind. {x}"
    )
    call = engine.llm.calls[-1]
    assert (call.prompt, call.system_prompt, call.history) == (QUESTION, "Be kind. {x}", history)
    assert to_answer(result) == "An answer [1]."
    assert result.llm_generated
    assert not engine.embedder.calls
    assert not engine.keyword_llm.calls
    stream = to_answer(await run_query(engine.context, QUESTION, QueryParam(mode="bypass", stream=True)))
    assert not isinstance(stream, str)
    assert [piece async for piece in stream] == ["An ", "answer ", "[1]."]


async def test_bypass_without_an_answer() -> None:
    engine = await archive()
    assert to_answer(await run_query(engine.context, QUESTION, QueryParam(mode="bypass", only_need_context=True))) == ""
    prompt = await run_query(engine.context, QUESTION, QueryParam(mode="bypass", only_need_prompt=True))
    assert to_answer(prompt) == QUESTION
    assert not engine.llm.calls


async def test_streaming() -> None:
    engine = await archive()
    shape = to_llm(await run_query(engine.context, QUESTION, QueryParam(mode="naive", stream=True)))
    response = shape["llm_response"]
    assert response["is_streaming"]
    assert response["llm_generated"]
    assert response["content"] is None
    assert [piece async for piece in response["response_iterator"]] == ["An ", "answer ", "[1]."]
    assert engine.llm.calls[-1].options["stream"] is True


async def test_without_streaming_the_model_is_not_told_to() -> None:
    engine = await archive()
    await run_query(engine.context, QUESTION, QueryParam(mode="naive"))
    assert not engine.llm.calls[-1].options.get("stream")


async def test_a_model_that_cannot_stream_gives_one_piece() -> None:
    engine = await archive()
    engine.llm.can_stream = False
    answer = to_answer(await run_query(engine.context, QUESTION, QueryParam(mode="naive", stream=True)))
    assert not isinstance(answer, str)
    assert [piece async for piece in answer] == ["An answer [1]."]


async def stream_of(engine: Engine) -> AsyncIterator[str]:
    answer = to_answer(await run_query(engine.context, QUESTION, QueryParam(mode="naive", stream=True)))
    assert not isinstance(answer, str)
    return answer


async def test_closing_a_stream_stops_the_model() -> None:
    engine = await archive()
    engine.llm.default = "one two three four five six seven eight"
    stream = await stream_of(engine)
    assert [await anext(stream), await anext(stream)] == ["one ", "two "]
    await stream.aclose()
    assert engine.llm.streams_closed == 1
    assert engine.llm.pieces_given == 2
    with pytest.raises(StopAsyncIteration):
        await anext(stream)
    # Nothing of half an answer is remembered.
    again = await stream_of(engine)
    assert "".join([piece async for piece in again]) == "one two three four five six seven eight"
    assert len(engine.llm.calls) == 2


async def test_dropping_a_stream_frees_the_model() -> None:
    engine = await archive()
    for _ in range(6):  # more than the model's slots
        stream = await stream_of(engine)
        async for _piece in stream:
            break
        del stream
        await asyncio.sleep(0)
    async with asyncio.timeout(5):
        await run_query(engine.context, QUESTION, QueryParam(mode="naive", user_prompt="Once more."))


async def test_closing_a_stream_that_was_never_read() -> None:
    engine = await archive()
    for _ in range(6):
        stream = await stream_of(engine)
        await stream.aclose()
    assert engine.llm.pieces_given == 0


async def test_an_error_in_the_middle_of_a_stream_reaches_the_reader() -> None:
    engine = await archive()

    async def broken() -> AsyncIterator[str]:
        yield "half"
        raise ModelError("connection lost")

    async def model(prompt: str, **options: object) -> AsyncIterator[str]:
        return broken()

    engine.context.models.query.calls._func = model
    stream = await stream_of(engine)
    assert await anext(stream) == "half"
    with pytest.raises(ModelError, match="connection lost"):
        await anext(stream)
    assert not engine.context.stores.llm_response_cache.rows


async def test_queries_run_at_the_same_time() -> None:
    engine = await archive()
    together = asyncio.Barrier(4)
    answering = engine.llm.__call__

    async def meeting(*arguments: Any, **options: Any) -> Any:
        await together.wait()
        return await answering(*arguments, **options)

    engine.context.models.query.calls._func = meeting
    async with asyncio.timeout(10):
        answers = await asyncio.gather(
            *(
                run_query(engine.context, QUESTION, QueryParam(mode="mix", user_prompt=str(number), **KEYS))
                for number in range(4)
            )
        )
    assert all(answer.content == "An answer [1]." for answer in answers)
