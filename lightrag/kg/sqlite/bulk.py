"""Whole columns out of a table, for what is kept in memory.

SQLite joins the values of a column into one text, which is taken apart here: several times faster than a Python object
for every value of every row.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Rows that are joined at a time; bounds the length of the texts.
_ROWS = 100_000
_SEPARATOR = "\x1f"


@dataclass(frozen=True, slots=True)
class Source:
    """What to read from.

    Attributes:
        table: Has the alias ``t``.
        number: Its primary key; the rows come in this order unless an index is named.
        joins: Further tables; they may not change the number of rows.
        condition: Which rows.
        index: That holds all columns which are read, so that the table itself need not be.
    """

    table: str
    number: str = "id"
    joins: str = ""
    condition: str = "TRUE"
    index: str = ""

    def select(self, expressions: Sequence[str]) -> str:
        """Return the statement that reads expressions over the rows of a window of numbers, or over all of an index."""
        wanted = f"SELECT {', '.join(expressions)} FROM {self.table} AS t"
        if self.index:
            return f"{wanted} INDEXED BY {self.index} WHERE {self.condition}"
        return f"{wanted} {self.joins} WHERE t.{self.number} > ? AND t.{self.number} <= ? AND {self.condition}"


@dataclass(frozen=True, slots=True)
class Columns:
    """Values of all rows, all in the same order.

    Attributes:
        numbers: Of each expression for integers.
        texts: Of each expression for texts.
    """

    numbers: list[NDArray[np.int64]]
    texts: list[list[str]]


def read_columns(
    connection: sqlite3.Connection,
    source: Source,
    *,
    numbers: Sequence[str],
    texts: Sequence[str] = (),
) -> Columns:
    """Return expressions over all rows of a table.

    Args:
        connection: Reads one snapshot.
        source: The table.
        numbers: Expressions that are integers and never null; at least one.
        texts: Expressions that are texts and never null.
    """
    windows: list[tuple[int, ...]] = [()]
    if not source.index:
        last = connection.execute(f"SELECT max({source.number}) FROM {source.table}").fetchone()[0] or 0
        windows = [(start, start + _ROWS) for start in range(0, last, _ROWS)]
    parts = [_read(connection, source, (numbers, texts), window) for window in windows]
    if len(parts) == 1:
        return parts[0]
    none = np.empty(0, dtype=np.int64)
    return Columns(
        [np.concatenate([none, *(part.numbers[place] for part in parts)]) for place in range(len(numbers))],
        [list(chain.from_iterable(part.texts[place] for part in parts)) for place in range(len(texts))],
    )


_Expressions = tuple[Sequence[str], Sequence[str], Sequence[str]]


def _read(
    connection: sqlite3.Connection,
    source: Source,
    wanted: tuple[Sequence[str], Sequence[str]],
    window: tuple[int, ...],
) -> Columns:
    numbers, texts = wanted
    joined = [
        *(f"group_concat({expression})" for expression in numbers),
        *(f"group_concat({expression}, char({ord(_SEPARATOR)}))" for expression in texts),
    ]
    values = connection.execute(source.select(joined), window).fetchone()
    if values[0] is None:
        return Columns([np.empty(0, dtype=np.int64) for _ in numbers], [[] for _ in texts])
    columns = Columns(
        [np.fromstring(text, dtype=np.int64, sep=",") for text in values[: len(numbers)]],
        [text.split(_SEPARATOR) for text in values[len(numbers) :]],
    )
    if all(len(column) == len(columns.numbers[0]) for column in columns.texts):
        return columns
    # A text holds the separator itself.
    rows = connection.execute(source.select([*numbers, *texts]), window).fetchall()
    single = [list(column) for column in zip(*rows, strict=True)]
    split = len(numbers)
    return Columns([np.array(column, dtype=np.int64) for column in single[:split]], single[split:])
