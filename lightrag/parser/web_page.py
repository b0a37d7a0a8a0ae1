"""Web pages."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, replace

from lightrag.exceptions import InputError
from lightrag.parser.extraction import extract
from lightrag.parser.result import FileContent, ParsedText
from lightrag.parser.text import read_text, unify_line_ends

_HEAD_BYTES = 4096
_META_CHARSET = re.compile(rb"""<meta[^>]+charset\s*=\s*["']?\s*([A-Za-z0-9._:-]+)""", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"""^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_HEAD = re.compile(r"<head\b[^<>]*>", re.IGNORECASE)
_HEAD_END = re.compile(r"</head\s*>|(?=<body\b)", re.IGNORECASE)
_TITLE = re.compile(r"<title\b[^<>]*>", re.IGNORECASE)
_TITLE_END = re.compile(r"</title\s*>", re.IGNORECASE)


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
    title = _between(page, _TITLE, _TITLE_END)
    heading = " ".join(html.unescape(page[title.inner]).split()) if title else ""
    head = _between(page, _HEAD, _HEAD_END)
    body = page[: head.outer.start] + page[head.outer.stop :] if head else page
    encoded = FileContent(source, body.encode("utf-8", "replace"))
    text = unify_line_ends(extract(encoded, "text/html").content)
    if not heading or heading in text:
        return text
    return f"# {heading}\n\n{text}"


@dataclass(frozen=True, slots=True)
class _Element:
    inner: slice
    outer: slice


def _between(page: str, start: re.Pattern[str], end: re.Pattern[str]) -> _Element | None:
    """Return where the first element of a kind is; ``None`` if it does not end.

    One pattern for both would look for the end of the page from every start that has none.
    """
    opened = start.search(page)
    closed = end.search(page, opened.end()) if opened else None
    if opened is None or closed is None:
        return None
    return _Element(slice(opened.end(), closed.start()), slice(opened.start(), closed.end()))
