"""Providers with OpenAI's protocol at an address of their own, and services for vectors, against a local server."""

from __future__ import annotations

import base64
import json
from functools import partial
from typing import Any

import numpy as np
import pytest

from lightrag.contracts.models import EmbeddingFunc
from lightrag.embedding.registry import EmbeddingAttributes, create_embedding
from lightrag.exceptions import InputError, ModelReplyError
from lightrag.llm.compatible import GEMINI, MISTRAL, NVIDIA, ZHIPU, Provider
from lightrag.llm.gemini import gemini_complete_if_cache, gemini_embed, gemini_model_complete
from lightrag.llm.jina import JINA, jina_embed
from lightrag.llm.mistral import mistral_complete_if_cache
from lightrag.llm.nvidia_openai import nvidia_openai_embed
from lightrag.llm.openai import nvidia_openai_complete
from lightrag.llm.registry import create_llm
from lightrag.llm.vector_services import service_key
from lightrag.llm.voyageai import VOYAGE, voyageai_embed
from lightrag.llm.zhipu import zhipu_complete, zhipu_complete_if_cache, zhipu_embedding
from lightrag.runtime.endpoints import ModelEndpoint
from lightrag.runtime.model_errors import ProviderError
from lightrag.runtime.usage import CallUsage, reported_to
from lightrag.settings_api import provider_file
from tests.llm.behaviours import stops_in_time, stops_with_its_caller, stops_with_its_reader
from tests.llm.stub_server import Exchange, StubServer
from tests.llm.test_openai import completion, embedded, event

KEY = "key-0123456789abcdef"
PROVIDERS = {"gemini": GEMINI, "mistral": MISTRAL, "nvidia_openai": NVIDIA, "zhipu": ZHIPU}
VECTORS = np.array([[0.5, -1.25], [1e-3, 2.0]], dtype=np.float32)


@pytest.mark.parametrize("name", PROVIDERS)
async def test_answers_by_name(stub: StubServer, no_keys: pytest.MonkeyPatch, name: str) -> None:
    stub.answers(completion("Yes."))
    assert await create_llm(name, ModelEndpoint("m", f"{stub.url}/v1", KEY, 5.0, {"temperature": 0.1}))("Q") == "Yes."
    request = stub.requests[0]
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert (request.body["model"], request.body["temperature"]) == ("m", 0.1)


async def test_answers_by_function(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    stub.answers(completion("Yes."))
    place = {"base_url": f"{stub.url}/v1", "api_key": KEY}
    await gemini_complete_if_cache("m0", "Q", **place)
    await gemini_model_complete("Q", model="m1", **place)
    await mistral_complete_if_cache("m2", "Q", **place)
    await nvidia_openai_complete("Q", model="m3", **place)
    await zhipu_complete_if_cache("Q", "m4", KEY, "Be brief.", base_url=f"{stub.url}/v1")
    await zhipu_complete("Q", model="m5", **place)
    assert [request.body["model"] for request in stub.requests] == [f"m{number}" for number in range(6)]
    assert stub.requests[4].body["messages"][0] == {"role": "system", "content": "Be brief."}


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=PROVIDERS)
def test_keys(no_keys: pytest.MonkeyPatch, provider: Provider) -> None:
    no_keys.setenv("OPENAI_API_KEY", "key of OpenAI")
    with pytest.raises(InputError, match=f"no key for {provider.name} is given: .*{provider.key_setting.upper()}"):
        provider.place(None, None)
    no_keys.setenv(provider.key_setting.upper(), KEY)
    provider_file.cache_clear()
    assert provider.place(None, None) == {"base_url": provider.url, "api_key": KEY}
    assert provider.place(None, "own") == {"base_url": provider.url, "api_key": "own"}
    # Another server learns neither the provider's key nor that of OpenAI.
    assert provider.place("http://other", None) == {"base_url": "http://other", "api_key": "none"}


