"""Cutting text into sentences and words."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ABBREVIATIONS = frozenset(
    [
        "mr",
        "mrs",
        "ms",
        "dr",
        "prof",
        "st",
        "no",
        "nos",
        "sgt",
        "capt",
        "col",
        "gen",
        "lt",
        "rev",
        "hon",
        "jr",
        "sr",
        "vs",
        "etc",
        "e.g",
        "i.e",
        "cf",
        "vol",
        "p",
        "pp",
        "fig",
        "art",
        "sec",
        "ch",
        "inc",
        "ltd",
        "co",
        "corp",
        "jan",
        "feb",
        "mar",
        "apr",
        "jun",
        "jul",
        "aug",
        "sep",
        "sept",
        "oct",
        "nov",
        "dec",
        "approx",
        "dept",
        "est",
        "ed",
        "eds",
        "nr",
        "bzw",
        "ca",
        "usw",
        "z.b",
        "u.a",
    ]
)
# A run of dots is tried once, from its first: a table of contents is full of them.
_END = re.compile(r"(?<![.!?…])([.!?…]++)([\"'”’»)\]*_]*+)(\s++|$)|[。！？｡]+[」』”）]*|[।؟۔]+\s*")
_BLOCK_BREAK = re.compile(r"\n[ \t]*\n+")
# Lines that are no part of the paragraph around them.
_OWN_LINE = re.compile(r"\s*(?:#{1,6}\s|[-*+•]\s|\d{1,3}[.)]\s|\||>|```|\*\*[^*\n]{1,60}[:.]\*\*|[\w ]{1,30}:\s)")
_HEADING = re.compile(r"\s*#{1,6}\s+(?P<text>.*)$")
_LIST_SIGN = re.compile(r"^\s*(?:[-*+•>]|\d{1,3}[.)])\s+")
_KEY = re.compile(r"^\s*\*\*(?P<key>[^*\n]{1,60}?)(?:[:.]\*\*[:.]?|\*\*:)\s*(?P<rest>.*)$", re.DOTALL)
_RULE = re.compile(r"^[\s|:\-=*_]+$")
_EMPHASIS = re.compile(r"(?<![\w*_])[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?![\w*_])")
_MAX_SENTENCE = 600


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, a heading or a table row.

    Attributes:
        text: On one line, without list signs and emphasis.
        kind: ``prose``, ``heading`` or ``table``.
        key: Label in front of it, as in ``Inventor: Ottoline Brandreth``.
        paragraph: Number of its paragraph.
    """

    text: str
    kind: str
    key: str
    paragraph: int


def split_sentences(text: str) -> list[Sentence]:
    """Return the sentences of a text in order, headings and table rows among them."""
    found: list[Sentence] = []
    for number, (block, kind) in enumerate(_blocks(text)):
        key = ""
        body = block
        if kind == "prose":
            body = _LIST_SIGN.sub("", body)
            label = _KEY.match(body)
            if label:
                key, body = label["key"].strip(), label["rest"] or label["key"]
        body = " ".join(_EMPHASIS.sub("", body).split())
        if not body or _RULE.match(body):
            continue
        pieces = [body] if kind != "prose" else _split_prose(body)
        found.extend(Sentence(piece, kind, key, number) for piece in pieces if piece)
    return found


def _blocks(text: str) -> list[tuple[str, str]]:
    """Return ``(text, kind)`` of paragraphs, headings, list items and table rows."""
    blocks: list[tuple[str, str]] = []
    for paragraph in _BLOCK_BREAK.split(text):
        current: list[str] = []
        for line in paragraph.split("\n"):
            heading = _HEADING.match(line)
            if heading or _OWN_LINE.match(line):
                if current:
                    blocks.append((" ".join(current), "prose"))
                    current = []
                if heading:
                    blocks.append((heading["text"].rstrip().rstrip("#").rstrip(), "heading"))
                elif line.lstrip().startswith("|"):
                    blocks.append((" ".join(line.replace("|", " ").split()), "table"))
                else:
                    current = [line]
            else:
                current.append(line)
        if current:
            blocks.append((" ".join(current), "prose"))
    return blocks


def _split_prose(text: str) -> list[str]:
    pieces: list[str] = []
    start = 0
    for end in _END.finditer(text):
        if end[1] and not _ends_here(text, start, end):
            continue
        pieces.append(text[start : end.end()])
        start = end.end()
    pieces.append(text[start:])
    return [part for piece in pieces for part in _bounded(_without_stray_quotes(piece.strip()))]


def _ends_here(text: str, start: int, end: re.Match[str]) -> bool:
    """Tell whether a full stop, question or exclamation mark ends a sentence."""
    following = text[end.end() : end.end() + 3].lstrip("\"'“‘«([*_")
    if following and following[0].islower():
        return False
    if end[1] != "." or not following:
        return True
    before = text[max(start, end.start() - 12) : end.start()].rsplit(None, 1)
    word = before[-1].lstrip("\"'“‘([*").lower() if before else ""
    if word in _ABBREVIATIONS:
        return False
    # An initial: ``J. R. Smith``. A single letter that ends a sentence is rarer.
    return not (len(word) == 1 and word.isalpha() and word != "i")


def _without_stray_quotes(text: str) -> str:
    """Drop a quotation mark at one end whose partner stands in another sentence."""
    for opening, closing in (('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"), ("「", "」")):
        count = text.count(opening) + (text.count(closing) if closing != opening else 0)
        if count % 2:
            if text.startswith(opening):
                text = text[1:]
            elif text.endswith(closing):
                text = text[:-1]
    return text.strip()


def _bounded(text: str) -> list[str]:
    """Cut what no full stop has cut, at spaces if there are any."""
    pieces: list[str] = []
    while len(text) > _MAX_SENTENCE:
        cut = text.rfind(" ", _MAX_SENTENCE // 2, _MAX_SENTENCE)
        cut = cut if cut > 0 else _MAX_SENTENCE
        pieces.append(text[:cut].strip())
        text = text[cut:].strip()
    return [*pieces, text]
