"""What both bindings make of a provider that misbehaves: the right kind of error, in time, without the key."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from typing import Any

import ollama  # noqa: F401 - the first call would import them, at the cost of its time limit
import openai  # noqa: F401
import pytest

from lightrag.contracts.models import EmbeddingFunc
from lightrag.exceptions import (
    ContextTooLongError,
    EmbeddingMismatchError,
    LightRAGError,
    ModelReplyError,
    ModelTimeoutError,
)
from lightrag.llm.ollama import ollama_embed, ollama_model_complete
from lightrag.llm.openai import openai_complete_if_cache, openai_embed
from lightrag.runtime import responses
from lightrag.runtime.calls import BoundedCalls
from lightrag.runtime.model_errors import ProviderError, TruncatedReplyError, is_transient
from lightrag.runtime.retries import NO_RETRIES
from tests.fakes.facts import DIMENSION, embed_text
from tests.storms import faults
from tests.storms.provider import KEY, Fault, Good, Provider, running_provider, vectors_body

PROMPT = "Wo ist 日本語, and what is it that you do with it?"
WHOLE = f"answer to {PROMPT}"
BINDINGS = ("openai", "ollama")
# Seconds per attempt: where the limit is what is tested, and where a busy machine must not reach it.
SHORT, LONG = 0.5, 20.0


def chat(binding: str, provider: Provider, limit: float = LONG) -> BoundedCalls:
    async def ask(**kwargs: Any) -> Any:
        if binding == "openai":
            return await openai_complete_if_cache("m", PROMPT, base_url=provider.openai, api_key=KEY, **kwargs)
        return await ollama_model_complete(PROMPT, model="m", host=provider.ollama, api_key=KEY, **kwargs)

    return BoundedCalls(ask, 1, limit, name="llm", retry=NO_RETRIES)


def embedding(binding: str, provider: Provider, limit: float = LONG, **options: Any) -> BoundedCalls:
    async def embed(texts: list[str]) -> Any:
        if binding == "openai":
            return await openai_embed.func(texts, "m", provider.openai, KEY, **options)
        return await ollama_embed.func(texts, "m", host=provider.ollama, api_key=KEY)

    func = EmbeddingFunc(DIMENSION, embed, model_name="m")
    return BoundedCalls(func, 1, limit, name="embedding", retry=NO_RETRIES)


async def outcome(calls: BoundedCalls, *args: Any, **kwargs: Any) -> tuple[str, Exception | None]:
    """Return what a reader saw of a reply, and the error that ended it."""
    seen = ""
    try:
        reply = await calls(*args, **kwargs)
        if isinstance(reply, str):
            return reply, None
        async for piece in reply:
            seen += piece
    except LightRAGError as error:
        return seen, error
    return seen, None


async def settled(provider: Provider, calls: BoundedCalls) -> None:
    """No request is left at the provider, and no slot taken."""
    async with asyncio.timeout(2):
        while provider.open or calls.status().running:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


EVERYWHERE: dict[str, tuple[Fault, type[LightRAGError], bool]] = {
    "429": (faults.status(429), ProviderError, True),
    "529": (faults.status(529), ProviderError, True),
    "401 with the key": (faults.status(401, f"wrong key {KEY}"), ProviderError, False),
    "too long": (faults.status(400, "the maximum context length is 5"), ContextTooLongError, False),
    "before headers": (faults.drop_before_headers, ProviderError, True),
    "after headers": (faults.drop_after_headers, ProviderError, True),
    "hang": (faults.hang, ModelTimeoutError, True),
    "hang after headers": (faults.hang_after_headers, ModelTimeoutError, True),
    "page of a proxy": (faults.html, ModelReplyError, False),
    "page as JSON": (faults.html_as_json, ModelReplyError, False),
    "nothing": (faults.empty, ModelReplyError, False),
    "rubbish": (faults.gzip_rubbish, ProviderError, True),
    "no UTF-8": (faults.not_utf8, ModelReplyError, False),
    "null": (faults.json_null, ModelReplyError, False),
    "a list": (faults.json_list, ModelReplyError, False),
    "a text": (faults.json_text, ModelReplyError, False),
    "fields of other types": (faults.wrong_types, ModelReplyError, False),
    "an error in a success": (faults.error_in_200, ProviderError, True),
    "redirects for ever": (faults.redirect("/v1/chat/completions"), ProviderError, True),
}
IN_CHATS: dict[str, tuple[Fault, type[LightRAGError], bool]] = {
    "filtered": (faults.finish("content_filter", 0.5), ModelReplyError, False),
    "cut off": (faults.finish("length", 0.5), TruncatedReplyError, False),
    "no content": (faults.null_content, ModelReplyError, False),
    "tool calls": (faults.tool_calls, ModelReplyError, False),
    "half a body": (faults.hang_in_body, ModelTimeoutError, True),
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("binding", BINDINGS)
@pytest.mark.parametrize("name", [*EVERYWHERE, *IN_CHATS])
async def test_a_chat_that_fails(provider: Provider, name: str, binding: str, stream: bool) -> None:
    fault, kind, transient = {**EVERYWHERE, **IN_CHATS}[name]
    provider.faults = lambda good: fault
    calls = chat(binding, provider, SHORT if kind is ModelTimeoutError else LONG)
    seen, error = await outcome(calls, stream=stream)
    assert type(error) is kind, error
    assert "'m'" in str(error) or "llm" in str(error), "the message names the model"
    assert "\n" not in str(error)
    assert KEY not in str(error)
    assert is_transient(error) is transient
    assert WHOLE not in seen
    await settled(provider, calls)


STREAMS: dict[str, tuple[Fault, str]] = {
    "in a line": (faults.cut("line"), "peer closed"),
    "in a character": (faults.cut("character"), "peer closed"),
    "between two pieces": (faults.cut("between"), "peer closed"),
    "orderly between two pieces": (faults.cut("polite"), "broke off before its end"),
    "orderly in a line": (faults.polite_half_line, "broke off before its end|not JSON"),
    "never": (faults.stalls, "gave no reply within"),
    "with an error": (faults.error_in_stream, "the model crashed"),
}


@pytest.mark.parametrize("binding", BINDINGS)
@pytest.mark.parametrize("name", STREAMS)
async def test_a_stream_that_ends_early_never_looks_whole(provider: Provider, name: str, binding: str) -> None:
    fault, words = STREAMS[name]
    provider.faults = lambda good: fault
    calls = chat(binding, provider, SHORT if name == "never" else LONG)
    seen, error = await outcome(calls, stream=True)
    assert WHOLE.startswith(seen)
    assert seen not in ("", WHOLE)
    with pytest.raises(LightRAGError, match=words):
        raise error or AssertionError("the stream looked whole")
    assert calls.status().failed == 1
    await settled(provider, calls)


@pytest.mark.parametrize("binding", BINDINGS)
@pytest.mark.parametrize("fault", [faults.cut("done"), faults.hangs_after_the_end], ids=["no marker", "no end"])
async def test_a_stream_that_is_whole_but_for_its_last_word(provider: Provider, fault: Fault, binding: str) -> None:
    provider.faults = lambda good: fault
    calls = chat(binding, provider)
    assert await outcome(calls, stream=True) == (WHOLE, None)
    await settled(provider, calls)


async def test_a_server_without_finish_reasons_marks_the_end(provider: Provider) -> None:
    provider.faults = lambda good: faults.no_finish_reasons
    assert await outcome(chat("openai", provider), stream=True) == (WHOLE, None)


async def test_what_is_said_of_the_marker_is_no_marker(provider: Provider) -> None:
    provider.faults = lambda good: faults.speaks_of_the_marker
    seen, error = await outcome(chat("openai", provider), stream=True)
    assert "data: [DONE]" in seen
    assert isinstance(error, ProviderError)


@pytest.mark.parametrize("binding", BINDINGS)
async def test_streams_of_a_good_server_share_a_connection(provider: Provider, binding: str) -> None:
    calls = chat(binding, provider)
    for _ in range(3):
        assert await outcome(calls, stream=True) == (WHOLE, None)
    assert provider.stub.connections == 1


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_redirect_to_another_host_gets_neither_text_nor_key(
    provider: Provider, binding: str, stream: bool
) -> None:
    async with running_provider() as other:
        target = other.stub.url.replace("127.0.0.1", "localhost")
        provider.faults = lambda good: faults.redirect(f"{target}/v1/chat/completions")
        _, error = await outcome(chat(binding, provider), stream=stream)
        assert "'127.0.0.1' redirects to another host, 'localhost'" in str(error)
        assert not is_transient(error or AssertionError())
        assert other.stub.connections == 0


@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_redirect_on_the_same_host_is_followed(provider: Provider, binding: str) -> None:
    path = "/v1/chat/completions" if binding == "openai" else "/api/chat"
    provider.faults = lambda good: faults.redirect(path) if len(provider.tasks) == 1 else None
    assert await outcome(chat(binding, provider)) == (WHOLE, None)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_server_that_asks_for_patience_is_heard(provider: Provider, binding: str, stream: bool) -> None:
    provider.faults = lambda good: faults.status(429, headers={"retry-after": "77"})
    _, error = await outcome(chat(binding, provider), stream=stream)
    assert isinstance(error, ProviderError)
    assert (error.status_code, error.retry_after) == (429, 77)


TEXTS = ["Ada wrote", "Babbage designed", "Engine"]
NAN = float("nan")


def numbered(number: Callable[[int], Any]) -> Fault:
    def make(good: Good) -> Any:
        body = vectors_body(good)
        for place, row in enumerate(body.get("data") or ()):
            row["index"] = number(place)
        return body

    return faults.payload(make)


BAD_VECTORS: dict[str, tuple[Fault, type[LightRAGError]]] = {
    **{name: (fault, kind) for name, (fault, kind, _) in EVERYWHERE.items() if "redirects" not in name},
    "too few": (faults.vectors(lambda rows: rows[:-1]), ModelReplyError),
    "too many": (faults.vectors(lambda rows: rows + rows[:1]), ModelReplyError),
    "short": (faults.vectors(lambda rows: [row[:5] for row in rows]), EmbeddingMismatchError),
    "ragged": (
        faults.vectors(lambda rows: [row[: 5 + len(row) % (n + 2)] for n, row in enumerate(rows)]),
        LightRAGError,
    ),
    "NaN": (faults.vectors(lambda rows: [rows[0], [NAN] * DIMENSION, rows[2]]), EmbeddingMismatchError),
    "no base64": (faults.payload(lambda good: {"data": [{"index": 0, "embedding": "!"}] * 3}), ModelReplyError),
    "no vectors": (faults.payload(lambda good: {"data": [1, 2, 3], "embeddings": [1, 2, 3]}), ModelReplyError),
}


@pytest.mark.parametrize("binding", BINDINGS)
@pytest.mark.parametrize("name", BAD_VECTORS)
async def test_vectors_that_cannot_be_used(provider: Provider, name: str, binding: str) -> None:
    fault, kind = BAD_VECTORS[name]
    provider.faults = lambda good: fault
    calls = embedding(binding, provider, SHORT if kind is ModelTimeoutError else LONG)
    _, error = await outcome(calls, TEXTS)
    assert isinstance(error, kind), error
    assert KEY not in str(error)
    assert "\n" not in str(error)
    await settled(provider, calls)


@pytest.mark.parametrize("base64", [True, False])
@pytest.mark.parametrize(
    "fault",
    [
        faults.out_of_order,
        numbered(lambda place: None),
        numbered(lambda place: 1),
        numbered(str),
        numbered(lambda n: n * 7),
    ],
    ids=["out of order", "no numbers", "one number", "numbers as text", "other numbers"],
)
async def test_vectors_find_their_texts(provider: Provider, fault: Fault, base64: bool) -> None:
    provider.faults = lambda good: fault
    vectors = await embedding("openai", provider, use_base64=base64)(TEXTS)
    for text, vector in zip(TEXTS, vectors, strict=True):
        assert vector.tolist() == pytest.approx(embed_text(text).tolist())


@pytest.mark.parametrize("number", [lambda n: n // 2, lambda n: None if n else 0, lambda n: "abc"[n]])
async def test_vectors_whose_numbers_say_nothing_are_refused(provider: Provider, number: Callable[[int], Any]) -> None:
    provider.faults = lambda good: numbered(number)
    _, error = await outcome(embedding("openai", provider), TEXTS)
    assert isinstance(error, ModelReplyError)
    assert "every text needs its own number" in str(error)


@pytest.mark.parametrize("read_first", [True, False])
@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_stream_that_is_forgotten_closes_its_request(
    provider: Provider, binding: str, read_first: bool
) -> None:
    provider.faults = lambda good: faults.stalls
    calls = chat(binding, provider)
    stream = await calls(stream=True)
    if read_first:
        await anext(stream)
    assert provider.open == 1
    del stream
    gc.collect()
    await settled(provider, calls)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_body_without_end_is_refused(
    provider: Provider, monkeypatch: pytest.MonkeyPatch, binding: str, stream: bool
) -> None:
    monkeypatch.setattr(responses, "MAX_BODY_BYTES", 2**20)
    provider.faults = lambda good: faults.large(3)
    calls = chat(binding, provider)
    _, error = await outcome(calls, stream=stream)
    assert "'127.0.0.1' sent more than 1 MB" in str(error)
    await settled(provider, calls)
