"""Web pages."""

from __future__ import annotations

import html
import re
from dataclasses import replace

from lightrag.exceptions import InputError
from lightrag.parser.extraction import extract
from lightrag.parser.result import FileContent, ParsedText
from lightrag.parser.text import read_text, unify_line_ends

_HEAD_BYTES = 4096
_META_CHARSET = re.compile(rb"""<meta[^>]+charset\s*=\s*["']?\s*([A-Za-z0-9._:-]+)""", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"""^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_HEAD = re.compile(r"<head\b[^>]*>.*?(?:</head\s*>|(?=<body\b))", re.IGNORECASE | re.DOTALL)
_TITLE = re.compile(r"<title\b[^>]*>(.*?)</title\s*>", re.IGNORECASE | re.DOTALL)


def parse_html(content: FileContent) -> ParsedText:
    """Parse a web page: Markdown with its headings, lists and tables, without scripts, styles and navigation.

    Raises:
        InputError: It is no text, or holds none.
        MissingDependencyError: The extra ``documents`` is not installed.
    """
    head = content.data[:_HEAD_BYTES]
    found = _META_CHARSET.search(head) or _XML_ENCODING.match(head)
    page = read_text(content, found[1].decode("ascii") if found else None)
    text = html_to_markdown(page.text, content.source)
    if not text.strip():
        raise InputError(f"{content.source!r} holds no text")
    return replace(page, text=text)


def html_to_markdown(page: str, source: str) -> str:
    """Return HTML as Markdown; may be empty.

    Args:
        page: HTML.
        source: Names the file in messages.

    Raises:
        InputError: The library cannot read it.
        MissingDependencyError: The extra ``documents`` is not installed.
    """
    # The library writes what stands in the head as headings and rules, so only the body is given to it.
    title = _TITLE.search(page)
    heading = " ".join(html.unescape(title[1]).split()) if title else ""
    body = _HEAD.sub("", page, count=1)
    encoded = FileContent(source, body.encode("utf-8", "replace"))
    text = unify_line_ends(extract(encoded, "text/html").content)
    if not heading or heading in text:
        return text
    return f"# {heading}\n\n{text}"
