"""Tables of a PDF that are drawn with ruled lines.

A PDF knows no tables: cells are texts at positions, borders are lines. Where horizontal and vertical lines meet they
form a grid, and each piece of text belongs to the cell that it begins in. Tables without lines are not found.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lightrag.parser.markdown import markdown_table
from lightrag.parser.pdf_reader import reader_errors

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

# Points, 1/72 inch. Borders are drawn as lines, or as rectangles as thin as a line.
_LINE_WIDTH = 2.5
_SNAP = 3.0
# A page with more lines than this is a drawing, and the grid is found by comparing all with all.
_MAX_LINES = 3000
# Text without tables is better than a document that takes too long.
_MAX_SECONDS = 30.0
_DRAWS = re.compile(rb"\s(?:re|l)\s")
_PAINT = frozenset({b"S", b"s", b"f", b"F", b"f*", b"B", b"B*", b"b", b"b*"})
# Marks that Markdown adds to the text, and white space, which no two readers see alike.
_IGNORED = frozenset(" \t\n\r\f\v\u00a0*_#\\|>`")


@dataclass(frozen=True, slots=True)
class _Line:
    """A horizontal or vertical line: its position on the other axis, and where it begins and ends."""

    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of text and where it begins."""

    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class RuledTable:
    """A table.

    Attributes:
        rows: Its cells, top row first.
        readings: Its text in the orders in which a reader may have put it, without white space.
    """

    rows: list[list[str]]
    readings: tuple[str, ...]


@dataclass
class _Page:
    """Lines and texts of a page, collected while it is read."""

    horizontal: list[_Line] = field(default_factory=list)
    vertical: list[_Line] = field(default_factory=list)
    pieces: list[_Piece] = field(default_factory=list)
    path: list[tuple[float, float, float, float]] = field(default_factory=list)
    point: tuple[float, float] = (0.0, 0.0)

    def operator(self, name: bytes, values: list[Any], matrix: list[float], _text_matrix: list[float]) -> None:
        """Take a drawing operator; a line counts once it is painted, for many only clip."""
        if name == b"m" and len(values) == 2:
            self.point = _moved(matrix, *map(float, values))
        elif name == b"l" and len(values) == 2:
            end = _moved(matrix, *map(float, values))
            self.path.append((*self.point, *end))
            self.point = end
        elif name == b"re" and len(values) == 4:
            x, y, width, height = map(float, values)
            corners = [_moved(matrix, *corner) for corner in
                       ((x, y), (x + width, y), (x + width, y + height), (x, y + height))]  # fmt: skip
            self.path.extend((*start, *end) for start, end in pairwise([*corners, corners[0]]))
        elif name in _PAINT:
            for line in self.path:
                self._add(*line)
            self.path.clear()
        elif name == b"n":
            self.path.clear()

    def text(self, text: str, matrix: list[float], text_matrix: list[float], _font: Any, _size: float) -> None:
        """Take a piece of text."""
        if text.strip():
            self.pieces.append(_Piece(*_moved(matrix, text_matrix[4], text_matrix[5]), " ".join(text.split())))

    def _add(self, x0: float, y0: float, x1: float, y1: float) -> None:
        if abs(y0 - y1) <= _LINE_WIDTH < abs(x0 - x1):
            self.horizontal.append(_Line((y0 + y1) / 2, min(x0, x1), max(x0, x1)))
        elif abs(x0 - x1) <= _LINE_WIDTH < abs(y0 - y1):
            self.vertical.append(_Line((x0 + x1) / 2, min(y0, y1), max(y0, y1)))


def _moved(matrix: list[float], x: float, y: float) -> tuple[float, float]:
    a, b, c, d, e, f = (float(value) for value in matrix)
    return a * x + c * y + e, b * x + d * y + f


def ruled_tables(reader: PdfReader) -> Iterator[RuledTable]:
    """Yield the tables of all pages in order; a page that cannot be read has none.

    Args:
        reader: An opened PDF.
    """
    until = time.monotonic() + _MAX_SECONDS
    for number in range(len(reader.pages)):
        if time.monotonic() > until:
            return
        try:
            collected = _collect(reader.pages[number])
        except reader_errors():
            continue
        if len(collected.horizontal) + len(collected.vertical) <= _MAX_LINES:
            yield from _tables(collected)


def _collect(page: PageObject) -> _Page:
    collected = _Page()
    contents = page.get_contents()
    # Only pages that draw something can hold a table, and reading a page takes a while.
    if contents is None or not _DRAWS.search(contents.get_data()):
        return collected
    page.extract_text(visitor_operand_before=collected.operator, visitor_text=collected.text)
    return collected


