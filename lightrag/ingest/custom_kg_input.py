"""Reading a custom knowledge graph: every entry is checked before anything is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lightrag.constants import GRAPH_FIELD_SEP
from lightrag.exceptions import InputError, ScopeError
from lightrag.graph.editing import positive_number
from lightrag.runtime.text import normalize_entity_type, normalize_name, sanitize_text, split_keywords

_SECTIONS = ("chunks", "entities", "relationships")


@dataclass(frozen=True, slots=True)
class GivenChunk:
    """A chunk.

    Attributes:
        alias: What other entries call it; ``""`` when it has no alias.
        content: Text.
        file_path: Source path, ``""`` when not given.
        order: Position in its document.
    """

    alias: str
    content: str
    file_path: str
    order: int


@dataclass(frozen=True, slots=True)
class GivenEntity:
    """An entity.

    Attributes:
        name: Canonical name.
        entity_type: Its type.
        description: Text, maybe empty.
        sources: Aliases of chunks.
        file_path: Source path, ``""`` when not given.
    """

    name: str
    entity_type: str
    description: str
    sources: tuple[str, ...]
    file_path: str


@dataclass(frozen=True, slots=True)
class GivenRelation:
    """A relation.

    Attributes:
        source: Canonical name of one end.
        target: Canonical name of the other.
        description: Text.
        keywords: Separated by commas.
        weight: Above 0.
        sources: Aliases of chunks.
        file_path: Source path, ``""`` when not given.
    """

    source: str
    target: str
    description: str
    keywords: str
    weight: float
    sources: tuple[str, ...]
    file_path: str


@dataclass(frozen=True, slots=True)
class GivenGraph:
    """A custom knowledge graph.

    Attributes:
        chunks: In the order given.
        entities: In the order given.
        relations: In the order given.
        tenant_tag: Scope that all entries name, ``""`` when none does.
    """

    chunks: list[GivenChunk] = field(default_factory=list)
    entities: list[GivenEntity] = field(default_factory=list)
    relations: list[GivenRelation] = field(default_factory=list)
    tenant_tag: str = ""


def read_custom_kg(custom_kg: object, tenant_tag: str | None = None) -> GivenGraph:
    """Check a custom knowledge graph and bring its entries into normal form.

    Args:
        custom_kg: ``{"chunks": [...], "entities": [...], "relationships": [...]}``, each list optional.
        tenant_tag: Scope of the whole.

    Raises:
        InputError: An entry cannot be used; the message names entry and field.
        ScopeError: The entries name different scopes. They would become one document, which all of them could read.
    """
    if not isinstance(custom_kg, Mapping):
        raise InputError(f"custom_kg is {type(custom_kg).__name__}; it must be a dict with {', '.join(_SECTIONS)}")
    sections = {name: _entries(custom_kg, name) for name in _SECTIONS}
    graph = GivenGraph(
        chunks=[_chunk(entry, order) for order, entry in enumerate(sections["chunks"])],
        entities=[_entity(entry) for entry in sections["entities"]],
        relations=[_relation(entry) for entry in sections["relationships"]],
        tenant_tag=_scope([entry for entries in sections.values() for entry in entries], custom_kg, tenant_tag),
    )
    if not graph.chunks and not graph.entities and not graph.relations:
        raise InputError(f"custom_kg is empty: give at least one entry in {', '.join(_SECTIONS)}")
    return graph


@dataclass(frozen=True, slots=True)
class _Entry:
    """One entry, and how messages name it."""

    title: str
    data: Mapping[str, Any]

    def text(self, name: str, *, needed: bool = False) -> str:
        value = self.data.get(name)
        if value is None and not needed:
            return ""
        if not isinstance(value, str):
            raise InputError(f"{self.title}.{name} is {value!r}; it must be text")
        text = sanitize_text(value)
        if needed and not text:
            raise InputError(f"{self.title}.{name} is {value!r}, of which no text is left")
        return text

    def name(self, name: str) -> str:
        value = self.data.get(name)
        normal = normalize_name(value) if isinstance(value, str) else ""
        if not normal:
            raise InputError(f"{self.title}.{name} is {value!r}; it must be a name")
        return normal

    def description(self, *, needed: bool) -> str:
        return self.text("description", needed=needed).replace(GRAPH_FIELD_SEP, "\n")

    def sources(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(part for part in self.text("source_id").split(GRAPH_FIELD_SEP) if part))


def _entries(custom_kg: Mapping[str, Any], section: str) -> list[_Entry]:
    given = custom_kg.get(section)
    if given is None:
        return []
    if isinstance(given, str | bytes | Mapping) or not hasattr(given, "__iter__"):
        raise InputError(f"custom_kg[{section!r}] is {type(given).__name__}; it must be a list of dicts")
    entries = []
    for position, data in enumerate(given):
        if not isinstance(data, Mapping):
            raise InputError(f"{section}[{position}] is {data!r}; it must be a dict")
        entries.append(_Entry(f"{section}[{position}]", data))
    return entries


def _chunk(entry: _Entry, position: int) -> GivenChunk:
    order = entry.data.get("chunk_order_index", position)
    if isinstance(order, bool) or not isinstance(order, int) or order < 0:
        raise InputError(f"{entry.title}.chunk_order_index is {order!r}; it must be a number from 0 on")
    return GivenChunk(
        alias=entry.text("source_id"),
        content=entry.text("content", needed=True),
        file_path=entry.text("file_path"),
        order=order,
    )


def _entity(entry: _Entry) -> GivenEntity:
    return GivenEntity(
        name=entry.name("entity_name"),
        entity_type=normalize_entity_type(entry.text("entity_type")),
        description=entry.description(needed=False),
        sources=entry.sources(),
        file_path=entry.text("file_path"),
    )


def _relation(entry: _Entry) -> GivenRelation:
    source, target = entry.name("src_id"), entry.name("tgt_id")
    if source == target:
        raise InputError(f"{entry.title}: src_id and tgt_id are both {source!r}; a relation joins two entities")
    keywords = entry.data.get("keywords") or ""
    if not isinstance(keywords, str | list | tuple):
        raise InputError(f"{entry.title}.keywords is {keywords!r}; it must be text, separated by commas")
    weight = entry.data.get("weight")
    return GivenRelation(
        source=source,
        target=target,
        description=entry.description(needed=True),
        keywords=",".join(split_keywords(keywords)),
        weight=1.0 if weight is None else positive_number(f"{entry.title}.weight", weight),
        sources=entry.sources(),
        file_path=entry.text("file_path"),
    )


def _scope(entries: list[_Entry], custom_kg: Mapping[str, Any], tenant_tag: str | None) -> str:
    named = custom_kg.get("tenant_tag") or ""
    if tenant_tag and named and named != tenant_tag:
        raise ScopeError(f"custom_kg belongs to scope {named!r} and tenant_tag is {tenant_tag!r}; give one of them")
    whole = tenant_tag or named
    # Without a scope of the whole, entries must agree: one that names none says that it belongs to no scope.
    tags = {entry.data.get("tenant_tag") or whole: entry.title for entry in reversed(entries)}
    if len(tags) > 1:
        listed = ", ".join(f"{tag or 'no scope'!r} ({title})" for tag, title in tags.items())
        raise ScopeError(f"entries of one call belong to one scope, not to {listed}; make a call for each")
    found = next(iter(tags), whole)
    if found and not isinstance(found, str):
        raise ScopeError(f"tenant_tag is {found!r}; a scope tag is text")
    return found
