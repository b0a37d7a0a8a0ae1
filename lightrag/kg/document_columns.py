"""What filters see of documents, as columns of numbers and postings of texts.

A row is one state of a document's facts and never changes; a document whose facts change gets another row. So postings
are only ever added to, and whoever holds row numbers needs not to be told of changes.

The parts of a row that no filter has asked for yet may be absent (:class:`Part`): reading and holding what nobody
filters by costs time and memory. Filling a part gives all present rows their values; from then on new rows have them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lightrag.constants import OPEN_END_MS, OPEN_START_MS
from lightrag.kg.growing import GrowingArray
from lightrag.kg.masks import DATE_FIELDS, SOURCE_FIELDS, Rows
from lightrag.query_filters import DocumentFacts, facts_to_row

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Paths that are not sorted in yet; beyond this share of the others they are.
_UNSORTED_SHARE = 8
_MIN_UNSORTED = 1024


class Part(StrEnum):
    """Fields that are filled together."""

    DATES = "dates"
    TAGS = "tags"
    SOURCES = "sources"


PARTS = frozenset(Part)


def parts_of(fields: Iterable[str]) -> frozenset[Part]:
    """Return the parts that hold some of the fields."""
    wanted = set(fields)
    held = {Part.DATES: DATE_FIELDS, Part.TAGS: {"filter_tags"}, Part.SOURCES: SOURCE_FIELDS}
    return frozenset(part for part, names in held.items() if not wanted.isdisjoint(names))


class Dates(NamedTuple):
    """The bounds of the dated ones among several documents.

    Attributes:
        places: Which of the documents they are.
        start_ms: As :func:`~lightrag.query_filters.facts_to_row` splits bounds; so are the others.
    """

    places: Rows
    start_ms: NDArray[np.int64]
    start_us: NDArray[np.integer]
    end_ms: NDArray[np.int64]
    end_us: NDArray[np.integer]


class Sources(NamedTuple):
    """The sources of several documents."""

    doc_types: Sequence[str]
    paths: Sequence[str]
    modified_ms: NDArray[np.int64]


class DocumentColumns:
    """A table of facts. Not safe for threads by itself.

    Attributes:
        count: Number of rows.
        parts: Parts that are filled.
    """

    def __init__(self, parts: Iterable[Part] = PARTS) -> None:
        """Start without rows, so that every part is filled trivially; a later reader fills those left out."""
        self.count = 0
        self.parts = set(parts)
        self._numbers = {
            "filter_start_ms": GrowingArray(np.int64, OPEN_START_MS),
            "filter_start_us": GrowingArray(np.int16),
            "filter_end_ms": GrowingArray(np.int64, OPEN_END_MS),
            "filter_end_us": GrowingArray(np.int16),
            "modified_at": GrowingArray(np.int64, OPEN_START_MS),
        }
        self._tags: dict[str, array[int]] = {}
        self._types: dict[str, int] = {"": 0}
        self._type_codes = GrowingArray(np.int32)
        self._paths = SortedPaths()

    # --- reading ---------------------------------------------------------------------------------------------------

    def column(self, field: str) -> NDArray[Any]:
        """Return a number or flag of all rows."""
        if field == "filter_dated":
            starts, ends = self._number("filter_start_ms"), self._number("filter_end_ms")
            dated: NDArray[np.bool_] = (starts != OPEN_START_MS) | (ends != OPEN_END_MS)
            return dated
        return self._number(field)

    def equal_to(self, field: str, value: str) -> Rows:
        """Return the rows whose type or path is the value."""
        if field == "source_path":
            found = self._paths.equal_to(value)
            return found if value else np.setdiff1d(np.arange(self.count), self._paths.rows(), assume_unique=True)
        self._type_codes.resize(self.count)
        return np.flatnonzero(self._type_codes.values == self._types.get(value, -1))

    def tagged(self, tag: str) -> Rows:
        """Return the rows that carry a tag."""
        return _as_rows(self._tags.get(tag))

    def under(self, folder: str) -> Rows:
        """Return the rows whose path is the folder or lies below it."""
        return self._paths.under(folder)

    def _number(self, field: str) -> NDArray[Any]:
        column = self._numbers[field]
        column.resize(self.count)
        return column.values

    # --- adding ----------------------------------------------------------------------------------------------------

    def reserve(self, rows: int) -> None:
        """Add rows of documents of which nothing is known yet: undated and untagged until a part is filled."""
        self.count += rows

    def add(self, facts: DocumentFacts) -> int:
        """Add the row of a document, with the parts that are filled, and return its number."""
        row, values = self.count, facts_to_row(facts)
        self.count += 1
        if Part.DATES in self.parts and facts.is_dated:
            for field in ("filter_start_ms", "filter_start_us", "filter_end_ms", "filter_end_us"):
                self._numbers[field].set(row, values[field])
        if Part.TAGS in self.parts:
            for tag in facts.tags:
                self._tags.setdefault(tag, array("i")).append(row)
        if Part.SOURCES in self.parts:
            self._numbers["modified_at"].set(row, values["modified_at"])
            self._type_codes.set(row, self._type_code(facts.doc_type))
            self._paths.add(row, facts.source_path)
        return row

    def fill_dates(self, rows: Rows, dates: Dates) -> None:
        """Give rows their bounds; all other rows are undated."""
        self.parts.add(Part.DATES)
        dated = rows[dates.places]
        self._numbers["filter_start_ms"].put(dated, dates.start_ms)
        self._numbers["filter_start_us"].put(dated, dates.start_us)
        self._numbers["filter_end_ms"].put(dated, dates.end_ms)
        self._numbers["filter_end_us"].put(dated, dates.end_us)

    def fill_tags(self, rows: Rows, tags: Mapping[str, Rows]) -> None:
        """Give rows their tags, by places in ``rows``; all other rows have none."""
        self.parts.add(Part.TAGS)
        narrow = rows.astype(np.int32)
        for tag, places in tags.items():
            self._tags.setdefault(tag, array("i")).frombytes(narrow[places].tobytes())

    def fill_sources(self, rows: Rows, sources: Sources) -> None:
        """Give rows their types, paths and times of change; of all other rows they are unknown."""
        self.parts.add(Part.SOURCES)
        self._numbers["modified_at"].put(rows, sources.modified_ms)
        self._type_codes.put(rows, [self._type_code(doc_type) for doc_type in sources.doc_types])
        self._paths.extend(zip(sources.paths, rows.tolist(), strict=True))

    def _type_code(self, doc_type: str) -> int:
        return self._types.setdefault(doc_type, len(self._types))

    # --- keeping small ---------------------------------------------------------------------------------------------

    def keep(self, rows: Rows) -> None:
        """Drop all rows but these, and number them anew in the given order."""
        for column in (*self._numbers.values(), self._type_codes):
            column.resize(self.count)
            column.keep(rows)
        number = np.full(self.count, -1, dtype=np.int32)
        number[rows] = np.arange(len(rows), dtype=np.int32)
        for tag, posting in self._tags.items():
            moved = number[_as_rows(posting)]
            self._tags[tag] = array("i", moved[moved >= 0].tolist())
        paths, self._paths = self._paths, SortedPaths()
        self._paths.extend((path, int(number[row])) for path, row in paths.items() if number[row] >= 0)
        self.count = len(rows)


class SortedPaths:
    """Rows by path. All paths below a folder stand together when sorted, since ``/`` is followed by ``0``."""

    def __init__(self) -> None:
        self._sorted: list[str] = []
        self._rows: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._unsorted: list[tuple[str, int]] = []

    def add(self, row: int, path: str) -> None:
        """Add a row; one without a path lies nowhere."""
        if path:
            self._unsorted.append((path, row))

    def extend(self, items: Iterable[tuple[str, int]]) -> None:
        """Add several rows, each with its path."""
        self._unsorted.extend((path, row) for path, row in items if path)

    def items(self) -> Iterable[tuple[str, int]]:
        """Return every path with its row."""
        return chain(zip(self._sorted, self._rows.tolist(), strict=True), self._unsorted)

    def rows(self) -> Rows:
        """Return all rows that have a path."""
        return np.concatenate([self._rows, np.array([row for _, row in self._unsorted], dtype=np.int32)])

    def under(self, folder: str) -> Rows:
        """Return the rows of a folder and of everything below it."""
        exact = self.equal_to(folder)
        inside = folder + "/"
        first, last = bisect_left(self._sorted, inside), bisect_left(self._sorted, folder + "0")
        late = [row for path, row in self._unsorted if path.startswith(inside)]
        return np.concatenate([self._rows[first:last], np.array(late, dtype=np.int32), exact])

    def equal_to(self, path: str) -> Rows:
        """Return the rows with exactly this path."""
        self._sort_if_due()
        first, last = bisect_left(self._sorted, path), bisect_right(self._sorted, path)
        late = [row for known, row in self._unsorted if known == path]
        return np.concatenate([self._rows[first:last], np.array(late, dtype=np.int32)])

    def _sort_if_due(self) -> None:
        if len(self._unsorted) <= max(_MIN_UNSORTED, len(self._sorted) // _UNSORTED_SHARE):
            return
        together = sorted(self.items())
        self._sorted = [path for path, _ in together]
        self._rows = np.fromiter((row for _, row in together), dtype=np.int32, count=len(together))
        self._unsorted = []


def _as_rows(posting: array[int] | None) -> Rows:
    # A copy: an array that is looked at cannot be added to.
    return np.empty(0, dtype=np.int32) if posting is None else np.array(posting, dtype=np.int32)
