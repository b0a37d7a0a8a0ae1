"""Rerankers against a local server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from lightrag.exceptions import InputError, ModelReplyError, ModelTimeoutError
from lightrag.rerank import ali_rerank, cohere_rerank, jina_rerank
from lightrag.rerank.http import JINA, http_rerank
from lightrag.rerank.registry import RERANK_BINDINGS, create_reranker
from lightrag.runtime.clients import close_idle_clients
from lightrag.runtime.endpoints import ModelEndpoint
from lightrag.runtime.model_errors import ProviderError
from lightrag.runtime.usage import CallUsage, reported_to
from lightrag.settings_api import provider_file
from tests.llm.stub_server import Exchange, StubServer, running_stub

KEY = "jina_0123456789abcdef"
RESULTS = {"results": [{"index": 2, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.25}]}
RANKED = [{"index": 2, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.25}]


@pytest.fixture
async def stub() -> AsyncIterator[StubServer]:
    async with running_stub() as server:
        yield server
        await close_idle_clients()


async def test_the_order_of_the_server(stub: StubServer) -> None:
    stub.answers(RESULTS)
    ranked = await jina_rerank("q", ["a", "b", "c"], top_n=2, api_key=KEY, base_url=f"{stub.url}/v1/rerank")
    assert ranked == RANKED
    request = stub.requests[0]
    assert request.path == "/v1/rerank"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["documents"] == ["a", "b", "c"]
    assert (request.body["query"], request.body["top_n"]) == ("q", 2)


async def test_nothing_to_rank_asks_nobody(stub: StubServer) -> None:
    assert await cohere_rerank("q", [], base_url=stub.url) == []
    assert stub.requests == []


async def test_top_n_is_optional_and_never_more_than_there_is(stub: StubServer) -> None:
    stub.answers({"results": []})
    assert await cohere_rerank("q", ["a", "b"], base_url=stub.url) == []
    await cohere_rerank("q", ["a", "b"], top_n=10, base_url=stub.url)
    assert [request.body.get("top_n") for request in stub.requests] == [None, 2]


async def test_a_document_named_twice_counts_once(stub: StubServer) -> None:
    stub.answers({"results": [{"index": 1, "relevance_score": 0.5}, {"index": 1, "relevance_score": 0.4}]})
    assert await cohere_rerank("q", ["a", "b"], base_url=stub.url) == [{"index": 1, "relevance_score": 0.5}]


@pytest.mark.parametrize(
    "payload",
    [
        {},
        [],
        {"results": None},
        {"results": [{"index": 3, "relevance_score": 0.5}]},
        {"results": [{"index": -1, "relevance_score": 0.5}]},
        {"results": [{"index": "0", "relevance_score": 0.5}]},
        {"results": [{"index": 0}]},
        {"results": [{"index": 0, "relevance_score": "high"}]},
        {"results": ["a"]},
    ],
)
async def test_an_unusable_answer_is_an_error(stub: StubServer, payload: Any) -> None:
    stub.answers(payload)
    with pytest.raises(ModelReplyError, match="'m'"):
        await http_rerank("q", ["a", "b", "c"], None, ModelEndpoint("m", stub.url))


async def test_not_a_number_is_no_score(stub: StubServer) -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.send(b'{"results": [{"index": 0, "relevance_score": NaN}]}', "application/json")

    stub.handler = handler
    with pytest.raises(ModelReplyError, match="score nan"):
        await cohere_rerank("q", ["a"], base_url=stub.url)


async def test_failures(stub: StubServer) -> None:
    stub.answers({"detail": f"no such key {KEY}"}, 429, {"Retry-After": "3"})
    with pytest.raises(ProviderError, match=r"answered 429: .*no such key \*\*\*") as caught:
        await jina_rerank("q", ["a"], api_key=KEY, base_url=stub.url)
    assert caught.value.retry_after == 3.0
    stub.hangs()
    with pytest.raises(ModelTimeoutError):
        await http_rerank("q", ["a"], None, ModelEndpoint("m", stub.url, timeout=0.2))
    await asyncio.wait_for(stub.hung_up.wait(), 2)

    async def no_json(exchange: Exchange) -> None:
        await exchange.send(b"<html>", "text/html")

    stub.handler = no_json
    with pytest.raises(ModelReplyError, match="not JSON"):
        await cohere_rerank("q", ["a"], base_url=stub.url)


async def test_a_server_that_is_not_there(unused_tcp_port: int) -> None:
    with pytest.raises(ProviderError, match="cannot be reached at http://"):
        await cohere_rerank("q", ["a"], base_url=f"http://127.0.0.1:{unused_tcp_port}")
    await close_idle_clients()


async def test_bindings_by_name(stub: StubServer) -> None:
    assert set(RERANK_BINDINGS) == {"null", "aliyun", "cohere", "jina"}
    assert create_reranker("null") is None
    with pytest.raises(InputError, match="'bm25' is not a binding for reranking"):
        create_reranker("bm25")
    stub.answers(RESULTS)
    for name in ("jina", "cohere"):
        rerank = create_reranker(name, ModelEndpoint("", stub.url, KEY, options={"truncate": True}))
        assert rerank is not None
        assert await rerank(query="q", documents=["a", "b", "c"], top_n=None) == RANKED
    assert all(request.body["truncate"] for request in stub.requests)
    assert all(request.body["model"] for request in stub.requests), "an empty name takes the default of the binding"


async def test_alibaba_cloud_wraps_both_sides(stub: StubServer) -> None:
    stub.answers({"output": RESULTS, "usage": {"total_tokens": 79}, "request_id": "r"})
    usage = CallUsage()
    with reported_to(usage):
        ranked = await ali_rerank("q", ["a", "b", "c"], top_n=2, api_key=KEY, base_url=stub.url)
    assert ranked == RANKED
    assert stub.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert stub.requests[0].body == {
        "model": "gte-rerank-v2",
        "input": {"query": "q", "documents": ["a", "b", "c"]},
        "parameters": {"return_documents": False, "top_n": 2},
    }
    assert (usage.prompt_tokens, usage.completion_tokens) == (79, 0)
    rerank = create_reranker("aliyun", ModelEndpoint("qwen3-rerank", stub.url, KEY))
    assert rerank is not None
    assert await rerank(query="q", documents=["a", "b", "c"]) == RANKED
    assert stub.requests[1].body["model"] == "qwen3-rerank"


@pytest.mark.parametrize("payload", [{"output": None}, {"output": {"results": 3}}, {"output": []}])
async def test_a_wrapped_answer_without_results_is_an_error(stub: StubServer, payload: Any) -> None:
    stub.answers(payload)
    with pytest.raises(ModelReplyError, match="no list of results"):
        await ali_rerank("q", ["a"], api_key=KEY, base_url=stub.url)


async def test_further_fields_are_sent_and_unknown_options_refused(stub: StubServer) -> None:
    stub.answers(RESULTS)
    await jina_rerank("q", ["a", "b", "c"], base_url=stub.url, extra_body={"truncation": True}, timeout=3)
    assert stub.requests[0].body["truncation"] is True
    with pytest.raises(InputError, match="has no 'topn'"):
        await jina_rerank("q", ["a"], base_url=stub.url, topn=3)


async def test_a_key_in_the_settings_goes_to_the_provider_alone(
    stub: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JINA_API_KEY", KEY)
    provider_file.cache_clear()
    try:
        assert JINA.placed(ModelEndpoint("")).api_key == KEY
        assert JINA.placed(ModelEndpoint("", api_key="own")).api_key == "own"
        stub.answers(RESULTS)
        await jina_rerank("q", ["a", "b", "c"], base_url=stub.url)
        assert "authorization" not in stub.requests[0].headers
    finally:
        provider_file.cache_clear()
