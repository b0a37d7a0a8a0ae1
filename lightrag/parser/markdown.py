"""Markdown, which is read as it is written, and tables written as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lightrag.parser.result import FileContent, ParsedText
from lightrag.parser.text import read_text

_MOST_FILLED = 10


def parse_markdown(content: FileContent) -> ParsedText:
    """Parse a Markdown file.

    Marks stay, for models read them, and so does front matter: what it says about a document is worth finding.

    Raises:
        InputError: The bytes are no text.
        MissingDependencyError: The encoding has to be guessed, and the package that does is not installed.
    """
    return read_text(content)


def markdown_table(rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown.

    Args:
        rows: The heading row, then the others. Line ends inside a cell become ``<br>``. Short rows are filled up,
            unless there are so many that most of the table would be empty cells.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    width = max((len(row) for row in cells), default=0)
    if not width:
        return ""
    # One wide row would otherwise make every short one as long as itself.
    is_ragged = width * len(cells) > _MOST_FILLED * sum(len(row) for row in cells)
    if is_ragged:
        cells[0].extend([""] * (width - len(cells[0])))
    filled = 0 if is_ragged else width
    lines = [f"| {' | '.join([*row, *[''] * (filled - len(row))])} |" for row in cells]
    lines.insert(1, f"|{' --- |' * width}")
    return "\n".join(lines)


def _cell(value: str) -> str:
    return "<br>".join(value.strip().splitlines()).replace("|", "\\|")
