"""Put an engine's parts together: models bounded and named, stores opened, cache in front of them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from lightrag.constants import MIGRATION_ROW
from lightrag.context import EngineContext
from lightrag.engine.build_models import build_embedder, build_models
from lightrag.engine.startup import addon_of
from lightrag.exceptions import ModelError, StorageError
from lightrag.graph.unfinished import graph_held
from lightrag.ingest.state import PipelineState
from lightrag.ingest.take_over import take_over_outside_changes
from lightrag.kg.files.detect import refuse_files_beside_sqlite
from lightrag.kg.registry import evidence_beside
from lightrag.parser.engines import ParserEngines
from lightrag.runtime.llm_cache import LLMCache
from lightrag.settings import Settings
from lightrag.stores import Stores, open_stores

if TYPE_CHECKING:
    from lightrag.engine.fields import EngineFields

logger = logging.getLogger("lightrag.engine")


async def assemble(engine: EngineFields, settings: Settings, state: PipelineState) -> EngineContext:
    """Open a workspace.

    Raises:
        InputError: A storage class is unknown, or a model's name has no tokenizer.
        StorageError: A store cannot be opened, or holds data that must be migrated first.
        EmbeddingMismatchError: The stored vectors come from another embedding model.
    """
    refuse_files_beside_sqlite(settings.working_dir, settings.workspace, _storages(settings))
    addon = addon_of(engine, settings)
    embedder = build_embedder(engine, settings)
    # Vector stores embed rows that come without a vector through the same bounded calls as everything else.
    stores = open_stores(settings, embedder.as_function(), vector_options=engine.vector_db_storage_cls_kwargs)
    if settings.pipeline_require_strict_storage_reads:
        _require_strict_reads(stores)
    models, roles = build_models(engine, settings, embedder, stores.llm_response_cache)
    await stores.initialize()
    state.share_locks(stores.doc_status.workspace_lock)
    try:
        await _refuse_half_copied(stores)
        context = EngineContext(
            settings=settings,
            stores=stores,
            models=models,
            cache=_cache(settings, stores),
            graph_lock=state.graph_lock,
            parsers=ParserEngines.from_settings(settings),
            addon=addon,
            chunking_func=engine.chunking_func,
            roles=roles,
            events=engine.observation.events,
            max_pending_documents=engine.max_pending_documents,
        )
        await _finish_interrupted(context)
        await take_over_outside_changes(context)
        return context
    except BaseException:
        await stores.finalize()
        raise


async def _finish_interrupted(context: EngineContext) -> None:
    """Bring an earlier process's last change to its end, before anybody takes its rests for the work of other tools.

    The embedding model may not be there now, or nothing may be embedded in a corpus that is only looked at; then the
    next change does it.
    """
    if await context.stores.unfinished() is None:
        return
    try:
        # Another process may be in the middle of it: then this waits, and finds nothing to do.
        async with graph_held(context):
            pass
    except (ModelError, StorageError) as error:
        logger.warning("a change that broke off was not brought to its end yet: %s", error)


def _cache(settings: Settings, stores: Stores) -> LLMCache:
    return LLMCache(
        stores.llm_response_cache,
        enabled=settings.enable_llm_cache,
        enabled_for_extract=settings.enable_llm_cache_for_entity_extract,
    )


def _storages(settings: Settings) -> tuple[str, ...]:
    return (
        settings.kv_storage,
        settings.doc_status_storage,
        settings.graph_storage,
        settings.vector_storage,
        settings.evidence_storage or evidence_beside(settings.doc_status_storage, settings.graph_storage),
    )


def _require_strict_reads(stores: Stores) -> None:
    for store in (stores.full_docs, stores.doc_status):
        if not store.supports_strict_point_reads:
            raise StorageError(
                f"{type(store).__name__} cannot tell a document that is missing from one that cannot be read, which "
                "pipeline_require_strict_storage_reads asks for; choose another storage, or do not ask for it"
            )


async def _refuse_half_copied(stores: Stores) -> None:
    if await stores.workspace_state.get_by_id(MIGRATION_ROW) is not None:
        raise StorageError(
            f"workspace {stores.workspace_state.workspace!r} is an unfinished copy of another one; "
            "run `lightrag migrate` again, which goes on where it stopped"
        )
