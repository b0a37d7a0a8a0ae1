"""The OpenAI binding against a local server: replies, streams, refusals, silence, vectors."""

from __future__ import annotations

import asyncio
import base64
import json
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lightrag.contracts.models import EmbeddingFunc
from lightrag.exceptions import (
    ContextTooLongError,
    EmbeddingMismatchError,
    InputError,
    ModelError,
    ModelReplyError,
    ModelTimeoutError,
)
from lightrag.llm import openai as binding
from lightrag.runtime.calls import BoundedCalls
from lightrag.runtime.clients import close_idle_clients
from lightrag.runtime.endpoints import ModelEndpoint
from lightrag.runtime.model_errors import ProviderError, TruncatedReplyError
from lightrag.runtime.retries import RetryPolicy
from tests.llm.stub_server import Exchange, StubServer

KEY = "sk-very-secret-0123456789"


def completion(content: str | None, finish_reason: str = "stop", **message: Any) -> dict[str, Any]:
    reply = {"role": "assistant", "content": content, **message}
    choice = {"index": 0, "message": reply, "finish_reason": finish_reason}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def event(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


async def ask(stub: StubServer, prompt: str = "Who?", **kwargs: Any) -> Any:
    return await binding.openai_complete_if_cache("m", prompt, base_url=f"{stub.url}/v1", api_key=KEY, **kwargs)


async def read(stream: Any) -> list[str]:
    return [piece async for piece in stream]


async def test_a_reply_and_what_was_sent(stub: StubServer) -> None:
    stub.answers(completion("Alice."))
    reply = await ask(
        stub,
        system_prompt="Be brief.",
        history_messages=[{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}],
        temperature=0.3,
        response_format={"type": "json_object"},
    )
    assert reply == "Alice."
    request = stub.requests[0]
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "Hi"},
            {"role": "user", "content": "Who?"},
        ],
        "temperature": 0.3,
        "response_format": {"type": "json_object"},
    }


async def test_keywords_of_the_engine_are_not_sent(stub: StubServer) -> None:
    stub.answers(completion("{}"))
    await ask(
        stub,
        hashing_kv=object(),
        enable_cot=False,
        keyword_extraction=True,
        mode="mix",
        token_tracker=None,
        timeout=5,
        stream=False,
        openai_client_configs={"default_headers": {"x-tenant": "t"}},
    )
    assert set(stub.requests[0].body) == {"model", "messages", "response_format"}
    assert stub.requests[0].headers["x-tenant"] == "t"


async def test_one_connection_serves_many_calls(stub: StubServer) -> None:
    stub.answers(completion("Yes."))
    for _ in range(3):
        await ask(stub)
    assert len(stub.requests) == 3
    assert stub.connections == 1


async def test_a_closed_client_is_replaced(stub: StubServer) -> None:
    stub.answers(completion("Yes."))
    await ask(stub)
    await close_idle_clients()
    assert await ask(stub) == "Yes."
    assert stub.connections == 2


async def test_the_model_is_named_by_keyword_or_by_the_settings_of_the_engine(stub: StubServer) -> None:
    stub.answers(completion("Yes."))
    server = {"base_url": f"{stub.url}/v1", "api_key": KEY}
    await binding.openai_complete("Q", model="first", **server)
    await binding.openai_complete("Q", hashing_kv=SimpleNamespace(global_config={"llm_model_name": "second"}), **server)
    await binding.gpt_4o_mini_complete("Q", **server)
    await binding.gpt_4o_complete("Q", **server)
    assert [request.body["model"] for request in stub.requests] == ["first", "second", "gpt-4o-mini", "gpt-4o"]
    with pytest.raises(InputError, match="no model is named"):
        await binding.openai_complete("Q", **server)


async def test_reasoning_is_dropped_unless_asked_for(stub: StubServer) -> None:
    stub.answers(completion("Answer", reasoning_content="Let me see"))
    assert await ask(stub) == "Answer"
    assert await ask(stub, enable_cot=True) == "<think>Let me see</think>Answer"
    stub.answers(completion("<think>hm</think>\nAnswer"))
    assert await ask(stub) == "Answer"


async def test_a_cut_off_reply_says_so_and_carries_what_came(stub: StubServer) -> None:
    stub.answers(completion("Half an ans", finish_reason="length"))
    with pytest.raises(TruncatedReplyError, match="cut off") as caught:
        await ask(stub)
    assert caught.value.reply == "Half an ans"
    assert isinstance(caught.value, ModelReplyError)


@pytest.mark.parametrize(
    "payload",
    [
        completion(""),
        completion(None),
        completion("  \n"),
        completion("<think>only this</think>"),
        completion(None, reasoning_content="only this"),
        completion(None, refusal="I will not"),
        {"choices": []},
        {"choices": None},
        {},
        [],
    ],
)
async def test_an_unusable_reply_is_an_error(stub: StubServer, payload: Any) -> None:
    stub.answers(payload)
    with pytest.raises(ModelReplyError):
        await ask(stub, enable_cot=True)


