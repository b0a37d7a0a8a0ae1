"""Models of Google Gemini: answers by its OpenAI-compatible interface, embeddings by its own, which knows questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lightrag.contracts.models import EmbeddingFunc, LLMFunc, LLMReply
from lightrag.exceptions import ModelReplyError
from lightrag.llm.binding import bound_embedding
from lightrag.llm.chat import model_name
from lightrag.llm.compatible import GEMINI
from lightrag.llm.embeddings import EmbeddingOptions, decode_vectors
from lightrag.llm.vector_services import service_key
from lightrag.runtime.endpoints import ModelEndpoint
from lightrag.runtime.http_json import DEFAULT_TIMEOUT, Service, post_json

if TYPE_CHECKING:
    import numpy as np

EMBEDDING_URL = "https://generativelanguage.googleapis.com/v1beta"
EMBEDDING_MODEL = "gemini-embedding-001"
_PURPOSES = {"query": "RETRIEVAL_QUERY", "document": "RETRIEVAL_DOCUMENT"}
# Later models take the purpose as words before the text and refuse the field.
_WITH_PURPOSE = ("gemini-embedding-001", "text-embedding-")


async def gemini_complete_if_cache(
    model: str,
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> LLMReply:
    """Ask a model of Gemini.

    Args:
        model: Name of the model.
        prompt: What to ask.
        system_prompt: Put before everything.
        history_messages: Messages ``{"role", "content"}`` in between.
        kwargs: ``api_key`` (else ``GEMINI_API_KEY``), ``base_url`` of a compatible server, and those of
            :func:`lightrag.llm.openai.openai_complete_if_cache`, which also tells what is returned and raised.
    """
    return await GEMINI.complete(model, prompt, system_prompt, history_messages, **kwargs)


async def gemini_model_complete(
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> LLMReply:
    """As :func:`gemini_complete_if_cache`, with the model that ``model=`` or the engine's settings name."""
    name = model_name(kwargs)
    return await gemini_complete_if_cache(name, prompt, system_prompt, history_messages, **kwargs)


async def _embed(
    texts: Sequence[str],
    model: str = EMBEDDING_MODEL,
    base_url: str | None = None,
    api_key: str | None = None,
    embedding_dim: int | None = None,
    **kwargs: Any,
) -> np.ndarray:
    """Embed texts.

    Args:
        texts: What to embed.
        model: Name of the model.
        base_url: Address up to and with ``/v1beta``, if it is not Google's own.
        api_key: Key; ``None`` for ``GEMINI_API_KEY``.
        embedding_dim: Shorten the vectors to this dimension.
        kwargs: ``context``, ``query_prefix``, ``document_prefix``, ``timeout`` and ``token_tracker`` are understood,
            all else becomes a field of each text's request.

    Returns:
        ``float32`` array of shape ``(len(texts), dimension)``.

    Raises:
        InputError: There is no key.
        ModelReplyError: The answer has another number of vectors, or they cannot be read.
        ModelTimeoutError: The server was too slow.
        ProviderError: The server could not be reached, or refused.
    """
    options = EmbeddingOptions.take(kwargs)
    name = model.removeprefix("models/")
    common: dict[str, Any] = {"model": f"models/{name}", **options.request}
    purpose = _PURPOSES.get(options.context)
    if purpose and name.startswith(_WITH_PURPOSE):
        common.setdefault("taskType", purpose)
    if embedding_dim is not None:
        common["outputDimensionality"] = embedding_dim
    requests = [{**common, "content": {"parts": [{"text": text}]}} for text in options.prefixed(texts)]
    key = service_key(api_key, base_url, GEMINI.key_setting, GEMINI.name)
    url = f"{(base_url or EMBEDDING_URL).rstrip('/')}/models/{name}:batchEmbedContents"
    source = f"embedding model {name!r}"
    service = Service(url, key, options.timeout or DEFAULT_TIMEOUT, key_header="x-goog-api-key")
    answer = await post_json(source, service, {"requests": requests})
    rows = answer.get("embeddings") if isinstance(answer, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ModelReplyError(f"{source} sent no list of vectors: {str(answer)[:200]!r}")
    return decode_vectors(source, [row.get("values") for row in rows], len(texts))


gemini_embed = EmbeddingFunc(
    embedding_dim=3072, func=_embed, max_token_size=2048, model_name=EMBEDDING_MODEL, supports_asymmetric=True
)


def create_llm(endpoint: ModelEndpoint) -> LLMFunc:
    """Return the function that calls a model of Gemini.

    Raises:
        InputError: There is no key.
    """
    return GEMINI.llm(endpoint)


def create_embedding(endpoint: ModelEndpoint, **attributes: Any) -> EmbeddingFunc:
    """Return the embedding function for a model of Gemini; ``attributes`` are those of :class:`EmbeddingFunc`."""
    return bound_embedding(_embed, endpoint, **attributes)
