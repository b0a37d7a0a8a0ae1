"""Several entities become one, with all their evidence and relations.

The evidence rows of every one are put under the id of the one that stays, in order of arrival. Where two of them have a
row of the same chunk the texts are joined, so nothing that a document says is lost. Relations follow: what becomes a
relation of the entity with itself goes, and what becomes the same relation is joined in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lightrag.constants import UNKNOWN_ENTITY_TYPE
from lightrag.context import EngineContext
from lightrag.contracts.evidence import Evidence, ObjectKind, relation_key, split_relation_key
from lightrag.graph.change import GraphChange, Touched, add_records
from lightrag.graph.editing import Submission, merged_extra
from lightrag.graph.holding import Holding, load_holdings
from lightrag.graph.manual import ManualFields, is_correction, with_fields
from lightrag.graph.merge import load_facts
from lightrag.graph.partition import Partition
from lightrag.graph.records import fold


@dataclass
class Joining:
    """What is to be joined.

    Attributes:
        partition: Where all of them are.
        target_id: The entity that stays; it need not exist yet.
        sources: Entities that go, by graph id.
        now: Epoch seconds.
        submission: What a person says of the result; ``None`` for nothing.
    """

    partition: Partition
    target_id: str
    sources: Mapping[str, Holding]
    now: int
    submission: Submission | None = None


async def join_entities(context: EngineContext, joining: Joining) -> GraphChange:
    """Compute the change that joins entities.

    The caller holds the graph lock.

    Raises:
        ModelError: The embedding model failed; nothing has been written.
    """
    target = (await load_holdings(context, ObjectKind.ENTITY, [joining.target_id])).get(joining.target_id)
    change = GraphChange(removed_entities=list(joining.sources))
    entity = _Join(joining.target_id, target, list(joining.sources.values()), joining.submission)
    joins = [entity, *await _relations(context, joining, change)]
    touched = [await _join(context, change, join, joining.now) for join in joins]
    await add_records(context, change, touched)
    return change


@dataclass
class _Join:
    """Objects that become one.

    Attributes:
        object_id: Id of the one.
        target: The object that has that id already, if any.
        sources: The others.
        submission: What a person says of the result.
    """

    object_id: str
    target: Holding | None
    sources: list[Holding] = field(default_factory=list)
    submission: Submission | None = None

    @property
    def all(self) -> list[Holding]:
        return [*([self.target] if self.target else []), *self.sources]


async def _relations(context: EngineContext, joining: Joining, change: GraphChange) -> list[_Join]:
    """Return the relations that are joined or get another key; note in the change which keys are no more."""
    edges = await context.stores.graph.get_nodes_edges_batch(list(joining.sources))
    old_keys = list(dict.fromkeys(relation_key(*pair) for pairs in edges.values() for pair in pairs))
    change.removed_relations.extend(old_keys)
    groups: dict[str, list[str]] = {}
    for key in old_keys:
        first, second = (joining.target_id if end in joining.sources else end for end in split_relation_key(key))
        if first != second:
            groups.setdefault(relation_key(first, second), []).append(key)
    holdings = await load_holdings(context, ObjectKind.RELATION, [*old_keys, *groups])
    return [
        _Join(new_key, holdings.get(new_key), [holdings[key] for key in keys if key in holdings])
        for new_key, keys in groups.items()
    ]


async def _join(context: EngineContext, change: GraphChange, join: _Join, now: int) -> Touched:
    stored = join.target.record.vector_content() if join.target else None
    own = join.target.rows if join.target else []
    added, rows = joined_rows(join.object_id, own, [item.rows for item in join.sources])
    words = _own_words(join)
    fields = _over(words, join.submission.fields if join.submission else ManualFields())
    if not fields.is_empty:
        changed, rows = with_fields(rows, fields, now)
        added[changed.chunk_id] = changed
    extra: dict[str, Any] = {}
    for holding in reversed(join.all):
        extra |= holding.record.extra
    extra = merged_extra(extra, join.submission.extra if join.submission else {})
    facts = await load_facts(context, {row.document_id for row in rows})
    change.evidence.extend(added.values())
    return Touched(fold(rows[0].kind, join.object_id, rows, facts, extra), stored)


def joined_rows(
    object_id: str, own: Sequence[Evidence], others: Sequence[Sequence[Evidence]]
) -> tuple[dict[str, Evidence], list[Evidence]]:
    """Put rows of several objects under one id.

    Corrections of the others are left behind: they replace what stood before them, which here is not theirs alone.

    Args:
        object_id: The id.
        own: Rows that the object has already; they keep their places.
        others: Rows of the other objects, each in order.

    Returns:
        The rows to store, by chunk, and all rows of the object in order.
    """
    rows = list(own)
    place = {row.chunk_id: position for position, row in enumerate(rows)}
    stored: dict[str, Evidence] = {}
    moving = [row for group in others for row in group if not is_correction(row)]
    for row in sorted(moving, key=lambda item: item.sequence):
        moved = replace(row, object_id=object_id)
        at = place.get(row.chunk_id)
        if at is None:
            place[row.chunk_id] = len(rows)
            rows.append(moved)
        else:
            moved = rows[at] = joined_row(rows[at], moved)
        stored[row.chunk_id] = moved
    return stored, rows


def joined_row(first: Evidence, second: Evidence) -> Evidence:
    """Return what two rows of one chunk say together, as a row of the object of the first."""
    known_type = first.entity_type not in ("", UNKNOWN_ENTITY_TYPE)
    return replace(
        first,
        description="\n".join(dict.fromkeys(text for text in (first.description, second.description) if text)),
        entity_type=first.entity_type if known_type else second.entity_type or first.entity_type,
        keywords=_union([first.keywords, second.keywords]),
        weight=first.weight + second.weight,
        created_at=min(first.created_at, second.created_at),
    )


def _union(keywords: Sequence[str]) -> str:
    return ",".join(dict.fromkeys(word.strip() for joined in keywords for word in joined.split(",") if word.strip()))


def _own_words(join: _Join) -> ManualFields:
    """Return what must be said anew, because a correction would otherwise be lost or would hide what is joined.

    Corrections of the sources are left behind. One of the target hides whatever joins a row that stands before it.
    """
    corrections = [row for item in join.sources for row in item.rows if is_correction(row)]
    own = join.target.rows if join.target else []
    moving = {row.chunk_id for item in join.sources for row in item.rows if not is_correction(row)}
    for position, row in enumerate(own):
        if is_correction(row) and any(earlier.chunk_id in moving for earlier in own[:position]):
            corrections.append(row)
    if not corrections:
        return ManualFields()
    records = [item.record for item in join.all]
    parts = dict.fromkeys(part for record in records for part in record.parts)
    words = ManualFields(
        description="\n".join(parts),
        entity_type=next((record.chosen_type for record in records if record.chosen_type), ""),
        keywords=_union([",".join(record.keywords) for record in records]),
        weight=sum(record.weight for record in records),
    )
    return replace(
        words,
        description=words.description if any(row.description for row in corrections) else "",
        keywords=words.keywords if any(row.keywords for row in corrections) else "",
        weight=words.weight if any(row.weight for row in corrections) else 0.0,
    )


def _over(words: ManualFields, submitted: ManualFields) -> ManualFields:
    return ManualFields(
        description=submitted.description or words.description,
        entity_type=submitted.entity_type or words.entity_type,
        keywords=submitted.keywords or words.keywords,
        weight=submitted.weight or words.weight,
    )
