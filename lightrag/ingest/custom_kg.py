"""Knowledge graphs that the caller brings, stored as documents like any other: they can be filtered and deleted."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lightrag.constants import CUSTOM_KG_SOURCE, UNKNOWN_ENTITY_TYPE
from lightrag.context import EngineContext
from lightrag.contracts.evidence import Evidence, ObjectKind, relation_key
from lightrag.graph.join import joined_row
from lightrag.ingest.custom_documents import (
    CUSTOM_KG_METHOD,
    CustomDocument,
    CustomOptions,
    check_document_id,
    is_stored,
    open_work,
    store_custom_document,
    stored_metadata,
)
from lightrag.ingest.custom_kg_input import GivenChunk, GivenGraph, read_custom_kg
from lightrag.ingest.documents import normalize_source_path
from lightrag.ingest.state import PipelineState
from lightrag.ingest.work import Chunk
from lightrag.runtime.hashing import compute_mdhash_id
from lightrag.runtime.subjects import subject_logger
from lightrag.runtime.tokens import count_tokens

logger = subject_logger("lightrag.ingest")


async def insert_custom_kg(
    context: EngineContext,
    state: PipelineState,
    custom_kg: Mapping[str, Any],
    options: CustomOptions | None = None,
) -> str:
    """Add a knowledge graph.

    It becomes a processed document with chunks and evidence. A custom graph that was added under the same id is
    replaced; the same graph is left as it is.

    Args:
        context: The workspace.
        state: Its pipeline.
        custom_kg: ``chunks`` (``content``, ``source_id``, ``file_path``, ``chunk_order_index``), ``entities``
            (``entity_name``, ``entity_type``, ``description``, ``source_id``, ``file_path``) and ``relationships``
            (``src_id``, ``tgt_id``, ``description``, ``keywords``, ``weight``, ``source_id``, ``file_path``).
            ``source_id`` is a word of the caller's by which entries name their chunk. An end of a relation that is
            no entity here becomes one of unknown type. ``tenant_tag``, of the whole or of all entries, names a scope.
        options: Id (derived from the graph by default), metadata and scope.

    Returns:
        The id of the document.

    Raises:
        InputError: An entry cannot be used; the message names entry and field. Nothing was stored.
        ScopeError: The scope does not exist, or entries name different ones. Nothing was stored.
        DuplicateError: The id belongs to a document that is no custom graph.
        PipelineBusyError: Documents are being deleted.
        ModelError: The embedding model failed; nothing was stored.
    """
    options = options or CustomOptions()
    graph = read_custom_kg(custom_kg, options.tenant_tag)
    options = replace(options, tenant_tag=graph.tenant_tag)
    content_hash = _content_hash(custom_kg)
    doc_id = check_document_id(options.doc_id) if options.doc_id is not None else f"doc-{content_hash}"
    document = CustomDocument(
        doc_id=doc_id,
        method=CUSTOM_KG_METHOD,
        text="\n\n".join(chunk.content for chunk in graph.chunks),
        summary=f"Custom knowledge graph: {len(graph.entities)} entities, {len(graph.relations)} relations",
        file_path=_common_path(graph, options),
        content_hash=content_hash,
        metadata=stored_metadata(context, options),
    )
    work = await open_work(context, state, document)
    if await is_stored(context, document):
        return doc_id
    chunk_ids = await _chunk_ids(context, doc_id, graph.chunks)
    work.chunks = _chunks(context, graph.chunks, chunk_ids, document)
    work.vectors = await context.models.embedder.embed([chunk.content for chunk in work.chunks])
    work.evidence = _Builder(document, graph, chunk_ids).rows()
    await store_custom_document(context, state, document, work)
    return doc_id


def _content_hash(custom_kg: Mapping[str, Any]) -> str:
    return compute_mdhash_id(json.dumps(custom_kg, sort_keys=True, ensure_ascii=False, default=str))


def _common_path(graph: GivenGraph, options: CustomOptions) -> str:
    if options.file_path:
        return normalize_source_path(options.file_path)
    given = [entry.file_path for entry in graph.chunks]
    given += [entry.file_path for entry in graph.entities]
    given += [entry.file_path for entry in graph.relations]
    paths = {normalize_source_path(path) for path in given if path}
    return paths.pop() if len(paths) == 1 else CUSTOM_KG_SOURCE


async def _chunk_ids(context: EngineContext, doc_id: str, chunks: Sequence[GivenChunk]) -> dict[str, str]:
    """Return the id of each text: its hash, unless another document has a chunk of that id, which must stay its own."""
    contents = list(dict.fromkeys(chunk.content for chunk in chunks))
    plain = [compute_mdhash_id(content, "chunk-") for content in contents]
    stored = await context.stores.text_chunks.get_by_ids(plain)
    return {
        content: chunk_id
        if row is None or row.get("full_doc_id") == doc_id
        else compute_mdhash_id(f"{doc_id}\n{content}", "chunk-")
        for content, chunk_id, row in zip(contents, plain, stored, strict=True)
    }


def _chunks(
    context: EngineContext, given: Sequence[GivenChunk], chunk_ids: Mapping[str, str], document: CustomDocument
) -> list[Chunk]:
    chunks: dict[str, Chunk] = {}
    for item in given:
        chunk_id = chunk_ids[item.content]
        if chunk_id not in chunks:
            path = normalize_source_path(item.file_path) if item.file_path else document.file_path
            tokens = count_tokens(context.models.tokenizer, item.content)
            chunks[chunk_id] = Chunk(chunk_id, item.content, tokens, item.order, {"file_path": path})
    return list(chunks.values())


@dataclass
class _Builder:
    """Evidence of a custom graph.

    Attributes:
        document: What it is stored as.
        graph: Its entries.
        chunk_ids: Id of each text.
    """

    document: CustomDocument
    graph: GivenGraph
    chunk_ids: Mapping[str, str]
    now: int = field(default_factory=lambda: int(time.time()))
    built: dict[tuple[ObjectKind, str, str], Evidence] = field(default_factory=dict)

    def rows(self) -> list[Evidence]:
        """Return all rows, entities first; what two entries say of one object by one chunk is joined."""
        aliases = {chunk.alias: chunk for chunk in self.graph.chunks if chunk.alias}
        unknown: set[str] = set()
        for entity in self.graph.entities:
            for row in self._at_sources(entity.sources, entity.file_path, aliases, unknown):
                self._add(self._entity(row, entity.name, entity.entity_type, entity.description))
        described = {entity.name for entity in self.graph.entities}
        for relation in self.graph.relations:
            for position, row in enumerate(self._at_sources(relation.sources, relation.file_path, aliases, unknown)):
                for end in (relation.source, relation.target):
                    if end not in described:
                        described.add(end)
                        self._add(self._entity(row, end, UNKNOWN_ENTITY_TYPE, ""))
                self._add(
                    replace(
                        row,
                        kind=ObjectKind.RELATION,
                        object_id=relation_key(relation.source, relation.target),
                        description=relation.description,
                        keywords=relation.keywords,
                        # The weight is the entry's, however many chunks bear it out.
                        weight=relation.weight if position == 0 else 0.0,
                    )
                )
        if unknown:
            names = ", ".join(sorted(unknown)[:10])
            logger.info("custom graph %s: %d source ids name no chunk: %s", self.document.doc_id, len(unknown), names)
        return list(self.built.values())

    def _at_sources(
        self, sources: Sequence[str], file_path: str, aliases: Mapping[str, GivenChunk], unknown: set[str]
    ) -> list[Evidence]:
        """Return a blank row for each chunk that an entry names; one without a chunk when it names none."""
        chunks = [aliases[alias] for alias in sources if alias in aliases]
        unknown.update(alias for alias in sources if alias not in aliases)
        places = [(self.chunk_ids[chunk.content], file_path or chunk.file_path) for chunk in chunks]
        distinct = dict(places) or {f"{self.document.doc_id}-{CUSTOM_KG_METHOD}": file_path}
        return [
            Evidence(
                kind=ObjectKind.ENTITY,
                object_id="",
                chunk_id=chunk_id,
                document_id=self.document.doc_id,
                file_path=normalize_source_path(path) if path else self.document.file_path,
                created_at=self.now,
            )
            for chunk_id, path in distinct.items()
        ]

    @staticmethod
    def _entity(row: Evidence, name: str, entity_type: str, description: str) -> Evidence:
        return replace(row, object_id=name, entity_type=entity_type, description=description)

    def _add(self, row: Evidence) -> None:
        key = (row.kind, row.object_id, row.chunk_id)
        known = self.built.get(key)
        self.built[key] = row if known is None else joined_row(known, row)
