"""Language model bindings by the name that settings use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightrag.contracts.models import LLMFunc, LLMReply
from lightrag.runtime.endpoints import Binding, BindingTable, ModelEndpoint
from lightrag.runtime.hashing import compute_args_hash

_OPENAI = Binding("lightrag.llm.openai", "create_llm")

LLM_BINDINGS = BindingTable(
    "LLM",
    {
        "anthropic": Binding("lightrag.llm.anthropic", "create_llm", package="any_llm", extra="providers"),
        "any_llm": Binding("lightrag.llm.any_llm", "create_llm", package="any_llm", extra="providers"),
        "azure_openai": Binding("lightrag.llm.azure_openai", "create_llm"),
        "bedrock": Binding("lightrag.llm.bedrock", "create_llm"),
        "gemini": Binding("lightrag.llm.gemini", "create_llm"),
        "lollms": Binding("lightrag.llm.lollms", "create_llm"),
        "mistral": Binding("lightrag.llm.mistral", "create_llm"),
        "nvidia_openai": Binding("lightrag.llm.nvidia_openai", "create_llm"),
        "offline": Binding("lightrag.llm.offline", "create_llm"),
        "ollama": Binding("lightrag.llm.ollama", "create_llm"),
        "openai": _OPENAI,
        "openai-ollama": _OPENAI,
        "zhipu": Binding("lightrag.llm.zhipu", "create_llm"),
    },
)


@dataclass(frozen=True, eq=False)
class BoundLLM:
    """A model function that knows by which binding, and where, its model is reached.

    Attributes:
        function: The function.
        binding: Name of the binding.
        endpoint: The model.
    """

    function: LLMFunc
    binding: str
    endpoint: ModelEndpoint

    async def __call__(
        self,
        prompt: str,
        system_prompt: str | None = None,
        history_messages: Sequence[Mapping[str, Any]] | None = None,
        **kwargs: Any,
    ) -> LLMReply:
        """Call the model."""
        return await self.function(prompt, system_prompt, history_messages, **kwargs)

    @property
    def identity(self) -> str:
        """Names binding, model, server and options, without the key: for cache keys."""
        options = sorted((name, repr(value)) for name, value in self.endpoint.options.items())
        parts = [f"{name}={value}" for name, value in options]
        return f"{self.binding}:{self.endpoint.identity}" + (f"#{compute_args_hash(*parts)}" if parts else "")


def create_llm(binding: str, endpoint: ModelEndpoint) -> BoundLLM:
    """Return the function that calls a language model.

    Args:
        binding: Name of the binding.
        endpoint: The model.

    Raises:
        InputError: There is no such binding.
        MissingDependencyError: A package that it needs is not installed.
    """
    function: LLMFunc = LLM_BINDINGS.factory(binding)(endpoint)
    return BoundLLM(function, binding, endpoint)
