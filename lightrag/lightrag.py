"""The engine: settings, lifecycle and delegation."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from lightrag.engine.documents import DocumentMethods
from lightrag.engine.fields import EngineFields
from lightrag.engine.graph import GraphMethods
from lightrag.engine.models import ModelMethods
from lightrag.engine.queries import QueryMethods
from lightrag.exceptions import InputError
from lightrag.runtime.locks import WorkspaceLock
from lightrag.settings import current_settings, load_settings
from lightrag.sync import SyncTwins

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable

    from lightrag.contracts.graph import BaseGraphStorage
    from lightrag.contracts.kv import BaseKVStorage
    from lightrag.contracts.vector import BaseVectorStorage
    from lightrag.engine.restricted import RestrictedEngine
    from lightrag.settings import Settings


@dataclass(eq=False)
class LightRAG(EngineFields, DocumentMethods, QueryMethods, GraphMethods, ModelMethods, SyncTwins):
    """A graph-RAG engine over one workspace.

    Fields that are not given take the setting of the same name: the environment, ``.env``, or the default that
    ``env.example`` lists. Call :meth:`initialize_storages` before anything else and :meth:`finalize_storages` at the
    end, or let ``async with LightRAG(...)`` or ``auto_manage_storages_states=True`` do it.

    Raises:
        InputError: A field is out of range, or a required model is missing; the message names it.
    """

    def __new__(cls, *_args: Any, **_fields: Any) -> Self:
        """Read the environment afresh, once for all fields of this engine."""
        current_settings.cache_clear()
        return super().__new__(cls)

    def __post_init__(self) -> None:
        from lightrag.contracts.roles import role_configs
        from lightrag.engine.startup import check_fields, prompt_file
        from lightrag.ingest.state import pipeline_state

        if self.llm_model_func is None:
            raise InputError(
                "llm_model_func is missing: give an async function (prompt, system_prompt=None, ...) -> str"
            )
        if self.embedding_func is None:
            raise InputError("embedding_func is missing: give an EmbeddingFunc")
        self._settings = self._fill_in()
        check_fields(self, self._settings)
        if self.user_prompt_prefix_file and not self.user_prompt_prefix:
            text = prompt_file("user_prompt_prefix_file", self.user_prompt_prefix_file, self._settings.prompt_dir)
            self.user_prompt_prefix = text
            self._settings = self._settings.model_copy(update={"user_prompt_prefix": text})
        self.embedding_token_limit = self.embedding_func.max_token_size
        self.roles = role_configs(self.role_llm_configs)
        if self.observer is not None:
            self.observation.events.on("*", self.observer)
        self._context = None
        self._opening = WorkspaceLock()
        self._closer: AsyncGenerator[None, None] | None = None
        self._state = pipeline_state(self.working_dir, self.workspace)

    def _fill_in(self) -> Settings:
        """Let fields that are ``None`` take their settings, and return all settings."""
        defaults = current_settings()
        own = [name for name in type(defaults).model_fields if hasattr(self, name)]
        for name in own:
            if getattr(self, name) is None:
                setattr(self, name, getattr(defaults, name))
        # Existing set-ups may give it among the options of the vector stores.
        if "kg_union_skip_open_bounds" in self.vector_db_storage_cls_kwargs:
            self.kg_union_skip_open_bounds = self.vector_db_storage_cls_kwargs["kg_union_skip_open_bounds"]
        return load_settings(**{name: getattr(self, name) for name in own})

    def restricted(self, required_tags: Iterable[str] = (), forbidden_tags: Iterable[str] = ()) -> RestrictedEngine:
        """Return a view of the engine for somebody who may see only some documents.

        Args:
            required_tags: Tags that all of them carry; one of them may name a scope.
            forbidden_tags: Tags that none of them carries.

        Raises:
            ScopeError: A scope tag cannot be used, or there are two.
            FilterSyntaxError: A tag is malformed.
        """
        from lightrag.access import AccessPolicy
        from lightrag.engine.restricted import RestrictedEngine

        prefixes = self._settings.scope_tag_prefixes
        return RestrictedEngine(self, AccessPolicy.of(required_tags, forbidden_tags, scope_prefixes=prefixes))

    async def initialize_storages(self) -> None:
        """Open the stores. Idempotent.

        Raises:
            StorageError: A store cannot be opened; the message says why.
            EmbeddingMismatchError: The stored vectors come from another embedding model.
        """
        from lightrag.assembly import assemble

        async with self._opening:
            if self._context is None:
                self._context = await assemble(self, self._settings, self._state)
                # Programs count with it what they cut themselves.
                self.tokenizer = self._context.models.tokenizer

    async def _ready(self) -> None:
        from lightrag.engine.lifecycle import close_at_exit

        if self._context is not None or not self.auto_manage_storages_states:
            return
        await self.initialize_storages()
        close_at_exit(self)
        if self._closer is None:
            self._closer = self._close_with_the_loop()
            await anext(self._closer)

    async def _close_with_the_loop(self) -> AsyncGenerator[None, None]:
        """Close when the event loop ends.

        ``asyncio.run`` closes every async generator that is still open before it closes the loop, and that is the last
        moment at which stores can be closed in the loop that opened them.
        """
        try:
            yield
        finally:
            self._closer = None
            await self.finalize_storages()

    async def __aenter__(self) -> Self:
        """Open the stores."""
        await self.initialize_storages()
        return self

    async def __aexit__(self, *_error: object) -> None:
        """Close the stores."""
        await self.finalize_storages()

    async def finalize_storages(self) -> None:
        """Flush and close the stores. Idempotent."""
        context, self._context = self._context, None
        # In a fork there is nothing to close: the threads that would do it are those of the other process.
        if context is not None and context.process_id == os.getpid():
            from lightrag.ingest.pipeline import stop_run

            try:
                await stop_run(context, self._state)
                await context.parsers.close()
                await context.models.shutdown()
                await context.cache.flush()
            finally:
                await context.stores.finalize()

    @property
    def full_docs(self) -> BaseKVStorage:
        """Texts of documents."""
        return self.context.stores.full_docs

    @property
    def text_chunks(self) -> BaseKVStorage:
        """Chunks."""
        return self.context.stores.text_chunks

    @property
    def llm_response_cache(self) -> BaseKVStorage:
        """Cached model replies."""
        return self.context.stores.llm_response_cache

    @property
    def doc_status(self) -> Any:
        """Document status."""
        return self.context.stores.doc_status

    @property
    def chunk_entity_relation_graph(self) -> BaseGraphStorage:
        """The graph."""
        return self.context.stores.graph

    @property
    def entities_vdb(self) -> BaseVectorStorage:
        """Vectors of entities."""
        return self.context.stores.entities

    @property
    def relationships_vdb(self) -> BaseVectorStorage:
        """Vectors of relations."""
        return self.context.stores.relationships

    @property
    def chunks_vdb(self) -> BaseVectorStorage:
        """Vectors of chunks."""
        return self.context.stores.chunks
