"""Rerankers that take ``{"model", "query", "documents", "top_n"}`` and answer ``{"results": [...]}``.

Jina and Cohere do, and so do the servers made to be compatible with them, such as vLLM and Text Embeddings
Inference behind a proxy. Each result is ``{"index", "relevance_score"}``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

from lightrag.contracts.models import RerankFunc
from lightrag.exceptions import ModelReplyError, ModelTimeoutError
from lightrag.runtime.clients import ClientPool
from lightrag.runtime.endpoints import ModelEndpoint
from lightrag.runtime.model_errors import ProviderError, parse_retry_after, provider_error, redact

if TYPE_CHECKING:
    from httpx import AsyncClient, Response

JINA_URL = "https://api.jina.ai/v1/rerank"
JINA_MODEL = "jina-reranker-v2-base-multilingual"
COHERE_URL = "https://api.cohere.com/v2/rerank"
COHERE_MODEL = "rerank-v3.5"
_DEFAULT_TIMEOUT = 30.0


@dataclass(frozen=True)
class _Server:
    """What a client is made of."""

    timeout: float
    api_key: str | None = field(default=None, repr=False)


def _build_client(server: _Server) -> AsyncClient:
    import httpx

    headers = {"Authorization": f"Bearer {server.api_key}"} if server.api_key else {}
    return httpx.AsyncClient(timeout=server.timeout, headers=headers)


async def _close_client(client: AsyncClient) -> None:
    await client.aclose()


_clients: ClientPool[_Server, AsyncClient] = ClientPool(_build_client, _close_client)


async def http_rerank(
    query: str, documents: Sequence[str], top_n: int | None, endpoint: ModelEndpoint
) -> list[dict[str, Any]]:
    """Order documents by their relevance to a question.

    Args:
        query: The question.
        documents: Texts.
        top_n: Best documents to return; ``None`` for all.
        endpoint: Model and server, ``base_url`` being the whole address of the route.

    Returns:
        ``{"index": int, "relevance_score": float}`` in the server's order, best first.

    Raises:
        ModelReplyError: The answer cannot be used; the message says why.
        ModelTimeoutError: The server was too slow.
        ProviderError: The server could not be reached, or refused.
    """
    import httpx

    if not documents:
        return []
    source = f"rerank model {endpoint.model!r}"
    body: dict[str, Any] = {
        "model": endpoint.model,
        "query": query,
        "documents": list(documents),
        **endpoint.options,
    }
    if top_n is not None:
        body["top_n"] = min(top_n, len(documents))
    async with _clients.lease(_Server(endpoint.timeout or _DEFAULT_TIMEOUT, endpoint.api_key)) as client:
        try:
            response = await client.post(endpoint.base_url or "", json=body)
        except httpx.TimeoutException:
            raise ModelTimeoutError(f"{source} did not answer in time") from None
        except httpx.TransportError as error:
            reason = redact(str(error), endpoint.api_key)
            raise ProviderError(f"{source} cannot be reached: {reason}") from None
    return _read_results(source, response, len(documents), endpoint.api_key)


def _read_results(source: str, response: Response, count: int, secret: str | None) -> list[dict[str, Any]]:
    if not response.is_success:
        raise provider_error(
            source,
            response.status_code,
            redact(response.text, secret),
            retry_after=parse_retry_after(response.headers),
        )
    try:
        answer = response.json()
    except json.JSONDecodeError as error:
        raise ModelReplyError(f"{source} sent something that is not JSON: {error}") from error
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list):
        raise ModelReplyError(f"{source} sent no list of results: {redact(str(answer), secret)[:200]!r}")
    ranked: dict[int, float] = {}
    for result in results:
        index, score = _read_result(source, result, count)
        ranked.setdefault(index, score)
    return [{"index": index, "relevance_score": score} for index, score in ranked.items()]


def _read_result(source: str, result: Any, count: int) -> tuple[int, float]:
    fields: Mapping[str, Any] = result if isinstance(result, dict) else {}
    index, score = fields.get("index"), fields.get("relevance_score")
    if not isinstance(index, int) or not 0 <= index < count:
        raise ModelReplyError(f"{source} named document {index!r}; there are 0 to {count - 1}")
    if isinstance(score, bool) or not isinstance(score, int | float) or not isfinite(score):
        raise ModelReplyError(f"{source} gave document {index} the score {score!r}; expected a number")
    return index, float(score)


async def jina_rerank(
    query: str,
    documents: Sequence[str],
    top_n: int | None = None,
    api_key: str | None = None,
    model: str = JINA_MODEL,
    base_url: str = JINA_URL,
) -> list[dict[str, Any]]:
    """Rerank with Jina or a compatible server; see :func:`http_rerank`."""
    endpoint = ModelEndpoint(model, base_url, api_key, options={"return_documents": False})
    return await http_rerank(query, documents, top_n, endpoint)


async def cohere_rerank(
    query: str,
    documents: Sequence[str],
    top_n: int | None = None,
    api_key: str | None = None,
    model: str = COHERE_MODEL,
    base_url: str = COHERE_URL,
) -> list[dict[str, Any]]:
    """Rerank with Cohere or a compatible server; see :func:`http_rerank`."""
    return await http_rerank(query, documents, top_n, ModelEndpoint(model, base_url, api_key))


def create_none(_endpoint: ModelEndpoint) -> None:
    """Return no reranker."""


def create_jina(endpoint: ModelEndpoint) -> RerankFunc:
    """Return a reranker by Jina, or by a compatible server when ``base_url`` is given."""
    options = {"return_documents": False, **endpoint.options}
    return _bound(endpoint, ModelEndpoint(JINA_MODEL, JINA_URL, options=options))


def create_cohere(endpoint: ModelEndpoint) -> RerankFunc:
    """Return a reranker by Cohere, or by a compatible server when ``base_url`` is given."""
    return _bound(endpoint, ModelEndpoint(COHERE_MODEL, COHERE_URL, options=endpoint.options))


def _bound(given: ModelEndpoint, defaults: ModelEndpoint) -> RerankFunc:
    endpoint = ModelEndpoint(
        given.model or defaults.model,
        given.base_url or defaults.base_url,
        given.api_key,
        given.timeout,
        defaults.options,
    )

    async def rerank(
        query: str, documents: Sequence[str], top_n: int | None = None, **_engine_keywords: Any
    ) -> list[dict[str, Any]]:
        return await http_rerank(query, documents, top_n, endpoint)

    return rerank
