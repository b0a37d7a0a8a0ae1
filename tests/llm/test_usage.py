"""Tokens as the servers of OpenAI's protocol and of Ollama tell them, in replies, streams and vectors."""

from __future__ import annotations

from typing import Any

import pytest

from lightrag.llm import openai_protocol
from lightrag.llm.ollama import ollama_embed, ollama_model_complete
from lightrag.llm.openai import openai_complete_if_cache, openai_embed
from lightrag.runtime.usage import CallUsage, TokenTracker, reported_to
from tests.llm.stub_server import Exchange, StubServer
from tests.llm.test_openai import completion, embedded, event

KEY = "sk-very-secret-0123456789"


async def openai(stub: StubServer, **kwargs: Any) -> Any:
    return await openai_complete_if_cache("m", "Q", base_url=f"{stub.url}/v1", api_key=KEY, **kwargs)


async def test_replies(stub: StubServer) -> None:
    stub.answers({**completion("Yes."), "usage": {"prompt_tokens": 12, "completion_tokens": 3, "cost": 0.25}})
    usage, tracker = CallUsage(), TokenTracker()
    with reported_to(usage):
        await openai(stub, token_tracker=tracker)
    assert usage == CallUsage(12, 3, 0.25)
    assert tracker.get_usage() == {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15, "call_count": 1}
    assert "token_tracker" not in stub.requests[0].body


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None}, {"prompt_tokens": "12", "completion_tokens": -1}])
async def test_what_is_no_number_counts_as_not_told(stub: StubServer, usage: Any) -> None:
    stub.answers({**completion("Yes."), "usage": usage})
    found, tracker = CallUsage(), TokenTracker()
    with reported_to(found):
        assert await openai(stub, token_tracker=tracker) == "Yes."
    assert found == CallUsage()
    assert tracker.get_usage()["call_count"] == 0


async def test_streams_by_the_last_word(stub: StubServer) -> None:
    def counted(prompt: int, completed: int, **fields: Any) -> dict[str, Any]:
        counts = {"prompt_tokens": prompt, "completion_tokens": completed, "total_tokens": prompt + completed}
        return {**event({}), **fields, "usage": counts}

    async def handler(exchange: Exchange) -> None:
        pieces = [event({"content": "Yes."}), counted(12, 1), event({}, "stop"), counted(12, 3, choices=[])]
        await exchange.send_events(pieces)

    stub.handler = handler
    usage = CallUsage()
    stream = await openai(stub, stream=True)
    with reported_to(usage):
        assert [piece async for piece in stream] == ["Yes."]
    assert usage == CallUsage(12, 3)
    assert "stream_options" not in stub.requests[0].body, "a server that does not know it may refuse"


async def test_openai_itself_is_asked_to_tell(monkeypatch: pytest.MonkeyPatch, stub: StubServer) -> None:
    monkeypatch.setattr(openai_protocol, "_TELLING_HOSTS", ("127.0.0.1",))

    async def handler(exchange: Exchange) -> None:
        await exchange.send_events([event({"content": "Yes."}, "stop")])

    stub.handler = handler
    assert [piece async for piece in await openai(stub, stream=True)] == ["Yes."]
    assert stub.requests[0].body["stream_options"] == {"include_usage": True}


async def test_vectors(stub: StubServer) -> None:
    stub.answers(embedded([[1.0, 2.0]]))
    usage, tracker = CallUsage(), TokenTracker()
    with reported_to(usage):
        await openai_embed.func(["a"], base_url=f"{stub.url}/v1", api_key=KEY, token_tracker=tracker)
        stub.answers({"model": "e", "embeddings": [[1.0, 2.0]], "prompt_eval_count": 8})
        await ollama_embed.func(["a"], host=stub.url, token_tracker=tracker)
    assert usage == CallUsage(9, 0)
    assert tracker.get_usage()["prompt_tokens"] == 9


async def test_ollama(stub: StubServer) -> None:
    message = {"role": "assistant", "content": "Yes."}
    done = {"done": True, "done_reason": "stop", "prompt_eval_count": 12, "eval_count": 3}
    stub.answers({"model": "m", "message": message, **done})
    usage = CallUsage()
    with reported_to(usage):
        await ollama_model_complete("Q", model="m", host=stub.url)
    assert usage == CallUsage(12, 3)

    async def handler(exchange: Exchange) -> None:
        await exchange.send_lines(
            [
                {"model": "m", "message": message, "done": False},
                {"model": "m", "message": {**message, "content": ""}, **done},
            ]
        )

    stub.handler = handler
    stream: Any = await ollama_model_complete("Q", model="m", host=stub.url, stream=True)
    with reported_to(usage):
        assert [piece async for piece in stream] == ["Yes."]
    assert usage == CallUsage(24, 6)
