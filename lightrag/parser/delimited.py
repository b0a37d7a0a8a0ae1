"""CSV and TSV, which become one Markdown table."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace

from lightrag.parser.markdown import markdown_table
from lightrag.parser.result import FileContent, ParsedText
from lightrag.parser.text import read_text

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_LINES = 50
_EXCEL_MARK = "sep="


def parse_delimited(content: FileContent) -> ParsedText:
    """Parse a table whose cells are separated by comma, semicolon, tab or bar, whichever fits it best.

    A file that is no table stays text, with a warning.

    Raises:
        InputError: The bytes are no text.
        MissingDependencyError: The encoding has to be guessed, and the package that does is not installed.
    """
    parsed = read_text(content)
    text, delimiter = _take_mark(parsed.text)
    lines = text.split("\n")
    delimiter = delimiter or _delimiter(lines[:_SAMPLE_LINES])
    if not delimiter:
        return parsed
    try:
        rows = [row for row in csv.reader(_with_ends(lines), delimiter=delimiter, strict=True) if any(row)]
    except csv.Error as error:
        return replace(parsed, warnings=(*parsed.warnings, f"the table is broken ({error}) and was kept as text"))
    return replace(parsed, text=markdown_table(rows))


def _take_mark(text: str) -> tuple[str, str]:
    """Return the text without the line by which spreadsheets tell the delimiter, and that delimiter."""
    first, _, rest = text.partition("\n")
    if first.lower().startswith(_EXCEL_MARK) and len(first) == len(_EXCEL_MARK) + 1:
        return rest, first[-1]
    return text, ""


def _delimiter(lines: list[str]) -> str:
    """Return the delimiter that gives most lines the same number of cells, more than one; ``""`` if none does."""
    best, best_score = "", (0.0, 0)
    for delimiter in _DELIMITERS:
        try:
            widths = [len(row) for row in csv.reader(_with_ends(lines), delimiter=delimiter) if row]
        except csv.Error:
            continue
        if not widths:
            continue
        width, count = Counter(widths).most_common(1)[0]
        score = (count / len(widths), width)
        if width > 1 and score > best_score:
            best, best_score = delimiter, score
    return best


def _with_ends(lines: list[str]) -> list[str]:
    # A quoted cell may hold line ends, which the reader only knows when each line still has its own.
    return [f"{line}\n" for line in lines]
