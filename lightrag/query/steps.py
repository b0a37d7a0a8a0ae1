"""The steps of a query: each reads the state, calls a pure operation or a store, and writes what it found.

A step returns whether there is anything to go on with; ``False`` ends the query without results.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from lightrag.contracts.evidence import ObjectKind, relation_key
from lightrag.graph.rendering import SourceLimits
from lightrag.query.answer import prompt_tokens
from lightrag.query.context import (
    RESERVED_TOKENS,
    entity_tokens,
    fit_chunks,
    number_references,
    relation_tokens,
)
from lightrag.query.document_notes import document_notes, notes_tokens
from lightrag.query.fuse import round_robin, within_budget
from lightrag.query.keywords import keywords_of_query
from lightrag.query.object_sources import ObjectSources
from lightrag.query.rerank import can_rerank, rerank_chunks
from lightrag.query.retrieve_chunks import chunks_of_graph, load_chunks, search_chunks
from lightrag.query.retrieve_graph import VectorQuery, expand, search_entities, search_relations
from lightrag.query.state import QueryState
from lightrag.runtime.model_set import PRIORITY_QUERY

if TYPE_CHECKING:
    from collections.abc import Mapping


Step = Callable[[QueryState], Awaitable[bool]]


async def find_keywords(state: QueryState) -> bool:
    """Take the caller's keywords, or ask the model for some."""
    if state.plan.given.empty:
        await state.tell("extracting_keywords")
    state.keywords = await keywords_of_query(state.context, state.plan)
    return not state.keywords.empty


async def embed_texts(state: QueryState) -> bool:
    """Embed the question and both keyword lists in one call."""
    texts = [state.plan.query, state.entity_text, state.relation_text]
    wanted = list(dict.fromkeys(text for text in texts if text))
    vectors = await state.context.models.embedder.embed(wanted, context="query", priority=PRIORITY_QUERY)
    state.embeddings = dict(zip(wanted, vectors, strict=True))
    return True


async def search_vectors(state: QueryState) -> bool:
    """Search on all legs of the mode at once."""
    searches: list[Awaitable[None]] = []
    for leg in state.legs:
        text, search = _SEARCHES[leg](state)
        if text:
            await state.tell(f"retrieving_{leg}")
            searches.append(search(state, VectorQuery(text, state.embeddings[text])))
    await asyncio.gather(*searches)
    return bool(state.near_entities or state.near_relations or state.chunk_hits)


async def _search_entities(state: QueryState, query: VectorQuery) -> None:
    state.near_entities = await search_entities(state.context.stores, state.plan, state.gate, query)


async def _search_relations(state: QueryState, query: VectorQuery) -> None:
    state.near_relations = await search_relations(state.context.stores, state.plan, state.gate, query)


async def _search_chunks(state: QueryState, query: VectorQuery) -> None:
    state.chunk_hits = await search_chunks(state.context.stores, state.plan, state.gate, query)


Search = Callable[[QueryState, VectorQuery], Awaitable[None]]
_SEARCHES: dict[str, Callable[[QueryState], tuple[str, Search]]] = {
    "entities": lambda state: (state.entity_text, _search_entities),
    "relations": lambda state: (state.relation_text, _search_relations),
    "chunks": lambda state: (state.plan.query, _search_chunks),
}


async def expand_graph(state: QueryState) -> bool:
    """Follow entities to their relations and relations to their ends."""
    state.findings = await expand(
        state.context.stores, state.plan, state.gate, state.near_entities, state.near_relations
    )
    return bool(state.findings.entities or state.findings.relations or state.chunk_hits)


async def trim_graph(state: QueryState) -> bool:
    """Cut entities and relations to their token budgets, by stored counts."""
    tokenizer = state.context.models.tokenizer
    budgets = state.plan.budgets
    sizes = [entity_tokens(entity, tokenizer) for entity in state.findings.entities]
    kept = within_budget(sizes, budgets.entity_tokens)
    state.entities = state.findings.entities[:kept]
    state.graph_tokens = sum(sizes[:kept])
    sizes = [relation_tokens(relation, tokenizer) for relation in state.findings.relations]
    kept = within_budget(sizes, budgets.relation_tokens)
    state.relations = state.findings.relations[:kept]
    state.graph_tokens += sum(sizes[:kept])
    return True


async def collect_graph_chunks(state: QueryState) -> bool:
    """Read the evidence of what is in the context and choose chunks from it; merge them with those of the search."""
    if "chunks" not in state.legs:
        await state.tell("retrieving_chunks")
    entity_sources, relation_sources = await asyncio.gather(
        _sources(state, ObjectKind.ENTITY, [(item.graph_id, item.properties) for item in state.entities]),
        _sources(state, ObjectKind.RELATION, [(relation_key(*item.pair), item.properties) for item in state.relations]),
    )
    state.entity_sources, state.relation_sources = entity_sources, relation_sources
    through_entities, through_relations = await chunks_of_graph(
        state.context.stores,
        state.context.settings,
        state.embeddings.get(state.plan.query),
        [sources.chunk_ids for sources in entity_sources],
        [sources.chunk_ids for sources in relation_sources],
    )
    searched = [row["id"] for row in state.chunk_hits]
    state.chunk_ids = round_robin([searched, through_entities, through_relations], key=str)
    return True


async def _sources(
    state: QueryState, kind: ObjectKind, objects: Sequence[tuple[str, Mapping[str, Any]]]
) -> list[ObjectSources]:
    if not objects:
        return []
    limits = SourceLimits.of(state.context.settings, kind)
    sources = await state.gate.sources_of_objects(kind, [object_id for object_id, _ in objects], limits.read_limit)
    return [ObjectSources.of(sources.get(object_id, ()), properties, limits) for object_id, properties in objects]


async def collect_searched_chunks(state: QueryState) -> bool:
    """Take the chunks of the search as they are."""
    state.chunk_ids = [row["id"] for row in state.chunk_hits]
    return True


async def order_chunks(state: QueryState) -> bool:
    """Read the chunks, rerank them where there is a model, and keep the best."""
    stores = state.context.stores
    hits = {row["id"]: row for row in state.chunk_hits}
    wanted = state.plan.budgets.chunk_top_k
    if state.chunk_ids and can_rerank(state.context, state.plan.param.enable_rerank):
        chunks = await load_chunks(stores, state.chunk_ids, hits)
        await state.tell("reranking")
        state.chunks = (await rerank_chunks(state.context, state.plan.query, chunks, wanted))[:wanted]
    else:
        state.chunks = await load_chunks(stores, state.chunk_ids, hits, wanted)
    return True


async def fit_context(state: QueryState) -> bool:
    """Cut the chunks to what the whole prompt leaves room for, and number their sources."""
    tokenizer = state.context.models.tokenizer
    used = prompt_tokens(state.plan, tokenizer) + state.graph_tokens + RESERVED_TOKENS
    notes: dict[str, dict[str, Any]] = {}
    if state.plan.param.include_document_metadata:
        notes = await document_notes(state.context.stores.doc_status, state.chunks)
        used += notes_tokens(notes, tokenizer)
    state.chunks = fit_chunks(
        state.chunks,
        tokenizer,
        budget=state.plan.budgets.total_tokens - used,
        headings=state.context.settings.enable_content_headings,
    )
    state.references = [{**item, **notes.get(item["file_path"], {})} for item in number_references(state.chunks)]
    return bool(state.chunks or state.entities or state.relations)
