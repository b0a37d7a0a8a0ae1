"""OpenAI and every server that speaks its protocol.

The ``openai`` package looks for a key and an address that are not given in its own environment variables
(``OPENAI_API_KEY``, and ``OPENAI_API_BASE`` or ``OPENAI_BASE_URL``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lightrag.contracts.models import EmbeddingFunc, LLMReply
from lightrag.llm.azure_openai import azure_openai_complete, azure_openai_complete_if_cache, azure_openai_embed
from lightrag.llm.chat import model_name
from lightrag.llm.nvidia_openai import nvidia_openai_complete
from lightrag.llm.openai_protocol import complete_at, create_embedding, create_llm, embed_at
from lightrag.runtime.endpoints import ModelEndpoint

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "azure_openai_complete",
    "azure_openai_complete_if_cache",
    "azure_openai_embed",
    "create_embedding",
    "create_llm",
    "gpt_4o_complete",
    "gpt_4o_mini_complete",
    "nvidia_openai_complete",
    "openai_complete",
    "openai_complete_if_cache",
    "openai_embed",
]


async def openai_complete_if_cache(
    model: str,
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    **kwargs: Any,
) -> LLMReply:
    """Ask a chat model.

    Args:
        model: Name of the model.
        prompt: What to ask.
        system_prompt: Put before everything.
        history_messages: Messages ``{"role", "content"}`` in between.
        base_url: Address of the server, up to and with ``/v1``.
        api_key: Key; servers without keys take any text.
        kwargs: ``stream``, ``response_format``, ``timeout`` (seconds), ``enable_cot`` (keep the reasoning) and
            ``token_tracker`` are understood, ``openai_client_configs`` goes to the client, the engine's own are
            dropped, and everything else (``temperature``, ``max_tokens``, ``extra_body``, ...) is sent.

    Returns:
        The reply; with ``stream=True`` an iterator of its pieces, whose ``aclose()`` stops the server.

    Raises:
        TruncatedReplyError: The reply was cut off at its length limit; a stream raises it after its last piece.
        ModelReplyError: The reply is empty or malformed.
        ContextTooLongError: The request is longer than the model's context.
        ModelTimeoutError: The server was too slow.
        ProviderError: The server could not be reached, or refused.
    """
    endpoint = ModelEndpoint(model, base_url, api_key)
    return await complete_at(endpoint, prompt, system_prompt, history_messages, **kwargs)


async def openai_complete(
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> LLMReply:
    """As :func:`openai_complete_if_cache`, with the model that ``model=`` or the engine's settings name."""
    name = model_name(kwargs)
    return await openai_complete_if_cache(name, prompt, system_prompt, history_messages, **kwargs)


async def gpt_4o_complete(
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> LLMReply:
    """As :func:`openai_complete_if_cache`, with ``gpt-4o``."""
    return await openai_complete_if_cache("gpt-4o", prompt, system_prompt, history_messages, **kwargs)


async def gpt_4o_mini_complete(
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> LLMReply:
    """As :func:`openai_complete_if_cache`, with ``gpt-4o-mini``."""
    return await openai_complete_if_cache("gpt-4o-mini", prompt, system_prompt, history_messages, **kwargs)


async def _embed(
    texts: Sequence[str],
    model: str = "text-embedding-3-small",
    base_url: str | None = None,
    api_key: str | None = None,
    embedding_dim: int | None = None,
    **kwargs: Any,
) -> np.ndarray:
    """Embed texts.

    Args:
        texts: What to embed.
        model: Name of the model.
        base_url: Address of the server, up to and with ``/v1``.
        api_key: Key.
        embedding_dim: Shorten the vectors to this dimension, where the model can.
        kwargs: ``use_base64`` (default true: a third of the traffic), ``timeout``, ``context``, ``token_tracker``,
            ``query_prefix`` and ``document_prefix`` are understood, everything else is sent.

    Returns:
        ``float32`` array of shape ``(len(texts), dimension)``.

    Raises:
        ModelReplyError: The answer has another number of vectors, or they cannot be read.
        ContextTooLongError: A text is too long for the model.
        ModelTimeoutError: The server was too slow.
        ProviderError: The server could not be reached, or refused.
    """
    return await embed_at(ModelEndpoint(model, base_url, api_key), texts, embedding_dim, **kwargs)


openai_embed = EmbeddingFunc(embedding_dim=1536, func=_embed, max_token_size=8192, model_name="text-embedding-3-small")
