"""Language model bindings by the name that settings use."""

from __future__ import annotations

from lightrag.contracts.models import LLMFunc
from lightrag.runtime.endpoints import Binding, BindingTable, ModelEndpoint

_OPENAI = Binding("lightrag.llm.openai", "create_llm")

LLM_BINDINGS = BindingTable(
    "LLM",
    {
        "openai": _OPENAI,
        "openai-ollama": _OPENAI,
        "ollama": Binding("lightrag.llm.ollama", "create_llm"),
    },
)


def create_llm(binding: str, endpoint: ModelEndpoint) -> LLMFunc:
    """Return the function that calls a language model.

    Args:
        binding: Name of the binding.
        endpoint: The model.

    Raises:
        InputError: There is no such binding.
        MissingDependencyError: A package that it needs is not installed.
    """
    function: LLMFunc = LLM_BINDINGS.factory(binding)(endpoint)
    return function