def _tables(page: _Page) -> Iterator[RuledTable]:
    for horizontal, vertical in _grids(page):
        ys = _positions([line.at for line in horizontal])
        xs = _positions([line.at for line in vertical])
        if len(xs) < 3 or len(ys) < 3:
            continue
        table = _fill(page.pieces, xs, ys)
        if table is not None:
            yield table


def _grids(page: _Page) -> Iterator[tuple[list[_Line], list[_Line]]]:
    """Yield the lines that meet each other, directly or through others, highest grid of the page first."""
    horizontal, vertical = list(page.horizontal), list(page.vertical)
    grids: list[tuple[list[_Line], list[_Line]]] = []
    while horizontal:
        rows: list[_Line] = [horizontal.pop()]
        columns: list[_Line] = []
        waiting: list[tuple[_Line, bool]] = [(rows[0], True)]
        while waiting:
            line, is_row = waiting.pop()
            others = vertical if is_row else horizontal
            met = [other for other in others if _meet(line, other)]
            for other in met:
                others.remove(other)
                waiting.append((other, not is_row))
            (columns if is_row else rows).extend(met)
        grids.append((rows, columns))
    grids.sort(key=lambda grid: -max(line.at for line in grid[0]))
    yield from grids


def _meet(one: _Line, other: _Line) -> bool:
    return other.start - _SNAP <= one.at <= other.end + _SNAP and one.start - _SNAP <= other.at <= one.end + _SNAP


def _positions(values: list[float]) -> list[float]:
    """Return positions in ascending order, those that lie within a line's width of each other taken as one."""
    found: list[float] = []
    for value in sorted(values):
        if not found or value - found[-1] > _SNAP:
            found.append(value)
    return found


def _fill(pieces: list[_Piece], xs: list[float], ys: list[float]) -> RuledTable | None:
    """Put texts into the cells of a grid; ``None`` if it is no table after all."""
    inside = [piece for piece in pieces if xs[0] <= piece.x <= xs[-1] and ys[0] <= piece.y <= ys[-1]]
    cells: dict[tuple[int, int], list[_Piece]] = {}
    for piece in inside:
        row = len(ys) - 1 - min(bisect_right(ys, piece.y), len(ys) - 1)
        column = min(bisect_right(xs, piece.x), len(xs) - 1) - 1
        cells.setdefault((row, column), []).append(piece)
    rows = [
        [" ".join(piece.text for piece in _in_lines(cells.get((row, column), []))) for column in range(len(xs) - 1)]
        for row in range(len(ys) - 1)
    ]
    rows = [row for row in rows if any(row)]
    used = sum(any(row[column] for row in rows) for column in range(len(xs) - 1))
    # A page may write the cells of a row as one text, which then all stands in the first: no table is better.
    if len(rows) < 2 or used < 2 or used * 2 <= len(xs) - 1:
        return None
    by_cells = _compact(" ".join(cell for row in rows for cell in row))[0]
    by_lines = _compact(" ".join(piece.text for piece in _in_lines(inside)))[0]
    return RuledTable(rows, (by_cells,) if by_cells == by_lines else (by_cells, by_lines))


def _in_lines(pieces: list[_Piece]) -> list[_Piece]:
    return sorted(pieces, key=lambda piece: (-round(piece.y / _SNAP), piece.x))


def insert_tables(text: str, tables: Iterator[RuledTable]) -> str:
    """Replace the running text of tables by Markdown tables.

    Args:
        text: Text of the whole PDF.
        tables: Its tables, in order. One whose text is not found as a whole stays as it is.
    """
    compact, places = _compact(text)
    parts: list[str] = []
    done = searched = 0
    for table in tables:
        for reading in table.readings:
            found = compact.find(reading, searched)
            if found >= 0:
                start, end = places[found], places[found + len(reading) - 1] + 1
                parts += [text[done:start].rstrip(" \n#*|"), markdown_table(table.rows)]
                done, searched = end, found + len(reading)
                break
    if not parts:
        return text
    parts.append(text[done:].lstrip(" *|"))
    return "\n\n".join(part.strip("\n") for part in parts if part.strip())


def _compact(text: str) -> tuple[str, list[int]]:
    """Return a text without what is ignored, and where each of its characters stood."""
    kept = [(character, place) for place, character in enumerate(text) if character not in _IGNORED]
    return "".join(character for character, _ in kept), [place for _, place in kept]
