"""The opened stores of a workspace, as one object, and the unit of work over all of them."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from lightrag import constants
from lightrag.contracts.doc_status import BaseDocStatusStorage
from lightrag.contracts.evidence import BaseEvidenceStorage, Evidence, ObjectKind
from lightrag.contracts.graph import BaseGraphStorage
from lightrag.contracts.kv import BaseKVStorage
from lightrag.contracts.models import EmbeddingFunc
from lightrag.contracts.storage import StorageNameSpace
from lightrag.contracts.vector import FILTER_FIELD_DEFAULTS, BaseVectorStorage
from lightrag.exceptions import StorageError
from lightrag.kg.registry import evidence_beside, storage_class
from lightrag.settings import Settings

_ENTITY_FIELDS = {"entity_name", "graph_node_id", *FILTER_FIELD_DEFAULTS}
_RELATION_FIELDS = {"src_id", "tgt_id", *FILTER_FIELD_DEFAULTS}
_CHUNK_FIELDS = {"file_path", *FILTER_FIELD_DEFAULTS}
_CORPUS_ROW = "corpus"
_UNFINISHED = "unfinished"


@dataclass(frozen=True, kw_only=True)
class Intent:
    """What a unit of work is about to touch.

    Where stores cannot commit together it is stored first and forgotten last, so that whoever comes after a unit of
    work that broke off can bring everything that it may have touched back in line.

    Attributes:
        documents: Chunk ids that are written or deleted, by document.
        gone: Documents that are deleted.
        demoted: Documents that are taken out and stay known, with the fields of their status rows that say so.
        replies: Cached replies that are deleted with them.
        objects: Graph objects that are written or removed, by kind.
        extras: Properties of people and other tools that objects shall have, by object id.
        moved: Objects that get another id, old to new, by kind.
        removed: Objects whose evidence is dropped, whatever document it is of, by kind.
        evidence: Rows that shall be there; those of ``documents`` only as far as their status rows fit.
        clearing: Everything but the cached replies is deleted.
    """

    documents: Mapping[str, Sequence[str]] = field(default_factory=dict)
    gone: Sequence[str] = ()
    demoted: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    replies: Sequence[str] = ()
    objects: Mapping[ObjectKind, Sequence[str]] = field(default_factory=dict)
    extras: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    moved: Mapping[ObjectKind, Mapping[str, str]] = field(default_factory=dict)
    removed: Mapping[ObjectKind, Sequence[str]] = field(default_factory=dict)
    evidence: Sequence[Evidence] = ()
    clearing: bool = False

    def to_row(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "documents": {doc_id: list(chunk_ids) for doc_id, chunk_ids in self.documents.items()},
            "gone": list(self.gone),
            "demoted": {doc_id: dict(fields) for doc_id, fields in self.demoted.items()},
            "replies": list(self.replies),
            "objects": {kind.value: list(ids) for kind, ids in self.objects.items()},
            "extras": {object_id: dict(extra) for object_id, extra in self.extras.items()},
            "moved": {kind.value: dict(renames) for kind, renames in self.moved.items()},
            "removed": {kind.value: list(ids) for kind, ids in self.removed.items()},
            "evidence": [asdict(row) for row in self.evidence],
            "clearing": self.clearing,
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Intent:
        """Return what :meth:`to_row` told."""
        by_kind = {
            name: {ObjectKind(kind): value for kind, value in row[name].items()}
            for name in ("objects", "moved", "removed")
        }
        evidence = [Evidence(**{**one, "kind": ObjectKind(one["kind"])}) for one in row["evidence"]]
        return cls(**{**row, **by_kind, "evidence": evidence})


class UnitOfWork:
    """The end of a unit of work: what happens once everything else of it is stored."""

    def __init__(self) -> None:
        """Begin without anything to be done at the end."""
        self.writes: list[Callable[[], Awaitable[Any]]] = []
        self.changes_corpus = False

    def last(self, write: Callable[..., Awaitable[Any]], *arguments: Any) -> None:
        """Write when the rest is stored: states of documents, or how far a copy has come.

        Args:
            write: Writing method of a store.
            arguments: What it is called with.
        """
        self.writes.append(lambda: write(*arguments))

    def corpus_changed(self) -> None:
        """Make cached answers unreachable, at the very end."""
        self.changes_corpus = True


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
        async with AsyncExitStack() as opened:
            for store in self.all():
                await store.initialize()
                opened.push_async_callback(store.finalize)
            opened.pop_all()

    async def finalize(self) -> None:
        """Flush and close every store; one that fails keeps none of the others from it."""
        async with AsyncExitStack() as last_steps:
            # The last one is done first.
            for store in self.all():
                last_steps.push_async_callback(store.finalize)
            for store in reversed(self.all()):
                last_steps.push_async_callback(store.index_done_callback)

    @property
    def is_atomic(self) -> bool:
        """Whether all stores commit together, so that a unit of work is done or not done, whatever happens."""
        groups = {store.transaction_group for store in self.all()}
        return len(groups) == 1 and None not in groups

    @asynccontextmanager
    async def unit_of_work(self, intent: Intent | None = None) -> AsyncIterator[UnitOfWork]:
        """Store everything written in the block as one change. Blocks do not nest.

        Where all stores commit together that is one transaction. Elsewhere the intent is stored first; then what the
        block writes, by groups of stores that commit together or at once; then what was put last; at the very end the
        new version of the corpus, which forgets the intent. A unit that breaks off leaves the intent to
        ``finish_interrupted``. Inside the block a store may show what the block wrote to it, or the state before it.

        Args:
            intent: What a change of documents or graph touches; ``None`` for writes that can simply be repeated.
        """
        unit = UnitOfWork()
        if self.is_atomic:
            async with self.doc_status.transaction():
                yield unit
                await self._end(unit)
            await self._flush(self.all())
            return
        if intent is not None:
            await self.workspace_state.upsert({_CORPUS_ROW: await self._corpus_row(intent)})
            await self.workspace_state.index_done_callback()
        groups = {store.transaction_group: store for store in self.all() if store.transaction_group is not None}
        async with AsyncExitStack() as stack:
            for store in groups.values():
                await stack.enter_async_context(store.transaction())
            yield unit
        await self._flush(self.all())
        for write in unit.writes:
            await write()
        await self._flush(self.all())
        if intent is not None:
            await self.forget_unfinished()
        elif unit.changes_corpus:
            await self.mark_corpus_changed()

    async def _end(self, unit: UnitOfWork) -> None:
        for write in unit.writes:
            await write()
        if unit.changes_corpus:
            await self.mark_corpus_changed()

    @staticmethod
    async def _flush(stores: Iterable[StorageNameSpace]) -> None:
        for store in stores:
            await store.index_done_callback()

    async def _corpus_row(self, intent: Intent) -> dict[str, Any]:
        row = await self.workspace_state.get_by_id(_CORPUS_ROW) or {}
        return {"version": row.get("version", ""), _UNFINISHED: intent.to_row()}

    async def unfinished(self) -> Intent | None:
        """Return what a unit of work was about to touch when it broke off; ``None`` where none did."""
        if self.is_atomic:
            return None
        row = await self.workspace_state.get_by_id(_CORPUS_ROW)
        return Intent.from_row(row[_UNFINISHED]) if row and _UNFINISHED in row else None

    async def forget_unfinished(self) -> None:
        """Note that nothing is unfinished, with a new version of the corpus."""
        await self.workspace_state.upsert({_CORPUS_ROW: {"version": secrets.token_hex(8)}})
        await self.workspace_state.index_done_callback()

    async def corpus_version(self) -> str:
        """Return a token that changes with every change of documents or graph; part of every answer-cache key.

        While a change is on its way, or lies there broken off, no two tokens are the same: no answer is found again.
        """
        row = await self.workspace_state.get_by_id(_CORPUS_ROW)
        if row and _UNFINISHED in row:
            return f"{row['version']} {secrets.token_hex(8)}"
        return str(row["version"]) if row else ""

    async def mark_corpus_changed(self) -> None:
        """Make cached answers unreachable, outside of a unit of work."""
        row: dict[str, Any] = {"version": secrets.token_hex(8)}
        if not self.is_atomic:
            stored = await self.workspace_state.get_by_id(_CORPUS_ROW) or {}
            row |= {_UNFINISHED: stored[_UNFINISHED]} if _UNFINISHED in stored else {}
        await self.workspace_state.upsert({_CORPUS_ROW: row})
        await self.workspace_state.index_done_callback()

    async def drop_all(self, *, keep: Iterable[StorageNameSpace] = ()) -> dict[str, str]:
        """Empty every store but those in ``keep``: in one step where they commit together.

        Elsewhere a crash in the middle leaves an intent, and the rest is dropped when the workspace is opened again.

        Returns:
            Message of each store that failed, by namespace; empty when all succeeded.
        """
        kept = set(map(id, keep))
        wanted = [store for store in self.all() if id(store) not in kept]
        if self.is_atomic:
            try:
                async with self.doc_status.transaction():
                    return await self._drop(wanted)
            except StorageError as error:
                return {store.namespace: str(error) for store in wanted}
        intent = Intent(gone=await self._all_documents(), clearing=True)
        await self.workspace_state.upsert({_CORPUS_ROW: await self._corpus_row(intent)})
        await self.workspace_state.index_done_callback()
        failures = await self._drop([store for store in wanted if store is not self.workspace_state])
        await self._flush(wanted)
        if self.workspace_state in wanted:
            failures |= await self._drop([self.workspace_state])
        else:
            await self.forget_unfinished()
        return failures

    @staticmethod
    async def _drop(stores: Iterable[StorageNameSpace]) -> dict[str, str]:
        outcomes = {store.namespace: await store.drop() for store in stores}
        return {
            namespace: outcome.get("message", "")
            for namespace, outcome in outcomes.items()
            if outcome.get("status") != "success"
        }

    async def _all_documents(self) -> list[str]:
        found: list[str] = []
        while page := await self.doc_status.scan(after=found[-1] if found else "", limit=1000):
            found.extend(doc_id for doc_id, _ in page)
        return found


def open_stores(settings: Settings, embedding_func: EmbeddingFunc, *, vector_options: dict[str, Any]) -> Stores:
    """Build the stores that the settings name; nothing is opened yet.

    Args:
        settings: Names the classes, the working directory and the workspace.
        embedding_func: Embeds rows and queries of the vector stores.
        vector_options: ``vector_db_storage_cls_kwargs`` as given by the user.

    Raises:
        InputError: A class name is unknown.
        MissingDependencyError: A driver is not installed.
    """
    evidence_name = settings.evidence_storage or evidence_beside(settings.doc_status_storage, settings.graph_storage)
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
