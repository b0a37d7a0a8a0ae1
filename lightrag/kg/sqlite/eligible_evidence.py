"""Evidence of the documents that a filter accepts: found in memory, read from the table by sequence numbers."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lightrag.contracts.evidence import Evidence, EvidenceSource, ObjectKind
from lightrag.kg.sqlite.database import Database, snapshot
from lightrag.kg.sqlite.dictionary import texts_of
from lightrag.kg.sqlite.evidence_rows import READ, evidence_of, object_numbers
from lightrag.kg.sqlite.selection import EVIDENCE_TABLE, Selection
from lightrag.kg.sqlite.texts import int_list

if TYPE_CHECKING:
    from lightrag.query_filters import VectorQueryFilter


async def visible_objects(
    database: Database,
    kind: ObjectKind,
    object_ids: Sequence[str],
    metadata_filter: VectorQueryFilter,
    *,
    excluded: bool = False,
) -> set[str]:
    """Return those objects that have a row of a document which the filter accepts, or of one that it does not."""
    if not object_ids:
        return set()
    numbers = await _numbers(database, kind, object_ids)
    wanted = Selection(metadata_filter, evidence=True)
    while True:
        memory = await database.filtered(wanted)
        with memory.lock:
            if memory.is_ready(wanted):
                visible = memory.mask(metadata_filter, kind, excluded=excluded)
                break
    return {object_id for object_id, number in numbers.items() if number < len(visible) and visible[number]}


@dataclass(frozen=True, slots=True)
class EligibleRows:
    """The rows of some objects.

    Attributes:
        kind: Entity or relation.
        object_ids: Which objects.
        metadata_filter: Which documents.
        limit: How many rows of each object; ``None`` for all.
        of_newest: Whether these are the newest or the oldest.
    """

    kind: ObjectKind
    object_ids: Sequence[str]
    metadata_filter: VectorQueryFilter
    limit: int | None
    of_newest: bool

    async def evidence(self, database: Database) -> dict[str, list[Evidence]]:
        """Return the rows of each object in order of arrival; objects without rows are left out."""
        _, sequences = await self._find(database)

        def query(connection: sqlite3.Connection) -> list[Evidence]:
            with snapshot(connection):
                return evidence_of(connection, _read(connection, READ, sequences))

        found: dict[str, list[Evidence]] = {}
        if sequences:
            for row in await database.read(query, rows=len(sequences)):
                found.setdefault(row.object_id, []).append(row)
        return {object_id: found[object_id] for object_id in self.object_ids if object_id in found}

    async def sources(self, database: Database) -> dict[str, list[EvidenceSource]]:
        """As :meth:`evidence`, without texts."""
        numbers, sequences = await self._find(database)

        def query(connection: sqlite3.Connection) -> dict[int, list[EvidenceSource]]:
            with snapshot(connection):
                rows = _read(connection, "e.object, e.chunk, e.document, e.path", sequences)
                texts = texts_of(connection, (number for row in rows for number in row[1:]))
            grouped: dict[int, list[EvidenceSource]] = {}
            for number, *source in rows:
                grouped.setdefault(number, []).append(EvidenceSource(*(texts[part] for part in source)))
            return grouped

        found = await database.read(query, rows=len(sequences)) if sequences else {}
        return {object_id: found[number] for object_id, number in numbers.items() if number in found}

    async def _find(self, database: Database) -> tuple[dict[str, int], list[int]]:
        """Return the numbers of the objects, and the sequence numbers of all rows that are wanted, ascending."""
        if not self.object_ids:
            return {}, []
        numbers = await _numbers(database, self.kind, self.object_ids)
        from lightrag.kg.evidence_index import Limit

        wanted = Selection(self.metadata_filter, evidence=True)
        while True:
            memory = await database.filtered(wanted)
            with memory.lock:
                if memory.is_ready(wanted):
                    limit = Limit(self.limit, self.of_newest)
                    objects = list(numbers.values())
                    return numbers, memory.evidence_rows(self.metadata_filter, self.kind, objects, limit)


async def _numbers(database: Database, kind: ObjectKind, object_ids: Sequence[str]) -> dict[str, int]:
    keys = list(dict.fromkeys(object_ids))
    numbers = await database.read(lambda connection: object_numbers(connection, kind, keys), rows=len(keys))
    return {key: numbers[key] for key in keys if key in numbers}


def _read(connection: sqlite3.Connection, columns: str, sequences: Sequence[int]) -> list[tuple[int, ...]]:
    statement = (
        f"SELECT {columns} FROM json_each(?) AS j CROSS JOIN {EVIDENCE_TABLE} AS e ON e.sequence = j.value "
        "ORDER BY j.key"
    )
    return connection.execute(statement, (int_list(sequences),)).fetchall()
