"""Sentences of a text in any language."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from lightrag.chunker.boundaries import may_cut
from lightrag.exceptions import InputError

# A full stop ends a sentence only before white space; the wide marks of East Asia always do. Closing quotes and
# brackets belong to the sentence. Empty lines, and lines that begin a list, table or heading, end one too.
_DEFAULT_ENDS = (
    r"[.!?…؟۔।॥]+[\"'”’»)\]]*\s+"
    r"|[。！？｡]+[\"”’」』）]*\s*"
    r"|\n\s*\n"
    r"|\n(?=\s*(?:[#|*+-]|\d+[.)])\s?)"
)


@lru_cache(maxsize=8)
def sentence_pattern(pattern: str | None) -> re.Pattern[str]:
    """Return the pattern after whose matches sentences end.

    Args:
        pattern: Regular expression, or ``None`` for the default one.

    Raises:
        InputError: It is no regular expression.
    """
    try:
        return re.compile(pattern or _DEFAULT_ENDS)
    except re.error as error:
        raise InputError(f"sentence_split_regex {pattern!r} is no regular expression: {error}") from error


def sentence_spans(text: str, pattern: str | None = None) -> list[tuple[int, int]]:
    """Return start and end of every sentence; together they are the whole text.

    Args:
        text: Any text.
        pattern: Regular expression after whose matches a sentence ends; ``None`` for the default rule.

    Raises:
        InputError: The pattern is no regular expression.
    """
    places = [0]
    for found in sentence_pattern(pattern).finditer(text):
        place = found.end()
        if places[-1] < place < len(text) and may_cut(text, place, places[-1]):
            places.append(place)
    if len(text) > places[-1]:
        places.append(len(text))
    return list(pairwise(places))
