"""Models of Anthropic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lightrag.contracts.models import LLMReply
from lightrag.llm.any_llm import any_llm_complete_if_cache
from lightrag.llm.any_llm import create_anthropic as create_llm
from lightrag.llm.chat import model_name
from lightrag.llm.voyageai import voyageai_embed

__all__ = [
    "anthropic_complete",
    "anthropic_complete_if_cache",
    "anthropic_embed",
    "claude_3_haiku_complete",
    "claude_3_opus_complete",
    "claude_3_sonnet_complete",
    "create_llm",
]

# Anthropic has no embedding model and points to Voyage AI.
anthropic_embed = voyageai_embed


async def anthropic_complete_if_cache(
    model: str,
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    **kwargs: Any,
) -> LLMReply:
    """Ask a model of Anthropic; see :func:`lightrag.llm.any_llm.any_llm_complete_if_cache`.

    Args:
        model: Name of the model.
        prompt: What to ask.
        system_prompt: Put before everything.
        history_messages: Messages ``{"role", "content"}`` in between.
        base_url: Address of the server; ``None`` for Anthropic's own.
        api_key: Key; ``None`` for ``ANTHROPIC_API_KEY``.
        kwargs: As there.
    """
    return await any_llm_complete_if_cache(
        f"anthropic:{model}", prompt, system_prompt, history_messages, base_url, api_key, **kwargs
    )


async def anthropic_complete(
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> LLMReply:
    """As :func:`anthropic_complete_if_cache`, with the model that ``model=`` or the engine's settings name."""
    name = model_name(kwargs)
    return await anthropic_complete_if_cache(name, prompt, system_prompt, history_messages, **kwargs)


async def claude_3_opus_complete(
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> LLMReply:
    """As :func:`anthropic_complete_if_cache`, with ``claude-3-opus-20240229``."""
    return await anthropic_complete_if_cache(
        "claude-3-opus-20240229", prompt, system_prompt, history_messages, **kwargs
    )


async def claude_3_sonnet_complete(
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> LLMReply:
    """As :func:`anthropic_complete_if_cache`, with ``claude-3-sonnet-20240229``."""
    return await anthropic_complete_if_cache(
        "claude-3-sonnet-20240229", prompt, system_prompt, history_messages, **kwargs
    )


async def claude_3_haiku_complete(
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> LLMReply:
    """As :func:`anthropic_complete_if_cache`, with ``claude-3-haiku-20240307``."""
    return await anthropic_complete_if_cache(
        "claude-3-haiku-20240307", prompt, system_prompt, history_messages, **kwargs
    )
