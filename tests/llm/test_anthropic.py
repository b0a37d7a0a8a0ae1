"""Anthropic, and whatever else any-llm knows, against a local server that answers as Anthropic does."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import numpy as np
import pytest

from lightrag.embedding.registry import EmbeddingAttributes, create_embedding
from lightrag.exceptions import ContextTooLongError, InputError, ModelReplyError
from lightrag.llm.anthropic import (
    anthropic_complete,
    anthropic_complete_if_cache,
    anthropic_embed,
    claude_3_haiku_complete,
    claude_3_opus_complete,
    claude_3_sonnet_complete,
)
from lightrag.llm.any_llm import any_llm_complete_if_cache
from lightrag.llm.registry import create_llm
from lightrag.llm.voyageai import voyageai_embed
from lightrag.runtime.endpoints import ModelEndpoint
from lightrag.runtime.model_errors import ProviderError, TruncatedReplyError
from lightrag.runtime.usage import CallUsage, TokenTracker, reported_to
from tests.llm.behaviours import stops_in_time, stops_with_its_caller, stops_with_its_reader
from tests.llm.stub_server import Exchange, StubServer
from tests.llm.test_openai import completion, embedded

KEY = "sk-ant-0123456789abcdef"


def message(text: str = "Alice.", stop_reason: str = "end_turn", **more: Any) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [{"type": "text", "text": text}],
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 12, "output_tokens": 5},
        **more,
    }


def refusal(kind: str, text: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": text}}


async def send_event(exchange: Exchange, kind: str, **fields: Any) -> None:
    await exchange.send_chunk(f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode())


async def begin(exchange: Exchange, *texts: str) -> None:
    await exchange.start_stream("text/event-stream")
    empty = message(content=[], stop_reason=None, usage={"input_tokens": 12, "output_tokens": 1})
    await send_event(exchange, "message_start", message=empty)
    await send_event(exchange, "content_block_start", index=0, content_block={"type": "text", "text": ""})
    for text in texts:
        await send_event(exchange, "content_block_delta", index=0, delta={"type": "text_delta", "text": text})


async def end(exchange: Exchange, stop_reason: str = "end_turn") -> None:
    await send_event(exchange, "content_block_stop", index=0)
    await send_event(
        exchange, "message_delta", delta={"stop_reason": stop_reason, "stop_sequence": None}, usage={"output_tokens": 7}
    )
    await send_event(exchange, "message_stop")
    await exchange.end_stream()


async def ask(stub: StubServer, **kwargs: Any) -> Any:
    return await anthropic_complete_if_cache("claude", "Who?", base_url=stub.url, api_key=KEY, **kwargs)


async def read(stream: AsyncIterator[str]) -> list[str]:
    return [piece async for piece in stream]


async def test_a_reply_and_what_was_sent(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    stub.answers(message())
    usage, tracker = CallUsage(), TokenTracker()
    with reported_to(usage):
        reply = await ask(
            stub,
            system_prompt="Be brief.",
            history_messages=[{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}],
            max_tokens=99,
            temperature=0.3,
            hashing_kv=object(),
            token_tracker=tracker,
        )
    assert reply == "Alice."
    request = stub.requests[0]
    assert request.path == "/v1/messages"
    assert request.headers["x-api-key"] == KEY
    assert request.body == {
        "model": "claude",
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "Hi"},
            {"role": "user", "content": "Who?"},
        ],
        "max_tokens": 99,
        "temperature": 0.3,
    }
    assert (usage.prompt_tokens, usage.completion_tokens) == (12, 5)
    assert tracker.get_usage()["total_tokens"] == 17


async def test_json_is_asked_for_by_the_prompt_where_there_is_no_mode_for_it(
    stub: StubServer, no_keys: pytest.MonkeyPatch
) -> None:
    stub.answers(message("{}"))
    assert await ask(stub, response_format={"type": "json_object"}) == "{}"
    assert "response_format" not in stub.requests[0].body
    assert len(stub.requests) == 1
    with pytest.raises(InputError, match=r"model 'claude': .*'n'"):
        await ask(stub, n=2)


# The SDK warns of models that Anthropic has retired; the names stay for existing code.
@pytest.mark.filterwarnings("ignore:The model 'claude-3:DeprecationWarning")
async def test_models_by_their_names(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    stub.answers(message())
    place = {"base_url": stub.url, "api_key": KEY}
    await anthropic_complete("Q", model="first", **place)
    for complete in (claude_3_opus_complete, claude_3_sonnet_complete, claude_3_haiku_complete):
        await complete("Q", **place)
    assert [request.body["model"] for request in stub.requests] == [
        *("first", "claude-3-opus-20240229", "claude-3-sonnet-20240229", "claude-3-haiku-20240307"),
    ]
    assert anthropic_embed is voyageai_embed
    assert await create_llm("anthropic", ModelEndpoint("second", stub.url, KEY, 5.0, {"top_k": 3}))("Q") == "Alice."
    assert (stub.requests[-1].body["model"], stub.requests[-1].body["top_k"]) == ("second", 3)


async def test_one_connection_serves_many_calls(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    stub.answers(message())
    for _ in range(3):
        await ask(stub)
    assert (len(stub.requests), stub.connections) == (3, 1)


async def test_unusable_replies(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    stub.answers(message("Half", "max_tokens"))
    with pytest.raises(TruncatedReplyError, match="cut off") as caught:
        await ask(stub)
    assert caught.value.reply == "Half"
    stub.answers(message(" "))
    with pytest.raises(ModelReplyError, match="empty"):
        await ask(stub)


@pytest.mark.parametrize(
    ("status", "kind", "transient"),
    [(401, "authentication_error", 401), (429, "rate_limit_error", 429), (500, "api_error", 500), (529, "x", 529)],
)
async def test_refusals(stub: StubServer, no_keys: pytest.MonkeyPatch, status: int, kind: str, transient: int) -> None:
    stub.answers(refusal(kind, f"not with {KEY}"), status, {"retry-after": "7"})
    with pytest.raises(ProviderError, match=r"'claude' answered .*not with \*\*\*") as caught:
        await ask(stub)
    assert (caught.value.status_code, caught.value.retry_after) == (transient, 7.0)
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None
    assert len(stub.requests) == 1, "repeating is left to whoever bounds the calls"


async def test_too_long(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    stub.answers(refusal("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"), 400)
    with pytest.raises(ContextTooLongError):
        await ask(stub)


async def test_a_server_that_is_not_there(unused_tcp_port: int, no_keys: pytest.MonkeyPatch) -> None:
    with pytest.raises(ProviderError, match="cannot be reached") as caught:
        await anthropic_complete_if_cache("m", "Q", base_url=f"http://127.0.0.1:{unused_tcp_port}", api_key=KEY)
    assert caught.value.status_code is None


async def test_what_cannot_be_made_is_told(no_keys: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="anthropic"):
        await anthropic_complete_if_cache("m", "Q")
    with pytest.raises(InputError, match="'m' names no provider; write provider:model"):
        await any_llm_complete_if_cache("m", "Q")
    with pytest.raises(InputError, match="provider 'nobody'"):
        await any_llm_complete_if_cache("nobody:m", "Q")
    with pytest.raises(InputError, match="provider 'cohere'"):
        await any_llm_complete_if_cache("cohere:m", "Q", api_key=KEY)


async def test_a_stream(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    stop_reason = "end_turn"

    async def handler(exchange: Exchange) -> None:
        await begin(exchange, "Al", "ice")
        await end(exchange, stop_reason)

    stub.handler = handler
    usage = CallUsage()
    with reported_to(usage):
        assert await read(await ask(stub, stream=True)) == ["Al", "ice"]
    assert (usage.prompt_tokens, usage.completion_tokens) == (12, 7)
    assert stub.requests[0].body["stream"] is True
    stop_reason = "max_tokens"
    with pytest.raises(TruncatedReplyError) as raised:
        await read(await ask(stub, stream=True))
    assert raised.value.reply == "Alice"


async def test_streams_that_fail(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    stub.answers(refusal("overloaded_error", "busy"), 529)
    with pytest.raises(ProviderError, match="busy"):
        await ask(stub, stream=True)

    async def handler(exchange: Exchange) -> None:
        await begin(exchange, "One")
        await send_event(exchange, "error", error={"type": "overloaded_error", "message": f"died with {KEY}"})
        await exchange.end_stream()

    stub.handler = handler
    stream = await ask(stub, stream=True)
    assert await anext(stream) == "One"
    with pytest.raises(ProviderError, match=r"died with \*\*\*"):
        await anext(stream)


async def test_it_stops(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    await stops_with_its_caller(stub, partial(ask, stub))
    await stops_in_time(stub, partial(ask, stub))

    async def handler(exchange: Exchange) -> None:
        await begin(exchange, "One")
        await exchange.wait_for_hang_up()
        stub.hung_up.set()

    stub.handler = handler
    await stops_with_its_reader(stub, partial(ask, stub))


async def test_any_other_provider_by_its_name(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    stub.answers(completion("Yes."))
    endpoint = ModelEndpoint("openai:gpt", f"{stub.url}/v1", KEY, 5.0)
    assert await create_llm("any_llm", endpoint)("Q", response_format={"type": "json_object"}) == "Yes."
    assert stub.requests[0].body["model"] == "gpt"
    assert stub.requests[0].body["response_format"] == {"type": "json_object"}
    stub.answers(embedded([[1.0, 2.0], [3.0, 4.0]]))
    endpoint = ModelEndpoint("openai:emb", f"{stub.url}/v1", KEY, options={"query_prefix": "q: "})
    attributes = EmbeddingAttributes(2, send_dimensions=True, supports_asymmetric=True)
    vectors = await create_embedding("any_llm", endpoint, attributes)(["a", "b"], context="query")
    np.testing.assert_array_equal(vectors, [[1.0, 2.0], [3.0, 4.0]])
    assert stub.requests[1].body["input"] == ["q: a", "q: b"]
    assert stub.requests[1].body["dimensions"] == 2


@pytest.mark.parametrize("stream", [False, True])
async def test_a_redirect_to_another_host_gets_neither_text_nor_key(
    stub: StubServer, no_keys: pytest.MonkeyPatch, stream: bool
) -> None:
    async def elsewhere(exchange: Exchange) -> None:
        target = stub.url.replace("127.0.0.1", "localhost")
        await exchange.send(b"", "text/plain", 307, {"location": f"{target}/v1/messages"})

    stub.handler = elsewhere
    with pytest.raises(ProviderError, match=r"'127\.0\.0\.1' redirects to another host, 'localhost'"):
        await ask(stub, stream=stream)
    assert len(stub.requests) == 1
