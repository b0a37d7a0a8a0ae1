"""How the functions of a binding become those of one endpoint."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lightrag.contracts.models import EmbeddingFunc, LLMFunc, LLMReply
from lightrag.runtime.endpoints import ModelEndpoint

if TYPE_CHECKING:
    import numpy as np


def endpoint_arguments(endpoint: ModelEndpoint) -> dict[str, Any]:
    """Return the keyword arguments by which the functions of a binding reach an endpoint, its model left out."""
    return {
        "base_url": endpoint.base_url,
        "api_key": endpoint.api_key,
        "timeout": endpoint.timeout,
        **endpoint.options,
    }


def bound_llm(complete: LLMFunc, endpoint: ModelEndpoint) -> LLMFunc:
    """Return the function that calls a model.

    Args:
        complete: Called as ``complete(model, prompt, system_prompt, history_messages, **kwargs)``.
        endpoint: The model; the keyword arguments of a call win over what it says.
    """

    async def bound(
        prompt: str,
        system_prompt: str | None = None,
        history_messages: Sequence[Mapping[str, Any]] | None = None,
        **kwargs: Any,
    ) -> LLMReply:
        given = {**endpoint_arguments(endpoint), **kwargs}
        return await complete(endpoint.model, prompt, system_prompt, history_messages, **given)

    # Cache keys tell the functions of the bindings apart by their names.
    bound.__module__, bound.__qualname__ = complete.__module__, complete.__qualname__
    return bound


def bound_embedding(
    embed: Callable[..., Awaitable[np.ndarray]], endpoint: ModelEndpoint, **attributes: Any
) -> EmbeddingFunc:
    """Return the embedding function for a model.

    Args:
        embed: Called as ``embed(texts, model, **kwargs)``.
        endpoint: The model; the keyword arguments of a call win over what it says.
        attributes: Those of :class:`EmbeddingFunc`.
    """

    async def bound(texts: Sequence[str], **kwargs: Any) -> np.ndarray:
        return await embed(texts, endpoint.model, **{**endpoint_arguments(endpoint), **kwargs})

    return EmbeddingFunc(func=bound, model_name=endpoint.model, **attributes)
