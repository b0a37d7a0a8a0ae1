"""Embeddings of Voyage AI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lightrag.contracts.models import EmbeddingFunc
from lightrag.llm.embeddings import EmbeddingOptions
from lightrag.llm.vector_services import VectorService, bound_embedding, embed
from lightrag.runtime.endpoints import ModelEndpoint

if TYPE_CHECKING:
    import numpy as np

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


async def _embed(
    texts: Sequence[str],
    model: str = VOYAGE.model,
    embedding_dim: int | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    **kwargs: Any,
) -> np.ndarray:
    """Embed texts.

    Args:
        texts: What to embed.
        model: Name of the model.
        embedding_dim: Shorten the vectors to this dimension.
        base_url: Address of the route, if it is not Voyage AI's own.
        api_key: Key; ``None`` for ``VOYAGE_API_KEY``.
        kwargs: ``context``, ``use_base64``, ``timeout`` and ``token_tracker`` are understood, all else is sent.

    Returns:
        ``float32`` array of shape ``(len(texts), dimension)``.

    Raises:
        InputError: There is no key.
        ModelError: The service failed; see :func:`lightrag.llm.vector_services.embed`.
    """
    endpoint = ModelEndpoint(model, base_url, api_key)
    return await embed(VOYAGE, texts, endpoint, EmbeddingOptions.take(kwargs), embedding_dim)


voyageai_embed = EmbeddingFunc(
    embedding_dim=1024, func=_embed, max_token_size=32000, model_name=VOYAGE.model, supports_asymmetric=True
)


def create_embedding(endpoint: ModelEndpoint, **attributes: Any) -> EmbeddingFunc:
    """Return the embedding function for a model of Voyage AI, or of a compatible server."""
    return bound_embedding(VOYAGE, endpoint, **attributes)
