"""Make the engine that the settings describe: for programs, which name their models and not functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightrag.embedding.registry import EmbeddingAttributes, create_embedding
from lightrag.exceptions import InputError
from lightrag.lightrag import LightRAG
from lightrag.llm.registry import create_llm
from lightrag.rerank.registry import NO_RERANKER, create_reranker
from lightrag.runtime.endpoints import ModelEndpoint
from lightrag.settings import load_settings

if TYPE_CHECKING:
    from lightrag.contracts.models import EmbeddingFunc
    from lightrag.settings_api import BindingSettings

OFFLINE = "offline"


def build_engine(bindings: BindingSettings, **fields: Any) -> LightRAG:
    """Return an engine, not yet opened.

    Args:
        bindings: Models.
        fields: Fields of :class:`LightRAG` that win over the environment; ``None`` counts as not given.

    Raises:
        InputError: A setting cannot be used, or a binding does not exist.
        MissingDependencyError: A package that a binding needs is not installed.
    """
    given = {name: value for name, value in fields.items() if value is not None}
    settings = load_settings(**given)
    model = OFFLINE if bindings.llm_binding == OFFLINE else settings.llm_model_name
    reranker = None
    if bindings.rerank_binding != NO_RERANKER:
        reranker = create_reranker(
            bindings.rerank_binding,
            _endpoint(
                bindings.rerank_model,
                bindings.rerank_binding_host,
                bindings.rerank_binding_api_key,
                settings.default_rerank_timeout,
            ),
        )
    return LightRAG(
        **{
            "llm_model_func": create_llm(
                bindings.llm_binding,
                _endpoint(model, bindings.llm_binding_host, bindings.llm_binding_api_key, settings.default_llm_timeout),
            ),
            "llm_model_name": model,
            "embedding_func": _embedding(bindings, settings.default_embedding_timeout),
            "rerank_model_func": reranker,
            **given,
        }
    )


def _embedding(bindings: BindingSettings, timeout: float) -> EmbeddingFunc:
    if bindings.embedding_binding != OFFLINE and not bindings.embedding_model:
        raise InputError(
            f"EMBEDDING_MODEL is empty; the binding {bindings.embedding_binding!r} needs the name of a model"
        )
    endpoint = _endpoint(
        bindings.embedding_model or OFFLINE,
        bindings.embedding_binding_host,
        bindings.embedding_binding_api_key,
        timeout,
    )
    attributes = EmbeddingAttributes(
        embedding_dim=bindings.embedding_dim,
        max_token_size=bindings.embedding_token_limit or None,
        send_dimensions=bindings.embedding_send_dim,
        supports_asymmetric=bindings.embedding_asymmetric,
    )
    return create_embedding(bindings.embedding_binding, endpoint, attributes)


def _endpoint(model: str, host: str, key: str, timeout: float) -> ModelEndpoint:
    return ModelEndpoint(model, base_url=host or None, api_key=key or None, timeout=float(timeout))
