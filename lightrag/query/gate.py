"""The gate: which candidates of a retrieval leg a query may see.

Every leg passes what it found through the gate of its query before anything else looks at it, so no leg can forget the
filter. Admission works on identities (chunk rows, graph ids, pairs of graph ids); texts are described afterwards, from
the evidence that was admitted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from lightrag.contracts.evidence import EvidenceSource, ObjectKind
from lightrag.contracts.graph import NodePair, Properties
from lightrag.contracts.vector import Row

if TYPE_CHECKING:
    from lightrag.context import EngineContext
    from lightrag.query.plan import QueryPlan

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A ranked search that can be asked for more.

    Attributes:
        wanted: How many admitted results fill the page.
        fetch: ``await fetch(n)`` gives the first ``n`` candidates, best first; fewer when there are no more.
    """

    wanted: int
    fetch: Callable[[int], Awaitable[list[T]]]


class Gate:
    """The gate of a query without an active filter: everything passes, and nothing is read or copied.

    Attributes:
        active: Whether candidates can be refused. Callers that save work by reading only the best rows may do so only
            when nothing can be refused later.
    """

    active = False

    async def admit_chunks(self, candidates: list[Row], page: Page[Row] | None = None) -> list[Row]:
        """Return the chunk rows that may be seen, in order.

        Args:
            candidates: Rows of the chunk vector store, ``full_doc_id`` among their fields.
            page: The search they come from; ``None`` when they were not ranked by a search.
        """
        return candidates

    async def admit_entities(self, candidates: list[str], page: Page[str] | None = None) -> list[str]:
        """Return the graph ids of entities that may be seen: those with eligible evidence.

        Args:
            candidates: Graph ids, in order.
            page: The search they come from; ``None`` for ends and neighbours.
        """
        return candidates

    async def admit_relations(
        self, candidates: list[NodePair], page: Page[NodePair] | None = None
    ) -> list[NodePair]:
        """Return the relations that may be seen: those with eligible evidence of their own whose ends both may.

        Args:
            candidates: Sorted pairs of graph ids, in order.
            page: The search they come from; ``None`` for edges reached by a hop.
        """
        return candidates

    async def admit_sources(
        self, kind: ObjectKind, sources: dict[str, list[EvidenceSource]]
    ) -> dict[str, list[EvidenceSource]]:
        """Return only eligible sources of each object; chunks reached through the graph come from these."""
        return sources

    async def describe(
        self, kind: ObjectKind, objects: Sequence[tuple[str, Properties]]
    ) -> Sequence[tuple[str, Properties]]:
        """Return the objects with every text taken from eligible evidence.

        Args:
            kind: Entities or relations.
            objects: Object id (graph id, or relation key) and stored properties of each.
        """
        return objects

    def search_options(self) -> dict[str, Any]:
        """Return what a vector search is given beside the query: nothing, or ``metadata_filter``."""
        return {}


def open_gate(context: EngineContext, plan: QueryPlan) -> Gate:
    """Return the gate of a query."""
    return Gate()
