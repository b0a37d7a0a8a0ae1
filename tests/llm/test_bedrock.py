"""Amazon Bedrock against a local server: replies, event streams, signatures, embeddings."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.eventstream import EventStreamBuffer
from hypothesis import given
from hypothesis import strategies as st

from lightrag.embedding.registry import EmbeddingAttributes, create_embedding
from lightrag.exceptions import ContextTooLongError, InputError, ModelReplyError
from lightrag.llm import bedrock as binding
from lightrag.llm.aws_events import EventMessage, event_messages
from lightrag.llm.aws_requests import BedrockPlace
from lightrag.llm.registry import create_llm
from lightrag.runtime.endpoints import ModelEndpoint
from lightrag.runtime.model_errors import ProviderError, TruncatedReplyError
from lightrag.runtime.usage import CallUsage, reported_to
from tests.llm.behaviours import stops_in_time, stops_with_its_caller, stops_with_its_reader
from tests.llm.stub_server import Exchange, StubServer

KEY = "bedrock-api-key-0123456789abcdef"
MODEL = "eu.amazon.nova-micro-v1:0"


def answer(*blocks: dict[str, Any], stop: str = "end_turn") -> dict[str, Any]:
    return {
        "output": {"message": {"role": "assistant", "content": list(blocks) or [{"text": "Alice."}]}},
        "stopReason": stop,
        "usage": {"inputTokens": 12, "outputTokens": 5, "totalTokens": 17},
    }


def packed(headers: dict[str, str], payload: bytes) -> bytes:
    """Return a message of an event stream."""
    head = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value.encode())) + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack(">II", 16 + len(head) + len(payload), len(head))
    body = prelude + struct.pack(">I", zlib.crc32(prelude)) + head + payload
    return body + struct.pack(">I", zlib.crc32(body))


def event(kind: str, **fields: Any) -> bytes:
    headers = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    return packed(headers, json.dumps(fields).encode())


def delta(text: str) -> bytes:
    return event("contentBlockDelta", delta={"text": text}, contentBlockIndex=0)


END = [
    event("contentBlockStop", contentBlockIndex=0),
    event("messageStop", stopReason="end_turn"),
    event("metadata", usage={"inputTokens": 12, "outputTokens": 7, "totalTokens": 19}, metrics={"latencyMs": 3}),
]


def streams(stub: StubServer, *chunks: bytes, hang: bool = False) -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.start_stream("application/vnd.amazon.eventstream")
        for chunk in chunks:
            await exchange.send_chunk(chunk)
        if hang:
            await exchange.wait_for_hang_up()
            stub.hung_up.set()
            return
        await exchange.end_stream()

    stub.handler = handler


async def ask(stub: StubServer, **kwargs: Any) -> Any:
    return await binding.bedrock_complete_if_cache(MODEL, "Who?", base_url=stub.url, api_key=KEY, **kwargs)


async def read(stream: AsyncIterator[str]) -> list[str]:
    return [piece async for piece in stream]


async def test_a_reply_and_what_was_sent(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    stub.answers(answer())
    usage = CallUsage()
    with reported_to(usage):
        reply = await ask(
            stub,
            system_prompt="Be brief.",
            history_messages=[{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}],
            temperature=0.3,
            max_tokens=99,
            stop="END",
            top_k=5,
            response_format={"type": "json_object"},
        )
    assert reply == "Alice."
    request = stub.requests[0]
    assert request.path == "/model/eu.amazon.nova-micro-v1%3A0/converse"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "system": [{"text": "Be brief."}],
        "messages": [
            {"role": "user", "content": [{"text": "Hello"}]},
            {"role": "assistant", "content": [{"text": "Hi"}]},
            {"role": "user", "content": [{"text": "Who?"}]},
        ],
        "inferenceConfig": {"temperature": 0.3, "maxTokens": 99, "stopSequences": ["END"]},
        "additionalModelRequestFields": {"top_k": 5},
    }
    assert (usage.prompt_tokens, usage.completion_tokens) == (12, 5)
    await ask(stub)
    assert set(stub.requests[1].body) == {"messages"}
    assert stub.connections == 1


async def test_reasoning(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    thought = {"reasoningContent": {"reasoningText": {"text": "Let me see", "signature": "s"}}}
    stub.answers(answer(thought, {"text": "A"}))
    assert await ask(stub) == "A"
    assert await ask(stub, enable_cot=True) == "<think>Let me see</think>A"
    streams(
        stub,
        event("contentBlockDelta", delta={"reasoningContent": {"text": "hm"}}),
        delta("A"),
        *END,
    )
    assert "".join(await read(await ask(stub, stream=True, enable_cot=True))) == "<think>hm</think>A"


@pytest.mark.parametrize(
    "payload", [{}, [], {"output": {}}, {"output": {"message": {"content": "text"}}}, answer({"text": "  "})]
)
async def test_unusable_replies(stub: StubServer, no_keys: pytest.MonkeyPatch, payload: Any) -> None:
    stub.answers(payload)
    with pytest.raises(ModelReplyError):
        await ask(stub)


async def test_a_cut_off_reply(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    stub.answers(answer({"text": "Half"}, stop="max_tokens"))
    with pytest.raises(TruncatedReplyError):
        await ask(stub)


async def test_refusals(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    stub.answers({"message": f"no access with {KEY}"}, 403)
    with pytest.raises(ProviderError, match=r"no access with \*\*\*") as caught:
        await ask(stub)
    assert caught.value.status_code == 403
    stub.answers({"message": "Input is too long for requested model."}, 400)
    with pytest.raises(ContextTooLongError):
        await ask(stub, stream=True)


async def test_a_stream(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    whole = b"".join([event("messageStart", role="assistant"), delta("Al"), delta("ice"), *END])
    usage = CallUsage()
    for size in (1, 7, len(whole)):
        streams(stub, *(whole[start : start + size] for start in range(0, len(whole), size)))
        with reported_to(usage):
            assert await read(await ask(stub, stream=True)) == ["Al", "ice"]
    assert stub.requests[0].path.endswith("/converse-stream")
    assert usage.completion_tokens == 21
    streams(stub, delta("Half"), event("messageStop", stopReason="max_tokens"))
    with pytest.raises(TruncatedReplyError) as raised:
        await read(await ask(stub, stream=True))
    assert raised.value.reply == "Half"
    streams(stub, delta("Half"))
    with pytest.raises(ProviderError, match="broke off before its end"):
        await read(await ask(stub, stream=True))


async def test_streams_that_fail(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    error = packed(
        {":exception-type": "throttlingException", ":message-type": "exception"},
        json.dumps({"message": f"slow down, {KEY}"}).encode(),
    )
    streams(stub, delta("One"), error)
    stream = await ask(stub, stream=True)
    assert await anext(stream) == "One"
    with pytest.raises(ProviderError, match=r"throttlingException: slow down, \*\*\*"):
        await anext(stream)
    streams(stub, delta("One"), delta("two")[:-9])
    with pytest.raises(ModelReplyError, match="broke off inside an event"):
        await read(await ask(stub, stream=True))
    streams(stub, b"<html>this is no event stream</html>")
    with pytest.raises(ModelReplyError, match="no event stream"):
        await read(await ask(stub, stream=True))
    damaged = bytearray(delta("two"))
    damaged[-8] ^= 1
    streams(stub, bytes(damaged))
    with pytest.raises(ModelReplyError, match="damaged event"):
        await read(await ask(stub, stream=True))


async def test_it_stops(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    await stops_with_its_caller(stub, partial(ask, stub))
    await stops_in_time(stub, partial(ask, stub))
    streams(stub, delta("One"), hang=True)
    await stops_with_its_reader(stub, partial(ask, stub))


async def chunks_of(data: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


@given(
    st.lists(
        st.tuples(st.dictionaries(st.text("ab:-", min_size=1, max_size=9), st.text(max_size=30)), st.binary()),
        max_size=5,
    ),
    st.integers(1, 50),
)
async def test_messages_are_those_that_the_vendors_own_reader_finds(
    messages: list[tuple[dict[str, str], bytes]], size: int
) -> None:
    data = b"".join(packed(headers, payload) for headers, payload in messages)
    found = [message async for message in event_messages("m", chunks_of(data, size))]
    assert found == [EventMessage(headers, payload) for headers, payload in messages]
    theirs = EventStreamBuffer()
    theirs.add_data(data)
    assert [(message.headers, message.payload) for message in theirs] == messages


async def test_headers_of_other_types_are_passed_over() -> None:
    head = (
        b"\x04flag\x00" + b"\x05count\x04\x00\x00\x00\x07" + b"\x04blob\x06\x00\x02\x01\x02" + b"\x04name\x07\x00\x01x"
    )
    prelude = struct.pack(">II", 16 + len(head), len(head))
    body = prelude + struct.pack(">I", zlib.crc32(prelude)) + head
    data = body + struct.pack(">I", zlib.crc32(body))
    found = [message async for message in event_messages("m", chunks_of(data, 5))]
    assert found == [EventMessage({"name": "x"}, b"")]


async def test_requests_are_signed_as_the_vendors_tools_do(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    stub.answers(answer())
    given_keys = {"aws_access_key_id": "AKID", "aws_secret_access_key": "secret", "aws_session_token": "session"}
    reply = await binding.bedrock_complete_if_cache(MODEL, "Who?", base_url=stub.url, region="eu-west-1", **given_keys)
    assert reply == "Alice."
    sent = stub.requests[0].headers
    assert "Credential=AKID/" in sent["authorization"]
    assert "/eu-west-1/bedrock/aws4_request" in sent["authorization"]
    assert sent["x-amz-security-token"] == "session"
    url = f"{stub.url}{stub.requests[0].path}"
    place = BedrockPlace.take({"base_url": stub.url, "region": "eu-west-1", **given_keys})
    data, _ = await place.request(url, stub.requests[0].body)
    again = AWSRequest(
        method="POST", url=url, data=data, headers={"content-type": "application/json", "host": sent["host"]}
    )
    again.context["timestamp"] = sent["x-amz-date"]
    signer = SigV4Auth(Credentials("AKID", "secret", "session"), "bedrock", "eu-west-1")
    again.headers["X-Amz-Date"] = sent["x-amz-date"]
    again.headers["X-Amz-Security-Token"] = "session"
    text = signer.string_to_sign(again, signer.canonical_request(again))
    assert f"Signature={signer.signature(text, again)}" in sent["authorization"]


async def test_where_it_goes_and_by_which_right(no_keys: pytest.MonkeyPatch) -> None:
    assert BedrockPlace.take({}).url("m", "converse") == (
        "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse"
    )
    no_keys.setenv("AWS_BEARER_TOKEN_BEDROCK", KEY)
    no_keys.setenv("AWS_DEFAULT_REGION", "eu-north-1")
    from lightrag.settings_api import provider_file

    provider_file.cache_clear()
    place = BedrockPlace.take({})
    assert (place.api_key, place.region) == (KEY, "eu-north-1")
    assert KEY not in repr(place)
    assert BedrockPlace.take({"base_url": "http://other"}).api_key is None, "another server must not learn the key"
    assert BedrockPlace.take({"aws_access_key_id": "a", "aws_secret_access_key": "b"}).api_key is None


async def test_no_credentials_at_all(no_keys: pytest.MonkeyPatch, tmp_path: Any) -> None:
    no_keys.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    no_keys.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    no_keys.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(InputError, match="no credentials for Amazon Bedrock"):
        await binding.bedrock_complete_if_cache(MODEL, "Q", base_url="http://127.0.0.1:9")


async def test_vectors_of_titan_one_text_each(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    async def handler(exchange: Exchange) -> None:
        number = float(exchange.request.body["inputText"])
        await exchange.send_json({"embedding": [number, -number], "inputTextTokenCount": 3})

    stub.handler = handler
    endpoint = ModelEndpoint(binding.TITAN_MODEL, stub.url, KEY, 5.0)
    attributes = EmbeddingAttributes(2, send_dimensions=True)
    usage = CallUsage()
    with reported_to(usage):
        vectors = await create_embedding("bedrock", endpoint, attributes)([str(number) for number in range(20)])
    np.testing.assert_array_equal(vectors, [[number, -number] for number in range(20)])
    assert usage.prompt_tokens == 60
    assert all(request.body["dimensions"] == 2 for request in stub.requests)
    assert stub.connections <= 8
    stub.answers({"message": "no"}, 400)
    with pytest.raises(ProviderError):
        await binding.bedrock_embed.func(["1", "2"], base_url=stub.url, api_key=KEY)
    stub.answers([])
    with pytest.raises(ModelReplyError, match="sent no vector"):
        await binding.bedrock_embed.func(["1"], base_url=stub.url, api_key=KEY)


@pytest.mark.parametrize("rows", [[[1.0, 2.0]], {"float": [[1.0, 2.0]]}])
async def test_vectors_of_cohere(stub: StubServer, no_keys: pytest.MonkeyPatch, rows: Any) -> None:
    stub.answers({"embeddings": rows})
    place = {"model": "cohere.embed-v4:0", "base_url": stub.url, "api_key": KEY}
    vectors = await binding.bedrock_embed.func(["a"], context="query", embedding_dim=2, **place)
    assert vectors.tolist() == [[1.0, 2.0]]
    await binding.bedrock_embed.func(["a"], context="document", **place)
    assert [request.body["input_type"] for request in stub.requests] == ["search_query", "search_document"]
    assert stub.requests[0].body["output_dimension"] == 2


async def test_by_its_name(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    stub.answers(answer())
    endpoint = ModelEndpoint(MODEL, stub.url, KEY, 5.0, {"temperature": 0.1})
    assert await create_llm("bedrock", endpoint)("Q") == "Alice."
    assert stub.requests[0].body["inferenceConfig"] == {"temperature": 0.1}
    assert await binding.bedrock_complete("Q", model=MODEL, base_url=stub.url, api_key=KEY) == "Alice."
