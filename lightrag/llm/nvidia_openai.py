"""Models that NVIDIA serves, by its OpenAI-compatible interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lightrag.contracts.models import EmbeddingFunc, LLMFunc, LLMReply
from lightrag.llm.binding import bound_embedding
from lightrag.llm.chat import model_name
from lightrag.llm.compatible import NVIDIA
from lightrag.runtime.endpoints import ModelEndpoint

if TYPE_CHECKING:
    import numpy as np

EMBEDDING_MODEL = "nvidia/llama-3.2-nv-embedqa-1b-v2"
_PURPOSES = {"query": "query", "document": "passage"}


async def nvidia_openai_complete(
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> LLMReply:
    """Ask the model that ``model=`` or the engine's settings name.

    As :func:`lightrag.llm.openai.openai_complete_if_cache`, with ``NVIDIA_API_KEY``.
    """
    return await NVIDIA.complete(model_name(kwargs), prompt, system_prompt, history_messages, **kwargs)


async def _embed(texts: Sequence[str], model: str = EMBEDDING_MODEL, **kwargs: Any) -> np.ndarray:
    """Embed texts; as ``openai_embed``, with ``context`` told to the server as ``input_type``.

    Raises:
        InputError: There is no key.
        ModelError: As ``openai_embed``.
    """
    purpose = _PURPOSES.get(kwargs.get("context") or "document", "passage")
    extra = {"input_type": purpose, "truncate": "NONE", **(kwargs.pop("extra_body", None) or {})}
    return await NVIDIA.embed(texts, model, extra_body=extra, **{"use_base64": False, **kwargs})


nvidia_openai_embed = EmbeddingFunc(
    embedding_dim=2048, func=_embed, max_token_size=8192, model_name=EMBEDDING_MODEL, supports_asymmetric=True
)


def create_llm(endpoint: ModelEndpoint) -> LLMFunc:
    """Return the function that calls a model that NVIDIA serves.

    Raises:
        InputError: There is no key.
    """
    return NVIDIA.llm(endpoint)


def create_embedding(endpoint: ModelEndpoint, **attributes: Any) -> EmbeddingFunc:
    """Return the embedding function for a model that NVIDIA serves."""
    return bound_embedding(_embed, endpoint, **attributes)
