"""Bindings by name."""

from __future__ import annotations

import pytest

from lightrag.exceptions import InputError, MissingDependencyError
from lightrag.llm.offline import offline_complete
from lightrag.llm.registry import LLM_BINDINGS, BoundLLM, create_llm
from lightrag.runtime.endpoints import Binding, BindingTable, ModelEndpoint
from tests.llm.stub_server import StubServer


async def test_a_name_gives_the_function(stub: StubServer) -> None:
    reply = {"role": "assistant", "content": "Yes."}
    stub.answers({"choices": [{"index": 0, "message": reply, "finish_reason": "stop"}]})
    complete = create_llm("openai-ollama", ModelEndpoint("m", f"{stub.url}/v1", "k"))
    assert await complete("Q") == "Yes."


def test_every_entry_can_be_imported() -> None:
    assert set(LLM_BINDINGS) == {
        *("anthropic", "any_llm", "azure_openai", "bedrock", "gemini", "lollms", "mistral"),
        *("nvidia_openai", "offline", "ollama", "openai", "openai-ollama", "zhipu"),
    }
    for name in LLM_BINDINGS:
        assert callable(LLM_BINDINGS.factory(name))


def test_a_function_knows_its_binding_and_its_model() -> None:
    function = create_llm("openai", ModelEndpoint("m", "http://h", "secret", options={"temperature": 0.1}))
    assert isinstance(function, BoundLLM)
    assert (function.binding, function.endpoint.model) == ("openai", "m")
    assert function.identity.startswith("openai:m@http://h#")
    assert "secret" not in function.identity
    others = [
        create_llm("ollama", function.endpoint),
        create_llm("openai", ModelEndpoint("n", "http://h")),
        create_llm("openai", ModelEndpoint("m", "http://other")),
        create_llm("openai", ModelEndpoint("m", "http://h")),
        create_llm("openai", ModelEndpoint("m", "http://h", options={"temperature": 0.2})),
    ]
    assert len({function.identity, *(other.identity for other in others)}) == 6


async def test_the_offline_reader_is_a_binding() -> None:
    assert await create_llm("offline", ModelEndpoint("offline"))("Hello") == await offline_complete("Hello")


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"'gpt' is not a binding for LLM; choose one of anthropic, any_llm, .*zhipu"):
        create_llm("gpt", ModelEndpoint("m"))


def test_a_missing_package_names_the_extra() -> None:
    table = BindingTable("LLM", {})
    table.register("far", Binding("lightrag.llm.openai", "create_llm", package="no_such_package", extra="far"))
    with pytest.raises(MissingDependencyError, match=r"LLM binding 'far' needs .*'no_such_package'.*\[far\]"):
        table.factory("far")


def test_an_identity_names_model_and_server_without_the_key() -> None:
    assert ModelEndpoint("m", "http://h", "secret").identity == "m@http://h"
    assert ModelEndpoint("m", api_key="secret").identity == "m"
    assert "secret" not in repr(ModelEndpoint("m", api_key="secret"))
