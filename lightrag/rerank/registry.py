"""Rerank bindings by the name that settings use."""

from __future__ import annotations

from lightrag.contracts.models import RerankFunc
from lightrag.runtime.endpoints import Binding, BindingTable, ModelEndpoint

NO_RERANKER = "null"

RERANK_BINDINGS = BindingTable(
    "reranking",
    {
        NO_RERANKER: Binding("lightrag.rerank.http", "create_none"),
        "aliyun": Binding("lightrag.rerank.http", "create_aliyun"),
        "cohere": Binding("lightrag.rerank.http", "create_cohere"),
        "jina": Binding("lightrag.rerank.http", "create_jina"),
    },
)


def create_reranker(binding: str, endpoint: ModelEndpoint | None = None) -> RerankFunc | None:
    """Return the function that reranks documents, or ``None`` for the binding ``"null"``.

    Args:
        binding: Name of the binding; any server that takes the same request can stand behind ``base_url``.
        endpoint: The model; an empty model name takes the binding's default.

    Raises:
        InputError: There is no such binding.
    """
    function: RerankFunc | None = RERANK_BINDINGS.factory(binding)(endpoint or ModelEndpoint(""))
    return function
