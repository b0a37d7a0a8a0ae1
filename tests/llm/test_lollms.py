"""The binding for LoLLMS, against a local server that answers as one does."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from lightrag.embedding.registry import EmbeddingAttributes, create_embedding
from lightrag.exceptions import ModelReplyError
from lightrag.llm.lollms import lollms_embed, lollms_model_complete, lollms_model_if_cache
from lightrag.llm.registry import create_llm
from lightrag.runtime.endpoints import ModelEndpoint
from lightrag.runtime.model_errors import ProviderError
from tests.llm.behaviours import stops_in_time, stops_with_its_caller, stops_with_its_reader
from tests.llm.stub_server import Exchange, StubServer

KEY = "key-0123456789abcdef"


def streams(stub: StubServer, *pieces: str, hang: bool = False) -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.start_stream("text/plain")
        for piece in pieces:
            await exchange.send_chunk(piece.encode())
        if hang:
            await exchange.wait_for_hang_up()
            stub.hung_up.set()
            return
        await exchange.end_stream()

    stub.handler = handler


async def ask(stub: StubServer, **kwargs: Any) -> Any:
    return await lollms_model_if_cache("m", "Q", base_url=stub.url, api_key=KEY, **kwargs)


async def test_a_reply_and_what_was_sent(stub: StubServer) -> None:
    streams(stub, "Hello ", "there")
    history = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    reply = await lollms_model_if_cache(
        "m", "Q", "S", history, base_url=f"{stub.url}/", api_key=KEY, temperature=0.5, hashing_kv=None, n_predict=None,
        response_format={"type": "json_object"},
    )  # fmt: skip
    assert reply == "Hello there"
    request = stub.requests[0]
    assert request.path == "/lollms_generate"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "prompt": "S\nuser: a\nassistant: b\nQ",
        "model_name": "m",
        "personality": -1,
        "stream": False,
        "temperature": 0.5,
    }


async def test_reasoning_is_dropped_unless_asked_for(stub: StubServer) -> None:
    streams(stub, "<think>hm</think>Yes.")
    assert await ask(stub) == "Yes."
    assert await ask(stub, enable_cot=True) == "<think>hm</think>Yes."


async def test_refusals_and_empty_replies(stub: StubServer) -> None:
    stub.answers({"detail": f"no such model, {KEY}"}, status=404)
    for stream in (False, True):
        with pytest.raises(ProviderError, match="no such model") as caught:
            await ask(stub, stream=stream)
        assert KEY not in str(caught.value)
    streams(stub, " ")
    with pytest.raises(ModelReplyError, match="empty reply"):
        await ask(stub)


async def test_a_stream(stub: StubServer) -> None:
    streams(stub, "One", " two", " Größe")
    pieces = [piece async for piece in await ask(stub, stream=True)]
    assert "".join(pieces) == "One two Größe"
    assert stub.requests[0].body["stream"] is True


async def test_it_stops(stub: StubServer) -> None:
    await stops_with_its_caller(stub, partial(ask, stub))
    await stops_in_time(stub, partial(ask, stub))
    streams(stub, "One", hang=True)
    await stops_with_its_reader(stub, partial(ask, stub))


async def test_vectors_one_text_each(stub: StubServer) -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.send_json({"vector": [float(len(exchange.request.body["text"])), 1.0]})

    stub.handler = handler
    vectors = await lollms_embed.func(["a", "bbb", "cc"], base_url=stub.url, embed_model="any")
    assert np.array_equal(vectors, np.array([[1, 1], [3, 1], [2, 1]], dtype=np.float32))
    assert {request.path for request in stub.requests} == {"/lollms_embed"}
    stub.answers({"error": "no model"})
    with pytest.raises(ModelReplyError, match="sent no vector"):
        await lollms_embed.func(["a"], base_url=stub.url)


async def test_vectors_stop(stub: StubServer) -> None:
    async def embed(**kwargs: Any) -> Any:
        return await lollms_embed.func(["a"], base_url=stub.url, **kwargs)

    await stops_with_its_caller(stub, embed)
    await stops_in_time(stub, embed)


async def test_by_its_name(stub: StubServer) -> None:
    streams(stub, "Yes.")
    assert await create_llm("lollms", ModelEndpoint("m", stub.url, KEY, 5.0, {"top_k": 3}))("Q") == "Yes."
    assert (stub.requests[0].body["model_name"], stub.requests[0].body["top_k"]) == ("m", 3)
    assert await lollms_model_complete("Q", model="m2", base_url=stub.url) == "Yes."
    stub.answers({"vector": [0.5, 1.0]})
    function = create_embedding("lollms", ModelEndpoint("e", stub.url), EmbeddingAttributes(2))
    assert (await function(["a"])).tolist() == [[0.5, 1.0]]