async def test_an_answer_that_is_no_json_is_an_error(stub: StubServer) -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.send(b"<html>gateway</html>", "text/html")

    stub.handler = handler
    with pytest.raises(ModelReplyError, match="gateway"):
        await ask(stub)

    async def broken(exchange: Exchange) -> None:
        await exchange.send(b'{"choices": [', "application/json")

    stub.handler = broken
    with pytest.raises(ModelError):
        await ask(stub)


@pytest.mark.parametrize(
    ("status", "code"), [(400, "bad"), (401, "invalid_api_key"), (404, None), (429, "x"), (500, "")]
)
async def test_a_refusal_carries_the_words_of_the_provider_but_no_key(
    stub: StubServer, status: int, code: str | None
) -> None:
    message = f"Incorrect API key provided: {KEY}. Also sk-abc***********wxyz."
    stub.answers({"error": {"message": message, "code": code}}, status, {"retry-after": "7"})
    with pytest.raises(ProviderError, match=f"'m' answered {status}: .*Incorrect API key") as caught:
        await ask(stub)
    error = caught.value
    assert (error.status_code, error.code, error.retry_after) == (status, code or "", 7.0)
    assert KEY not in str(error)
    assert "wxyz" not in str(error)
    assert error.__cause__ is None
    assert error.__suppress_context__
    assert len(stub.requests) == 1, "the binding must leave retries to the bounded calls"


async def test_a_request_that_is_too_long_has_an_error_of_its_own(stub: StubServer) -> None:
    stub.answers({"error": {"message": "too long", "code": "context_length_exceeded"}}, 400)
    with pytest.raises(ContextTooLongError):
        await ask(stub)
    stub.answers({"error": {"message": "This model's maximum context length is 8 tokens"}}, 400)
    with pytest.raises(ContextTooLongError):
        await ask(stub)


async def test_a_server_that_is_not_there(unused_tcp_port: int) -> None:
    url = f"http://127.0.0.1:{unused_tcp_port}/v1"
    with pytest.raises(ProviderError, match=f"cannot be reached at http://127.0.0.1:{unused_tcp_port}: ") as caught:
        await binding.openai_complete_if_cache("m", "Q", base_url=url.replace("//", "//me:secret@"), api_key=KEY)
    assert "secret" not in str(caught.value)
    assert caught.value.status_code is None
    await close_idle_clients()


async def test_a_missing_key_is_told_clearly(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ModelError, match="cannot be made"):
        await binding.openai_complete_if_cache("m", "Q", base_url="http://127.0.0.1:9/v1")


async def test_a_time_limit_of_the_request_closes_the_connection(stub: StubServer) -> None:
    stub.hangs()
    with pytest.raises(ModelTimeoutError):
        await ask(stub, timeout=0.2)
    await asyncio.wait_for(stub.hung_up.wait(), 2)


async def test_a_time_limit_of_the_bounded_calls_closes_the_connection(stub: StubServer) -> None:
    stub.hangs()
    calls = BoundedCalls(ask, 1, timeout=0.2, retry=RetryPolicy(max_attempts=1))
    with pytest.raises(ModelTimeoutError, match=r"within 0\.2 s"):
        await calls(stub)
    await asyncio.wait_for(stub.hung_up.wait(), 2)


async def test_cancelling_the_caller_closes_the_connection(stub: StubServer) -> None:
    stub.hangs()
    task = asyncio.create_task(BoundedCalls(ask, 1)(stub))
    await stub.asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(stub.hung_up.wait(), 2)


async def test_bounded_calls_wait_as_long_as_the_provider_asks(stub: StubServer) -> None:
    async def handler(exchange: Exchange) -> None:
        if len(stub.requests) == 1:
            await exchange.send_json({"error": {"message": "slow down"}}, 429, {"retry-after-ms": "300"})
        else:
            await exchange.send_json(completion("Now."))

    stub.handler = handler
    loop = asyncio.get_running_loop()
    start = loop.time()
    assert await BoundedCalls(ask, 1, retry=RetryPolicy(first_wait=0.001))(stub) == "Now."
    assert loop.time() - start >= 0.3


async def test_a_stream_gives_the_pieces(stub: StubServer) -> None:
    async def handler(exchange: Exchange) -> None:
        counts = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": []}
        pieces = [event({"role": "assistant"}), event({"content": "Al"}), event({"content": "ice"}), event({}, "stop")]
        await exchange.send_events([*pieces, counts])

    stub.handler = handler
    assert await read(await ask(stub, stream=True)) == ["Al", "ice"]
    assert stub.requests[0].body["stream"] is True
    assert await read(await ask(stub, stream=True)) == ["Al", "ice"]
    assert stub.connections == 1, "a stream that was read to its end gives its connection back"