def test_googles_other_name_of_the_key(no_keys: pytest.MonkeyPatch) -> None:
    no_keys.setenv("GOOGLE_API_KEY", KEY)
    provider_file.cache_clear()
    assert service_key(None, None, "gemini_api_key", "Gemini") == KEY


async def test_they_stop(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    ask = partial(gemini_complete_if_cache, "m", "Q", base_url=f"{stub.url}/v1", api_key=KEY)
    await stops_with_its_caller(stub, ask)
    await stops_in_time(stub, ask)

    async def handler(exchange: Exchange) -> None:
        await exchange.start_stream("text/event-stream")
        await exchange.send_chunk(f"data: {json.dumps(event({'content': 'One'}))}\n\n".encode())
        await exchange.wait_for_hang_up()
        stub.hung_up.set()

    stub.handler = handler
    await stops_with_its_reader(stub, ask)


@pytest.mark.parametrize("function", [jina_embed, voyageai_embed, gemini_embed], ids=["jina", "voyage", "gemini"])
async def test_services_for_vectors_stop(
    stub: StubServer, no_keys: pytest.MonkeyPatch, function: EmbeddingFunc
) -> None:
    ask = partial(function.func, ["a"], base_url=stub.url, api_key=KEY)
    await stops_with_its_caller(stub, ask)
    await stops_in_time(stub, ask)


@pytest.mark.parametrize("as_base64", [True, False])
@pytest.mark.parametrize(
    ("function", "service", "expected"),
    [
        (
            jina_embed,
            JINA,
            {"model": "jina-embeddings-v4", "task": "retrieval.query", "dimensions": 2, "embedding_type": "base64"},
        ),
        (
            voyageai_embed,
            VOYAGE,
            {"model": "voyage-3.5", "input_type": "query", "output_dimension": 2, "encoding_format": "base64"},
        ),
    ],
    ids=["jina", "voyage"],
)
async def test_vectors_of_services(
    stub: StubServer,
    no_keys: pytest.MonkeyPatch,
    function: EmbeddingFunc,
    service: Any,
    expected: dict[str, Any],
    as_base64: bool,
) -> None:
    rows = [base64.b64encode(row.tobytes()).decode() if as_base64 else row.tolist() for row in VECTORS]
    answer = embedded(rows)
    answer["data"].reverse()
    answer["usage"] = {"total_tokens": 9}
    stub.answers(answer)
    usage = CallUsage()
    with reported_to(usage):
        vectors = await function.func(
            ["a", "b"], base_url=f"{stub.url}/e", api_key=KEY, context="query", embedding_dim=2, truncate=True
        )
    np.testing.assert_array_equal(vectors, VECTORS)
    assert usage.prompt_tokens == 9
    request = stub.requests[0]
    assert (request.path, request.headers["authorization"]) == ("/e", f"Bearer {KEY}")
    assert request.body == {**expected, "input": ["a", "b"], "truncate": True}
    await function.func(["a", "b"], base_url=stub.url, api_key=KEY, context="document", use_base64=False)
    body = stub.requests[1].body
    assert body[service.purpose_field] == service.purposes["document"]
    assert set(body) == {"model", "input", service.purpose_field}
    await function.func(["a", "b"], base_url=stub.url, api_key=KEY)
    assert service.purpose_field not in stub.requests[2].body


@pytest.mark.parametrize("name", ["jina", "voyageai", "gemini"])
async def test_asymmetric_models_learn_what_a_text_is(stub: StubServer, no_keys: pytest.MonkeyPatch, name: str) -> None:
    async def handler(exchange: Exchange) -> None:
        if "requests" in exchange.request.body:
            await exchange.send_json({"embeddings": [{"values": [1.0, 2.0]}]})
        else:
            await exchange.send_json(embedded([[1.0, 2.0]]))

    stub.handler = handler
    model = "gemini-embedding-001" if name == "gemini" else "m"
    embed = create_embedding(
        name, ModelEndpoint(model, stub.url, KEY, 5.0), EmbeddingAttributes(2, supports_asymmetric=True)
    )
    await embed(["a"], context="query")
    await embed(["a"], context="document")
    first, second = (json.dumps(request.body).lower() for request in stub.requests)
    assert "query" in first
    assert "query" not in second
    assert "passage" in second or "document" in second


async def test_vectors_of_gemini(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    stub.answers({"embeddings": [{"values": row.tolist()} for row in VECTORS]})
    place = {"base_url": f"{stub.url}/v1beta/", "api_key": KEY}
    vectors = await gemini_embed.func(["a", "b"], context="query", embedding_dim=2, **place)
    np.testing.assert_array_equal(vectors, VECTORS)
    request = stub.requests[0]
    assert request.path == "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    assert request.headers["x-goog-api-key"] == KEY
    assert "authorization" not in request.headers
    common = {"model": "models/gemini-embedding-001", "taskType": "RETRIEVAL_QUERY", "outputDimensionality": 2}
    assert request.body == {"requests": [{**common, "content": {"parts": [{"text": text}]}} for text in ("a", "b")]}
    await gemini_embed.func(
        ["a", "b"], model="models/gemini-embedding-2", context="query", query_prefix="question: ", **place
    )
    assert stub.requests[1].body["requests"][0] == {
        "model": "models/gemini-embedding-2",
        "content": {"parts": [{"text": "question: a"}]},
    }, "a model that takes the purpose as words gets no field for it"


@pytest.mark.parametrize("function", [jina_embed, voyageai_embed, gemini_embed], ids=["jina", "voyage", "gemini"])
@pytest.mark.parametrize("payload", [{}, [], {"data": None, "embeddings": 3}, {"data": [1], "embeddings": [1]}])
async def test_answers_without_vectors(
    stub: StubServer, no_keys: pytest.MonkeyPatch, function: EmbeddingFunc, payload: Any
) -> None:
    stub.answers(payload)
    with pytest.raises(ModelReplyError, match="sent no list of vectors"):
        await function.func(["a"], base_url=stub.url, api_key=KEY)


@pytest.mark.parametrize("function", [jina_embed, voyageai_embed, gemini_embed], ids=["jina", "voyage", "gemini"])
async def test_services_for_vectors_refuse(
    stub: StubServer, no_keys: pytest.MonkeyPatch, function: EmbeddingFunc
) -> None:
    with pytest.raises(InputError, match="no key for"):
        await function.func(["a"])
    stub.answers({"detail": f"bad {KEY}"}, 401)
    with pytest.raises(ProviderError, match=r"answered 401: .*bad \*\*\*"):
        await function.func(["a"], base_url=stub.url, api_key=KEY)


@pytest.mark.parametrize(
    ("name", "more"),
    [("mistral", {}), ("nvidia_openai", {"input_type": "passage", "truncate": "NONE"})],
)
async def test_vectors_by_name(stub: StubServer, no_keys: pytest.MonkeyPatch, name: str, more: dict[str, Any]) -> None:
    stub.answers(embedded([row.tolist() for row in VECTORS]))
    endpoint = ModelEndpoint("m", f"{stub.url}/v1", KEY, 5.0)
    np.testing.assert_array_equal(await create_embedding(name, endpoint, EmbeddingAttributes(2))(["a", "b"]), VECTORS)
    assert stub.requests[0].body == {"model": "m", "input": ["a", "b"], "encoding_format": "float", **more}


async def test_vectors_by_function(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    stub.answers(embedded([row.tolist() for row in VECTORS]))
    place = {"base_url": f"{stub.url}/v1", "api_key": KEY}
    await nvidia_openai_embed.func(["a", "b"], context="query", **place)
    await zhipu_embedding.func(["a", "b"], embedding_dim=2, **place)
    first, second = (request.body for request in stub.requests)
    assert (first["input_type"], first["model"]) == ("query", "nvidia/llama-3.2-nv-embedqa-1b-v2")
    assert (second["dimensions"], second["model"]) == (2, "embedding-3")
