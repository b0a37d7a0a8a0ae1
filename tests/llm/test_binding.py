"""What the bindings share: a call takes what its endpoint says unless it is told otherwise."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from lightrag.llm.azure_openai import create_llm as azure
from lightrag.llm.bedrock import create_llm as bedrock
from lightrag.llm.binding import bound_embedding, bound_llm
from lightrag.llm.lollms import create_llm as lollms
from lightrag.llm.ollama import create_llm as ollama
from lightrag.runtime.endpoints import ModelEndpoint
from lightrag.runtime.role_models import model_identity

ENDPOINT = ModelEndpoint("m", "http://server", "key", 5.0, {"temperature": 0.5, "top_p": 1})
SAID = {"base_url": "http://server", "api_key": "key", "timeout": 5.0, "temperature": 0.5, "top_p": 1}


async def note(calls: list[Any], *arguments: Any, **kwargs: Any) -> Any:
    calls.append((arguments, kwargs))
    return np.ones((1, 2))


async def complete(model: str, prompt: str, *_more: Any, **kwargs: Any) -> str:
    return f"{model} {prompt} {sorted(kwargs.items())}"


async def test_a_call_wins_over_its_endpoint() -> None:
    ask = bound_llm(complete, ENDPOINT)
    assert await ask("Q") == f"m Q {sorted(SAID.items())}"
    assert await ask("Q", temperature=1, seed=3) == f"m Q {sorted({**SAID, 'temperature': 1, 'seed': 3}.items())}"


async def test_an_embedding_has_its_model_and_its_attributes() -> None:
    calls: list[Any] = []
    function = bound_embedding(partial(note, calls), ENDPOINT, embedding_dim=2, send_dimensions=True)
    await function(["a"])
    assert calls == [((["a"], "m"), {**SAID, "embedding_dim": 2})]
    assert (function.model_name, function.embedding_dim) == ("m", 2)


def test_cache_keys_tell_bindings_apart() -> None:
    functions = [create(ENDPOINT) for create in (azure, bedrock, lollms, ollama)]
    assert len({model_identity(function, {}, {}, "m") for function in functions}) == 4