async def test_reasoning_in_a_stream(stub: StubServer) -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.send_events(
            [
                event({"reasoning_content": "Let "}),
                event({"reasoning_content": "me"}),
                event({"content": "A"}),
                event({}, "stop"),
            ]
        )

    stub.handler = handler
    assert "".join(await read(await ask(stub, stream=True))) == "A"
    assert "".join(await read(await ask(stub, stream=True, enable_cot=True))) == "<think>Let me</think>A"


async def test_a_stream_that_is_cut_off_says_so_after_its_last_piece(stub: StubServer) -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.send_events([event({"content": "Half"}), event({}, "length")])

    stub.handler = handler
    stream = await ask(stub, stream=True)
    assert await anext(stream) == "Half"
    with pytest.raises(TruncatedReplyError, match="cut off at its length limit") as raised:
        await anext(stream)
    assert raised.value.reply == "Half"


def endless(stub: StubServer) -> None:
    """Send a piece, then nothing; notice when the client gives up."""

    async def handler(exchange: Exchange) -> None:
        await exchange.start_stream("text/event-stream")
        await exchange.send_chunk(f"data: {json.dumps(event({'content': 'One'}))}\n\n".encode())
        await exchange.wait_for_hang_up()
        stub.hung_up.set()

    stub.handler = handler


async def test_closing_a_stream_early_closes_the_connection(stub: StubServer) -> None:
    endless(stub)
    stream = await ask(stub, stream=True)
    assert await anext(stream) == "One"
    await stream.aclose()
    await asyncio.wait_for(stub.hung_up.wait(), 2)
    await stream.aclose()
    with pytest.raises(StopAsyncIteration):
        await anext(stream)


async def test_closing_a_stream_that_was_never_read_closes_the_connection(stub: StubServer) -> None:
    endless(stub)
    await (await ask(stub, stream=True)).aclose()
    await asyncio.wait_for(stub.hung_up.wait(), 2)


async def test_a_stream_that_stops_sending_runs_into_the_limit_and_closes(stub: StubServer) -> None:
    endless(stub)
    stream = await BoundedCalls(ask, 1, timeout=0.2)(stub, stream=True)
    assert await anext(stream) == "One"
    with pytest.raises(ModelTimeoutError):
        await anext(stream)
    await asyncio.wait_for(stub.hung_up.wait(), 2)


async def test_an_error_inside_a_stream(stub: StubServer) -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.send_events([event({"content": "One"}), {"error": {"message": f"died with {KEY}"}}])

    stub.handler = handler
    stream = await ask(stub, stream=True)
    assert await anext(stream) == "One"
    with pytest.raises(ProviderError, match=r"died with \*\*\*"):
        await anext(stream)


async def test_a_connection_that_breaks_inside_a_stream(stub: StubServer) -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.start_stream("text/event-stream")
        await exchange.send_chunk(f"data: {json.dumps(event({'content': 'One'}))}\n\n".encode())
        exchange.writer.close()

    stub.handler = handler
    stream = await ask(stub, stream=True)
    with pytest.raises(ProviderError):
        await read(stream)


async def test_a_refused_stream_is_refused_at_once(stub: StubServer) -> None:
    stub.answers({"error": {"message": "busy"}}, 503)
    with pytest.raises(ProviderError, match="busy"):
        await ask(stub, stream=True)


VECTORS = np.array([[0.5, -1.25, 3.0], [1e-3, 2.0, -7.5]], dtype=np.float32)


def embedded(rows: list[Any]) -> dict[str, Any]:
    data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
    return {"object": "list", "model": "e", "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}


@pytest.mark.parametrize("use_base64", [True, False])
@pytest.mark.parametrize("server_sends_base64", [True, False])
async def test_vectors_in_either_form(stub: StubServer, use_base64: bool, server_sends_base64: bool) -> None:
    rows = [base64.b64encode(row.tobytes()).decode() if server_sends_base64 else row.tolist() for row in VECTORS]
    answer = embedded(rows)
    answer["data"].reverse()
    stub.answers(answer)
    vectors = await binding.openai_embed.func(
        ["a", "b"], model="e", base_url=f"{stub.url}/v1", api_key=KEY, use_base64=use_base64
    )
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, VECTORS)
    assert stub.requests[0].body["encoding_format"] == ("base64" if use_base64 else "float")
    assert stub.requests[0].body["input"] == ["a", "b"]
    assert "dimensions" not in stub.requests[0].body


