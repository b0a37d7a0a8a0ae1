"""Evidence rows between texts and numbers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lightrag.contracts.evidence import (
    RELATION_KEY_SEPARATOR,
    Evidence,
    ObjectKind,
    relation_key,
    split_relation_key,
)
from lightrag.exceptions import InputError
from lightrag.kg.sqlite.dictionary import (
    intern_pairs,
    intern_texts,
    pair_code,
    pair_ids,
    pairs_of,
    text_ids,
    texts_of,
)

KINDS: tuple[ObjectKind, ...] = (ObjectKind.ENTITY, ObjectKind.RELATION)
KIND_CODES: Mapping[ObjectKind, int] = {kind: code for code, kind in enumerate(KINDS)}

COLUMNS = "kind, object, chunk, document, path, type, tenant, created_at, weight, keywords, description"
NAMES = COLUMNS.split(", ")
READ = ", ".join(f"e.{name}" for name in ("sequence", *NAMES))


def check_relation_key(key: str) -> None:
    """Refuse an object id that is no :func:`~lightrag.contracts.evidence.relation_key`.

    Raises:
        InputError: The separator is missing or the ends are not sorted.
    """
    first, second = split_relation_key(key)
    if RELATION_KEY_SEPARATOR not in key or first > second:
        raise InputError(f"object {key!r} of a relation must be relation_key() of its two ends")


def _relation_codes(keys: Iterable[str], ids: Mapping[str, int]) -> dict[str, int]:
    """Return the pair codes of relation keys whose ends have a number."""
    codes: dict[str, int] = {}
    for key in keys:
        first, second = split_relation_key(key)
        if RELATION_KEY_SEPARATOR in key and first <= second and first in ids and second in ids:
            codes[key] = pair_code(ids[first], ids[second])
    return codes


def object_numbers(connection: sqlite3.Connection, kind: ObjectKind, keys: Sequence[str]) -> dict[str, int]:
    """Return the numbers of those objects that have one."""
    if kind is ObjectKind.ENTITY:
        return text_ids(connection, keys)
    ends = list(dict.fromkeys(end for key in keys for end in split_relation_key(key)))
    codes = _relation_codes(keys, text_ids(connection, ends))
    numbers = pair_ids(connection, codes.values())
    return {key: numbers[code] for key, code in codes.items() if code in numbers}


def intern_objects(connection: sqlite3.Connection, kind: ObjectKind, keys: Iterable[str]) -> dict[str, int]:
    """Return the numbers of objects, giving new ones where needed."""
    listed = list(dict.fromkeys(keys))
    if kind is ObjectKind.ENTITY:
        return intern_texts(connection, listed)
    ids = intern_texts(connection, (end for key in listed for end in split_relation_key(key)))
    codes = _relation_codes(listed, ids)
    numbers = intern_pairs(connection, codes.values())
    return {key: numbers[code] for key, code in codes.items()}


def object_ids_of(connection: sqlite3.Connection, objects: Sequence[tuple[int, int]]) -> dict[tuple[int, int], str]:
    """Return the object ids of ``(kind, number)``."""
    texts = texts_of(connection, (number for kind, number in objects if kind == 0))
    pairs = pairs_of(connection, {number for kind, number in objects if kind == 1})
    return {(kind, number): texts[number] if kind == 0 else relation_key(*pairs[number]) for kind, number in objects}


def numbered(connection: sqlite3.Connection, rows: Sequence[Evidence]) -> list[tuple[Any, ...]]:
    """Return rows with numbers for texts, giving new numbers in the order of the rows."""
    entities = intern_objects(connection, ObjectKind.ENTITY, _keys(rows, ObjectKind.ENTITY))
    relations = intern_objects(connection, ObjectKind.RELATION, _keys(rows, ObjectKind.RELATION))
    ids = intern_texts(
        connection,
        (
            text
            for row in rows
            for text in (row.chunk_id, row.document_id, row.file_path, row.entity_type, row.tenant_tag)
            if text
        ),
    )
    ids.setdefault("", 0)
    return [
        (
            KIND_CODES[row.kind],
            (entities if row.kind is ObjectKind.ENTITY else relations)[row.object_id],
            ids[row.chunk_id],
            ids[row.document_id],
            ids[row.file_path],
            ids[row.entity_type],
            ids[row.tenant_tag],
            row.created_at,
            row.weight,
            row.keywords,
            row.description,
        )
        for row in rows
    ]


def _keys(rows: Sequence[Evidence], kind: ObjectKind) -> Iterable[str]:
    return (row.object_id for row in rows if row.kind is kind)


def evidence_of(connection: sqlite3.Connection, rows: Sequence[tuple[Any, ...]]) -> list[Evidence]:
    """Return rows as they were added.

    Args:
        connection: Reads the snapshot that the rows come from.
        rows: Values of the columns :data:`READ`.
    """
    names = object_ids_of(connection, [(kind, number) for _, kind, number, *_ in rows])
    texts = texts_of(connection, (number for row in rows for number in row[3:8]))
    return [
        Evidence(
            kind=KINDS[kind],
            object_id=names[kind, number],
            chunk_id=texts[chunk],
            document_id=texts[document],
            description=description,
            entity_type=texts[type_],
            keywords=keywords,
            weight=weight,
            file_path=texts[path],
            created_at=created_at,
            tenant_tag=texts[tenant],
            sequence=sequence,
        )
        for (
            sequence,
            kind,
            number,
            chunk,
            document,
            path,
            type_,
            tenant,
            created_at,
            weight,
            keywords,
            description,
        ) in rows
    ]


def move_rows(connection: sqlite3.Connection, table: str, kind: int, moves: Sequence[tuple[int, int]]) -> None:
    """Move rows from one object to another, all moves at once; see the contract of ``reassign``.

    Args:
        connection: Inside a transaction.
        table: The evidence table.
        kind: Code of the kind.
        moves: Old and new number of each object.
    """
    # Set aside under negative numbers first: what one move brings must not be taken along by another.
    connection.executemany(
        f"UPDATE {table} SET object = -object WHERE kind = ? AND object = ?", [(kind, old) for old, _ in moves]
    )
    for old, new in moves:
        values = {"kind": kind, "aside": -old, "new": new}
        connection.execute(
            f"DELETE FROM {table} WHERE kind = :kind AND object = :aside AND chunk IN "
            f"(SELECT chunk FROM {table} WHERE kind = :kind AND object = :new AND description <> '')",
            values,
        )
        connection.execute(
            f"DELETE FROM {table} WHERE kind = :kind AND object = :new AND chunk IN "
            f"(SELECT chunk FROM {table} WHERE kind = :kind AND object = :aside)",
            values,
        )
        connection.execute(f"UPDATE {table} SET object = :new WHERE kind = :kind AND object = :aside", values)


def scan_entities(connection: sqlite3.Connection, has_rows: str, after: str, limit: int) -> list[str]:
    """Return a page of entities.

    Args:
        connection: Reads one snapshot.
        has_rows: Condition that the object whose number follows has rows, without its end.
        after: Last entity of the page before.
        limit: Length of the page.
    """
    rows = connection.execute(
        f"SELECT t.text FROM texts AS t WHERE t.text > ? AND {has_rows} t.id) ORDER BY t.text LIMIT ?", (after, limit)
    ).fetchall()
    return [text for (text,) in rows]


def scan_relations(connection: sqlite3.Connection, has_rows: str, after: str, limit: int) -> list[str]:
    """Return a page of relations, by first and second end; arguments as in :func:`scan_entities`."""
    first, second = split_relation_key(after)
    rows = connection.execute(
        "SELECT a.text, b.text FROM texts AS a CROSS JOIN pairs AS p ON p.low = a.id OR p.high = a.id "
        "CROSS JOIN texts AS b ON b.id = p.low + p.high - a.id WHERE a.text >= ?1 AND b.text >= a.text "
        f"AND (a.text, b.text) > (?1, ?2) AND {has_rows} p.id) ORDER BY a.text, b.text LIMIT ?3",
        (first, second, limit),
    ).fetchall()
    return [relation_key(*ends) for ends in rows]
