"""Models of Mistral, by its OpenAI-compatible interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lightrag.contracts.models import EmbeddingFunc, LLMFunc, LLMReply
from lightrag.llm.compatible import MISTRAL
from lightrag.runtime.endpoints import ModelEndpoint


async def mistral_complete_if_cache(
    model: str,
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> LLMReply:
    """Ask a model of Mistral; as :func:`lightrag.llm.openai.openai_complete_if_cache`, with ``MISTRAL_API_KEY``."""
    return await MISTRAL.complete(model, prompt, system_prompt, history_messages, **kwargs)


def create_llm(endpoint: ModelEndpoint) -> LLMFunc:
    """Return the function that calls a model of Mistral.

    Raises:
        InputError: There is no key.
    """
    return MISTRAL.llm(endpoint)


def create_embedding(endpoint: ModelEndpoint, **attributes: Any) -> EmbeddingFunc:
    """Return the embedding function for a model of Mistral.

    Raises:
        InputError: There is no key.
    """
    # The interface knows no vectors as base64.
    options = {"use_base64": False, **endpoint.options}
    return MISTRAL.embedding(ModelEndpoint(**{**vars(endpoint), "options": options}), **attributes)
