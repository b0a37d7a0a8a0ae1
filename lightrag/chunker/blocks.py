"""The blocks of a Markdown text: headings, paragraphs, tables, code, each with the headings it stands under."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["heading", "paragraph", "table", "code"]

_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*)$")
_UNDERLINE = re.compile(r"^ {0,3}(=+|-{2,})[ \t]*$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_TABLE_ROW = re.compile(r"^\s*\|.*\|\s*$")
_TABLE_RULE = re.compile(r"^\s*\|(?:\s*:?-+:?\s*\|)+\s*$")
_MARKS = re.compile(r"[*_`]+")


@dataclass(frozen=True, slots=True)
class Block:
    """A block.

    Attributes:
        kind: What it is.
        start: Its first character in the text.
        end: The one behind its last, the empty lines that follow included.
        headings: The headings it stands under, outermost first; a heading is under itself.
    """

    kind: Kind
    start: int
    end: int
    headings: tuple[str, ...]


def markdown_blocks(text: str) -> list[Block]:
    """Cut a text into blocks that together are the whole text.

    Plain text is Markdown too: paragraphs without headings.

    Args:
        text: Markdown.
    """
    blocks: list[Block] = []
    path: list[tuple[int, str]] = []
    for kind, start, end, level, title in _scan(_lines(text)):
        if kind == "heading":
            while path and path[-1][0] >= level:
                path.pop()
            if title:
                path.append((level, title))
        blocks.append(Block(kind, start, end, tuple(heading for _, heading in path)))
    return blocks


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    text: str

    @property
    def is_empty(self) -> bool:
        return not self.text.strip()


def _lines(text: str) -> list[_Line]:
    lines: list[_Line] = []
    start = 0
    while start < len(text):
        found = text.find("\n", start)
        end = len(text) if found < 0 else found + 1
        lines.append(_Line(start, end, text[start:end].rstrip("\r\n")))
        start = end
    return lines


def _scan(lines: list[_Line]) -> Iterator[tuple[Kind, int, int, int, str]]:
    """Yield kind, start, end, level and title; level and title are those of headings."""
    index = 0
    while index < len(lines):
        first = index
        kind, level, title = "paragraph", 0, ""
        line = lines[index].text
        if (heading := _HEADING.match(line)) is not None:
            kind, level, title = "heading", len(heading[1]), _plain(heading[2].rstrip(" \t").rstrip("#"))
            index += 1
        elif (fence := _FENCE.match(line)) is not None:
            kind, index = "code", _fence_end(lines, index, fence[1])
        elif _begins_table(lines, index):
            kind = "table"
            while index < len(lines) and _TABLE_ROW.match(lines[index].text):
                index += 1
        elif (underline := _underlined(lines, index)) is not None:
            kind, level, title = "heading", 1 if underline == "=" else 2, _plain(line)
            index += 2
        else:
            index = _paragraph_end(lines, index)
        while index < len(lines) and lines[index].is_empty:
            index += 1
        yield kind, lines[first].start, lines[index - 1].end, level, title  # type: ignore[misc]


def _plain(title: str) -> str:
    return " ".join(_MARKS.sub("", title).split())


def _fence_end(lines: list[_Line], index: int, fence: str) -> int:
    """Return the line behind a block of code; one that is never closed goes to the end."""
    for closing in range(index + 1, len(lines)):
        text = lines[closing].text.strip()
        if text.startswith(fence) and not text.strip(fence[0]):
            return closing + 1
    return len(lines)


def _begins_table(lines: list[_Line], index: int) -> bool:
    return (
        index + 1 < len(lines)
        and _TABLE_ROW.match(lines[index].text) is not None
        and _TABLE_RULE.match(lines[index + 1].text) is not None
    )


def _underlined(lines: list[_Line], index: int) -> str | None:
    """Return the mark under a heading of one line, or ``None`` if the line is none."""
    if index + 1 >= len(lines) or lines[index].is_empty:
        return None
    found = _UNDERLINE.match(lines[index + 1].text)
    return found[1][0] if found is not None else None


def _paragraph_end(lines: list[_Line], index: int) -> int:
    """Return the line behind a paragraph: the next empty one, or where another block begins."""
    index += 1
    while index < len(lines) and not lines[index].is_empty:
        text = lines[index].text
        if _HEADING.match(text) or _FENCE.match(text) or _begins_table(lines, index):
            break
        index += 1
    return index
