"""The Ollama binding against a local server: replies, streams, refusals, silence, vectors."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lightrag.contracts.models import EmbeddingFunc
from lightrag.exceptions import InputError, ModelReplyError, ModelTimeoutError
from lightrag.llm import ollama as binding
from lightrag.runtime.calls import BoundedCalls
from lightrag.runtime.clients import close_idle_clients
from lightrag.runtime.endpoints import ModelEndpoint
from lightrag.runtime.model_errors import ProviderError, TruncatedReplyError, is_transient
from lightrag.runtime.retries import NO_RETRIES
from tests.llm.stub_server import Exchange, StubServer

KEY = "very-secret-0123456789"


def answer(content: str, done_reason: str | None = "stop", **message: Any) -> dict[str, Any]:
    reply = {"role": "assistant", "content": content, **message}
    return {
        "model": "m",
        "created_at": "2024-01-01T00:00:00Z",
        "message": reply,
        "done": True,
        "done_reason": done_reason,
    }


def piece(content: str, **message: Any) -> dict[str, Any]:
    return {**answer(content, None, **message), "done": False}


async def ask(stub: StubServer, prompt: str = "Who?", **kwargs: Any) -> Any:
    return await binding.ollama_model_complete(prompt, model="m", host=stub.url, api_key=KEY, **kwargs)


async def read(stream: Any) -> list[str]:
    return [text async for text in stream]


async def test_a_reply_and_what_was_sent(stub: StubServer) -> None:
    stub.answers(answer("Alice."))
    reply = await ask(
        stub,
        system_prompt="Be brief.",
        history_messages=[{"role": "user", "content": "Hello"}],
        options={"num_ctx": 4096},
        hashing_kv=object(),
        mode="mix",
        enable_cot=False,
    )
    assert reply == "Alice."
    request = stub.requests[0]
    assert request.path == "/api/chat"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["model"] == "m"
    assert request.body["options"] == {"num_ctx": 4096}
    assert [message["content"] for message in request.body["messages"]] == ["Be brief.", "Hello", "Who?"]
    assert set(request.body) <= {"model", "messages", "stream", "options", "tools", "format"}


async def test_formats(stub: StubServer) -> None:
    stub.answers(answer("{}"))
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    await ask(stub, response_format={"type": "json_object"})
    await ask(stub, response_format={"type": "json_schema", "json_schema": {"schema": schema}})
    await ask(stub, keyword_extraction=True)
    await ask(stub, response_format={"type": "text"})
    assert [request.body.get("format") for request in stub.requests] == ["json", schema, "json", None]


async def test_the_model_may_come_from_the_settings_of_the_engine(stub: StubServer) -> None:
    stub.answers(answer("Yes."))
    settings = SimpleNamespace(global_config={"llm_model_name": "from-settings"})
    assert await binding.ollama_model_complete("Q", hashing_kv=settings, host=stub.url) == "Yes."
    assert stub.requests[0].body["model"] == "from-settings"
    with pytest.raises(InputError, match="no model is named"):
        await binding.ollama_model_complete("Q", host=stub.url)


async def test_reasoning_is_dropped_unless_asked_for(stub: StubServer) -> None:
    stub.answers(answer("Answer", thinking="Let me see"))
    assert await ask(stub) == "Answer"
    assert await ask(stub, enable_cot=True) == "<think>Let me see</think>Answer"


async def test_unusable_replies(stub: StubServer) -> None:
    stub.answers(answer("Half", "length"))
    with pytest.raises(TruncatedReplyError) as caught:
        await ask(stub)
    assert caught.value.reply == "Half"
    stub.answers(answer(" "))
    with pytest.raises(ModelReplyError, match="empty"):
        await ask(stub)

    async def no_json(exchange: Exchange) -> None:
        await exchange.send(b"<html>", "text/html")

    stub.handler = no_json
    with pytest.raises(ModelReplyError, match="not JSON"):
        await ask(stub)


@pytest.mark.parametrize(("status", "transient"), [(400, False), (401, False), (404, False), (429, True), (503, True)])
async def test_a_refusal_carries_the_words_of_the_server_but_no_key(
    stub: StubServer, status: int, transient: bool
) -> None:
    stub.answers({"error": f"model 'm' not found for {KEY}"}, status)
    with pytest.raises(ProviderError, match=rf"'m' answered {status}: model 'm' not found for \*\*\*") as caught:
        await ask(stub)
    assert caught.value.status_code == status
    assert is_transient(caught.value) is transient
    assert caught.value.__suppress_context__


async def test_a_server_that_is_not_there(unused_tcp_port: int) -> None:
    with pytest.raises(ProviderError, match=f"cannot be reached at http://127.0.0.1:{unused_tcp_port}: ") as caught:
        await binding.ollama_model_complete("Q", model="m", host=f"http://127.0.0.1:{unused_tcp_port}")
    assert is_transient(caught.value)
    await close_idle_clients()


async def test_time_limits_close_the_connection(stub: StubServer) -> None:
    stub.hangs()
    with pytest.raises(ModelTimeoutError):
        await ask(stub, timeout=0.2)
    await asyncio.wait_for(stub.hung_up.wait(), 2)
    stub.hung_up.clear()
    with pytest.raises(ModelTimeoutError):
        await BoundedCalls(ask, 1, timeout=0.2, retry=NO_RETRIES)(stub)
    await asyncio.wait_for(stub.hung_up.wait(), 2)


async def test_a_stream_gives_the_pieces(stub: StubServer) -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.send_lines([piece("", thinking="hm"), piece("Al"), piece("ice"), answer("")])

    stub.handler = handler
    assert await read(await ask(stub, stream=True)) == ["Al", "ice"]
    assert await read(await ask(stub, stream=True, enable_cot=True)) == ["<think>hm", "</think>Al", "ice"]
    assert stub.requests[0].body["stream"] is True
    assert stub.connections == 1, "a stream that was read to its end gives its connection back"


async def test_a_stream_that_is_cut_off_says_so_after_its_last_piece(stub: StubServer) -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.send_lines([piece("Half"), answer("", "length")])

    stub.handler = handler
    stream = await ask(stub, stream=True)
    assert await anext(stream) == "Half"
    with pytest.raises(TruncatedReplyError, match="cut off at its length limit") as raised:
        await anext(stream)
    assert raised.value.reply == "Half"


def endless(stub: StubServer) -> None:
    """Send a piece, then nothing; notice when the client gives up."""

    async def handler(exchange: Exchange) -> None:
        await exchange.start_stream("application/x-ndjson")
        await exchange.send_chunk(json.dumps(piece("One")).encode() + b"\n")
        await exchange.wait_for_hang_up()
        stub.hung_up.set()

    stub.handler = handler


@pytest.mark.parametrize("read_first", [True, False])
async def test_closing_a_stream_early_closes_the_connection(stub: StubServer, read_first: bool) -> None:
    endless(stub)
    stream = await ask(stub, stream=True)
    if read_first:
        assert await anext(stream) == "One"
    await stream.aclose()
    await asyncio.wait_for(stub.hung_up.wait(), 2)


async def test_errors_inside_a_stream_and_before_it(stub: StubServer) -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.send_lines([piece("One"), {"error": "out of memory"}])

    stub.handler = handler
    stream = await ask(stub, stream=True)
    assert await anext(stream) == "One"
    with pytest.raises(ProviderError, match="out of memory"):
        await anext(stream)
    stub.answers({"error": "busy"}, 503)
    with pytest.raises(ProviderError, match="busy"):
        await ask(stub, stream=True)


async def test_vectors(stub: StubServer) -> None:
    stub.answers({"model": "e", "embeddings": [[0.5, -1.0], [2.0, 3.0]]})
    vectors = await binding.ollama_embed.func(["a", "b"], embed_model="e", host=stub.url, options={"num_ctx": 9})
    np.testing.assert_array_equal(vectors, np.array([[0.5, -1.0], [2.0, 3.0]], dtype=np.float32))
    assert vectors.dtype == np.float32
    body = stub.requests[0].body
    assert (stub.requests[0].path, body["model"], body["input"]) == ("/api/embed", "e", ["a", "b"])
    assert body["options"] == {"num_ctx": 9}
    with pytest.raises(ModelReplyError, match="2 vectors for 1 texts"):
        await binding.ollama_embed.func(["a"], embed_model="e", host=stub.url)


async def test_endpoints(stub: StubServer) -> None:
    stub.answers(answer("Yes."))
    endpoint = ModelEndpoint("m", stub.url, KEY, 5.0, {"options": {"temperature": 0}})
    assert await binding.create_llm(endpoint)("Q", system_prompt=None, history_messages=[]) == "Yes."
    assert stub.requests[0].body["model"] == "m"
    assert stub.requests[0].body["options"] == {"temperature": 0}
    stub.answers({"model": "e", "embeddings": [[0.5, -1.0]]})
    embed = binding.create_embedding(
        ModelEndpoint("e", stub.url, options={"document_prefix": "passage: "}),
        embedding_dim=2,
        send_dimensions=True,
        supports_asymmetric=True,
    )
    assert isinstance(embed, EmbeddingFunc)
    assert (await embed(["a"], context="document")).shape == (1, 2)
    assert stub.requests[1].body["input"] == ["passage: a"]
    assert stub.requests[1].body["dimensions"] == 2