async def test_embedding_options_reach_the_server(stub: StubServer) -> None:
    stub.answers(embedded([row.tolist() for row in VECTORS]))
    endpoint = ModelEndpoint("e", f"{stub.url}/v1", KEY, 5.0, {"query_prefix": "query: ", "user": "u"})
    embed = binding.create_embedding(endpoint, embedding_dim=3, send_dimensions=True, supports_asymmetric=True)
    await embed(["a", "b"], context="query")
    await embed(["a", "b"], context="document")
    first, second = (request.body for request in stub.requests)
    assert first["input"] == ["query: a", "query: b"]
    assert second["input"] == ["a", "b"]
    assert first["dimensions"] == 3
    assert first["user"] == "u"
    assert embed.model_name == "e"


@pytest.mark.parametrize("rows", [[[1.0, 2.0]], [[1.0, 2.0], [1.0]], ["!!", "!!"], [[1.0], ["x"]]])
async def test_unusable_vectors_are_an_error(stub: StubServer, rows: list[Any]) -> None:
    stub.answers(embedded(rows))
    with pytest.raises(ModelReplyError, match="'e' gave"):
        await binding.openai_embed.func(["a", "b"], model="e", base_url=f"{stub.url}/v1", api_key=KEY)


async def test_the_public_embedding_checks_its_dimension(stub: StubServer) -> None:
    assert isinstance(binding.openai_embed, EmbeddingFunc)
    stub.answers({"data": [{"index": 0, "embedding": [1.0, 2.0]}]})
    with pytest.raises(EmbeddingMismatchError, match="1536"):
        await binding.openai_embed(["a"], base_url=f"{stub.url}/v1", api_key=KEY)


async def test_an_endpoint_becomes_a_model_function(stub: StubServer) -> None:
    stub.answers(completion("Yes."))
    endpoint = ModelEndpoint("m", f"{stub.url}/v1", KEY, options={"temperature": 0.1, "max_tokens": 9})
    complete = binding.create_llm(endpoint)
    assert await complete("Q", system_prompt="S", history_messages=[], temperature=0.7) == "Yes."
    body = stub.requests[0].body
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("m", 0.7, 9)
    assert KEY not in repr(endpoint)


async def test_a_ready_made_function_may_be_called_with_another_model(stub: StubServer) -> None:
    ask = partial(binding.openai_embed, model="text-embedding-3-large", base_url=f"{stub.url}/v1", api_key=KEY)
    wrapped = EmbeddingFunc(embedding_dim=3, func=lambda texts: ask(texts))
    stub.answers({"data": [{"index": 0, "embedding": [1.0, 2.0, 3.0]}]})
    assert (await wrapped(["a"])).tolist() == [[1.0, 2.0, 3.0]]
    assert stub.requests[-1].body["model"] == "text-embedding-3-large"
    # The dimension is still that of whoever wraps it.
    stub.answers({"data": [{"index": 0, "embedding": [1.0, 2.0]}]})
    with pytest.raises(EmbeddingMismatchError, match=r"shape \(1, 2\); expected \(1, 3\)"):
        await wrapped(["a"])


async def test_a_key_that_is_set_after_a_call_is_found_by_the_next(
    stub: StubServer, no_keys: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    no_keys.chdir(tmp_path)
    (tmp_path / ".env").write_text(f"OPENAI_API_BASE={stub.url}\n", encoding="utf-8")
    with pytest.raises(ModelError):
        await binding.openai_complete_if_cache("any", "Q")
    no_keys.setenv("OPENAI_API_KEY", "key-at-last")
    # What stands in .env is known for good, wherever the program goes.
    no_keys.chdir(tmp_path.parent)
    stub.answers(completion("Yes."))
    assert await binding.openai_complete_if_cache("any", "Q") == "Yes."
    assert stub.requests[-1].headers["authorization"] == "Bearer key-at-last"


@pytest.mark.parametrize("name", ["OPENAI_API_BASE", "OPENAI_BASE_URL"])
@pytest.mark.parametrize("place", ["environment", ".env"])
async def test_address_and_key_come_from_the_settings(
    stub: StubServer, no_keys: pytest.MonkeyPatch, tmp_path: Path, name: str, place: str
) -> None:
    no_keys.chdir(tmp_path)
    given = {name: stub.url, "OPENAI_API_KEY": "key-of-the-settings"}
    if place == ".env":
        (tmp_path / ".env").write_text("".join(f"{key}={value}\n" for key, value in given.items()), encoding="utf-8")
    else:
        for key, value in given.items():
            no_keys.setenv(key, value)
    stub.answers(completion("Yes."))
    assert await binding.openai_complete_if_cache("any", "Q") == "Yes."
    stub.answers({"data": [{"index": 0, "embedding": [1.0, 2.0]}]})
    assert (await binding.openai_embed.func(["a"])).tolist() == [[1.0, 2.0]]
    assert [request.headers["authorization"] for request in stub.requests] == ["Bearer key-of-the-settings"] * 2
