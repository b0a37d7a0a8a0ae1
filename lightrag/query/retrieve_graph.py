"""Entities and relations of a question: by vector search, then along the edges of the graph.

However many legs a mode has, the graph is read in two rounds: nodes and the edges at them, then degrees and edges.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lightrag.contracts.evidence import ObjectKind, relation_key
from lightrag.contracts.graph import NodePair, Properties
from lightrag.query.fuse import round_robin
from lightrag.query.gate import Gate, Page

if TYPE_CHECKING:
    import numpy as np

    from lightrag.contracts.vector import BaseVectorStorage, Row
    from lightrag.query.plan import QueryPlan
    from lightrag.stores import Stores

# No relation line has fewer tokens with any tokenizer in use; bounds how many edges of a hub are read.
MIN_RELATION_TOKENS = 6


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """An entity that a leg found.

    Attributes:
        graph_id: Its node.
        properties: Of the node.
    """

    graph_id: str
    properties: Properties


@dataclass(frozen=True, slots=True)
class FoundRelation:
    """A relation that a leg found.

    Attributes:
        pair: Graph ids of its ends, sorted.
        properties: Of the edge.
    """

    pair: NodePair
    properties: Properties


@dataclass(slots=True)
class GraphFindings:
    """What the graph legs of a query found, best first and without repeats.

    Attributes:
        entities: Entities whose nodes exist; where texts depend on a filter, only those that can fit the budget.
        relations: Relations whose edges exist; of a hub's edges only those that can fit the budget.
        entities_found: All entities found.
        relations_found: All relations found, unread ones included.
    """

    entities: list[FoundEntity] = field(default_factory=list)
    relations: list[FoundRelation] = field(default_factory=list)
    entities_found: int = 0
    relations_found: int = 0


@dataclass(frozen=True, slots=True)
class VectorQuery:
    """A text to search for, with its embedding.

    Attributes:
        text: Given to the store beside the vector.
        vector: Shape ``(dim,)``.
    """

    text: str
    vector: np.ndarray


async def search_rows(
    store: BaseVectorStorage, query: VectorQuery, count: int, gate: Gate, partition: str | None = None
) -> list[Row]:
    """Return the ``count`` nearest rows, of one partition if given; the one place where a query searches vectors."""
    options = gate.search_options(store)
    if partition is not None:
        options["tenant_tag"] = partition
    rows = await store.query(query.text, count, query_embedding=query.vector, **options)
    if partition is None and any(row.get("tenant_tag") for row in rows):
        # Scopes are switched off, and rows of theirs stay until the scopes are rebuilt.
        rows = await store.query(query.text, count, query_embedding=query.vector, **options, tenant_tag="")
    return rows


async def search_entities(stores: Stores, plan: QueryPlan, gate: Gate, query: VectorQuery) -> list[str]:
    """Return graph ids of the nearest entities, best first."""

    async def fetch(count: int) -> list[str]:
        rows = await search_rows(stores.entities, query, count, gate, plan.partition)
        # Rows of other tools carry no graph id: there the name is the id.
        return [row.get("graph_node_id") or row["entity_name"] for row in rows]

    wanted = plan.budgets.top_k
    return await gate.admit_entities(await fetch(wanted), Page(wanted, fetch))


async def search_relations(stores: Stores, plan: QueryPlan, gate: Gate, query: VectorQuery) -> list[NodePair]:
    """Return sorted pairs of graph ids of the nearest relations, best first."""

    async def fetch(count: int) -> list[NodePair]:
        rows = await search_rows(stores.relationships, query, count, gate, plan.partition)
        return [_sorted_pair(row["src_id"], row["tgt_id"]) for row in rows]

    wanted = plan.budgets.top_k
    return await gate.admit_relations(await fetch(wanted), Page(wanted, fetch))


async def expand(
    stores: Stores, plan: QueryPlan, gate: Gate, near_entities: list[str], near_relations: list[NodePair]
) -> GraphFindings:
    """Follow entities to their edges and relations to their ends, and merge both.

    Args:
        stores: Stores of the workspace.
        plan: The query.
        gate: Its gate.
        near_entities: Graph ids from the vector search, best first.
        near_relations: Pairs from the vector search, best first.

    Returns:
        Entities and relations in turns: those of the entity search (its edges by degree of both ends, then by weight),
        those of the relation search.
    """
    if not near_entities and not near_relations:
        return GraphFindings()
    graph = stores.graph
    ends = [end for pair in near_relations for end in pair]
    node_ids = list(dict.fromkeys([*near_entities, *ends]))
    if near_entities:
        nodes, edges_at = await asyncio.gather(
            graph.get_nodes_batch(node_ids), graph.get_nodes_edges_batch(near_entities)
        )
    else:
        nodes, edges_at = await graph.get_nodes_batch(node_ids), {}
    hops = list(dict.fromkeys(_sorted_pair(*edge) for graph_id in near_entities for edge in edges_at.get(graph_id, ())))
    hops = await gate.admit_relations(hops)
    admitted_ends = await gate.admit_entities(list(dict.fromkeys(ends)))
    ranked, edges = await _read_edges(stores, plan, gate, hops, near_relations)
    relations = round_robin([ranked, near_relations], key=_identity)
    # A vector row can outlive its node in stores without transactions.
    entities = [
        (graph_id, nodes[graph_id])
        for graph_id in round_robin([near_entities, admitted_ends], key=_identity)
        if graph_id in nodes
    ]
    return GraphFindings(
        entities=await _described_entities(gate, entities, plan.budgets.entity_tokens),
        relations=await _described_relations(gate, relations, edges, plan.budgets.relation_tokens),
        entities_found=len(entities),
        relations_found=len({*hops, *near_relations}),
    )


async def _read_edges(
    stores: Stores, plan: QueryPlan, gate: Gate, hops: list[NodePair], near: list[NodePair]
) -> tuple[list[NodePair], Mapping[NodePair, Properties]]:
    """Return the hops, best connected first, and the properties of all relations."""
    graph = stores.graph
    if not hops:
        return [], await graph.get_edges_batch([{"src": pair[0], "tgt": pair[1]} for pair in near])
    ends = list(dict.fromkeys(end for pair in hops for end in pair))
    readable = max(1, plan.budgets.relation_tokens // MIN_RELATION_TOKENS)
    if len(hops) > readable:
        degrees = await graph.node_degrees_batch(ends)
        hops = _best_connected(hops, degrees, readable)
        edges = await graph.get_edges_batch(_as_requests(hops, near))
    else:
        degrees, edges = await asyncio.gather(
            graph.node_degrees_batch(ends), graph.get_edges_batch(_as_requests(hops, near))
        )

    def rank(pair: NodePair) -> tuple[int, float]:
        edge = edges.get(pair)
        weight = float(edge.get("weight") or 0.0) if edge else 0.0
        return degrees.get(pair[0], 0) + degrees.get(pair[1], 0), weight

    return sorted(hops, key=rank, reverse=True), edges


def _best_connected(pairs: list[NodePair], degrees: Mapping[str, int], count: int) -> list[NodePair]:
    """Return the ``count`` pairs of highest degree, and all that are equal to the last of them.

    Their order by weight is not known before they are read, so a tie at the border stays whole.
    """

    def degree(pair: NodePair) -> int:
        return degrees.get(pair[0], 0) + degrees.get(pair[1], 0)

    ranked = sorted(pairs, key=degree, reverse=True)
    border = degree(ranked[count - 1])
    while count < len(ranked) and degree(ranked[count]) == border:
        count += 1
    return ranked[:count]


async def _described_entities(gate: Gate, found: Sequence[tuple[str, Properties]], budget: int) -> list[FoundEntity]:
    return [FoundEntity(*item) for item in await gate.describe(ObjectKind.ENTITY, found, budget)]


async def _described_relations(
    gate: Gate, pairs: Sequence[NodePair], edges: Mapping[NodePair, Properties], budget: int
) -> list[FoundRelation]:
    if not gate.active:
        return [FoundRelation(pair, edges[pair]) for pair in pairs if pair in edges]
    by_key = {relation_key(*pair): pair for pair in pairs if pair in edges}
    found = [(key, edges[pair]) for key, pair in by_key.items()]
    described = await gate.describe(ObjectKind.RELATION, found, budget)
    return [FoundRelation(by_key[key], properties) for key, properties in described]


def _as_requests(hops: Sequence[NodePair], near: Sequence[NodePair]) -> list[dict[str, str]]:
    return [{"src": pair[0], "tgt": pair[1]} for pair in dict.fromkeys([*hops, *near])]


def _sorted_pair(first: str, second: str) -> NodePair:
    return (first, second) if first <= second else (second, first)


def _identity(item: object) -> object:
    return item
