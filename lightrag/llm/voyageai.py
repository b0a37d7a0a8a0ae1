"""Embeddings of Voyage AI, with the key of ``VOYAGE_API_KEY`` unless another is given."""

from __future__ import annotations

from typing import Any

from lightrag.contracts.models import EmbeddingFunc
from lightrag.llm.vector_services import VectorService
from lightrag.runtime.endpoints import ModelEndpoint

VOYAGE = VectorService(
    name="Voyage AI",
    url="https://api.voyageai.com/v1/embeddings",
    model="voyage-3.5",
    key_setting="voyage_api_key",
    dimension_field="output_dimension",
    purpose_field="input_type",
    purposes={"query": "query", "document": "document"},
    base64_field={"encoding_format": "base64"},
)

voyageai_embed = EmbeddingFunc(
    embedding_dim=1024, func=VOYAGE.embed, max_token_size=32000, model_name=VOYAGE.model, supports_asymmetric=True
)


def create_embedding(endpoint: ModelEndpoint, **attributes: Any) -> EmbeddingFunc:
    """Return the embedding function for a model of Voyage AI, or of a compatible server."""
    return VOYAGE.embedding(endpoint, **attributes)
