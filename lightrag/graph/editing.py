"""What every change by hand shares: the rules of admission, the unit of work, and reading what a person submitted."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from lightrag.constants import GRAPH_FIELD_SEP
from lightrag.context import EngineContext
from lightrag.contracts.evidence import ObjectKind
from lightrag.contracts.vector import FILTER_FIELD_DEFAULTS
from lightrag.exceptions import InputError, PipelineBusyError
from lightrag.graph.change import GraphChange
from lightrag.graph.manual import ManualFields
from lightrag.graph.records import INTERNAL_PROPERTIES
from lightrag.graph.unfinished import graph_held
from lightrag.runtime.text import normalize_entity_type, sanitize_text, split_keywords

# What follows from the evidence or from the identity; a person may send it back unchanged, as a form does.
DERIVED_PROPERTIES = frozenset(
    {"source_id", "file_path", "created_at", "truncate", "entity_id", "src_id", "tgt_id", "tenant_tag", "id"}
)
# What no person may set, since it decides who sees what or how objects are merged.
RESERVED_PROPERTIES = (INTERNAL_PROPERTIES | frozenset(FILTER_FIELD_DEFAULTS)) - {"tenant_tag"}

_FIELDS = {
    ObjectKind.ENTITY: frozenset({"entity_name", "description", "entity_type"}),
    ObjectKind.RELATION: frozenset({"description", "keywords", "weight"}),
}


class Pipeline(Protocol):
    """As much of the pipeline's state as decides whether a person may change the graph."""

    busy: bool
    job_name: str


@asynccontextmanager
async def editing(context: EngineContext, pipeline: Pipeline) -> AsyncIterator[None]:
    """Hold the graph for a change by hand.

    Raises:
        PipelineBusyError: The pipeline is running; nobody knows how long, so the caller is not kept waiting.
    """
    _refuse_while_busy(pipeline)
    async with graph_held(context):
        # It may have begun while this waited for another change by hand.
        _refuse_while_busy(pipeline)
        yield


def _refuse_while_busy(pipeline: Pipeline) -> None:
    if pipeline.busy:
        raise PipelineBusyError(f"the pipeline is busy ({pipeline.job_name!r}); change the graph when it has finished")


async def commit(context: EngineContext, change: GraphChange) -> None:
    """Write a change in one unit of work and make answers that were cached before it unreachable.

    Raises:
        StorageError: Nothing was written.
    """
    await context.cache.flush()
    removed = {ObjectKind.ENTITY: change.removed_entities, ObjectKind.RELATION: change.removed_relations}
    intent = change.intent(moved=change.moved, removed=removed, evidence=change.evidence)
    async with context.stores.unit_of_work(intent) as unit:
        await change.write(context.stores)
        unit.corpus_changed()


@dataclass(frozen=True)
class Submission:
    """What a person submitted about an object, cleaned.

    Attributes:
        fields: What becomes evidence.
        new_name: The name an entity shall have; ``None`` when none was given.
        extra: Further properties; ``None`` as a value takes a property away.
        derived: Properties that cannot be changed, as sent back.
    """

    fields: ManualFields
    new_name: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    derived: dict[str, Any] = field(default_factory=dict)

    def refuse_derived(self, stored: Mapping[str, Any]) -> None:
        """Refuse properties that were sent back changed; blank ones say nothing.

        Raises:
            InputError: One differs from what is stored.
        """
        for name, value in self.derived.items():
            if value not in (None, "") and value != stored.get(name):
                raise InputError(f"{name!r} follows from the evidence and cannot be set; it is {stored.get(name)!r}")


def read_submission(kind: ObjectKind, data: object) -> Submission:
    """Clean what a person submitted.

    Args:
        kind: Entity or relation.
        data: ``description``, ``entity_type`` and ``entity_name`` of an entity; ``description``, ``keywords`` and
            ``weight`` of a relation; any other property is kept as it is.

    Raises:
        InputError: Something cannot be used; the message names it.
    """
    if not isinstance(data, Mapping):
        raise InputError(f"what is said about the {kind.value} is {data!r}; it must be a dict")
    known = _FIELDS[kind]
    extra: dict[str, Any] = {}
    derived: dict[str, Any] = {}
    for name, value in data.items():
        if name in known:
            continue
        # Further properties become columns and fields of the stores, so their names are plain words.
        if not isinstance(name, str) or not name.isidentifier() or name in RESERVED_PROPERTIES:
            allowed = ", ".join(sorted(known))
            raise InputError(f"property {name!r} cannot be set; allowed are {allowed}, and words of your own")
        if name in DERIVED_PROPERTIES:
            derived[name] = value
        else:
            extra[name] = _extra_value(name, value)
    fields = ManualFields(
        description=_text(data, "description"),
        entity_type=_entity_type(data) if kind is ObjectKind.ENTITY else "",
        keywords=_keywords(data) if kind is ObjectKind.RELATION else "",
        weight=_weight(data) if kind is ObjectKind.RELATION else 0.0,
    )
    new_name = data.get("entity_name") if kind is ObjectKind.ENTITY else None
    return Submission(fields, new_name, extra, derived)


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InputError(f"{name} is {value!r}; it must be text")
    # The stored form joins fragments by the separator; what a person says is one fragment.
    text = sanitize_text(value).replace(GRAPH_FIELD_SEP, "\n")
    if not text:
        raise InputError(f"{name} is {value!r}, of which no text is left; leave it out to keep it as it is")
    return text


def _entity_type(data: Mapping[str, Any]) -> str:
    return normalize_entity_type(text) if (text := _text(data, "entity_type")) else ""


def _keywords(data: Mapping[str, Any]) -> str:
    value = data.get("keywords")
    if value is None or value == "":
        return ""
    if not isinstance(value, str | list):
        raise InputError(f"keywords are {value!r}; give text, separated by commas")
    return ",".join(split_keywords(value))


def _weight(data: Mapping[str, Any]) -> float:
    value = data.get("weight")
    return 0.0 if value is None else positive_number("weight", value)


def positive_number(name: str, value: object) -> float:
    """Return a number above 0, also when it was given as text.

    Raises:
        InputError: It is none.
    """
    number = math.nan
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        with suppress(ValueError, OverflowError):
            number = float(value)
    if not math.isfinite(number) or number <= 0.0:
        raise InputError(f"{name} is {value!r}; it must be a number above 0")
    return number


def _extra_value(name: str, value: object) -> Any:
    if isinstance(value, str):
        return sanitize_text(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return [sanitize_text(item) for item in value]
    raise InputError(f"property {name!r} is {value!r}; it must be text, a finite number, a boolean or a list of texts")


def merged_extra(known: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return further properties with changes; ``None`` takes one away."""
    merged = {**known, **changes}
    return {name: value for name, value in merged.items() if value is not None}
