"""Telling a model's reply from the reasoning that some models write before it."""

from __future__ import annotations

import re
from typing import NamedTuple

_NAMES = r"(?:think|thinking|thought|reasoning)"
# Only at the start of a line: in the middle of one it is a word of the document that speaks about such
# models.
_OPENING = re.compile(rf"(?:\A|(?<=\n))[ \t]*<\s*{_NAMES}\s*>", re.IGNORECASE)
_CLOSING = re.compile(rf"<\s*/\s*{_NAMES}\s*>", re.IGNORECASE)
_REPLY_START = re.compile(r"""[\s"'(*\-]*(?:entit|relation|[{\[<`])""", re.IGNORECASE)
# A reply with more closing tags than this is not reasoning but a text about it.
_MAX_LONE_CLOSINGS = 20


class ThinkingSplit(NamedTuple):
    """A reply, taken apart.

    Attributes:
        answer: What is meant for the reader.
        reasoning: The blocks of reasoning, joined.
        unclosed: The last block has no end, so the reply broke off while the model was still reasoning.
    """

    answer: str
    reasoning: str
    unclosed: bool


def split_thinking(reply: str) -> ThinkingSplit:
    """Separate reasoning from the answer, whole blocks as well as those without a beginning or an end."""
    kept: list[str] = []
    reasoning: list[str] = []
    position = 0
    unclosed = False
    while opening := _OPENING.search(reply, position):
        kept.append(reply[position : opening.start()])
        closing = _CLOSING.search(reply, opening.end())
        reasoning.append(reply[opening.end() : closing.start() if closing else len(reply)])
        position = closing.end() if closing else len(reply)
        unclosed = closing is None
        if unclosed:
            break
    kept.append(reply[position:])
    answer = "".join(kept)
    lone = _lone_closing(answer)
    if lone:
        reasoning.append(answer[: lone.start()])
        answer = answer[lone.end() :]
    return ThinkingSplit(answer, "\n".join(reasoning), unclosed)


def strip_thinking(reply: str) -> str:
    """Return a reply without reasoning and without white space around it."""
    return split_thinking(reply).answer.strip()


def _lone_closing(text: str) -> re.Match[str] | None:
    """Return the last closing tag that ends reasoning, not one that a record merely mentions."""
    for closing in list(_CLOSING.finditer(text))[: -_MAX_LONE_CLOSINGS - 1 : -1]:
        line_start = text.rfind("\n", 0, closing.start()) + 1
        line_end = text.find("\n", closing.end())
        before = text[line_start : closing.start()]
        after = text[closing.end() : line_end if line_end >= 0 else len(text)]
        inside_record = ("<|" in before or '"' in before) and after.strip() and not _REPLY_START.match(after)
        if not inside_record:
            return closing
    return None
