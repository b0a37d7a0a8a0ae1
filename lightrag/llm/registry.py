"""Language model bindings by the name that settings use."""

from __future__ import annotations

from lightrag.contracts.models import LLMFunc
from lightrag.runtime.endpoints import Binding, BindingTable, ModelEndpoint

_OPENAI = Binding("lightrag.llm.openai", "create_llm", package="openai", extra="openai")

LLM_BINDINGS = BindingTable(
    "LLM",
    {
        "openai": _OPENAI,
        "openai-ollama": _OPENAI,
        "ollama": Binding("lightrag.llm.ollama", "create_llm", package="ollama", extra="ollama"),
    },
)


def create_llm(binding: str, endpoint: ModelEndpoint) -> LLMFunc:
    """Return the function that calls a language model.

    Args:
        binding: Name of the binding.
        endpoint: The model.

    Raises:
        InputError: There is no such binding.
        MissingDependencyError: Its package is not installed.
    """
    function: LLMFunc = LLM_BINDINGS.factory(binding)(endpoint)
    return function
