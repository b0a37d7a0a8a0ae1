"""Changes of an entity by hand: what is said of it, and its name."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lightrag.context import EngineContext
from lightrag.contracts.evidence import ObjectKind, relation_key, split_relation_key
from lightrag.exceptions import DuplicateError, InputError, NotFoundError
from lightrag.graph.change import GraphChange, Touched, add_records
from lightrag.graph.editing import Pipeline, Submission, commit, editing, read_submission
from lightrag.graph.holding import Holding, load_holdings
from lightrag.graph.info import entity_info, public_objects
from lightrag.graph.join import Joining, join_entities
from lightrag.graph.merge import load_records
from lightrag.graph.partition import Partition, name_of, writable_partition


@dataclass(frozen=True, slots=True)
class EditOptions:
    """What an edit may do.

    Attributes:
        allow_rename: Give the entity another name.
        allow_merge: When an entity of the other name exists, merge this one into it.
        tenant_tag: Scope of the entity; ``None`` for the aggregate.
    """

    allow_rename: bool = True
    allow_merge: bool = False
    tenant_tag: str | None = None


async def edit_entity(
    context: EngineContext,
    pipeline: Pipeline,
    name: str,
    updated_data: Mapping[str, Any],
    options: EditOptions | None = None,
) -> dict[str, Any]:
    """Change an entity; with ``entity_name`` rename it, and with it all its relations.

    What a person says replaces what documents said so far; later documents add to it. A later document that uses the
    old name makes an entity of that name anew.

    Args:
        context: The workspace.
        pipeline: Its pipeline, which must be idle.
        name: Of the entity.
        updated_data: ``description``, ``entity_type``, ``entity_name`` and properties of its own; what is not given
            stays.
        options: What the edit may do.

    Returns:
        As :func:`~lightrag.graph.info.entity_info` of the entity as it is now, and ``operation_summary``.

    Raises:
        NotFoundError: There is no such entity.
        DuplicateError: An entity of the new name exists and ``allow_merge`` is off.
        InputError: The data cannot be used, or the name changes and ``allow_rename`` is off.
        ScopeError: The scope does not exist.
        PipelineBusyError: The pipeline is running.
        ModelError: The embedding model failed; nothing was written.
    """
    options = options or EditOptions()
    partition = writable_partition(context, options.tenant_tag)
    submission = read_submission(ObjectKind.ENTITY, updated_data)
    old_id = partition.entity_id(name)
    new_id = old_id if submission.new_name is None else partition.entity_id(submission.new_name)
    renamed = new_id != old_id
    if renamed and not options.allow_rename:
        raise InputError(f"entity_name would rename {name_of(old_id)!r} to {name_of(new_id)!r}; allow_rename is off")
    if not renamed and submission.fields.is_empty and not submission.extra and not submission.derived:
        raise InputError("there is nothing to change: give description, entity_type, entity_name or an own property")
    async with editing(context, pipeline):
        holding = (await load_holdings(context, ObjectKind.ENTITY, [old_id])).get(old_id)
        if holding is None:
            raise NotFoundError(f"entity {name_of(old_id)!r} does not exist")
        submission.refuse_derived((await public_objects(context, ObjectKind.ENTITY, [old_id]))[old_id])
        merged = renamed and await context.stores.graph.has_node(new_id)
        if merged and not options.allow_merge:
            raise DuplicateError(
                f"entity {name_of(new_id)!r} exists already; allow_merge merges {name_of(old_id)!r} into it"
            )
        change = await _change(context, partition, (holding, new_id), submission, merged=merged)
        await commit(context, change)
        info = await entity_info(context, name_of(new_id), tenant_tag=options.tenant_tag)
    return {**info, "operation_summary": _summary(old_id, new_id, merged=merged)}


async def _change(
    context: EngineContext, partition: Partition, target: tuple[Holding, str], submission: Submission, *, merged: bool
) -> GraphChange:
    holding, new_id = target
    old_id = holding.record.object_id
    now = int(time.time())
    stored = holding.record.vector_content()
    rows = await holding.apply(context, submission, now)
    if merged:
        return await join_entities(context, Joining(partition, new_id, {old_id: holding}, now))
    change = GraphChange(evidence=[replace(row, object_id=new_id) for row in rows])
    if new_id == old_id:
        await add_records(context, change, [Touched(holding.record, stored)])
        return change
    moved = await _move_relations(context, old_id, new_id)
    change.moved = {ObjectKind.ENTITY: {old_id: new_id}, ObjectKind.RELATION: dict(moved)}
    change.removed_entities.append(old_id)
    change.removed_relations.extend(moved)
    records = await load_records(context, [], list(moved))
    touched = [Touched(replace(holding.record, object_id=new_id), None)]
    # Names are part of what is embedded, so every relation is embedded again.
    touched += [Touched(replace(records[ObjectKind.RELATION, key], object_id=moved[key]), None) for key in moved]
    await add_records(context, change, touched)
    return change


async def _move_relations(context: EngineContext, old_id: str, new_id: str) -> dict[str, str]:
    """Return the keys of an entity's relations before and after it gets another id."""
    pairs = await context.stores.graph.get_node_edges(old_id) or []
    moved: dict[str, str] = {}
    for pair in pairs:
        key = relation_key(*pair)
        first, second = (new_id if end == old_id else end for end in split_relation_key(key))
        moved[key] = relation_key(first, second)
    return moved


def _summary(old_id: str, new_id: str, *, merged: bool) -> dict[str, Any]:
    renamed = new_id != old_id
    return {
        "merged": merged,
        "merge_status": "success" if merged else "not_attempted",
        "merge_error": None,
        "operation_status": "success",
        "target_entity": name_of(new_id) if merged else None,
        "final_entity": name_of(new_id),
        "renamed": renamed,
    }
