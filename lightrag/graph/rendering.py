"""How entities and relations are written for a model, and which sources a result names.

Merging stores the token count of a line beside its object, so a query that shows the line need not count it again. Both
sides therefore render with the functions of this module, and only with them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from lightrag.constants import GRAPH_FIELD_SEP, UNKNOWN_SOURCE
from lightrag.contracts.evidence import EvidenceSource, ObjectKind
from lightrag.settings import Settings

# One encoder for all lines: json.dumps builds a new one per call when it is given options.
encode_line = json.JSONEncoder(ensure_ascii=False).encode


def entity_line(name: str, entity_type: str, description: str) -> str:
    """Return the JSON line that shows an entity to a model.

    Args:
        name: Canonical name, without a scope.
        entity_type: Its type.
        description: As stored; fragments joined by ``<SEP>`` are shown on lines of their own.
    """
    return encode_line({"entity": name, "type": entity_type, "description": readable(description)})


def relation_line(source: str, target: str, description: str) -> str:
    """Return the JSON line that shows a relation to a model.

    Args:
        source: Canonical name of the end whose graph id sorts first.
        target: Canonical name of the other end.
        description: As stored; fragments joined by ``<SEP>`` are shown on lines of their own.
    """
    return encode_line({"entity1": source, "entity2": target, "description": readable(description)})


def readable(description: str) -> str:
    """Return a stored description with its fragments on lines of their own."""
    return description.replace(GRAPH_FIELD_SEP, "\n")


@dataclass(frozen=True, slots=True)
class SourceLimits:
    """How many sources an object names.

    Attributes:
        chunk_ids: Chunk ids at the most.
        newest: Keep the newest evidence instead of the oldest.
        file_paths: File paths at the most.
        placeholder: Stands for the paths left out.
    """

    chunk_ids: int
    newest: bool
    file_paths: int
    placeholder: str

    @classmethod
    def of(cls, settings: Settings, kind: ObjectKind) -> SourceLimits:
        """Return the limits that the settings give for entities or for relations."""
        return cls(
            chunk_ids=(
                settings.max_source_ids_per_entity
                if kind is ObjectKind.ENTITY
                else settings.max_source_ids_per_relation
            ),
            newest=settings.source_ids_limit_method == "FIFO",
            file_paths=settings.max_file_paths,
            placeholder=settings.file_path_more_placeholder,
        )

    @property
    def read_limit(self) -> int | None:
        """How many rows of an object need to be read; ``None`` for all, since stores count from the oldest."""
        return None if self.newest else self.chunk_ids

    def apply(self, sources: Sequence[EvidenceSource]) -> Sequence[EvidenceSource]:
        """Return those of an object's sources, in order of arrival, that it names."""
        if len(sources) <= self.chunk_ids:
            return sources
        return sources[-self.chunk_ids :] if self.newest else sources[: self.chunk_ids]


def source_fields(sources: Sequence[EvidenceSource], limits: SourceLimits) -> tuple[str, str]:
    """Return ``source_id`` and ``file_path`` of an object: its chunk ids and its distinct paths, joined by ``<SEP>``.

    Args:
        sources: Evidence of the object, in order of arrival.
        limits: How many of each are named.
    """
    named = limits.apply(sources)
    chunk_ids, _, file_paths = zip(*named, strict=True) if named else ((), (), ())
    source_id = GRAPH_FIELD_SEP.join(chunk_ids)
    paths = [path for path in dict.fromkeys(file_paths) if path] or [UNKNOWN_SOURCE]
    if len(paths) > limits.file_paths:
        paths = [*paths[: limits.file_paths], limits.placeholder]
    return source_id, GRAPH_FIELD_SEP.join(paths)
