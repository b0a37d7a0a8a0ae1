"""Markdown, which is read as it is written, and tables written as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lightrag.parser.result import FileContent, ParsedText
from lightrag.parser.text import read_text


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
        rows: The heading row, then the others. Short rows are filled up; line ends inside a cell become ``<br>``.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    width = max((len(row) for row in cells), default=0)
    if not width:
        return ""
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in cells]
    lines.insert(1, f"|{' --- |' * width}")
    return "\n".join(lines)


def _cell(value: str) -> str:
    return "<br>".join(value.strip().splitlines()).replace("|", "\\|")
