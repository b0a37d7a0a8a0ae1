"""The gate: which candidates of a retrieval leg a query may see.

Every leg passes what it found through the gate of its query before anything else looks at it, so no leg can forget the
filter. Admission works on identities (chunk rows, graph ids, pairs of graph ids); texts are described afterwards, from
the evidence that was admitted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from lightrag.contracts.evidence import BaseEvidenceStorage, EvidenceSource, ObjectKind
from lightrag.contracts.graph import NodePair, Properties
from lightrag.contracts.vector import BaseVectorStorage, Row

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A ranked search that can be asked for more.

    Attributes:
        wanted: How many admitted results fill the page.
        fetch: ``await fetch(n)`` gives the first ``n`` candidates, best first; fewer only when there are no more.
    """

    wanted: int
    fetch: Callable[[int], Awaitable[list[T]]]


@dataclass(frozen=True, slots=True)
class FilterReport:
    """What a filter did to a query.

    Attributes:
        eligible_documents: Processed documents that it accepts.
        candidates: Chunks, entities and relations that the legs found.
        dropped_by_gate: Those of them that were not eligible; stores that filter themselves find only eligible ones.
        exact: Whether nothing of an excluded document can be in the result; false with ``keep_merged``.
        scope: Partition that was asked, or ``None`` for the aggregate.
    """

    eligible_documents: int
    candidates: int
    dropped_by_gate: int
    exact: bool
    scope: str | None


class Gate:
    """The gate of a query without an active filter: everything passes, and nothing is read or copied.

    Attributes:
        active: Whether candidates can be refused. Callers that save work by reading only the best rows may do so only
            when nothing can be refused later.
    """

    active = False

    def __init__(self, evidence: BaseEvidenceStorage) -> None:
        """Open the gate over the evidence of a workspace."""
        self.evidence = evidence

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

    async def admit_relations(self, candidates: list[NodePair], page: Page[NodePair] | None = None) -> list[NodePair]:
        """Return the relations that may be seen: those with eligible evidence of their own whose ends both may.

        Args:
            candidates: Sorted pairs of graph ids, in order.
            page: The search they come from; ``None`` for edges reached by a hop.
        """
        return candidates

    async def describe(
        self, kind: ObjectKind, objects: Sequence[tuple[str, Properties]], budget: int | None = None
    ) -> Sequence[tuple[str, Properties]]:
        """Return the objects with every text taken from eligible evidence.

        Args:
            kind: Entities or relations.
            objects: Object id (graph id, or relation key) and stored properties of each, best first.
            budget: Tokens that the caller has for all of them; those that cannot fit may be left out.
        """
        return objects

    async def sources_of_objects(
        self, kind: ObjectKind, object_ids: Sequence[str], limit: int | None
    ) -> dict[str, list[EvidenceSource]]:
        """Return the sources of objects that may be seen, the oldest ``limit`` of each."""
        return await self.evidence.sources_of_objects(kind, object_ids, limit=limit)

    def search_options(self, store: BaseVectorStorage) -> dict[str, Any]:
        """Return what a vector search is given beside the query: nothing, or ``metadata_filter``."""
        return {}

    async def unsettled(self) -> frozenset[str] | None:
        """Tell whether documents that were admitted would not be now.

        Returns:
            ``None`` when all would be; else those that have no status row, which may have been deleted since.
        """
        return None

    async def report(self) -> FilterReport | None:
        """Return what the filter did; ``None`` where there is none."""
        return None
