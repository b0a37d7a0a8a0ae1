"""Texts and pairs of texts by number: see :mod:`lightrag.kg.sqlite.schema`."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence

from lightrag.kg.sqlite.texts import int_list, json_list

# Two numbers of texts as one number of 63 bits, so that a list of pairs is a flat JSON array.
_PAIR_SHIFT = 31
_PAIR_MASK = (1 << _PAIR_SHIFT) - 1


def text_ids(connection: sqlite3.Connection, texts: Sequence[str]) -> dict[str, int]:
    """Return the numbers of those texts that have one."""
    rows = connection.execute(
        "SELECT t.text, t.id FROM json_each(?) AS j CROSS JOIN texts AS t ON t.text = j.value", (json_list(texts),)
    )
    return dict(rows.fetchall())


def intern_texts(connection: sqlite3.Connection, texts: Iterable[str]) -> dict[str, int]:
    """Return the numbers of texts, giving new ones in the order of the texts."""
    distinct = list(dict.fromkeys(texts))
    known = text_ids(connection, distinct)
    new = [text for text in distinct if text not in known]
    if new:
        connection.executemany("INSERT INTO texts (text) VALUES (?)", [(text,) for text in new])
        known |= text_ids(connection, new)
    return known


def texts_of(connection: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, str]:
    """Return texts by number; 0 is the empty text."""
    rows = connection.execute(
        "SELECT t.id, t.text FROM json_each(?) AS j CROSS JOIN texts AS t ON t.id = j.value", (int_list(set(numbers)),)
    )
    found: dict[int, str] = dict(rows.fetchall())
    found[0] = ""
    return found


def pair_code(first: int, second: int) -> int:
    """Return one number for an undirected pair of numbers of texts."""
    low, high = (first, second) if first <= second else (second, first)
    return low << _PAIR_SHIFT | high


# Joins a JSON array of pair codes, bound as the only parameter so far, with the pairs that exist.
JOIN_PAIRS = (
    f"json_each(?) AS j CROSS JOIN pairs AS p ON p.low = j.value >> {_PAIR_SHIFT} AND p.high = j.value & {_PAIR_MASK}"
)


def pair_ids(connection: sqlite3.Connection, codes: Iterable[int]) -> dict[int, int]:
    """Return the numbers of those pairs that have one, by code."""
    rows = connection.execute(f"SELECT j.value, p.id FROM {JOIN_PAIRS}", (int_list(codes),))
    return dict(rows.fetchall())


def intern_pairs(connection: sqlite3.Connection, codes: Iterable[int]) -> dict[int, int]:
    """Return the numbers of pairs by code, giving new ones in the order of the codes."""
    distinct = list(dict.fromkeys(codes))
    known = pair_ids(connection, distinct)
    new = [code for code in distinct if code not in known]
    if new:
        connection.executemany(
            "INSERT INTO pairs (low, high) VALUES (?, ?)", [(code >> _PAIR_SHIFT, code & _PAIR_MASK) for code in new]
        )
        known |= pair_ids(connection, new)
    return known


def pairs_of(connection: sqlite3.Connection, numbers: Collection[int]) -> Mapping[int, tuple[str, str]]:
    """Return the two texts of pairs, sorted, by the number of the pair."""
    ends = connection.execute(
        "SELECT p.id, p.low, p.high FROM json_each(?) AS j CROSS JOIN pairs AS p ON p.id = j.value",
        (int_list(set(numbers)),),
    ).fetchall()
    texts = texts_of(connection, (number for row in ends for number in row[1:]))
    found: dict[int, tuple[str, str]] = {}
    for pair, low, high in ends:
        first, second = texts[low], texts[high]
        found[pair] = (first, second) if first <= second else (second, first)
    return found


def sweep(connection: sqlite3.Connection) -> None:
    """Delete pairs and texts that no row refers to any more: deleted documents shall not live on as names."""
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()]
    nodes = [table for table in tables if table.startswith("nodes_")]
    edges = [table for table in tables if table.startswith("edges_")]
    evidence = [table for table in tables if table.startswith("evidence_")]
    pairs = [f"SELECT id FROM {table}" for table in edges]
    pairs += [f"SELECT object FROM {table} WHERE kind = 1" for table in evidence]
    if pairs:
        connection.execute(f"DELETE FROM pairs WHERE id NOT IN ({' UNION '.join(pairs)})")
    documents = [table for table in tables if table.startswith(("status_", "vectors_"))]
    texts = ["SELECT low FROM pairs", "SELECT high FROM pairs", *(f"SELECT id FROM {table}" for table in nodes)]
    texts += [f"SELECT document FROM {table}" for table in documents]
    texts += [f"SELECT object FROM {table} WHERE kind = 0" for table in evidence]
    texts += [
        f"SELECT {column} FROM {table}"
        for table in evidence
        for column in ("chunk", "document", "path", "type", "tenant")
    ]
    connection.execute(f"DELETE FROM texts WHERE id NOT IN ({' UNION '.join(texts)})")
