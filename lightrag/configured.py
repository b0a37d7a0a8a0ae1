"""Make the engine that the settings describe: for programs, which name their models and not functions."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from lightrag.contracts.roles import EXTRACT_ROLE, KEYWORD_ROLE, QUERY_ROLE, RoleLLMConfig
from lightrag.embedding.registry import EmbeddingAttributes, create_embedding
from lightrag.exceptions import InputError
from lightrag.kg.vector_spaces import stored_space, uncallable
from lightrag.lightrag import LightRAG
from lightrag.llm.offline import MODEL_NAME
from lightrag.llm.registry import create_llm
from lightrag.rerank.registry import NO_RERANKER, create_reranker
from lightrag.rerank.windows import by_windows
from lightrag.runtime.endpoints import ModelEndpoint
from lightrag.runtime.tokens import TiktokenTokenizer
from lightrag.settings import load_settings

if TYPE_CHECKING:
    from lightrag.contracts.models import EmbeddingFunc, RerankFunc
    from lightrag.settings import Settings
    from lightrag.settings_api import ApiSettings

OFFLINE = "offline"


def build_engine(bindings: ApiSettings, *, embeds: bool = True, **fields: Any) -> LightRAG:
    """Return an engine, not yet opened.

    Args:
        bindings: Models.
        embeds: ``False`` for an engine that only looks at what is stored: it opens a corpus also where the embedding
            model that made it is not set up.
        fields: Fields of :class:`LightRAG` that win over the environment; ``None`` counts as not given.

    Raises:
        InputError: A setting cannot be used, or a binding does not exist.
        MissingDependencyError: A package that a binding needs is not installed.
    """
    given = {name: value for name, value in fields.items() if value is not None}
    settings = load_settings(**given)
    model = OFFLINE if bindings.llm_binding == OFFLINE else settings.llm_model_name
    endpoint = _endpoint(
        # The reader's own name holds its version, so that replies of an older one are not found in the cache.
        MODEL_NAME if model == OFFLINE else model,
        bindings.llm_binding_host,
        bindings.llm_binding_api_key,
        settings.default_llm_timeout,
    )
    return LightRAG(
        **{
            "llm_model_func": create_llm(bindings.llm_binding, endpoint),
            "llm_model_name": model,
            "role_llm_configs": _roles(bindings, endpoint),
            "embedding_func": (None if embeds else _stored_embedding(settings))
            or _embedding(bindings, settings.default_embedding_timeout),
            "rerank_model_func": _reranker(bindings, settings),
            **given,
        }
    )


def _roles(bindings: ApiSettings, endpoint: ModelEndpoint) -> dict[str, RoleLLMConfig]:
    """Return what the settings give to single roles."""
    configs: dict[str, RoleLLMConfig] = {}
    for spec in (EXTRACT_ROLE, KEYWORD_ROLE, QUERY_ROLE):
        own = {
            name: getattr(bindings, f"{spec.name}_{name}")
            for name in ("llm_binding", "llm_model", "llm_binding_host", "llm_binding_api_key")
        }
        config = RoleLLMConfig(
            max_async=getattr(bindings, f"{spec.name}_max_async_llm") or None,
            timeout=getattr(bindings, f"{spec.name}_llm_timeout") or None,
        )
        if any(own.values()):
            binding = own["llm_binding"] or bindings.llm_binding
            # Address and key belong to the binding that they were given for.
            same = binding == bindings.llm_binding
            place = ModelEndpoint(
                model=own["llm_model"] or (MODEL_NAME if binding == OFFLINE else endpoint.model),
                base_url=own["llm_binding_host"] or (endpoint.base_url if same else None),
                api_key=own["llm_binding_api_key"] or (endpoint.api_key if same else None),
                timeout=float(config.timeout) if config.timeout else endpoint.timeout,
            )
            config.func = create_llm(binding, place)
            config.metadata = {"binding": binding, "model": place.model, "host": place.base_url or ""}
        if config != RoleLLMConfig():
            configs[spec.name] = config
    return configs


def _reranker(bindings: ApiSettings, settings: Settings) -> RerankFunc | None:
    if bindings.rerank_binding == NO_RERANKER:
        return None
    endpoint = _endpoint(
        bindings.rerank_model,
        bindings.rerank_binding_host,
        bindings.rerank_binding_api_key,
        settings.default_rerank_timeout,
    )
    rerank = create_reranker(bindings.rerank_binding, endpoint)
    if rerank is None or not bindings.rerank_enable_chunking:
        return rerank
    # Made when the first documents come: the vocabulary takes its time.
    tokenizer = cache(lambda: TiktokenTokenizer(settings.tiktoken_model_name))
    return by_windows(rerank, tokenizer, bindings.rerank_max_tokens_per_doc)


def _embedding(bindings: ApiSettings, timeout: float) -> EmbeddingFunc:
    if bindings.embedding_binding != OFFLINE and not bindings.embedding_model:
        raise InputError(
            f"EMBEDDING_MODEL is empty; the binding {bindings.embedding_binding!r} needs the name of a model"
        )
    given = {
        "query_prefix": bindings.embedding_query_prefix,
        "document_prefix": bindings.embedding_document_prefix,
    }
    prefixes = {name: value for name, value in given.items() if value}
    endpoint = ModelEndpoint(
        bindings.embedding_model or OFFLINE,
        bindings.embedding_binding_host or None,
        bindings.embedding_binding_api_key or None,
        float(timeout),
        {**prefixes, **({} if bindings.embedding_use_base64 else {"use_base64": False})},
    )
    attributes = EmbeddingAttributes(
        embedding_dim=bindings.embedding_dim,
        max_token_size=bindings.embedding_token_limit or None,
        send_dimensions=bindings.embedding_send_dim,
        # A prefix tells questions from texts, so whoever gives one wants that.
        supports_asymmetric=bindings.embedding_asymmetric or bool(prefixes),
    )
    return create_embedding(bindings.embedding_binding, endpoint, attributes)


def _stored_embedding(settings: Settings) -> EmbeddingFunc | None:
    """Return dimension and model of what is stored; ``None`` where nothing is, or the storage does not tell."""
    try:
        space = stored_space(settings.vector_storage, settings.working_dir, settings.workspace)
    except InputError:
        return None
    return uncallable(space, "nothing is embedded where a corpus is only looked at")


def _endpoint(model: str, host: str, key: str, timeout: float) -> ModelEndpoint:
    return ModelEndpoint(model, base_url=host or None, api_key=key or None, timeout=float(timeout))
