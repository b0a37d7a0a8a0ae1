"""The engine: settings, lifecycle and delegation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from lightrag.engine.documents import DocumentMethods
from lightrag.engine.fields import EngineFields
from lightrag.engine.graph import GraphMethods
from lightrag.engine.queries import QueryMethods
from lightrag.exceptions import InputError
from lightrag.settings import current_settings, load_settings
from lightrag.sync import SyncTwins

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lightrag.contracts.graph import BaseGraphStorage
    from lightrag.contracts.kv import BaseKVStorage
    from lightrag.contracts.vector import BaseVectorStorage
    from lightrag.engine.restricted import RestrictedEngine


@dataclass(eq=False)
class LightRAG(EngineFields, DocumentMethods, QueryMethods, GraphMethods, SyncTwins):
    """A graph-RAG engine over one workspace.

    Fields that are not given take the setting of the same name: the environment, ``.env``, or the default that
    ``env.example`` lists. Call :meth:`initialize_storages` before anything else and :meth:`finalize_storages` at the
    end.

    Raises:
        InputError: A field is out of range, or a required model is missing; the message names it.
    """

    def __new__(cls, *_args: Any, **_fields: Any) -> Self:
        """Read the environment afresh, once for all fields of this engine."""
        current_settings.cache_clear()
        return super().__new__(cls)

    def __post_init__(self) -> None:
        from lightrag.ingest.state import pipeline_state

        if self.llm_model_func is None:
            raise InputError(
                "llm_model_func is missing: give an async function (prompt, system_prompt=None, ...) -> str"
            )
        if self.embedding_func is None:
            raise InputError("embedding_func is missing: give an EmbeddingFunc")
        given = {name: getattr(self, name) for name in type(load_settings()).model_fields if hasattr(self, name)}
        self._settings = load_settings(**given)
        if self.chunk_overlap_token_size >= self.chunk_token_size:
            raise InputError(
                f"chunk_overlap_token_size={self.chunk_overlap_token_size} must be smaller than "
                f"chunk_token_size={self.chunk_token_size}"
            )
        self._context = None
        self._state = pipeline_state(self.working_dir, self.workspace)

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

        if self._context is None:
            self._context = await assemble(self, self._settings, self._state)

    async def finalize_storages(self) -> None:
        """Flush and close the stores. Idempotent."""
        context, self._context = self._context, None
        if context is not None:
            await context.parsers.close()
            await context.models.shutdown()
            await context.cache.flush()
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
