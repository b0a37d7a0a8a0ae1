"""Markdown, which is read as it is written."""

from __future__ import annotations

from lightrag.parser.text import decode_text


def parse_markdown(source: str, data: bytes) -> str:
    """Parse a Markdown file.

    Marks stay, for models read them, and so does front matter: what it says about a document is worth
    finding.

    Raises:
        InputError: Its encoding is not supported.
    """
    return decode_text(data, source)
