"""The models of an engine: bounded, watched, one for each role."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightrag.contracts.roles import EXTRACT_ROLE, KEYWORD_ROLE, QUERY_ROLE, RoleLLMConfig, RoleSpec
from lightrag.runtime.calls import BoundedCalls
from lightrag.runtime.long_texts import Windows
from lightrag.runtime.model_set import Embedder, ModelSet, TextModel
from lightrag.runtime.observation import CallObserver, watched
from lightrag.runtime.role_models import ModelDefaults, RoleModels
from lightrag.runtime.tokens import TiktokenTokenizer
from lightrag.runtime.usage import Prices

if TYPE_CHECKING:
    from lightrag.contracts.models import Tokenizer
    from lightrag.engine.fields import EngineFields
    from lightrag.settings import Settings


def build_models(
    engine: EngineFields, settings: Settings, embedder: Embedder, hashing_kv: Any = None
) -> tuple[ModelSet, RoleModels]:
    """Return the models, and what replaces those of roles.

    Args:
        engine: Has the user's functions.
        settings: Limits and names.
        embedder: As :func:`build_embedder` made it.
        hashing_kv: Sent as ``hashing_kv=`` with every call of a language model.

    Raises:
        InputError: A limit is not positive.
    """
    assert engine.llm_model_func is not None
    tokenizer = tokenizer_of(engine, settings)
    defaults = ModelDefaults(
        func=engine.llm_model_func,
        name=engine.llm_model_name,
        kwargs=engine.llm_model_kwargs,
        max_async=settings.llm_model_max_async,
        timeout=float(settings.default_llm_timeout),
        hashing_kv=hashing_kv,
        prices=Prices(settings.llm_input_price, settings.llm_output_price),
    )
    role_models = RoleModels(defaults, engine.observation, tokenizer)

    def model(role: RoleSpec) -> TextModel:
        return role_models.make(role, engine.roles.get(role.name) or RoleLLMConfig())

    models = ModelSet(
        extract=model(EXTRACT_ROLE),
        keyword=model(KEYWORD_ROLE),
        query=model(QUERY_ROLE),
        embedder=embedder,
        rerank=_reranker(engine, settings, tokenizer),
        tokenizer=tokenizer,
    )
    return models, role_models


def tokenizer_of(engine: EngineFields, settings: Settings) -> Tokenizer:
    """Return what counts tokens: the user's, or that of the named model.

    Raises:
        InputError: A model's name has no tokenizer.
    """
    return engine.tokenizer or TiktokenTokenizer(settings.tiktoken_model_name)


def build_embedder(engine: EngineFields, settings: Settings) -> Embedder:
    """Return the embedding model.

    Raises:
        InputError: A limit is not positive, or a model's name has no tokenizer.
    """
    func = engine.embedding_func
    assert func is not None
    tokenizer = tokenizer_of(engine, settings)
    observer = CallObserver("embedding", engine.observation, tokenizer)
    observer.meter.prices = Prices(settings.embedding_price)
    windows = None
    if func.max_token_size:
        windows = Windows(tokenizer, func.max_token_size, settings.embedding_chunk_overlap_token_size)
    return Embedder(
        func=func,
        calls=BoundedCalls(
            func, settings.embedding_func_max_async, float(settings.default_embedding_timeout), name="embedding"
        ),
        batch_size=settings.embedding_batch_num,
        observer=observer,
        windows=windows,
    )


def _reranker(engine: EngineFields, settings: Settings, tokenizer: Tokenizer) -> BoundedCalls | None:
    if engine.rerank_model_func is None:
        return None
    observer = CallObserver("rerank", engine.observation, tokenizer)
    return BoundedCalls(
        watched(engine.rerank_model_func, observer, _reranked_texts),
        settings.rerank_model_max_async,
        float(settings.default_rerank_timeout),
        name="rerank",
    )


def _reranked_texts(call: dict[str, Any]) -> list[str]:
    return [call["query"], *call["documents"]]
