"""Whether entities and relations, and their vectors, say what their evidence says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lightrag.context import EngineContext
from lightrag.contracts.evidence import Evidence, ObjectKind, relation_key, split_relation_key
from lightrag.contracts.vector import BaseVectorStorage
from lightrag.graph.change import GraphChange, entity_vector_id, relation_vector_id
from lightrag.graph.check_report import PAGE, Report
from lightrag.graph.editing import commit
from lightrag.graph.manual import keeps_alive
from lightrag.graph.merge import load_facts, load_records
from lightrag.graph.partition import name_of, scope_of
from lightrag.graph.rebuild import from_evidence
from lightrag.graph.records import ObjectRecord, fold
from lightrag.graph.summarise import needs_summary
from lightrag.stores import Intent


async def check_objects(context: EngineContext, report: Report, kind: ObjectKind) -> None:
    """Compare every object that has evidence with what follows from it.

    Raises:
        ModelError: The embedding model failed while mending.
    """
    evidence = context.stores.evidence
    after = ""
    while page := await evidence.scan_objects(kind, after=after, limit=PAGE):
        after = page[-1]
        rows = await evidence.of_objects(kind, page)
        severed = await _severed(context, report, page) if kind is ObjectKind.RELATION else []
        whole = [object_id for object_id in page if object_id not in set(severed)]
        broken = await _broken(context, report, kind, {object_id: rows.get(object_id, []) for object_id in whole})
        if not report.repair:
            continue
        if severed:
            await _take_out(context, severed)
        if broken:
            await commit(context, await from_evidence(context, kind, broken, embed_all=True))


async def _severed(context: EngineContext, report: Report, keys: Sequence[str]) -> list[str]:
    """Return relations of which an end has no evidence, or whose ends lie in different scopes."""
    ends = {end for key in keys for end in split_relation_key(key)}
    sources = await context.stores.evidence.sources_of_objects(ObjectKind.ENTITY, sorted(ends))
    alive = {end for end in ends if keeps_alive(sources.get(end, ()))}
    severed = []
    for key in keys:
        first, second = split_relation_key(key)
        if first not in alive or second not in alive or scope_of(first) != scope_of(second):
            severed.append(key)
            report.add(f"{_title(ObjectKind.RELATION, key)} has evidence and not both ends")
    return severed


async def _take_out(context: EngineContext, keys: Sequence[str]) -> None:
    """Remove relations that cannot be. Their vectors are left to the check of vectors, since an id may be another's."""
    stores = context.stores
    async with stores.unit_of_work(Intent()) as unit:
        await stores.graph.remove_edges([split_relation_key(key) for key in keys])
        await stores.evidence.drop_objects(ObjectKind.RELATION, keys)
        unit.corpus_changed()


async def _broken(
    context: EngineContext, report: Report, kind: ObjectKind, rows: Mapping[str, Sequence[Evidence]]
) -> list[str]:
    is_entity = kind is ObjectKind.ENTITY
    ids = list(rows)
    records = await load_records(context, ids if is_entity else [], [] if is_entity else ids)
    facts = await load_facts(context, {row.document_id for found in rows.values() for row in found})
    store = context.stores.entities if is_entity else context.stores.relationships
    vector_id = entity_vector_id if is_entity else relation_vector_id
    vectors = dict(zip(ids, await store.get_by_ids([vector_id(object_id) for object_id in ids]), strict=True))
    broken = []
    for object_id, found in rows.items():
        stored = records.get((kind, object_id))
        if not keeps_alive(found):
            faults = ["is corrected by a person and has no other evidence"]
        elif stored is None:
            faults = ["has evidence and is not in the graph"]
        else:
            faults = _differences(context, stored, fold(kind, object_id, found, facts))
            faults += _vector_faults(stored, vectors[object_id])
        for fault in faults:
            report.add(f"{_title(kind, object_id)} {fault}")
        if faults:
            broken.append(object_id)
    return broken


