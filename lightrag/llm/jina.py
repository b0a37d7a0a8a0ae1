"""Embeddings of Jina, with the key of ``JINA_API_KEY`` unless another is given."""

from __future__ import annotations

from typing import Any

from lightrag.contracts.models import EmbeddingFunc
from lightrag.llm.vector_services import VectorService
from lightrag.runtime.endpoints import ModelEndpoint

JINA = VectorService(
    name="Jina",
    url="https://api.jina.ai/v1/embeddings",
    model="jina-embeddings-v4",
    key_setting="jina_api_key",
    dimension_field="dimensions",
    purpose_field="task",
    purposes={"query": "retrieval.query", "document": "retrieval.passage"},
    base64_field={"embedding_type": "base64"},
)

jina_embed = EmbeddingFunc(
    embedding_dim=2048, func=JINA.embed, max_token_size=8192, model_name=JINA.model, supports_asymmetric=True
)


def create_embedding(endpoint: ModelEndpoint, **attributes: Any) -> EmbeddingFunc:
    """Return the embedding function for a model of Jina, or of a compatible server."""
    return JINA.embedding(endpoint, **attributes)
