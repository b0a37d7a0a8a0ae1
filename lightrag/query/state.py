"""What the steps of a query read and write."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from lightrag.context import EngineContext
from lightrag.contracts.graph import NodePair
from lightrag.contracts.vector import Row
from lightrag.query.gate import Gate
from lightrag.query.object_sources import ObjectSources
from lightrag.query.observing import announce_step
from lightrag.query.plan import Keywords, QueryPlan
from lightrag.query.retrieve_chunks import FoundChunk
from lightrag.query.retrieve_graph import FoundEntity, FoundRelation, GraphFindings

if TYPE_CHECKING:
    import numpy as np

Progress = Callable[[str], Awaitable[None] | None]


@dataclass(slots=True)
class QueryState:
    """One query on its way.

    Attributes:
        context: The workspace.
        plan: What is asked for.
        gate: What may be seen.
        legs: What the vector searches of the mode look for.
        progress: Told the name of each step that takes time.
        started: When it began, by ``time.monotonic``.
        corpus_version: Version of the corpus before the first retrieval; ``""`` when no answer is asked for.
        keywords: In use.
        embeddings: Vector of each text that is searched for.
        near_entities: Graph ids from the vector search.
        near_relations: Pairs of graph ids from the vector search.
        chunk_hits: Chunk rows from the vector search.
        findings: Everything that the graph gave.
        entities: Entities within their budget.
        relations: Relations within their budget.
        graph_tokens: Tokens of both.
        entity_sources: Sources of each of ``entities``, in that order.
        relation_sources: Sources of each of ``relations``, in that order.
        chunk_ids: Ids of all candidates, best first.
        chunks: Chunks that reach the context.
        references: Reference list.
        found: Whether all steps were taken; the first that finds nothing ends the query.
    """

    context: EngineContext
    plan: QueryPlan
    gate: Gate
    legs: tuple[str, ...] = ()
    progress: Progress | None = None
    started: float = field(default_factory=time.monotonic)
    corpus_version: str = ""
    keywords: Keywords = field(default_factory=Keywords)
    embeddings: dict[str, np.ndarray] = field(default_factory=dict)
    near_entities: list[str] = field(default_factory=list)
    near_relations: list[NodePair] = field(default_factory=list)
    chunk_hits: list[Row] = field(default_factory=list)
    findings: GraphFindings = field(default_factory=GraphFindings)
    entities: list[FoundEntity] = field(default_factory=list)
    relations: list[FoundRelation] = field(default_factory=list)
    graph_tokens: int = 0
    entity_sources: list[ObjectSources] = field(default_factory=list)
    relation_sources: list[ObjectSources] = field(default_factory=list)
    chunk_ids: list[str] = field(default_factory=list)
    chunks: list[FoundChunk] = field(default_factory=list)
    references: list[dict[str, Any]] = field(default_factory=list)
    found: bool = False

    @property
    def entity_text(self) -> str:
        """What entities are searched by; a mode with this leg alone takes any keywords rather than none."""
        words = self.keywords.low or (self.keywords.high if self.legs == ("entities",) else ())
        return ", ".join(words)

    @property
    def relation_text(self) -> str:
        """What relations are searched by; a mode with this leg alone takes any keywords rather than none."""
        words = self.keywords.high or (self.keywords.low if self.legs == ("relations",) else ())
        return ", ".join(words)

    async def tell(self, step: str) -> None:
        """Report the step that begins."""
        announce_step(self.context, self.plan.mode, step, self.started)
        if self.progress is not None:
            outcome = self.progress(step)
            if isawaitable(outcome):
                await outcome
