"""A workspace in memory whose documents are lists of facts, so a test knows the graph that they must give."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lightrag.context import EngineContext
from lightrag.contracts.doc_status import DocProcessingStatus, DocStatus
from lightrag.contracts.evidence import Evidence, ObjectKind, relation_key
from lightrag.ingest.delete import delete_document
from lightrag.ingest.persist import merge_and_persist
from lightrag.ingest.state import PipelineState
from lightrag.ingest.work import Chunk, DocumentWork
from lightrag.parser.engines import ParserEngines
from lightrag.runtime.llm_cache import LLMCache
from lightrag.settings import load_settings
from lightrag.stores import open_stores
from tests.fakes.models import HashEmbedder, fake_models
from tests.fakes.stores import fake_stores

SCOPES: dict[str, Any] = {"scope_tag_prefixes": ["tenant:"], "enable_kg_scope_materialization": True}
NO_SUMMARIES: dict[str, Any] = {"force_llm_summary_on_merge": 10_000, "summary_max_tokens": 1_000_000}


@dataclass(frozen=True)
class Fact:
    """What one chunk of a document says about two entities; ``target`` empty says something about one."""

    source: str
    target: str = ""
    text: str = ""
    type: str = "thing"
    weight: float = 1.0
    keywords: str = "link"


@dataclass
class Workspace:
    """An opened workspace."""

    context: EngineContext
    embedder: HashEmbedder
    state: PipelineState = field(default_factory=PipelineState)
    documents: int = 0

    async def add(self, doc_id: str, facts: Iterable[Fact], *, tags: Sequence[str] = (), **metadata: Any) -> None:
        """Process a document, one chunk for each fact."""
        self.documents += 1
        row = DocProcessingStatus(
            content_summary=doc_id,
            content_length=1,
            file_path=f"{doc_id}.md",
            status=DocStatus.PROCESSING,
            created_at=f"2026-01-01T00:00:00.{self.documents:06d}+00:00",
            updated_at="2026-01-01T00:00:00.000000+00:00",
            metadata={"user_tags": list(tags), **metadata},
        )
        work = DocumentWork(doc_id, row)
        for order, fact in enumerate(facts):
            chunk = Chunk(f"{doc_id}-chunk-{order:03d}", f"{fact.source} {fact.target} {fact.text}", 3, order)
            work.chunks.append(chunk)
            work.evidence += rows_of(doc_id, chunk.chunk_id, fact)
        work.vectors = await self.context.models.embedder.embed([chunk.content for chunk in work.chunks])
        await merge_and_persist(self.context, [work])

    async def delete(self, doc_id: str) -> str:
        """Delete a document."""
        return (await delete_document(self.context, self.state, doc_id)).status

    async def node(self, graph_id: str) -> dict[str, Any] | None:
        """Return a node as stored."""
        return await self.context.stores.graph.get_node(graph_id)

    async def names(self) -> list[str]:
        """Return all graph ids."""
        return await self.context.stores.graph.get_all_labels()

    async def pairs(self) -> set[tuple[str, str]]:
        """Return the sorted ends of all relations."""
        edges = await self.context.stores.graph.get_all_edges()
        return {tuple(sorted((edge["source"], edge["target"]))) for edge in edges}  # type: ignore[misc]

    async def evidence(self, kind: ObjectKind, object_id: str) -> list[Evidence]:
        """Return the rows of an object."""
        return (await self.context.stores.evidence.of_objects(kind, [object_id])).get(object_id, [])


def rows_of(doc_id: str, chunk_id: str, fact: Fact) -> list[Evidence]:
    """Return the evidence of a fact, as extraction gives it."""
    base: dict[str, Any] = {
        "chunk_id": chunk_id,
        "document_id": doc_id,
        "file_path": f"{doc_id}.md",
        "created_at": 1_700_000_000,
    }
    ends = [fact.source, fact.target] if fact.target else [fact.source]
    rows = [
        Evidence(
            kind=ObjectKind.ENTITY,
            object_id=end,
            description=f"{end}: {fact.text}" if fact.text else "",
            entity_type=fact.type,
            **base,
        )
        for end in ends
    ]
    if fact.target:
        rows.append(
            Evidence(
                kind=ObjectKind.RELATION,
                object_id=relation_key(fact.source, fact.target),
                description=fact.text,
                keywords=fact.keywords,
                weight=fact.weight,
                **base,
            )
        )
    return rows


async def open_workspace(*, extract: Any = None, **settings: Any) -> Workspace:
    """Return an empty workspace; with a ``working_dir`` on the embedded default, else in memory."""
    embedder = HashEmbedder()
    models = fake_models(embedder=embedder, extract=extract)
    if "working_dir" in settings:
        stores = open_stores(load_settings(**settings), models.embedder.func, vector_options={})
    else:
        stores = fake_stores(models.embedder.func)
    await stores.initialize()
    context = EngineContext(
        settings=load_settings(**settings),
        stores=stores,
        models=models,
        cache=LLMCache(stores.llm_response_cache),
        graph_lock=asyncio.Lock(),
        parsers=ParserEngines.from_settings(load_settings()),
    )
    return Workspace(context, embedder)
