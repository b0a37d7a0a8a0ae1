"""Changes of the graph inside a transaction. Every change of an edge keeps the degrees of its ends."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from lightrag.contracts.graph import NodePair
from lightrag.kg.sqlite.dictionary import intern_pairs, intern_texts, pair_code, pair_ids, text_ids
from lightrag.kg.sqlite.filter_columns import COLUMN_NAMES
from lightrag.kg.sqlite.texts import int_list

_COLUMNS = (*COLUMN_NAMES, "properties")


class GraphTables(NamedTuple):
    """Names of the tables of a graph namespace."""

    nodes: str
    edges: str


class NodeRow(NamedTuple):
    """A node to write: its id, its filter columns, its other properties as JSON."""

    node_id: str
    columns: tuple[Any, ...]
    properties: str


class EdgeRow(NamedTuple):
    """An edge to write: its ends, its filter columns, its other properties as JSON."""

    source: str
    target: str
    columns: tuple[Any, ...]
    properties: str


def upsert_nodes(connection: sqlite3.Connection, tables: GraphTables, rows: Sequence[NodeRow]) -> None:
    """Insert or replace nodes."""
    ids = intern_texts(connection, (row.node_id for row in rows))
    connection.executemany(
        _upsert_statement(tables.nodes), [(ids[row.node_id], *row.columns, row.properties) for row in rows]
    )


def upsert_edges(connection: sqlite3.Connection, tables: GraphTables, rows: Sequence[EdgeRow]) -> None:
    """Insert or replace edges, and insert the ends that are missing."""
    ids = intern_texts(connection, (end for row in rows for end in (row.source, row.target)))
    codes = [pair_code(ids[row.source], ids[row.target]) for row in rows]
    pairs = intern_pairs(connection, codes)
    connection.executemany(
        f"INSERT INTO {tables.nodes} (id, properties) VALUES (?, '{{}}') ON CONFLICT (id) DO NOTHING",
        [(number,) for number in ids.values()],
    )
    present = {
        number
        for (number,) in connection.execute(
            f"SELECT e.id FROM json_each(?) AS j CROSS JOIN {tables.edges} AS e ON e.id = j.value",
            (int_list(pairs.values()),),
        ).fetchall()
    }
    connection.executemany(
        _upsert_statement(tables.edges),
        [(pairs[code], *row.columns, row.properties) for code, row in zip(codes, rows, strict=True)],
    )
    added = {
        pairs[code]: (ids[row.source], ids[row.target])
        for code, row in zip(codes, rows, strict=True)
        if pairs[code] not in present
    }
    _change_degrees(connection, tables, added.values(), 1)


def remove_nodes(connection: sqlite3.Connection, tables: GraphTables, node_ids: Sequence[str]) -> None:
    """Delete nodes and their edges."""
    numbers = int_list(text_ids(connection, node_ids).values())
    edges = f"CROSS JOIN {tables.edges} AS e ON e.id = p.id"
    touching = connection.execute(
        f"SELECT p.id, p.low, p.high FROM json_each(?1) AS j CROSS JOIN pairs AS p ON p.low = j.value {edges} UNION "
        f"SELECT p.id, p.low, p.high FROM json_each(?1) AS j CROSS JOIN pairs AS p ON p.high = j.value {edges}",
        (numbers,),
    ).fetchall()
    _delete_edges(connection, tables, touching)
    connection.execute(f"DELETE FROM {tables.nodes} WHERE id IN (SELECT value FROM json_each(?))", (numbers,))


def remove_edges(connection: sqlite3.Connection, tables: GraphTables, pairs: Sequence[NodePair]) -> None:
    """Delete edges."""
    ids = text_ids(connection, list(dict.fromkeys(end for pair in pairs for end in pair)))
    codes = {pair_code(ids[pair[0]], ids[pair[1]]) for pair in pairs if pair[0] in ids and pair[1] in ids}
    present = connection.execute(
        f"SELECT p.id, p.low, p.high FROM json_each(?) AS j CROSS JOIN pairs AS p ON p.id = j.value "
        f"CROSS JOIN {tables.edges} AS e ON e.id = p.id",
        (int_list(pair_ids(connection, codes).values()),),
    ).fetchall()
    _delete_edges(connection, tables, present)


def _delete_edges(connection: sqlite3.Connection, tables: GraphTables, edges: Sequence[tuple[int, int, int]]) -> None:
    connection.execute(
        f"DELETE FROM {tables.edges} WHERE id IN (SELECT value FROM json_each(?))",
        (int_list(number for number, _, _ in edges),),
    )
    _change_degrees(connection, tables, ((low, high) for _, low, high in edges), -1)


def _change_degrees(
    connection: sqlite3.Connection, tables: GraphTables, ends: Iterable[tuple[int, int]], step: int
) -> None:
    """Count edges at their ends; an edge from a node to itself counts once."""
    changes = Counter(number for pair in ends for number in set(pair))
    connection.executemany(
        f"UPDATE {tables.nodes} SET degree = degree + ? WHERE id = ?",
        [(step * count, number) for number, count in changes.items()],
    )


def _upsert_statement(table: str) -> str:
    return (
        f"INSERT INTO {table} (id, {', '.join(_COLUMNS)}) VALUES (?, {', '.join('?' * len(_COLUMNS))}) "
        f"ON CONFLICT (id) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _COLUMNS)} "
        f"WHERE ({', '.join(reversed(_COLUMNS))}) IS NOT "
        f"({', '.join(f'excluded.{name}' for name in reversed(_COLUMNS))})"
    )
