"""Chunks of a question: by vector search, and through the entities and relations that were found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lightrag.constants import UNKNOWN_SOURCE
from lightrag.contracts.vector import Row
from lightrag.exceptions import StorageError
from lightrag.query.gate import Gate, Page
from lightrag.query.pick_chunks import chunks_by_object, pick_by_similarity, pick_by_weight
from lightrag.query.retrieve_graph import VectorQuery, search_rows
from lightrag.runtime.subjects import subject_logger

if TYPE_CHECKING:
    import numpy as np

    from lightrag.query.plan import QueryPlan
    from lightrag.settings import Settings
    from lightrag.stores import Stores

logger = subject_logger("lightrag.query")


@dataclass(slots=True)
class FoundChunk:
    """A chunk that may reach the context.

    Attributes:
        chunk_id: Its id.
        content: Its text.
        file_path: Source path of its document.
        tokens: Tokens of the text as stored; ``None`` when they must be counted.
        headings: Headings above it, outermost first, as one text; ``""`` when not known.
        reference_id: Number of its document in the reference list; ``""`` when the source is unknown.
        document_id: Its document.
    """

    chunk_id: str
    content: str
    file_path: str
    tokens: int | None = None
    headings: str = ""
    reference_id: str = ""
    document_id: str = ""


async def search_chunks(stores: Stores, plan: QueryPlan, gate: Gate, query: VectorQuery) -> list[Row]:
    """Return the chunk rows nearest to the question, best first."""

    async def fetch(count: int) -> list[Row]:
        return await search_rows(stores.chunks, query, count, gate)

    wanted = plan.budgets.chunk_top_k
    return await gate.admit_chunks(await fetch(wanted), Page(wanted, fetch))


async def chunks_of_graph(
    stores: Stores,
    settings: Settings,
    question: np.ndarray | None,
    entity_chunks: Sequence[Sequence[str]],
    relation_chunks: Sequence[Sequence[str]],
) -> tuple[list[str], list[str]]:
    """Choose chunks that speak of the entities and relations of the context.

    ``related_chunk_number`` for every second object is the number chosen by similarity; it is the quota of the best
    object when they are chosen by weight.

    Args:
        stores: Stores of the workspace.
        settings: ``related_chunk_number`` and ``kg_chunk_pick_method``.
        question: Embedding of the question; ``None`` chooses by weight.
        entity_chunks: Chunk ids of each entity, the best entity first.
        relation_chunks: Chunk ids of each relation, the best relation first.

    Returns:
        Ids of the chunks through entities, and of those through relations; no id is in both.
    """
    per_object = settings.related_chunk_number
    by_entity, _ = chunks_by_object(entity_chunks)
    similarities: Mapping[str, float] = {}
    if question is not None and settings.kg_chunk_pick_method == "VECTOR":
        similarities = await _similarities(stores, [*entity_chunks, *relation_chunks], question)
    if not similarities:
        chosen = pick_by_weight(by_entity, per_object)
        by_relation, _ = chunks_by_object(relation_chunks, exclude=set(chosen))
        return chosen, pick_by_weight(by_relation, per_object)
    chosen = pick_by_similarity(by_entity, similarities, _quota(per_object, entity_chunks))
    by_relation, _ = chunks_by_object(relation_chunks, exclude=set(chosen))
    return chosen, pick_by_similarity(by_relation, similarities, _quota(per_object, relation_chunks))


def _quota(per_object: int, objects: Sequence[Any]) -> int:
    return max(1, per_object * len(objects) // 2)


async def _similarities(stores: Stores, sources: Sequence[Sequence[str]], question: np.ndarray) -> Mapping[str, float]:
    candidates = list({chunk_id: None for chunk_ids in sources for chunk_id in chunk_ids})
    if not candidates:
        return {}
    try:
        return await stores.chunks.similarities(candidates, question)
    except StorageError as error:
        logger.warning("chunks are chosen by weight, their similarity could not be read: %s", error)
        return {}


async def load_chunks(
    stores: Stores, chunk_ids: Sequence[str], hits: Mapping[str, Row], wanted: int | None = None
) -> list[FoundChunk]:
    """Read chunks, in order.

    Args:
        stores: Stores of the workspace.
        chunk_ids: Which chunks, best first.
        hits: Rows of the vector search; they stand in for chunks that the chunk store does not hold.
        wanted: Stop when so many were found; ``None`` reads all.
    """
    found: list[FoundChunk] = []
    start = 0
    while start < len(chunk_ids) and (wanted is None or len(found) < wanted):
        stop = len(chunk_ids) if wanted is None else start + wanted - len(found)
        batch = chunk_ids[start:stop]
        rows = await stores.text_chunks.get_by_ids(batch)
        for chunk_id, row in zip(batch, rows, strict=True):
            stored = row or hits.get(chunk_id)
            if stored is not None:
                found.append(_found(chunk_id, stored))
        start = stop
    return found


def _found(chunk_id: str, row: Mapping[str, Any]) -> FoundChunk:
    tokens = row.get("tokens")
    return FoundChunk(
        chunk_id=chunk_id,
        content=row.get("content") or "",
        file_path=row.get("file_path") or UNKNOWN_SOURCE,
        tokens=tokens if isinstance(tokens, int) and tokens > 0 else None,
        headings=_headings(row.get("heading")),
        document_id=row.get("full_doc_id") or "",
    )


def _headings(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return " > ".join(str(part).strip() for part in value if str(part).strip())
    return ""
