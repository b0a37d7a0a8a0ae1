"""The engine: settings, lifecycle and delegation."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from lightrag.contracts.models import EmbeddingFunc, LLMFunc, RerankFunc, Tokenizer
from lightrag.contracts.query import QueryParam
from lightrag.exceptions import InputError, StorageError
from lightrag.sync import SyncTwins

if TYPE_CHECKING:
    from lightrag.context import EngineContext
    from lightrag.contracts.doc_status import DocProcessingStatus
    from lightrag.contracts.graph import BaseGraphStorage, KnowledgeGraph
    from lightrag.contracts.kv import BaseKVStorage
    from lightrag.contracts.vector import BaseVectorStorage
    from lightrag.ingest.delete import DeletionResult
    from lightrag.ingest.state import PipelineState
    from lightrag.query_filters import DocumentMetadata
    from lightrag.settings import Settings

Progress = Callable[[str], Awaitable[None] | None]


def _setting(name: str) -> Any:
    """Return a field whose default is the setting of that name when the engine is made."""

    def read() -> Any:
        from lightrag.settings import current_settings

        return getattr(current_settings(), name)

    return field(default_factory=read)


@dataclass(eq=False)
class LightRAG(SyncTwins):
    """A graph-RAG engine over one workspace.

    Fields that are not given take the setting of the same name: the environment, ``.env``, or the default that
    ``env.example`` lists. Call :meth:`initialize_storages` before anything else and :meth:`finalize_storages` at the
    end.

    Raises:
        InputError: A field is out of range, or a required model is missing; the message names it.
    """

    working_dir: str = _setting("working_dir")
    kv_storage: str = _setting("kv_storage")
    vector_storage: str = _setting("vector_storage")
    graph_storage: str = _setting("graph_storage")
    doc_status_storage: str = _setting("doc_status_storage")
    evidence_storage: str = _setting("evidence_storage")
    workspace: str = _setting("workspace")
    vector_db_storage_cls_kwargs: dict[str, Any] = field(default_factory=dict)
    cosine_better_than_threshold: float = _setting("cosine_better_than_threshold")

    top_k: int = _setting("top_k")
    chunk_top_k: int = _setting("chunk_top_k")
    max_entity_tokens: int = _setting("max_entity_tokens")
    max_relation_tokens: int = _setting("max_relation_tokens")
    max_total_tokens: int = _setting("max_total_tokens")
    related_chunk_number: int = _setting("related_chunk_number")
    kg_chunk_pick_method: str = _setting("kg_chunk_pick_method")
    enable_content_headings: bool = _setting("enable_content_headings")
    user_prompt_prefix: str = _setting("user_prompt_prefix")

    entity_extract_max_gleaning: int = _setting("entity_extract_max_gleaning")
    entity_extract_max_records: int = _setting("entity_extract_max_records")
    entity_extract_max_entities: int = _setting("entity_extract_max_entities")
    entity_extraction_use_json: bool = _setting("entity_extraction_use_json")
    force_llm_summary_on_merge: int = _setting("force_llm_summary_on_merge")
    summary_max_tokens: int = _setting("summary_max_tokens")
    summary_context_size: int = _setting("summary_context_size")
    summary_length_recommended: int = _setting("summary_length_recommended")

    chunk_token_size: int = _setting("chunk_token_size")
    chunk_overlap_token_size: int = _setting("chunk_overlap_token_size")
    tokenizer: Tokenizer | None = None
    tiktoken_model_name: str = _setting("tiktoken_model_name")
    chunking_func: Callable[..., Any] | None = None

    embedding_func: EmbeddingFunc | None = None
    embedding_batch_num: int = _setting("embedding_batch_num")
    embedding_func_max_async: int = _setting("embedding_func_max_async")
    default_embedding_timeout: int = _setting("default_embedding_timeout")

    llm_model_func: LLMFunc | None = None
    llm_model_name: str = _setting("llm_model_name")
    llm_model_max_async: int = _setting("llm_model_max_async")
    llm_model_kwargs: dict[str, Any] = field(default_factory=dict)
    default_llm_timeout: int = _setting("default_llm_timeout")
    enable_llm_cache: bool = _setting("enable_llm_cache")
    enable_llm_cache_for_entity_extract: bool = _setting("enable_llm_cache_for_entity_extract")

    rerank_model_func: RerankFunc | None = None
    rerank_model_max_async: int = _setting("rerank_model_max_async")
    default_rerank_timeout: int = _setting("default_rerank_timeout")
    min_rerank_score: float = _setting("min_rerank_score")

    max_parallel_insert: int = _setting("max_parallel_insert")
    queue_size_insert: int = _setting("queue_size_insert")
    pipeline_scheduling_page_size: int = _setting("pipeline_scheduling_page_size")

    max_graph_nodes: int = _setting("max_graph_nodes")
    max_source_ids_per_entity: int = _setting("max_source_ids_per_entity")
    max_source_ids_per_relation: int = _setting("max_source_ids_per_relation")
    source_ids_limit_method: str = _setting("source_ids_limit_method")
    max_file_paths: int = _setting("max_file_paths")
    file_path_more_placeholder: str = _setting("file_path_more_placeholder")

    enable_vector_metadata_filters: bool = _setting("enable_vector_metadata_filters")
    kg_union_skip_open_bounds: bool = _setting("kg_union_skip_open_bounds")
    scope_tag_prefixes: list[str] = _setting("scope_tag_prefixes")
    enable_kg_scope_materialization: bool = _setting("enable_kg_scope_materialization")

    addon_params: dict[str, Any] = field(default_factory=dict)

    def __new__(cls, *_args: Any, **_fields: Any) -> Self:
        """Read the environment afresh, once for all fields of this engine."""
        from lightrag.settings import current_settings

        current_settings.cache_clear()
        return super().__new__(cls)

    def __post_init__(self) -> None:
        from lightrag.ingest.state import pipeline_state
        from lightrag.settings import load_settings

        if self.llm_model_func is None:
            raise InputError(
                "llm_model_func is missing: give an async function (prompt, system_prompt=None, ...) -> str"
            )
        if self.embedding_func is None:
            raise InputError("embedding_func is missing: give an EmbeddingFunc")
        given = {name: getattr(self, name) for name in type(load_settings()).model_fields if hasattr(self, name)}
        self._settings: Settings = load_settings(**given)
        if self.chunk_overlap_token_size >= self.chunk_token_size:
            raise InputError(
                f"chunk_overlap_token_size={self.chunk_overlap_token_size} must be smaller than "
                f"chunk_token_size={self.chunk_token_size}"
            )
        self._context: EngineContext | None = None
        self._state: PipelineState = pipeline_state(self.working_dir, self.workspace)

    # --- lifecycle ---------------------------------------------------------------------------------------------------

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
            await context.cache.flush()
            await context.stores.finalize()

    @property
    def context(self) -> EngineContext:
        """The opened workspace.

        Raises:
            StorageError: :meth:`initialize_storages` has not been called.
        """
        if self._context is None:
            raise StorageError("the stores are not open: call `await rag.initialize_storages()` first")
        return self._context

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

    # --- documents ---------------------------------------------------------------------------------------------------

    async def ainsert(
        self,
        input: str | list[str],
        split_by_character: str | None = None,
        split_by_character_only: bool = False,
        ids: str | list[str] | None = None,
        file_paths: str | list[str] | None = None,
        track_id: str | None = None,
        *,
        metadata: DocumentMetadata | dict[str, Any] | None = None,
    ) -> str:
        """Add documents and process them.

        Args:
            input: One text or several.
            split_by_character: Cut at this text first.
            split_by_character_only: Cut nowhere else.
            ids: As many document ids; derived from source path or text when not given.
            file_paths: As many source paths, shown in references.
            track_id: Names this call; made up when not given.
            metadata: Dates, tags and free metadata, shared by all documents of the call.

        Returns:
            The track id, with which the outcome of every document can be looked up.

        Raises:
            InputError: The arguments do not fit together; nothing was stored.
            StorageError: Nothing was stored.
        """
        from lightrag.ingest.documents import ProcessOptions, new_track_id

        track_id = track_id or new_track_id()
        await self._enqueue(
            input,
            ids=ids,
            file_paths=file_paths,
            track_id=track_id,
            metadata=metadata,
            options=ProcessOptions(split_by_character, split_by_character_only),
        )
        await self.apipeline_process_enqueue_documents()
        return track_id

    async def apipeline_enqueue_documents(
        self,
        input: str | list[str],
        ids: str | list[str] | None = None,
        file_paths: str | list[str] | None = None,
        track_id: str | None = None,
        docs_format: str = "raw",
        *,
        chunk_options: dict[str, Any] | None = None,
        document_metadata: DocumentMetadata | dict[str, Any] | None = None,
    ) -> str | None:
        """Store documents as pending; :meth:`apipeline_process_enqueue_documents` processes them.

        Args:
            input: One text or several; with ``docs_format="pending_parse"`` the paths of files to parse.
            ids: As many document ids.
            file_paths: As many source paths.
            track_id: Names this call.
            docs_format: ``raw`` or ``pending_parse``.
            chunk_options: ``{"strategy": ..., "params": {...}}``.
            document_metadata: Shared by all documents of the call.

        Returns:
            The track id, or ``None`` when every document was refused as a duplicate.

        Raises:
            InputError: The arguments do not fit together; nothing was stored.
            StorageError: Nothing was stored.
        """
        from lightrag.ingest.documents import ProcessOptions, new_track_id

        track_id = track_id or new_track_id("enqueue")
        admitted = await self._enqueue(
            input,
            ids=ids,
            file_paths=file_paths,
            track_id=track_id,
            metadata=document_metadata,
            options=ProcessOptions(chunking=chunk_options),
            docs_format=docs_format,
        )
        return track_id if admitted else None

    async def _enqueue(
        self, texts: str | list[str], *, metadata: Any, track_id: str, options: Any, **identity: Any
    ) -> list[str]:
        from lightrag.ingest.documents import build_documents
        from lightrag.ingest.enqueue import enqueue
        from lightrag.query_filters import DocumentMetadata

        notes = DocumentMetadata.coerce(metadata).to_storage() if metadata is not None else {}
        documents = build_documents(texts, metadata=notes, options=options, **identity)
        return await enqueue(self.context, self._state, documents, track_id)

    async def apipeline_process_enqueue_documents(self) -> None:
        """Process everything that is pending or was interrupted. Failed documents are left as they are."""
        from lightrag.ingest.pipeline import process_queue

        await process_queue(self.context, self._state)

    async def aretry_failed_documents(self) -> int:
        """Set failed documents back to pending and process them.

        Returns:
            How many were tried again.
        """
        from lightrag.ingest.pipeline import retry_failed

        count = await retry_failed(self.context)
        await self.apipeline_process_enqueue_documents()
        return count

    def cancel_pipeline(self) -> bool:
        """Ask the running pipeline to stop; what it has not finished fails with that reason.

        Returns:
            Whether a pipeline was running.
        """
        if not self._state.busy:
            return False
        self._state.cancellation_requested = True
        self._state.cancellation_reason = "requested by the user"
        return True

    def pipeline_status(self) -> dict[str, Any]:
        """Return what the pipeline is doing, as clients know it."""
        return self._state.snapshot()

    async def adelete_by_doc_id(self, doc_id: str, delete_llm_cache: bool = False) -> DeletionResult:
        """Delete a document and everything that came from it alone."""
        from lightrag.ingest.delete import delete_document

        return await delete_document(self.context, self._state, doc_id, delete_llm_cache=delete_llm_cache)

    async def get_processing_status(self) -> dict[str, int]:
        """Return the number of documents in each state that has any."""
        return await self.context.stores.doc_status.get_status_counts()

    async def aget_docs_by_track_id(self, track_id: str) -> dict[str, DocProcessingStatus]:
        """Return the status rows that one call enqueued."""
        return await self.context.stores.doc_status.get_docs_by_track_id(track_id)

    async def aget_docs_by_ids(self, ids: str | list[str]) -> dict[str, DocProcessingStatus]:
        """Return the status rows of documents; unknown ids are left out."""
        from lightrag.contracts.doc_status import DocProcessingStatus

        wanted = [ids] if isinstance(ids, str) else list(ids)
        rows = await self.context.stores.doc_status.get_by_ids(wanted)
        return {doc_id: DocProcessingStatus.from_row(row) for doc_id, row in zip(wanted, rows, strict=True) if row}

    # --- questions ---------------------------------------------------------------------------------------------------

    async def aquery(
        self, query: str, param: QueryParam | None = None, system_prompt: str | None = None
    ) -> str | AsyncIterator[str]:
        """Answer a question.

        Returns:
            The answer, or an iterator of its pieces when ``param.stream``.

        Raises:
            QueryValidationError: The question or a parameter cannot be used.
            ModelError: A model failed.
        """
        from lightrag.query.modes import run_query, to_answer

        return to_answer(await run_query(self.context, query, param or QueryParam(), system_prompt=system_prompt))

    async def aquery_data(self, query: str, param: QueryParam | None = None) -> dict[str, Any]:
        """Return what an answer would be based on: entities, relations, chunks and references."""
        from lightrag.query.modes import run_query, to_data

        return to_data(await run_query(self.context, query, param or QueryParam(), data_only=True))

    async def aquery_llm(
        self,
        query: str,
        param: QueryParam | None = None,
        system_prompt: str | None = None,
        progress_callback: Progress | None = None,
    ) -> dict[str, Any]:
        """Return :meth:`aquery_data` with the answer beside it; failures of models and stores are told, not raised."""
        from lightrag.query.modes import run_query_safely, to_llm

        result = await run_query_safely(
            self.context,
            query,
            param or QueryParam(),
            system_prompt=system_prompt,
            progress=progress_callback,
        )
        return to_llm(result)

    # --- graph -------------------------------------------------------------------------------------------------------

    async def get_graph_labels(self) -> list[str]:
        """Return the names of all entities, sorted."""
        return await self.context.stores.graph.get_all_labels()

    async def get_knowledge_graph(
        self, node_label: str, max_depth: int = 3, max_nodes: int | None = None
    ) -> KnowledgeGraph:
        """Return the part of the graph around an entity, or the whole with ``"*"``."""
        limit = min(max_nodes or self.max_graph_nodes, self.max_graph_nodes)
        return await self.context.stores.graph.get_knowledge_graph(node_label, max_depth, limit)
