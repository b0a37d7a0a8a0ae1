"""A change of the graph: what is to be written, computed first and written in one unit of work.

Every path that touches objects (merge, delete, edit, rename, custom graphs, scopes) ends here, so that graph, vectors
and evidence cannot part ways, and no path can forget the derived fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lightrag.context import EngineContext
from lightrag.contracts.evidence import Evidence, ObjectKind, relation_key, split_relation_key
from lightrag.graph.records import ObjectRecord
from lightrag.graph.summarise import summarise_records
from lightrag.kg_scopes import make_entity_vdb_id, make_relation_vdb_id, split_scoped_entity_id
from lightrag.runtime.tokens import count_tokens, truncate_to_tokens
from lightrag.stores import Intent, Stores

VectorRows = dict[str, dict[str, Any]]


@dataclass
class GraphChange:
    """Writes of one unit of work, by store.

    Attributes:
        moved: Objects that get another id, old to new, by kind; their evidence moves along.
        evidence: Rows to add.
        nodes: Graph id and properties of entities.
        edges: Graph ids of the ends and properties of relations.
        entity_vectors: Rows of the entity vector store that change.
        relation_vectors: Rows of the relation vector store that change.
        removed_entities: Entities that are no more, or have another id now.
        removed_relations: Relations likewise.
    """

    moved: dict[ObjectKind, dict[str, str]] = field(default_factory=dict)
    evidence: list[Evidence] = field(default_factory=list)
    nodes: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    edges: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    entity_vectors: VectorRows = field(default_factory=dict)
    relation_vectors: VectorRows = field(default_factory=dict)
    removed_entities: list[str] = field(default_factory=list)
    removed_relations: list[str] = field(default_factory=list)

    def intent(self, **further: Any) -> Intent:
        """Return what a unit of work is about to touch that writes this change.

        Args:
            further: Fields of the intent that the change does not know, such as its documents.
        """
        removed = {ObjectKind.ENTITY: self.removed_entities, ObjectKind.RELATION: self.removed_relations}
        written = {
            ObjectKind.ENTITY: dict(self.nodes),
            ObjectKind.RELATION: {relation_key(source, target): row for source, target, row in self.edges},
        }
        objects: dict[ObjectKind, list[str]] = {}
        extras: dict[str, dict[str, Any]] = {}
        for kind, rows in written.items():
            renames = self.moved.get(kind, {})
            objects[kind] = list(dict.fromkeys([*rows, *removed[kind], *renames, *renames.values()]))
            for object_id, properties in rows.items():
                if extra := ObjectRecord.from_properties(kind, object_id, properties).extra:
                    extras[object_id] = extra
        return Intent(objects=objects, extras=extras, **further)

    async def write(self, stores: Stores) -> None:
        """Queue all writes; belongs into a unit of work.

        Removals come before additions, so that an object which takes the place of another survives. Evidence is moved
        and added first and dropped last, so that what is half done where stores cannot commit together never lacks a
        row of the record.
        """
        for kind, renames in self.moved.items():
            if renames:
                await stores.evidence.reassign(kind, renames)
        if self.evidence:
            await stores.evidence.add(self.evidence)
        if self.removed_relations:
            await stores.graph.remove_edges([split_relation_key(key) for key in self.removed_relations])
            await stores.relationships.delete([relation_vector_id(key) for key in self.removed_relations])
        if self.removed_entities:
            await stores.graph.remove_nodes(self.removed_entities)
            await stores.entities.delete([entity_vector_id(name) for name in self.removed_entities])
        if self.nodes:
            await stores.graph.upsert_nodes_batch(self.nodes)
        if self.edges:
            await stores.graph.upsert_edges_batch(self.edges)
        if self.entity_vectors:
            await stores.entities.upsert(self.entity_vectors)
        if self.relation_vectors:
            await stores.relationships.upsert(self.relation_vectors)
        # Also the corrections of an object whose last other row went.
        if self.removed_relations:
            await stores.evidence.drop_objects(ObjectKind.RELATION, self.removed_relations)
        if self.removed_entities:
            await stores.evidence.drop_objects(ObjectKind.ENTITY, self.removed_entities)


def entity_vector_id(object_id: str) -> str:
    """Return the id of an entity's vector row."""
    name, tag = split_scoped_entity_id(object_id)
    return make_entity_vdb_id(name, tag)


