"""Whole columns out of a table, for what is kept in memory.

SQLite joins the values of a column into one text, which is taken apart here: several times faster than a Python object
for every value of every row.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

# Rows that are joined at a time; bounds the length of the texts.
_ROWS = 100_000
_SEPARATOR = "\x1f"


@dataclass(frozen=True, slots=True)
class Source:
    """What to read from.

    Attributes:
        table: Has the alias ``t``.
        number: Its primary key.
        joins: Further tables; they may not change the number of rows.
        condition: Which rows.
    """

    table: str
    number: str = "id"
    joins: str = ""
    condition: str = "TRUE"


@dataclass(frozen=True, slots=True)
class Columns:
    """Values of all rows, in the order of the primary key.

    Attributes:
        numbers: Of each expression for integers.
        texts: Of each expression for texts.
        lists: Of each expression for JSON arrays.
    """

    numbers: list[NDArray[np.int64]]
    texts: list[list[str]]
    lists: list[list[list[str]]]


def read_columns(
    connection: sqlite3.Connection,
    source: Source,
    *,
    numbers: Sequence[str],
    texts: Sequence[str] = (),
    lists: Sequence[str] = (),
) -> Columns:
    """Return expressions over all rows of a table.

    Args:
        connection: Reads one snapshot.
        source: The table.
        numbers: Expressions that are integers and never null; at least one.
        texts: Expressions that are texts and never null.
        lists: Expressions that are JSON arrays and never null.
    """
    last = connection.execute(f"SELECT max({source.number}) FROM {source.table}").fetchone()[0] or 0
    windows = [_window(connection, source, (numbers, texts, lists), start) for start in range(0, last, _ROWS)]
    none = np.empty(0, dtype=np.int64)
    return Columns(
        [np.concatenate([none, *(window.numbers[place] for window in windows)]) for place in range(len(numbers))],
        [list(chain.from_iterable(window.texts[place] for window in windows)) for place in range(len(texts))],
        [list(chain.from_iterable(window.lists[place] for window in windows)) for place in range(len(lists))],
    )


_Expressions = tuple[Sequence[str], Sequence[str], Sequence[str]]


def _window(connection: sqlite3.Connection, source: Source, wanted: _Expressions, start: int) -> Columns:
    numbers, texts, lists = wanted
    selected = [
        *(f"group_concat({expression})" for expression in numbers),
        *(f"group_concat({expression}, char({ord(_SEPARATOR)}))" for expression in texts),
        *(f"group_concat({expression})" for expression in lists),
    ]
    values = (start, start + _ROWS)
    joined = connection.execute(_statement(source, selected), values).fetchone()
    if joined[0] is None:
        return Columns([np.empty(0, dtype=np.int64) for _ in numbers], [[] for _ in texts], [[] for _ in lists])
    first, second = len(numbers), len(numbers) + len(texts)
    columns = Columns(
        [np.fromstring(text, dtype=np.int64, sep=",") for text in joined[:first]],
        [text.split(_SEPARATOR) for text in joined[first:second]],
        [json.loads(f"[{text}]") for text in joined[second:]],
    )
    if any(len(column) != len(columns.numbers[0]) for column in columns.texts):
        # A text that holds the separator itself.
        rows = connection.execute(_statement(source, texts, order=True), values).fetchall()
        return Columns(columns.numbers, [list(column) for column in zip(*rows, strict=True)], columns.lists)
    return columns


def _statement(source: Source, selected: Sequence[str], *, order: bool = False) -> str:
    return (
        f"SELECT {', '.join(selected)} FROM {source.table} AS t {source.joins} WHERE t.{source.number} > ? "
        f"AND t.{source.number} <= ? AND {source.condition}{f' ORDER BY t.{source.number}' if order else ''}"
    )
