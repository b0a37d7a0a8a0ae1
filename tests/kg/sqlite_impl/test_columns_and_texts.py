from __future__ import annotations

import sqlite3
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightrag.contracts.vector import FILTER_FIELD_DEFAULTS
from lightrag.exceptions import InputError
from lightrag.kg.sqlite import schema
from lightrag.kg.sqlite.dictionary import (
    intern_pairs,
    intern_texts,
    pair_code,
    pairs_of,
    sweep,
    text_ids,
    texts_of,
)
from lightrag.kg.sqlite.filter_columns import COLUMN_DEFINITIONS, COLUMN_LIST, FILTER_COLUMNS, joined, split
from lightrag.kg.sqlite.texts import json_list
from lightrag.kg.texts import check_ids, encode_json
from lightrag.predicates import FIELDS
from lightrag.query_filters import STAMPED_FIELDS

by_kind: dict[str, st.SearchStrategy[Any]] = {
    "text": st.text(st.characters(exclude_categories=["Cs"])),
    "tags": st.lists(st.text(st.characters(exclude_categories=["Cs"]))),
    "boolean": st.booleans(),
    "integer": st.integers(-(2**53), 2**53),
}
rows = st.fixed_dictionaries(
    {}, optional={column.name: by_kind[column.kind] for column in FILTER_COLUMNS} | {"other": st.integers()}
)


def test_every_filter_field_has_a_column_of_its_kind() -> None:
    kinds = {column.name: column.kind for column in FILTER_COLUMNS}
    assert kinds.keys() >= FIELDS.keys() | FILTER_FIELD_DEFAULTS.keys() | set(STAMPED_FIELDS)
    for name, kind in FIELDS.items():
        assert kinds[name] == ("text" if kind == "path" else kind.value)


@given(row=rows)
def test_a_row_comes_back_with_what_it_was_given_and_nothing_else(row: dict[str, Any]) -> None:
    columns, rest = split(row)
    assert joined(dict(rest), columns) == row
    assert "other" not in row or rest["other"] == row["other"]


@given(row=rows)
def test_a_row_survives_its_columns(row: dict[str, Any]) -> None:
    columns, rest = split(row)
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f"CREATE TABLE t ({COLUMN_DEFINITIONS}) STRICT")
        connection.execute(f"INSERT INTO t ({COLUMN_LIST}) VALUES ({', '.join('?' * len(columns))})", columns)
        stored = connection.execute(f"SELECT {COLUMN_LIST} FROM t").fetchone()
    finally:
        connection.close()
    assert None not in stored
    assert joined(dict(rest), stored) == row


def test_none_is_not_given() -> None:
    columns, rest = split({"filter_tags": None, "x": 1})
    assert joined(dict(rest), columns) == {"x": 1}


@given(ids=st.lists(st.text(max_size=8), max_size=12))
def test_any_list_of_ids_reaches_a_statement(ids: list[str]) -> None:
    connection = sqlite3.connect(":memory:")
    try:
        found = connection.execute("SELECT value FROM json_each(?) ORDER BY key", (json_list(ids),)).fetchall()
    finally:
        connection.close()
    expected = [None if "\0" in text or any(0xD800 <= ord(c) <= 0xDFFF for c in text) else text for text in ids]
    assert [value for (value,) in found] == expected


@pytest.mark.parametrize("bad", [1, None, b"bytes", "nul\0", "\ud800"])
def test_ids_that_cannot_be_stored(bad: Any) -> None:
    with pytest.raises(InputError):
        check_ids(["fine", bad])
    check_ids(["fine", "日本", "\\u0000", ""])


def test_json_is_compact_and_readable() -> None:
    assert encode_json({"ä": [1, "日"]}, "row") == '{"ä":[1,"日"]}'


@pytest.fixture
def connection() -> Any:
    opened = sqlite3.connect(":memory:", isolation_level=None)
    for migration in schema.MIGRATIONS:
        migration(opened)
    for statements in (schema.graph_tables("nodes_g", "edges_g"), schema.evidence_tables("evidence_e")):
        for statement in statements.values():
            opened.execute(statement)
    yield opened
    opened.close()


def test_texts_keep_their_numbers(connection: sqlite3.Connection) -> None:
    first = intern_texts(connection, ["b", "a", "b", ""])
    assert list(first.values()) == sorted(first.values())
    again = intern_texts(connection, ["new", "a"])
    assert again["a"] == first["a"]
    assert again["new"] > max(first.values())
    assert text_ids(connection, ["a", "unknown"]) == {"a": first["a"]}
    assert texts_of(connection, [first["b"], 0, 999]) == {first["b"]: "b", 0: ""}


def test_pairs_have_no_direction(connection: sqlite3.Connection) -> None:
    ids = intern_texts(connection, ["b", "a"])
    codes = [pair_code(ids["a"], ids["b"]), pair_code(ids["b"], ids["a"]), pair_code(ids["a"], ids["a"])]
    numbers = intern_pairs(connection, codes)
    assert len(numbers) == 2
    assert pairs_of(connection, list(numbers.values())) == {
        numbers[codes[0]]: ("a", "b"),
        numbers[codes[2]]: ("a", "a"),
    }


def test_sweeping_keeps_what_is_referred_to(connection: sqlite3.Connection) -> None:
    ids = intern_texts(connection, ["node", "end", "entity", "chunk", "doc", "path", "type", "tenant", "gone", "gone2"])
    codes = {name: pair_code(ids["end"], ids[name]) for name in ("node", "entity", "gone")}
    pairs = intern_pairs(connection, codes.values())
    connection.execute("INSERT INTO nodes_g (id, properties) VALUES (?, '{}')", (ids["node"],))
    connection.execute("INSERT INTO edges_g (id, properties) VALUES (?, '{}')", (pairs[codes["node"]],))
    columns = "kind, object, chunk, document, path, type, tenant, created_at, weight, keywords, description"
    texts = [ids[name] for name in ("chunk", "doc", "path", "type", "tenant")]
    for kind, number in ((0, ids["entity"]), (1, pairs[codes["entity"]])):
        connection.execute(
            f"INSERT INTO evidence_e ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, '', '')", (kind, number, *texts)
        )
    sweep(connection)
    left = {text for (text,) in connection.execute("SELECT text FROM texts").fetchall()}
    assert left == ids.keys() - {"gone", "gone2"}
    assert {number for (number,) in connection.execute("SELECT id FROM pairs").fetchall()} == {
        pairs[codes["node"]],
        pairs[codes["entity"]],
    }