def relation_vector_id(object_id: str) -> str:
    """Return the id of a relation's vector row."""
    (source, tag), (target, _) = (split_scoped_entity_id(end) for end in split_relation_key(object_id))
    return make_relation_vdb_id(source, target, tag)


@dataclass(slots=True)
class Touched:
    """A record that a change writes, with the text that is embedded for it in the store now."""

    record: ObjectRecord
    stored_content: str | None


async def add_records(
    context: EngineContext, change: GraphChange, touched: Sequence[Touched], *, summarise: bool = True
) -> None:
    """Summarise, embed and render records into a change.

    Only records whose embedded text changed are embedded again.

    Args:
        context: The workspace.
        change: Takes the records.
        touched: The records.
        summarise: Ask the model to shorten descriptions that have grown long.

    Raises:
        ModelError: The embedding model failed; nothing has been written.
    """
    records = [item.record for item in touched]
    if summarise:
        await summarise_records(context, records)
    tokenizer = context.models.tokenizer
    skip_open_bounds = context.settings.kg_union_skip_open_bounds
    for record in records:
        properties = record.to_properties(
            tokens=count_tokens(tokenizer, record.context_line()), skip_open_bounds=skip_open_bounds
        )
        if record.kind is ObjectKind.ENTITY:
            change.nodes.append((record.object_id, properties))
        else:
            change.edges.append((*record.ends(), properties))
    await _embed(context, change, touched)


async def _embed(context: EngineContext, change: GraphChange, touched: Sequence[Touched]) -> None:
    changed: list[tuple[ObjectRecord, str]] = []
    unchanged: list[tuple[ObjectRecord, str]] = []
    for item in touched:
        content = item.record.vector_content()
        (unchanged if content == item.stored_content else changed).append((item.record, content))
    limit = context.models.embedder.func.max_token_size
    # Variants of an object in several scopes that say the same are embedded once.
    rows = {content: row for row, content in enumerate(dict.fromkeys(content for _, content in changed))}
    contents = list(rows)
    vectors = await context.models.embedder.embed(contents if limit is None else _within(context, contents, limit))
    for record, content in changed:
        add_vector(context, change, record, {"content": content, "vector": vectors[rows[content]]})
    if context.settings.enable_vector_metadata_filters and unchanged:
        await _restamp(context, change, unchanged)


async def _restamp(context: EngineContext, change: GraphChange, unchanged: Sequence[tuple[ObjectRecord, str]]) -> None:
    """Write new filter fields beside vectors that stay as they are."""
    for kind, store, vector_id in (
        (ObjectKind.ENTITY, context.stores.entities, entity_vector_id),
        (ObjectKind.RELATION, context.stores.relationships, relation_vector_id),
    ):
        ids = {vector_id(record.object_id): (record, content) for record, content in unchanged if record.kind is kind}
        for row_id, vector in (await store.get_vectors_by_ids(list(ids))).items() if ids else ():
            record, content = ids[row_id]
            add_vector(context, change, record, {"content": content, "vector": vector})


def add_vector(context: EngineContext, change: GraphChange, record: ObjectRecord, row: dict[str, Any]) -> None:
    """Add the vector row of a record to a change.

    Args:
        context: The workspace.
        change: Takes the row.
        record: The object.
        row: ``content`` and ``vector``; the fields that say whose it is are added.
    """
    row["tenant_tag"] = record.tenant_tag
    settings = context.settings
    if settings.enable_vector_metadata_filters:
        row |= record.summary.to_fields(skip_open_bounds=settings.kg_union_skip_open_bounds)
    if record.kind is ObjectKind.ENTITY:
        row |= {"entity_name": record.name, "graph_node_id": record.object_id}
        change.entity_vectors[entity_vector_id(record.object_id)] = row
    else:
        source, target = record.ends()
        row |= {"src_id": source, "tgt_id": target}
        change.relation_vectors[relation_vector_id(record.object_id)] = row


def _within(context: EngineContext, texts: Iterable[str], limit: int) -> list[str]:
    """Cut texts to what the embedding model takes; a token is at least one byte."""
    return [
        text if len(text.encode()) <= limit else truncate_to_tokens(context.models.tokenizer, text, limit)
        for text in texts
    ]
