"""Entities and relations as folds over their evidence.

An object's record is ``reduce(extend, its evidence in order)``. Adding a document extends the stored record by the new
rows only, so the cost of a document does not depend on how often its entities were seen before; removing a document
folds the remaining rows from the start. Both give the same record, up to descriptions that a model summarised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lightrag.constants import GRAPH_FIELD_SEP, UNKNOWN_ENTITY_TYPE
from lightrag.contracts.evidence import Evidence, ObjectKind, split_relation_key
from lightrag.graph.manual import is_correction
from lightrag.graph.rendering import entity_line, relation_line
from lightrag.kg_scopes import split_scoped_entity_id
from lightrag.query_filters import NO_DOCUMENTS, SUMMARY_FIELDS, DocumentFacts, FilterSummary

# Keywords of a relation, oldest first; a hub relation must not grow without bound.
MAX_RELATION_KEYWORDS = 100

# Properties that serve merging and filtering; views leave them out.
INTERNAL_PROPERTIES = frozenset(
    {"type_votes", "evidence_count", "tokens", "graph_node_id", "corrected", "chosen_type", *SUMMARY_FIELDS}
)


@dataclass(slots=True)
class ObjectRecord:
    """An entity or a relation of one partition.

    Attributes:
        kind: Entity or relation.
        object_id: Graph id of the entity, or the relation key.
        parts: Distinct descriptions, oldest first; after a summary the first is the summary.
        created_at: Epoch seconds of the first evidence.
        evidence_count: Rows folded in, corrections left out.
        type_votes: Entity types by number of rows, first seen first.
        keywords: Distinct keywords of a relation, oldest first.
        weight: Sum of the weights of a relation's rows.
        corrected: The first part is a person's correction; the model never rewrites it.
        chosen_type: Entity type that a person chose; it outweighs all votes.
        summary: Union of the dates and tags of the documents folded in.
        extra: Further properties set by people or other tools, kept as they are.
    """

    kind: ObjectKind
    object_id: str
    parts: list[str] = field(default_factory=list)
    created_at: int = 0
    evidence_count: int = 0
    type_votes: dict[str, int] = field(default_factory=dict)
    keywords: list[str] = field(default_factory=list)
    weight: float = 0.0
    corrected: bool = False
    chosen_type: str = ""
    summary: FilterSummary = NO_DOCUMENTS
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def description(self) -> str:
        """The parts as stored, joined by ``<SEP>``."""
        return GRAPH_FIELD_SEP.join(self.parts)

    @property
    def entity_type(self) -> str:
        """The type a person chose, else the one most rows give; the first seen wins a tie, ``UNKNOWN`` loses to any."""
        if self.chosen_type:
            return self.chosen_type
        known = {name: votes for name, votes in self.type_votes.items() if name != UNKNOWN_ENTITY_TYPE}
        return max(known, key=known.__getitem__) if known else UNKNOWN_ENTITY_TYPE

    @property
    def own_words(self) -> list[str]:
        """The correction at the head of the parts, or nothing."""
        return self.parts[:1] if self.corrected else []

    @property
    def fragments(self) -> list[str]:
        """The parts that come from rows; the model may summarise them."""
        return self.parts[1:] if self.corrected else self.parts

    @property
    def name(self) -> str:
        """Canonical name of an entity, without its scope."""
        return split_scoped_entity_id(self.object_id)[0]

    @property
    def tenant_tag(self) -> str:
        """Scope of the object; ``""`` is the aggregate."""
        identity = self.object_id if self.kind is ObjectKind.ENTITY else split_relation_key(self.object_id)[0]
        return split_scoped_entity_id(identity)[1] or ""

    def extend(self, rows: Sequence[Evidence], facts: Mapping[str, DocumentFacts]) -> None:
        """Fold the rows of further documents in, in order.

        Args:
            rows: Evidence of documents that are not folded in yet.
            facts: Dates and tags of those documents, by id.
        """
        documents = {row.document_id for row in rows if not is_correction(row)}
        self.summary = self.summary.extend(facts[document_id] for document_id in documents)
        self.add_rows(rows)

    def add_rows(self, rows: Sequence[Evidence]) -> None:
        """Fold in what rows say, but not the dates and tags of their documents; for views that show neither."""
        for row in rows:
            if is_correction(row):
                self._correct(row)
                continue
            if self.evidence_count == 0:
                self.created_at = row.created_at
            self.evidence_count += 1
            if row.description and row.description not in self.parts:
                self.parts.append(row.description)
            if self.kind is ObjectKind.ENTITY:
                self.type_votes[row.entity_type] = self.type_votes.get(row.entity_type, 0) + 1
            else:
                self.weight += row.weight
                self._add_keywords(row.keywords)

    def _correct(self, row: Evidence) -> None:
        """Let a correction replace what was folded in so far."""
        if row.description:
            self.parts = [row.description]
            self.corrected = True
        if row.entity_type:
            self.chosen_type = row.entity_type
        if row.keywords:
            self.keywords = []
            self._add_keywords(row.keywords)
        if row.weight:
            self.weight = row.weight

    def _add_keywords(self, joined: str) -> None:
        for keyword in joined.split(","):
            word = keyword.strip()
            if word and word not in self.keywords and len(self.keywords) < MAX_RELATION_KEYWORDS:
                self.keywords.append(word)

    def ends(self) -> tuple[str, str]:
        """Graph ids of a relation's ends, sorted."""
        return split_relation_key(self.object_id)

    def vector_content(self) -> str:
        """The text that is embedded for the object."""
        text = "\n".join(self.parts)
        if self.kind is ObjectKind.ENTITY:
            return f"{self.name}\n{text}"
        source, target = (split_scoped_entity_id(end)[0] for end in self.ends())
        return f"{', '.join(self.keywords)}\t{source}\n{target}\n{text}"

    def context_line(self) -> str:
        """The line of the answer context that shows the object."""
        if self.kind is ObjectKind.ENTITY:
            return entity_line(self.name, self.entity_type, self.description)
        source, target = (split_scoped_entity_id(end)[0] for end in self.ends())
        return relation_line(source, target, self.description)

    def to_properties(self, *, tokens: int, skip_open_bounds: bool) -> dict[str, Any]:
        """Return the properties of the node or edge.

        Args:
            tokens: Token count of :meth:`context_line`.
            skip_open_bounds: The setting ``kg_union_skip_open_bounds``.
        """
        common = {
            **self.extra,
            **self.summary.to_fields(skip_open_bounds=skip_open_bounds),
            "description": self.description,
            "created_at": self.created_at,
            "evidence_count": self.evidence_count,
            "tokens": tokens,
            "tenant_tag": self.tenant_tag,
        }
        if self.corrected:
            common["corrected"] = True
        if self.chosen_type:
            common["chosen_type"] = self.chosen_type
        if self.kind is ObjectKind.ENTITY:
            return {
                **common,
                "entity_id": self.name,
                "entity_name": self.name,
                "entity_type": self.entity_type,
                "type_votes": self.type_votes,
            }
        return {**common, "keywords": ",".join(self.keywords), "weight": self.weight}

    @classmethod
    def from_properties(cls, kind: ObjectKind, object_id: str, properties: dict[str, Any]) -> ObjectRecord:
        """Rebuild the record that :meth:`to_properties` wrote; fields of other tools are kept in ``extra``."""
        known = properties.keys() <= _OWN_PROPERTIES
        extra = {} if known else {name: value for name, value in properties.items() if name not in _OWN_PROPERTIES}
        description = str(properties.get("description") or "")
        votes = properties.get("type_votes")
        if not isinstance(votes, dict):
            given = properties.get("entity_type")
            votes = {str(given): 1} if given else {}
        return cls(
            kind=kind,
            object_id=object_id,
            parts=[part for part in description.split(GRAPH_FIELD_SEP) if part],
            created_at=int(properties.get("created_at") or 0),
            evidence_count=int(properties.get("evidence_count") or 0),
            type_votes={str(name): int(count) for name, count in votes.items()},
            keywords=[word for word in str(properties.get("keywords") or "").split(",") if word],
            weight=float(properties.get("weight") or 0.0),
            corrected=bool(properties.get("corrected", False)),
            chosen_type=str(properties.get("chosen_type") or ""),
            summary=FilterSummary.from_fields(properties),
            extra=extra,
        )


_OWN_PROPERTIES = frozenset(
    {
        "description",
        "created_at",
        "evidence_count",
        "tokens",
        "tenant_tag",
        "entity_id",
        "entity_name",
        "entity_type",
        "type_votes",
        "keywords",
        "weight",
        "corrected",
        "chosen_type",
        *SUMMARY_FIELDS,
    }
)


def fold(
    kind: ObjectKind,
    object_id: str,
    rows: Sequence[Evidence],
    facts: Mapping[str, DocumentFacts],
    extra: dict[str, Any] | None = None,
) -> ObjectRecord:
    """Return the record of an object from all its evidence, in order."""
    record = ObjectRecord(kind=kind, object_id=object_id, extra=dict(extra or {}))
    record.extend(rows, facts)
    return record
