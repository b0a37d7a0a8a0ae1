"""Changes of a relation by hand."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from lightrag.context import EngineContext
from lightrag.contracts.evidence import ObjectKind, split_relation_key
from lightrag.exceptions import InputError, NotFoundError
from lightrag.graph.change import GraphChange, Touched, add_records
from lightrag.graph.editing import Pipeline, commit, editing, read_submission
from lightrag.graph.holding import load_holdings
from lightrag.graph.info import public_objects, relation_info
from lightrag.graph.partition import name_of, writable_partition


async def edit_relation(
    context: EngineContext,
    pipeline: Pipeline,
    ends: tuple[str, str],
    updated_data: Mapping[str, Any],
    *,
    tenant_tag: str | None = None,
) -> dict[str, Any]:
    """Change a relation.

    What a person says replaces what documents said so far; later documents add to it.

    Args:
        context: The workspace.
        pipeline: Its pipeline, which must be idle.
        ends: Names of both entities.
        updated_data: ``description``, ``keywords``, ``weight`` and properties of its own; what is not given stays.
        tenant_tag: Its scope; ``None`` for the aggregate.

    Returns:
        As :func:`~lightrag.graph.info.relation_info`, ends sorted by name.

    Raises:
        NotFoundError: There is no such relation.
        InputError: The data cannot be used.
        ScopeError: The scope does not exist.
        PipelineBusyError: The pipeline is running.
        ModelError: The embedding model failed; nothing was written.
    """
    key = writable_partition(context, tenant_tag).relation_id(*ends)
    submission = read_submission(ObjectKind.RELATION, updated_data)
    if submission.fields.is_empty and not submission.extra and not submission.derived:
        raise InputError("there is nothing to change: give description, keywords, weight or a property of your own")
    first, second = (name_of(graph_id) for graph_id in split_relation_key(key))
    async with editing(context, pipeline):
        holding = (await load_holdings(context, ObjectKind.RELATION, [key])).get(key)
        if holding is None:
            raise NotFoundError(f"there is no relation of {first!r} and {second!r}")
        submission.refuse_derived((await public_objects(context, ObjectKind.RELATION, [key]))[key])
        stored = holding.record.vector_content()
        change = GraphChange(evidence=await holding.apply(context, submission, int(time.time())))
        await add_records(context, change, [Touched(holding.record, stored)])
        await commit(context, change)
        return await relation_info(context, first, second, tenant_tag=tenant_tag)