def _differences(context: EngineContext, stored: ObjectRecord, expected: ObjectRecord) -> list[str]:
    names = ["created_at", "evidence_count", "chosen_type", "corrected", "own_words"]
    names += ["type_votes"] if stored.kind is ObjectKind.ENTITY else ["keywords"]
    # A summary by the model stands for its fragments; whether it does so well is not for a check to say.
    if not needs_summary(context, expected):
        names.append("fragments")
    different = [name for name in names if getattr(stored, name) != getattr(expected, name)]
    if not math.isclose(stored.weight, expected.weight, rel_tol=1e-9, abs_tol=1e-9):
        different.append("weight")
    skip = context.settings.kg_union_skip_open_bounds
    if stored.summary.to_fields(skip_open_bounds=skip) != expected.summary.to_fields(skip_open_bounds=skip):
        different.append("dates and tags")
    return [f"differs from its evidence in {', '.join(different)}"] if different else []


def _vector_faults(record: ObjectRecord, row: Mapping[str, Any] | None) -> list[str]:
    if row is None:
        return ["has no vector"]
    if row.get("content") != record.vector_content():
        return ["has the vector of another text"]
    if (row.get("tenant_tag") or "") != record.tenant_tag:
        return ["has the vector of another scope"]
    return []


async def check_orphans(context: EngineContext, report: Report) -> None:
    """Find nodes, edges and vectors without evidence."""
    await _check_graph_orphans(context, report)
    await _check_vector_orphans(context, report, ObjectKind.ENTITY)
    await _check_vector_orphans(context, report, ObjectKind.RELATION)


async def _check_graph_orphans(context: EngineContext, report: Report) -> None:
    labels = await context.stores.graph.get_all_labels()
    for start in range(0, len(labels), PAGE):
        page = labels[start : start + PAGE]
        nodes = await _without_evidence(context, ObjectKind.ENTITY, page)
        edges_at = await context.stores.graph.get_nodes_edges_batch(page)
        keys = sorted({relation_key(*pair) for pairs in edges_at.values() for pair in pairs})
        edges = await _without_evidence(context, ObjectKind.RELATION, keys)
        for kind, orphans in ((ObjectKind.ENTITY, nodes), (ObjectKind.RELATION, edges)):
            for object_id in orphans:
                report.add(f"{_title(kind, object_id)} is in the graph and has no evidence")
        if report.repair and (nodes or edges):
            await commit(context, GraphChange(removed_entities=nodes, removed_relations=edges))


async def _without_evidence(context: EngineContext, kind: ObjectKind, object_ids: Sequence[str]) -> list[str]:
    found = await context.stores.evidence.sources_of_objects(kind, object_ids, limit=1)
    return [object_id for object_id in object_ids if object_id not in found]


async def _check_vector_orphans(context: EngineContext, report: Report, kind: ObjectKind) -> None:
    is_entity = kind is ObjectKind.ENTITY
    store: BaseVectorStorage = context.stores.entities if is_entity else context.stores.relationships
    after = ""
    while page := await store.scan_ids(after=after, limit=PAGE):
        after = page[-1]
        owners = {
            row_id: _owner(kind, row) for row_id, row in zip(page, await store.get_by_ids(page), strict=True) if row
        }
        unknown = set(await _without_evidence(context, kind, sorted(set(filter(None, owners.values())))))
        orphans = []
        for row_id, owner in owners.items():
            if owner and owner not in unknown:
                expected = entity_vector_id(owner) if is_entity else relation_vector_id(owner)
                if expected == row_id:
                    continue
            orphans.append(row_id)
            report.add(f"{kind.value} vector {row_id!r} belongs to nothing that has evidence")
        if report.repair and orphans:
            async with context.stores.unit_of_work(Intent()) as unit:
                await store.delete(orphans)
                unit.corpus_changed()


def _owner(kind: ObjectKind, row: Mapping[str, Any]) -> str:
    """Return the object that a vector row says it belongs to; ``""`` when it does not say."""
    if kind is ObjectKind.ENTITY:
        return str(row.get("graph_node_id") or row.get("entity_name") or "")
    source, target = str(row.get("src_id") or ""), str(row.get("tgt_id") or "")
    return relation_key(source, target) if source and target else ""


def _title(kind: ObjectKind, object_id: str) -> str:
    graph_ids = [object_id] if kind is ObjectKind.ENTITY else list(split_relation_key(object_id))
    tag = scope_of(graph_ids[0])
    names = " and ".join(repr(name_of(graph_id)) for graph_id in graph_ids)
    return f"{kind.value} {names}" + (f" of scope {tag!r}" if tag else "")
