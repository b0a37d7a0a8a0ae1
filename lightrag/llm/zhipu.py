"""Models of Zhipu AI, by its OpenAI-compatible interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lightrag.contracts.models import EmbeddingFunc, LLMFunc, LLMReply
from lightrag.llm.chat import model_name
from lightrag.llm.compatible import ZHIPU
from lightrag.runtime.endpoints import ModelEndpoint

if TYPE_CHECKING:
    import numpy as np

EMBEDDING_MODEL = "embedding-3"


async def zhipu_complete_if_cache(
    prompt: str,
    model: str = "glm-4-flashx",
    api_key: str | None = None,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> LLMReply:
    """Ask a model; as :func:`lightrag.llm.openai.openai_complete_if_cache`, with ``ZHIPUAI_API_KEY``."""
    return await ZHIPU.complete(model, prompt, system_prompt, history_messages, api_key=api_key, **kwargs)


async def zhipu_complete(
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> LLMReply:
    """As :func:`zhipu_complete_if_cache`, with the model that ``model=`` or the engine's settings name."""
    return await ZHIPU.complete(model_name(kwargs), prompt, system_prompt, history_messages, **kwargs)


async def _embed(texts: Sequence[str], model: str = EMBEDDING_MODEL, **kwargs: Any) -> np.ndarray:
    """Embed texts; as ``openai_embed``, with ``ZHIPUAI_API_KEY``.

    Raises:
        InputError: There is no key.
        ModelError: As ``openai_embed``.
    """
    return await ZHIPU.embed(texts, model, **{"use_base64": False, **kwargs})


zhipu_embedding = EmbeddingFunc(embedding_dim=2048, func=_embed, max_token_size=3072, model_name=EMBEDDING_MODEL)


def create_llm(endpoint: ModelEndpoint) -> LLMFunc:
    """Return the function that calls a model of Zhipu AI.

    Raises:
        InputError: There is no key.
    """
    return ZHIPU.llm(endpoint)
