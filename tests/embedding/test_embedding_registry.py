"""Embedding functions: by binding name, and from a function of one's own."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from lightrag.contracts.models import EmbeddingFunc
from lightrag.embedding.decorator import wrap_embedding_func_with_attrs
from lightrag.embedding.registry import EMBEDDING_BINDINGS, EmbeddingAttributes, create_embedding
from lightrag.exceptions import EmbeddingMismatchError, InputError
from lightrag.runtime.endpoints import ModelEndpoint


@wrap_embedding_func_with_attrs(embedding_dim=3, max_token_size=8, model_name="ones", supports_asymmetric=True)
async def ones(texts: list[str], dimension: int = 3, context: str | None = None) -> np.ndarray:
    return np.full((len(texts), dimension), 2.0 if context == "query" else 1.0)


async def test_a_decorated_function_is_an_embedding_function() -> None:
    assert isinstance(ones, EmbeddingFunc)
    assert (ones.embedding_dim, ones.max_token_size, ones.model_name) == (3, 8, "ones")
    vectors = await ones(["a", "b"])
    assert vectors.shape == (2, 3)
    assert vectors.dtype == np.float32
    assert (await ones(["a"], context="query"))[0, 0] == 2.0
    with pytest.raises(EmbeddingMismatchError, match="embedding_dim"):
        await ones(["a"], dimension=4)


async def test_its_function_can_be_bound_to_other_arguments() -> None:
    wider = EmbeddingFunc(embedding_dim=5, func=partial(ones.func, dimension=5))
    assert (await wider(["a"])).shape == (1, 5)


def test_an_unknown_attribute_is_refused() -> None:
    with pytest.raises(TypeError):

        @wrap_embedding_func_with_attrs(embedding_dim=3, dimensions=4)
        async def broken(texts: list[str]) -> np.ndarray:
            return np.zeros((len(texts), 3))


@pytest.mark.parametrize("name", sorted(set(EMBEDDING_BINDINGS) - {"offline"}))
def test_a_binding_gives_the_function_with_its_attributes(name: str) -> None:
    attributes = EmbeddingAttributes(7, max_token_size=9, send_dimensions=True, supports_asymmetric=True)
    func = create_embedding(name, ModelEndpoint("e", api_key="k"), attributes)
    assert (func.embedding_dim, func.max_token_size, func.model_name) == (7, 9, "e")
    assert func.send_dimensions
    assert func.supports_asymmetric


def test_an_unknown_binding_lists_the_known_ones() -> None:
    assert set(EMBEDDING_BINDINGS) == {
        *("any_llm", "azure_openai", "bedrock", "gemini", "jina", "lollms", "mistral", "nvidia_openai"),
        *("offline", "ollama", "openai", "voyageai"),
    }
    with pytest.raises(InputError, match="'word2vec' is not a binding for embeddings; choose one of any_llm, azure"):
        create_embedding("word2vec", ModelEndpoint("e"), EmbeddingAttributes(7))


def test_the_offline_model_has_its_own_attributes() -> None:
    func = create_embedding("offline", ModelEndpoint("offline"), EmbeddingAttributes(7))
    assert func.embedding_dim == 384
