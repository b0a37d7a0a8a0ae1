"""The engine that settings describe: bindings, roles with models of their own, prefixes of embeddings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lightrag import configured
from lightrag.configured import build_engine
from lightrag.exceptions import InputError
from lightrag.lightrag import LightRAG
from lightrag.llm.registry import BoundLLM
from lightrag.settings_api import load_api_settings


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)

    def make(**environment: str) -> LightRAG:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        return build_engine(load_api_settings())

    return make


def bound(rag: LightRAG, role: str = "") -> BoundLLM:
    function = rag.roles[role].func if role else rag.llm_model_func
    assert isinstance(function, BoundLLM)
    return function


def test_without_anything_it_is_offline(build: Any) -> None:
    rag = build()
    assert (rag.llm_model_name, bound(rag).identity) == ("offline", "offline:offline-reader@1")
    assert rag.roles == {}
    assert rag.embedding_func.embedding_dim == 384
    assert rag.rerank_model_func is None


def test_roles_take_what_they_do_not_have_from_the_model_of_all_roles(build: Any) -> None:
    rag = build(
        LLM_BINDING="openai",
        LLM_MODEL="base",
        LLM_BINDING_HOST="http://base/v1",
        LLM_BINDING_API_KEY="base-key",
        EXTRACT_LLM_MODEL="small",
        EXTRACT_MAX_ASYNC_LLM="9",
        KEYWORD_LLM_TIMEOUT="7",
        QUERY_LLM_BINDING="ollama",
        QUERY_LLM_MODEL="big",
        QUERY_LLM_BINDING_HOST="http://gpu:11434",
    )
    extract = bound(rag, "extract")
    assert (extract.binding, extract.endpoint.model, extract.endpoint.base_url) == ("openai", "small", "http://base/v1")
    assert extract.endpoint.api_key == "base-key"
    assert rag.roles["extract"].max_async == 9
    assert (rag.roles["keyword"].func, rag.roles["keyword"].timeout) == (None, 7)
    query = bound(rag, "query")
    assert (query.binding, query.endpoint.model, query.endpoint.base_url) == ("ollama", "big", "http://gpu:11434")
    assert query.endpoint.api_key is None, "a key belongs to the binding that it was given for"
    assert rag.get_llm_role_config("query")["host"] == "http://gpu:11434"
    assert "base-key" not in repr(rag.get_llm_role_config())


def test_a_role_of_another_binding_gets_no_address_of_the_first(build: Any) -> None:
    rag = build(LLM_BINDING="ollama", LLM_MODEL="m", LLM_BINDING_HOST="http://gpu:11434", QUERY_LLM_BINDING="offline")
    assert bound(rag, "query").endpoint.base_url is None
    assert bound(rag, "query").endpoint.model == "offline-reader@1"


async def test_prefixes_make_an_embedding_asymmetric(build: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rag = build(
        EMBEDDING_BINDING="openai",
        EMBEDDING_MODEL="e5",
        EMBEDDING_DIM="3",
        EMBEDDING_TOKEN_LIMIT="512",
        EMBEDDING_QUERY_PREFIX="query: ",
    )
    assert rag.embedding_func.supports_asymmetric
    assert (rag.embedding_token_limit, rag.embedding_func.model_name) == (512, "e5")


def test_unknown_bindings_and_missing_names_are_told(build: Any) -> None:
    with pytest.raises(InputError, match="'gpt' is not a binding for LLM"):
        build(QUERY_LLM_BINDING="gpt")
    with pytest.raises(InputError, match="EMBEDDING_MODEL is empty"):
        build(QUERY_LLM_BINDING="", EMBEDDING_BINDING="jina")


@pytest.mark.parametrize(("setting", "options"), [("true", {}), ("false", {"use_base64": False})])
def test_vectors_in_decimal_numbers_can_be_asked_for(
    build: Any, monkeypatch: pytest.MonkeyPatch, setting: str, options: dict[str, Any]
) -> None:
    seen: list[Any] = []
    real = configured.create_embedding

    def create(binding: str, endpoint: Any, attributes: Any) -> Any:
        seen.append((endpoint.options, attributes.supports_asymmetric))
        return real(binding, endpoint, attributes)

    monkeypatch.setattr(configured, "create_embedding", create)
    build(EMBEDDING_BINDING="openai", EMBEDDING_MODEL="m", EMBEDDING_BINDING_API_KEY="k", EMBEDDING_USE_BASE64=setting)
    assert seen == [(options, False)]
