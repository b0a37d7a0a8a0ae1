"""Tables with ruled lines in PDF files."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from reportlab.pdfgen.canvas import Canvas

from lightrag.parser.pdf_tables import RuledTable, insert_tables
from lightrag.parser.registry import parse_file
from tests.parser import corpus

EXPECTED = "| Port | Depth |\n| --- | --- |\n| Orlmark | 12 m |\n| Tessin | 9 m |"


def drawn(paint: Callable[[Canvas], Any]) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(600, 800))
    paint(canvas)
    canvas.showPage()
    canvas.save()
    return buffer.getvalue()


PROSE = (
    "the annual report of the authority describes how the harbour was dredged in the",
    "year 1931, what it cost, and which ships could enter it afterwards.",
)


def write_prose(canvas: Canvas, start: str, top: int) -> None:
    for number, line in enumerate(PROSE):
        canvas.drawString(50, top - number * 14, line if number else f"{start} {line}")


def write_cells(canvas: Canvas) -> None:
    write_prose(canvas, "Before the table,", 400)
    for row, values in enumerate(corpus.TABLE):
        for column, value in enumerate(values):
            canvas.drawString(55 + column * 100, 305 - row * 20, value)
    write_prose(canvas, "After the table,", 200)


def lines(canvas: Canvas) -> None:
    canvas.grid([50, 150, 250], [260, 280, 300, 320])


def thin_rectangles(canvas: Canvas) -> None:
    for x in (50, 150, 250):
        canvas.rect(x, 260, 0.8, 60, stroke=0, fill=1)
    for y in (260, 280, 300, 320):
        canvas.rect(50, y, 200, 0.8, stroke=0, fill=1)


def cell_boxes(canvas: Canvas) -> None:
    for x in (50, 150):
        for y in (260, 280, 300):
            canvas.rect(x, y, 100, 20)


def moved(canvas: Canvas) -> None:
    canvas.saveState()
    canvas.translate(50, 260)
    canvas.scale(2, 2)
    canvas.grid([0, 50, 100], [0, 10, 20, 30])
    canvas.restoreState()


@pytest.mark.parametrize("borders", [lines, thin_rectangles, cell_boxes, moved])
def test_borders_of_every_kind(borders: Callable[[Canvas], None]) -> None:
    def paint(canvas: Canvas) -> None:
        borders(canvas)
        write_cells(canvas)

    text = parse_file("a.pdf", drawn(paint))
    assert EXPECTED in text
    assert text.index("Before the table,") < text.index(EXPECTED) < text.index("After the table,")
    assert text.count("Orlmark") == 1


def test_lines_that_only_clip_make_no_table() -> None:
    def paint(canvas: Canvas) -> None:
        for x in (50, 150):
            for y in (260, 280, 300):
                canvas.saveState()
                path = canvas.beginPath()
                path.rect(x, y, 100, 20)
                canvas.clipPath(path, stroke=0, fill=0)
                canvas.restoreState()
        write_cells(canvas)

    text = parse_file("a.pdf", drawn(paint))
    assert "|" not in text
    assert "Orlmark" in text


def test_a_frame_around_text_is_no_table() -> None:
    def paint(canvas: Canvas) -> None:
        canvas.rect(40, 40, 320, 320)
        canvas.drawString(50, 300, "Framed text")

    assert parse_file("a.pdf", drawn(paint)).strip() == "Framed text"


def test_every_page_has_its_table_at_its_place() -> None:
    text = parse_file("a.pdf", corpus.pdf(pages=3))
    assert text.count(EXPECTED) == 3
    parts = text.split(EXPECTED)
    assert [f"Report {number}" in part for number, part in enumerate(parts[:3], start=1)] == [True] * 3


def test_tables_whose_text_is_not_found_change_nothing() -> None:
    table = RuledTable([["a", "b"], ["c", "d"]], ("abcd",))
    assert insert_tables("Something else", iter([table])) == "Something else"
    assert insert_tables("x **a b** c d y", iter([table])) == "x\n\n| a | b |\n| --- | --- |\n| c | d |\n\ny"
