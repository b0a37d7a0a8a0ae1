"""Rerankers over HTTP.

Jina and Cohere, and the servers made to be compatible with them, such as vLLM and Text Embeddings Inference behind a
proxy, take ``{"model", "query", "documents", "top_n"}`` and answer ``{"results": [...]}``. Alibaba Cloud wraps both
sides once more. Each result is ``{"index", "relevance_score"}``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from lightrag.contracts.models import RerankFunc
from lightrag.exceptions import InputError, ModelReplyError
from lightrag.rerank.windows import by_windows
from lightrag.runtime.endpoints import ModelEndpoint
from lightrag.runtime.http_json import DEFAULT_TIMEOUT, Service, post_json
from lightrag.runtime.model_errors import redact
from lightrag.runtime.tokens import TiktokenTokenizer
from lightrag.runtime.usage import report_usage
from lightrag.settings_api import provider_settings


@dataclass(frozen=True)
class RerankService:
    """A provider of rerankers.

    Attributes:
        url: Its route.
        model: Model that is asked when none is named.
        key_setting: Setting that holds the key, by its field name; used for ``url`` only.
        wrapped: Whether query and documents lie in ``input``, parameters in ``parameters`` and results in ``output``.
        options: Sent with every request.
    """

    url: str
    model: str
    key_setting: str
    wrapped: bool = False
    options: tuple[tuple[str, Any], ...] = ()

    def placed(self, given: ModelEndpoint) -> ModelEndpoint:
        """Return an endpoint with what was not given filled in.

        The key in the settings goes to the provider's own address only: another server must not learn it.
        """
        key = given.api_key
        if not key and not given.base_url:
            key = str(getattr(provider_settings(), self.key_setting)) or None
        options = {**dict(self.options), **given.options}
        return ModelEndpoint(given.model or self.model, given.base_url or self.url, key, given.timeout, options)


JINA = RerankService(
    "https://api.jina.ai/v1/rerank",
    "jina-reranker-v2-base-multilingual",
    "jina_api_key",
    options=(("return_documents", False),),
)
COHERE = RerankService("https://api.cohere.com/v2/rerank", "rerank-v3.5", "cohere_api_key")
ALIYUN = RerankService(
    "https://dashscope.aliyuncs.com/api/v1/services/rerank/text-rerank/text-rerank",
    "gte-rerank-v2",
    "dashscope_api_key",
    wrapped=True,
    options=(("return_documents", False),),
)


async def http_rerank(
    query: str, documents: Sequence[str], top_n: int | None, endpoint: ModelEndpoint, *, wrapped: bool = False
) -> list[dict[str, Any]]:
    """Order documents by their relevance to a question.

    Args:
        query: The question.
        documents: Texts.
        top_n: Best documents to return; ``None`` for all.
        endpoint: Model and server, ``base_url`` being the whole address of the route.
        wrapped: Whether the server speaks as Alibaba Cloud does.

    Returns:
        ``{"index": int, "relevance_score": float}`` in the server's order, best first.

    Raises:
        ModelReplyError: The answer cannot be used; the message says why.
        ModelTimeoutError: The server was too slow.
        ProviderError: The server could not be reached, or refused.
    """
    if not documents:
        return []
    texts = {"query": query, "documents": list(documents)}
    parameters = dict(endpoint.options)
    if top_n is not None:
        parameters["top_n"] = min(top_n, len(documents))
    body: dict[str, Any] = {"model": endpoint.model}
    body |= {"input": texts, "parameters": parameters} if wrapped else {**texts, **parameters}
    source = f"rerank model {endpoint.model!r}"
    service = Service(endpoint.base_url or "", endpoint.api_key, endpoint.timeout or DEFAULT_TIMEOUT)
    answer = await post_json(source, service, body)
    return _read_results(source, answer, len(documents), endpoint.api_key)


def _read_results(source: str, answer: Any, count: int, secret: str | None) -> list[dict[str, Any]]:
    fields = answer if isinstance(answer, dict) else {}
    inner = fields.get("output")
    results = (inner if isinstance(inner, dict) else fields).get("results")
    if not isinstance(results, list):
        raise ModelReplyError(f"{source} sent no list of results: {redact(str(answer), secret)[:200]!r}")
    _note_usage(fields.get("usage"))
    ranked: dict[int, float] = {}
    for result in results:
        index, score = _read_result(source, result, count)
        ranked.setdefault(index, score)
    return [{"index": index, "relevance_score": score} for index, score in ranked.items()]


def _note_usage(usage: Any) -> None:
    tokens = usage.get("total_tokens") if isinstance(usage, dict) else None
    if isinstance(tokens, int) and not isinstance(tokens, bool):
        report_usage(prompt_tokens=tokens, completion_tokens=0)


def _read_result(source: str, result: Any, count: int) -> tuple[int, float]:
    fields: Mapping[str, Any] = result if isinstance(result, dict) else {}
    index, score = fields.get("index"), fields.get("relevance_score")
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < count:
        raise ModelReplyError(f"{source} named document {index!r}; there are 0 to {count - 1}")
    if isinstance(score, bool) or not isinstance(score, int | float) or not isfinite(score):
        raise ModelReplyError(f"{source} gave document {index} the score {score!r}; expected a number")
    return index, float(score)


DEFAULT_WINDOW = 480
"""Tokens of a window, where documents are cut and nobody says how long a window may be."""

_OPTIONS = frozenset({"extra_body", "timeout", "enable_chunking", "max_tokens_per_doc"})


async def jina_rerank(
    query: str,
    documents: Sequence[str],
    top_n: int | None = None,
    api_key: str | None = None,
    model: str = JINA.model,
    base_url: str | None = None,
    **options: Any,
) -> list[dict[str, Any]]:
    """Rerank with Jina or a compatible server; see :func:`http_rerank`. The key may be that of ``JINA_API_KEY``.

    Options are ``extra_body`` (sent too), ``timeout`` (seconds), ``enable_chunking`` and ``max_tokens_per_doc``:
    documents that are longer are cut into windows of so many tokens, and a document gets the score of its best one.
    """
    return await _rerank(JINA, (query, documents), top_n, _endpoint(model, base_url, api_key, options), options)


async def cohere_rerank(
    query: str,
    documents: Sequence[str],
    top_n: int | None = None,
    api_key: str | None = None,
    model: str = COHERE.model,
    base_url: str | None = None,
    **options: Any,
) -> list[dict[str, Any]]:
    """Rerank with Cohere or a compatible server; see :func:`http_rerank`. The key may be that of ``COHERE_API_KEY``.

    Options as of :func:`jina_rerank`.
    """
    return await _rerank(COHERE, (query, documents), top_n, _endpoint(model, base_url, api_key, options), options)


async def ali_rerank(
    query: str,
    documents: Sequence[str],
    top_n: int | None = None,
    api_key: str | None = None,
    model: str = ALIYUN.model,
    base_url: str | None = None,
    **options: Any,
) -> list[dict[str, Any]]:
    """Rerank with Alibaba Cloud; see :func:`http_rerank`. The key may be that of ``DASHSCOPE_API_KEY``.

    Options as of :func:`jina_rerank`.
    """
    return await _rerank(ALIYUN, (query, documents), top_n, _endpoint(model, base_url, api_key, options), options)


def _endpoint(model: str, base_url: str | None, api_key: str | None, options: Mapping[str, Any]) -> ModelEndpoint:
    """Return what the arguments of a rerank function say.

    Raises:
        InputError: An option is unknown.
    """
    unknown = sorted(set(options) - _OPTIONS)
    if unknown:
        raise InputError(
            f"a rerank function has no {', '.join(map(repr, unknown))}; it takes {', '.join(sorted(_OPTIONS))}"
        )
    return ModelEndpoint(model, base_url, api_key, options.get("timeout"), options.get("extra_body") or {})


async def _rerank(
    service: RerankService, texts: tuple[str, Sequence[str]], top_n: int | None, given: ModelEndpoint, options: Any
) -> list[dict[str, Any]]:
    rerank = _bound(service, given)
    if options.get("enable_chunking"):
        rerank = by_windows(rerank, TiktokenTokenizer, options.get("max_tokens_per_doc", DEFAULT_WINDOW))
    query, documents = texts
    return list(await rerank(query=query, documents=documents, top_n=top_n))


def create_none(_endpoint: ModelEndpoint) -> None:
    """Return no reranker."""


def create_jina(endpoint: ModelEndpoint) -> RerankFunc:
    """Return a reranker by Jina, or by a compatible server when ``base_url`` is given."""
    return _bound(JINA, endpoint)


def create_cohere(endpoint: ModelEndpoint) -> RerankFunc:
    """Return a reranker by Cohere, or by a compatible server when ``base_url`` is given."""
    return _bound(COHERE, endpoint)


def create_aliyun(endpoint: ModelEndpoint) -> RerankFunc:
    """Return a reranker by Alibaba Cloud, or by a server that speaks as it does when ``base_url`` is given."""
    return _bound(ALIYUN, endpoint)


def _bound(service: RerankService, given: ModelEndpoint) -> RerankFunc:
    endpoint = service.placed(given)

    async def rerank(
        query: str, documents: Sequence[str], top_n: int | None = None, **_engine_keywords: Any
    ) -> list[dict[str, Any]]:
        return await http_rerank(query, documents, top_n, endpoint, wrapped=service.wrapped)

    return rerank
