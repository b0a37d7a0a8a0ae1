"""Put an engine's parts together: models bounded and named, stores opened, cache in front of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightrag.constants import MIGRATION_ROW
from lightrag.context import EngineContext
from lightrag.exceptions import StorageError
from lightrag.ingest.state import PipelineState
from lightrag.ingest.take_over import take_over_outside_changes
from lightrag.kg.files.detect import refuse_files_beside_sqlite
from lightrag.parser.engines import ParserEngines
from lightrag.runtime.calls import BoundedCalls
from lightrag.runtime.llm_cache import LLMCache
from lightrag.runtime.model_set import Embedder, ModelSet, TextModel
from lightrag.runtime.tokens import TiktokenTokenizer
from lightrag.settings import Settings
from lightrag.stores import Stores, open_stores

if TYPE_CHECKING:
    from lightrag.engine.fields import EngineFields


async def assemble(engine: EngineFields, settings: Settings, state: PipelineState) -> EngineContext:
    """Open a workspace.

    Raises:
        InputError: A storage class is unknown, or a model's name has no tokenizer.
        StorageError: A store cannot be opened, or holds data that must be migrated first.
        EmbeddingMismatchError: The stored vectors come from another embedding model.
    """
    refuse_files_beside_sqlite(settings.working_dir, settings.workspace, _storages(settings))
    models = build_models(engine, settings)
    # Vector stores embed rows that come without a vector through the same bounded calls as everything else.
    stores = open_stores(settings, models.embedder.func, vector_options=engine.vector_db_storage_cls_kwargs)
    await stores.initialize()
    try:
        return await _ready(engine, settings, state, models, stores)
    except BaseException:
        await stores.finalize()
        raise


async def _ready(
    engine: EngineFields, settings: Settings, state: PipelineState, models: ModelSet, stores: Stores
) -> EngineContext:
    """Return the context of opened stores, after what another tool wrote into them was taken over."""
    await _refuse_half_copied(stores)
    cache = LLMCache(
        stores.llm_response_cache,
        enabled=settings.enable_llm_cache,
        enabled_for_extract=settings.enable_llm_cache_for_entity_extract,
    )
    return EngineContext(
        settings=settings,
        stores=stores,
        models=models,
        cache=cache,
        graph_lock=state.graph_lock,
        parsers=ParserEngines.from_settings(settings),
        addon=dict(engine.addon_params),
        chunking_func=engine.chunking_func,
    )


def build_models(engine: EngineFields, settings: Settings) -> ModelSet:
    """Bound the user's models and give each its role."""
    assert engine.llm_model_func is not None
    assert engine.embedding_func is not None
    calls = BoundedCalls(
        engine.llm_model_func, settings.llm_model_max_async, float(settings.default_llm_timeout), name="llm"
    )

    def text_model(role: str) -> TextModel:
        return TextModel(role, f"{role}|{model_identity(engine)}", calls, dict(engine.llm_model_kwargs))

    embedder = Embedder(
        func=engine.embedding_func,
        calls=BoundedCalls(
            engine.embedding_func,
            settings.embedding_func_max_async,
            float(settings.default_embedding_timeout),
            name="embedding",
        ),
        batch_size=settings.embedding_batch_num,
    )
    rerank = None
    if engine.rerank_model_func is not None:
        rerank = BoundedCalls(
            engine.rerank_model_func,
            settings.rerank_model_max_async,
            float(settings.default_rerank_timeout),
            name="rerank",
        )
    return ModelSet(
        extract=text_model("extract"),
        keyword=text_model("keyword"),
        query=text_model("query"),
        embedder=embedder,
        rerank=rerank,
        tokenizer=engine.tokenizer or TiktokenTokenizer(settings.tiktoken_model_name),
    )


def model_identity(engine: EngineFields) -> str:
    """Return what tells one language model from another in cache keys: name, host and function."""
    func: Any = engine.llm_model_func
    host = engine.llm_model_kwargs.get("base_url") or engine.llm_model_kwargs.get("host") or ""
    inner = getattr(func, "func", func)
    return f"{engine.llm_model_name}|{host}|{getattr(inner, '__module__', '')}.{getattr(inner, '__qualname__', '')}"
