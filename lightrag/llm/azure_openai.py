"""Models of OpenAI deployed on Azure.

Address, key, version and deployment that are not given come from the settings ``AZURE_OPENAI_ENDPOINT``,
``AZURE_OPENAI_API_KEY``, ``AZURE_OPENAI_API_VERSION`` and ``AZURE_OPENAI_DEPLOYMENT``, for embeddings from those that
begin with ``AZURE_EMBEDDING_`` first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lightrag.contracts.models import EmbeddingFunc, LLMFunc, LLMReply
from lightrag.exceptions import InputError
from lightrag.llm import openai_protocol as protocol
from lightrag.llm.binding import bound_embedding, bound_llm
from lightrag.llm.chat import chat_messages, chat_options, model_name
from lightrag.llm.embeddings import EmbeddingOptions
from lightrag.llm.openai_protocol import Account, AzureDeployment, client_arguments
from lightrag.runtime.endpoints import ModelEndpoint
from lightrag.settings_api import provider_settings

if TYPE_CHECKING:
    import numpy as np

# The first version with everything that the engine sends; later ones are compatible.
DEFAULT_API_VERSION = "2024-10-21"


def _account(kwargs: dict[str, Any], timeout: float | None, *, embedding: bool = False) -> Account:
    """Take from the keyword arguments, and from the settings, what concerns the client.

    The deployment of the settings is not taken: it would answer for every model that a role names.
    """
    own = provider_settings()
    address, key, version = own.azure_openai_endpoint, own.azure_openai_api_key, own.azure_openai_api_version
    if embedding:
        address = own.azure_embedding_endpoint or address
        key = own.azure_embedding_api_key or key
        version = own.azure_embedding_api_version or version
    address = kwargs.pop("base_url", None) or kwargs.pop("host", None) or address
    if not address:
        raise InputError("no address of an Azure resource is given: set base_url, or AZURE_OPENAI_ENDPOINT")
    azure = AzureDeployment(
        kwargs.pop("api_version", None) or version or DEFAULT_API_VERSION, kwargs.pop("azure_deployment", None)
    )
    return Account(str(address), kwargs.pop("api_key", None) or key or None, timeout, client_arguments(kwargs), azure)


async def azure_openai_complete_if_cache(
    model: str,
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> LLMReply:
    """Ask a deployed chat model.

    Args:
        model: Name of the deployment, unless ``azure_deployment`` names it.
        prompt: What to ask.
        system_prompt: Put before everything.
        history_messages: Messages ``{"role", "content"}`` in between.
        kwargs: ``base_url``, ``api_key``, ``api_version``, ``azure_deployment``, and those of
            :func:`lightrag.llm.openai.openai_complete_if_cache`.

    Returns:
        The reply; with ``stream=True`` an iterator of its pieces, whose ``aclose()`` stops the server.

    Raises:
        InputError: No address is given.
        ModelError: As :func:`lightrag.llm.openai.openai_complete_if_cache`.
    """
    options = chat_options(kwargs)
    account = _account(options.request, options.timeout)
    return await protocol.complete(account, model, chat_messages(prompt, system_prompt, history_messages), options)


async def azure_openai_complete(
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> LLMReply:
    """As :func:`azure_openai_complete_if_cache`, with the deployment of ``model=``, else that of the settings."""
    kwargs["model"] = kwargs.get("model") or provider_settings().azure_openai_deployment
    return await azure_openai_complete_if_cache(model_name(kwargs), prompt, system_prompt, history_messages, **kwargs)


async def _embed(
    texts: Sequence[str], model: str | None = None, embedding_dim: int | None = None, **kwargs: Any
) -> np.ndarray:
    """Embed texts with a deployed model.

    Args:
        texts: What to embed.
        model: Name of the deployment; ``None`` for that of the settings.
        embedding_dim: Shorten the vectors to this dimension, where the model can.
        kwargs: ``base_url``, ``api_key``, ``api_version``, ``azure_deployment``, and those of ``openai_embed``.

    Returns:
        ``float32`` array of shape ``(len(texts), dimension)``.

    Raises:
        InputError: No address or model is given.
        ModelError: As ``openai_embed``.
    """
    options = EmbeddingOptions.take(kwargs)
    account = _account(options.request, options.timeout, embedding=True)
    name = model or provider_settings().azure_embedding_deployment
    if not name:
        raise InputError("no embedding model is named: give model='...', or set AZURE_EMBEDDING_DEPLOYMENT")
    return await protocol.embed(account, name, texts, options, embedding_dim)


azure_openai_embed = EmbeddingFunc(embedding_dim=1536, func=_embed, max_token_size=8192)


def create_llm(endpoint: ModelEndpoint) -> LLMFunc:
    """Return the function that calls a deployed model through this binding."""
    return bound_llm(azure_openai_complete_if_cache, endpoint)


def create_embedding(endpoint: ModelEndpoint, **attributes: Any) -> EmbeddingFunc:
    """Return the embedding function for a deployed model; ``attributes`` are those of :class:`EmbeddingFunc`."""
    return bound_embedding(_embed, endpoint, **attributes)
