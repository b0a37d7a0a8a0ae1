"""The opened stores of a workspace, as one object, and the unit of work over all of them."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Hashable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from lightrag import constants
from lightrag.contracts.doc_status import BaseDocStatusStorage
from lightrag.contracts.evidence import BaseEvidenceStorage
from lightrag.contracts.graph import BaseGraphStorage
from lightrag.contracts.kv import BaseKVStorage
from lightrag.contracts.models import EmbeddingFunc
from lightrag.contracts.storage import StorageNameSpace
from lightrag.contracts.vector import FILTER_FIELD_DEFAULTS, BaseVectorStorage
from lightrag.exceptions import InputError
from lightrag.kg.registry import EVIDENCE_BY_DOC_STATUS, storage_class
from lightrag.settings import Settings

_ENTITY_FIELDS = {"entity_name", "graph_node_id", *FILTER_FIELD_DEFAULTS}
_RELATION_FIELDS = {"src_id", "tgt_id", *FILTER_FIELD_DEFAULTS}
_CHUNK_FIELDS = {"file_path", *FILTER_FIELD_DEFAULTS}
_CORPUS_ROW = "corpus"


@dataclass(frozen=True, eq=False)
class Stores:
    """All stores of one workspace."""

    full_docs: BaseKVStorage
    text_chunks: BaseKVStorage
    llm_response_cache: BaseKVStorage
    workspace_state: BaseKVStorage
    doc_status: BaseDocStatusStorage
    evidence: BaseEvidenceStorage
    graph: BaseGraphStorage
    entities: BaseVectorStorage
    relationships: BaseVectorStorage
    chunks: BaseVectorStorage

    def all(self) -> tuple[StorageNameSpace, ...]:
        """Return every store, data before status: the order in which a unit of work is made durable."""
        return (
            self.full_docs,
            self.text_chunks,
            self.chunks,
            self.evidence,
            self.graph,
            self.entities,
            self.relationships,
            self.llm_response_cache,
            self.workspace_state,
            self.doc_status,
        )

    async def initialize(self) -> None:
        """Open every store; those already opened are closed again when one fails."""
        opened: list[StorageNameSpace] = []
        try:
            for store in self.all():
                await store.initialize()
                opened.append(store)
        except BaseException:
            for store in reversed(opened):
                await store.finalize()
            raise

    async def finalize(self) -> None:
        """Flush and close every store."""
        for store in self.all():
            await store.index_done_callback()
        for store in reversed(self.all()):
            await store.finalize()

    @asynccontextmanager
    async def unit_of_work(self) -> AsyncIterator[None]:
        """Commit everything written in the block together.

        In one database that is one transaction. Elsewhere the writes happen in the order they are made and are flushed
        in the order of :meth:`all`, so a document's status becomes durable last; a crash in between leaves a document
        that is taken up again and repeats the same writes. Inside the block reads see the state before it.
        """
        async with AsyncExitStack() as stack:
            groups: set[Hashable] = set()
            for store in self.all():
                group = store.transaction_group
                if group is not None and group not in groups:
                    groups.add(group)
                    await stack.enter_async_context(store.transaction())
            yield
        for store in self.all():
            await store.index_done_callback()

    async def corpus_version(self) -> str:
        """Return a token that changes with every change of documents or graph; part of every answer-cache key."""
        row = await self.workspace_state.get_by_id(_CORPUS_ROW)
        return str(row["version"]) if row else ""

    async def mark_corpus_changed(self) -> None:
        """Make cached answers unreachable. Belongs into the same unit of work as the change itself."""
        await self.workspace_state.upsert({_CORPUS_ROW: {"version": secrets.token_hex(8)}})

    async def drop_all(self, *, keep: Iterable[StorageNameSpace] = ()) -> dict[str, str]:
        """Empty every store but those in ``keep``.

        Returns:
            Message of each store that failed, by namespace; empty when all succeeded.
        """
        kept = set(map(id, keep))
        failures: dict[str, str] = {}
        for store in self.all():
            if id(store) in kept:
                continue
            outcome = await store.drop()
            if outcome.get("status") != "success":
                failures[store.namespace] = outcome.get("message", "")
        return failures


def open_stores(settings: Settings, embedding_func: EmbeddingFunc, *, vector_options: dict[str, Any]) -> Stores:
    """Build the stores that the settings name; nothing is opened yet.

    Args:
        settings: Names the classes, the working directory and the workspace.
        embedding_func: Embeds rows and queries of the vector stores.
        vector_options: ``vector_db_storage_cls_kwargs`` as given by the user.

    Raises:
        InputError: A class name is unknown, or two families cannot be combined.
        MissingDependencyError: A driver is not installed.
    """
    evidence_name = settings.evidence_storage or EVIDENCE_BY_DOC_STATUS.get(settings.doc_status_storage, "")
    if not evidence_name:
        raise InputError(f"no evidence storage is known beside {settings.doc_status_storage!r}; set evidence_storage")
    base: dict[str, Any] = {
        "workspace": settings.workspace,
        "global_config": {**settings.model_dump(), "vector_db_storage_cls_kwargs": vector_options},
    }
    kv_class = storage_class(settings.kv_storage, "kv")
    vector_class = storage_class(settings.vector_storage, "vector")
    floor = vector_options.get("cosine_better_than_threshold", settings.cosine_better_than_threshold)

    def kv(namespace: str) -> Any:
        return kv_class(namespace=namespace, embedding_func=embedding_func, **base)

    def vector(namespace: str, fields: set[str]) -> Any:
        return vector_class(
            namespace=namespace,
            embedding_func=embedding_func,
            cosine_better_than_threshold=floor,
            meta_fields=fields,
            **base,
        )

    return Stores(
        full_docs=kv(constants.KV_FULL_DOCS),
        text_chunks=kv(constants.KV_TEXT_CHUNKS),
        llm_response_cache=kv(constants.KV_LLM_RESPONSE_CACHE),
        workspace_state=kv(constants.KV_WORKSPACE_STATE),
        doc_status=storage_class(settings.doc_status_storage, "doc_status")(namespace=constants.DOC_STATUS, **base),
        evidence=storage_class(evidence_name, "evidence")(namespace=constants.EVIDENCE, **base),
        graph=storage_class(settings.graph_storage, "graph")(
            namespace=constants.GRAPH_CHUNK_ENTITY_RELATION, embedding_func=embedding_func, **base
        ),
        entities=vector(constants.VECTOR_ENTITIES, _ENTITY_FIELDS),
        relationships=vector(constants.VECTOR_RELATIONSHIPS, _RELATION_FIELDS),
        chunks=vector(constants.VECTOR_CHUNKS, _CHUNK_FIELDS),
    )
