"""Providers that offer the protocol of OpenAI at an address of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lightrag.contracts.models import EmbeddingFunc, LLMFunc, LLMReply
from lightrag.llm import openai_protocol as protocol
from lightrag.llm.vector_services import service_key
from lightrag.runtime.endpoints import ModelEndpoint

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Provider:
    """A provider.

    Attributes:
        name: In messages.
        url: Its address, as the ``openai`` package wants it.
        key_setting: Setting that holds the key, by its field name; used for ``url`` only.
    """

    name: str
    url: str
    key_setting: str

    def place(self, base_url: str | None, api_key: str | None) -> dict[str, Any]:
        """Return address and key.

        Raises:
            InputError: There is no key for the provider itself.
        """
        # Servers without keys take any text, and the package would else look for the key of OpenAI.
        key = service_key(api_key, base_url, self.key_setting, self.name) or "none"
        return {"base_url": base_url or self.url, "api_key": key}

    async def complete(
        self,
        model: str,
        prompt: str,
        system_prompt: str | None = None,
        history_messages: Sequence[Mapping[str, Any]] | None = None,
        **kwargs: Any,
    ) -> LLMReply:
        """As :func:`lightrag.llm.openai.openai_complete_if_cache`, at the provider's address."""
        place = self.place(kwargs.pop("base_url", None), kwargs.pop("api_key", None))
        endpoint = ModelEndpoint(model, **place)
        return await protocol.complete_at(endpoint, prompt, system_prompt, history_messages, **kwargs)

    async def embed(self, texts: Sequence[str], model: str, **kwargs: Any) -> np.ndarray:
        """As :func:`lightrag.llm.openai.openai_embed`, at the provider's address."""
        place = self.place(kwargs.pop("base_url", None), kwargs.pop("api_key", None))
        return await protocol.embed_at(ModelEndpoint(model, **place), texts, **kwargs)

    def llm(self, endpoint: ModelEndpoint) -> LLMFunc:
        """Return the function that calls a model of the provider."""
        return protocol.create_llm(self._placed(endpoint))

    def embedding(self, endpoint: ModelEndpoint, **attributes: Any) -> EmbeddingFunc:
        """Return the embedding function for a model of the provider."""
        return protocol.create_embedding(self._placed(endpoint), **attributes)

    def _placed(self, endpoint: ModelEndpoint) -> ModelEndpoint:
        place = self.place(endpoint.base_url, endpoint.api_key)
        return replace(endpoint, **place)


GEMINI = Provider("Gemini", "https://generativelanguage.googleapis.com/v1beta/openai/", "gemini_api_key")
MISTRAL = Provider("Mistral", "https://api.mistral.ai/v1", "mistral_api_key")
NVIDIA = Provider("NVIDIA", "https://integrate.api.nvidia.com/v1", "nvidia_api_key")
ZHIPU = Provider("Zhipu AI", "https://open.bigmodel.cn/api/paas/v4/", "zhipuai_api_key")
