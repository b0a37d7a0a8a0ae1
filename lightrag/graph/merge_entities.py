"""Merge entities that are the same thing under several names."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lightrag.constants import UNKNOWN_ENTITY_TYPE
from lightrag.context import EngineContext
from lightrag.contracts.evidence import ObjectKind
from lightrag.exceptions import InputError, NotFoundError, ScopeError
from lightrag.graph.editing import Pipeline, Submission, commit, editing, read_submission
from lightrag.graph.holding import Holding, load_holdings
from lightrag.graph.info import entity_info
from lightrag.graph.join import Joining, join_entities
from lightrag.graph.manual import ManualFields
from lightrag.graph.partition import Partition, name_of, writable_partition

MergeStrategy = str | Mapping[str, str]

STRATEGIES = ("concatenate", "keep_first", "keep_last", "join_unique")
# They follow from the evidence, and evidence is never thrown away by a merge.
_ALWAYS_JOINED = ("source_id", "file_path")


@dataclass(frozen=True)
class MergeOptions:
    """How entities are merged.

    Attributes:
        strategy: For each property, or one for all: ``concatenate`` and ``join_unique`` keep what every entity says
            (of types the most frequent), ``keep_first`` and ``keep_last`` what the first or last that says anything
            does. A property that is not named is joined.
        target_entity_data: What the result shall say whatever the strategy, as for an edit.
        tenant_tag: Scope of all the entities; ``None`` for the aggregate.
    """

    strategy: MergeStrategy | None = None
    target_entity_data: Mapping[str, Any] | None = None
    tenant_tag: str | None = None


async def merge_entities(
    context: EngineContext,
    pipeline: Pipeline,
    source_entities: Sequence[str],
    target_entity: str,
    options: MergeOptions | None = None,
) -> dict[str, Any]:
    """Merge entities into one, with all their evidence and relations.

    Relations among them go; relations to the same neighbour become one. A later document that uses one of the old names
    makes an entity of that name anew.

    Args:
        context: The workspace.
        pipeline: Its pipeline, which must be idle.
        source_entities: Names of the entities to merge; the target may be among them.
        target_entity: Name of the result; it need not exist yet. Where the order matters it comes after the sources,
            unless it is listed among them.
        options: How they are merged.

    Returns:
        As :func:`~lightrag.graph.info.entity_info` of the result.

    Raises:
        NotFoundError: A source does not exist.
        InputError: There is nothing to merge, or a strategy or property cannot be used.
        ScopeError: The scope does not exist, or the entities are to come from different ones.
        PipelineBusyError: The pipeline is running.
        ModelError: The embedding model failed; nothing was written.
    """
    options = options or MergeOptions()
    partition = writable_partition(context, options.tenant_tag)
    if isinstance(source_entities, str):
        raise InputError(f"source_entities is {source_entities!r}; give a list of names")
    target_id = partition.entity_id(target_entity, "target_entity")
    listed = list(dict.fromkeys(partition.entity_id(name, "source_entities") for name in source_entities))
    source_ids = [object_id for object_id in listed if object_id != target_id]
    if not source_ids:
        raise InputError(f"source_entities names nothing but {name_of(target_id)!r}; there is nothing to merge")
    submission = _read_target(partition, target_id, options.target_entity_data or {})
    strategy = read_strategy(options.strategy)
    async with editing(context, pipeline):
        holdings = await load_holdings(context, ObjectKind.ENTITY, [*source_ids, target_id])
        missing = [name_of(object_id) for object_id in source_ids if object_id not in holdings]
        if missing:
            raise NotFoundError(f"entities to merge do not exist: {', '.join(map(repr, missing))}")
        order = listed if target_id in listed else [*listed, target_id]
        in_order = [holdings[object_id] for object_id in order if object_id in holdings]
        joining = Joining(
            partition,
            target_id,
            {object_id: holdings[object_id] for object_id in source_ids},
            int(time.time()),
            _with_strategy(submission, strategy, in_order),
        )
        await commit(context, await join_entities(context, joining))
        return await entity_info(context, name_of(target_id), tenant_tag=options.tenant_tag)


def _read_target(partition: Partition, target_id: str, data: Mapping[str, Any]) -> Submission:
    if not isinstance(data, Mapping):
        raise InputError(f"target_entity_data is {data!r}; it must be a dict")
    tag = data.get("tenant_tag")
    if tag and tag != partition.tenant_tag:
        raise ScopeError(f"entities of scope {partition.tenant_tag!r} cannot be merged into scope {tag!r}")
    submission = read_submission(ObjectKind.ENTITY, {key: value for key, value in data.items() if key != "tenant_tag"})
    if submission.new_name is not None and partition.entity_id(submission.new_name) != target_id:
        raise InputError(f"target_entity_data names {submission.new_name!r}; target_entity is {name_of(target_id)!r}")
    submission.refuse_derived({"entity_id": name_of(target_id)})
    return submission


def read_strategy(strategy: MergeStrategy | None) -> dict[str, str]:
    """Return the strategy of each property that has one; ``""`` is the key of all others.

    Raises:
        InputError: A strategy is unknown, or cannot be followed for its property.
    """
    named = {"": strategy} if isinstance(strategy, str) else dict(strategy or {})
    for name, value in named.items():
        if value not in STRATEGIES:
            raise InputError(f"merge strategy {value!r} is unknown; allowed are {', '.join(STRATEGIES)}")
        if name in _ALWAYS_JOINED and value.startswith("keep_"):
            raise InputError(f"{name!r} follows from the evidence, all of which is kept; it can only be join_unique")
    return named


def _with_strategy(submission: Submission, strategy: Mapping[str, str], holdings: Sequence[Holding]) -> Submission:
    """Return what is said of the result: what the person said, else what a strategy takes from one of the entities."""
    records = [holding.record for holding in holdings]
    kept: dict[str, str] = {}
    texts: dict[str, Callable[[], list[str]]] = {
        "description": lambda: ["\n".join(record.parts) for record in records],
        "entity_type": lambda: [record.entity_type for record in records if record.entity_type != UNKNOWN_ENTITY_TYPE],
    }
    for name, values in texts.items():
        chosen = strategy.get(name, strategy.get("", ""))
        given = [value for value in values() if value]
        if chosen.startswith("keep_") and given:
            kept[name] = given[0] if chosen == "keep_first" else given[-1]
    fields = ManualFields(
        description=submission.fields.description or kept.get("description", ""),
        entity_type=submission.fields.entity_type or kept.get("entity_type", ""),
    )
    extra: dict[str, Any] = {}
    for name in dict.fromkeys(name for record in records for name in record.extra):
        values_of = [record.extra[name] for record in records if name in record.extra]
        extra[name] = _merged_property(strategy.get(name, strategy.get("", "keep_last")), values_of)
    return replace(submission, fields=fields, extra={**extra, **submission.extra})


def _merged_property(strategy: str, values: Sequence[Any]) -> Any:
    if strategy == "keep_first":
        return values[0]
    if strategy == "keep_last" or len(values) == 1:
        return values[-1]
    texts = [str(value) for value in values]
    return "\n".join(texts if strategy == "concatenate" else dict.fromkeys(texts))
