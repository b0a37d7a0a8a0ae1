"""Normal forms of what says where a document comes from: its path, its type, its id."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache

from lightrag.exceptions import FilterSyntaxError

MAX_TEXT_CHARS = 1024
"""Longest doc type, path, id or label that a filter takes; longer ones are mistakes or attacks."""

MAX_FILTER_VALUES = 256
"""How many doc types, folders, labels, relation types or property values one filter may list."""

MAX_FILTER_DOCUMENTS = 100_000
"""How many documents one filter may list by id."""


def check_text(value: object, what: str) -> str:
    """Return a text that every store can hold.

    Args:
        value: What a caller sent.
        what: Its name in the message.

    Raises:
        FilterSyntaxError: Not a text, too long, or it holds control characters or half a surrogate pair,
            which some
            stores refuse and others cannot give back.
    """
    if not isinstance(value, str):
        raise FilterSyntaxError(f"{what} is a text, not {value!r}")
    if len(value) > MAX_TEXT_CHARS:
        raise FilterSyntaxError(f"{what} has {len(value)} characters; allowed are {MAX_TEXT_CHARS}")
    if any(unicodedata.category(character) in {"Cc", "Cs"} for character in value):
        raise FilterSyntaxError(f"{what} {value!r} holds a control character or half a surrogate pair")
    return value


def normalize_doc_type(value: str) -> str:
    """Return a document type without outer blanks and case: ``" PDF"`` gives ``"pdf"``."""
    return check_text(value, "doc_type").strip().casefold()


def normalize_source_path(value: str) -> str:
    """Return a path relative to the root of its source, with ``/`` between the segments and none at the ends.

    A backslash counts as ``/``; empty and ``.`` segments are dropped, ``..`` takes the segment before it
    away. Case is kept.

    Raises:
        FilterSyntaxError: As :func:`check_text`, or ``..`` leads out of the root.
    """
    segments: list[str] = []
    for segment in check_text(value, "path").strip().replace("\\", "/").split("/"):
        if segment == "..":
            if not segments:
                raise FilterSyntaxError(f"path {value!r} leads out of its root")
            segments.pop()
        elif segment not in {"", "."}:
            segments.append(segment)
    return "/".join(segments)


@lru_cache(maxsize=4096)
def stored_path(value: str) -> str:
    """Return the normal form of a stored path, ``""`` for one that has none."""
    try:
        return normalize_source_path(value)
    except FilterSyntaxError:
        return ""


def is_under(path: str, folder: str) -> bool:
    """Tell whether a path is the folder or lies below it, both in normal form; borders are segments."""
    return path == folder or path.startswith(folder + "/")


def normalize_list(
    values: Iterable[str], what: str, normal_form: Callable[[str], str], limit: int = MAX_FILTER_VALUES
) -> list[str]:
    """Return the normal forms of a filter's list, each once, in order of first appearance.

    Args:
        values: What a caller sent; blank texts are skipped.
        what: Name of the list in messages.
        normal_form: Gives the normal form of one value.
        limit: How many may be left.

    Raises:
        FilterSyntaxError: Not a list of texts, a value of which nothing is left, only blank values, or too
            many. An
            empty rest must never be mistaken for "no filter".
    """
    items = listed(values, what)
    distinct: dict[str, None] = {}
    for item in items:
        text = check_text(item, what)
        if text.strip():
            normal = normal_form(text)
            if not normal:
                raise FilterSyntaxError(f"{what}: {item!r} names nothing; leave it out to search everywhere")
            distinct[normal] = None
    refuse_blank(items, distinct, what)
    if len(distinct) > limit:
        raise FilterSyntaxError(f"{what} lists {len(distinct)} values; allowed are {limit}")
    return list(distinct)


def listed(values: object, what: str) -> list[object]:
    """Return the elements of a list, tuple or set; ``None`` is an empty list.

    Raises:
        FilterSyntaxError: Anything else, also a single text, which would fall into its letters.
    """
    if values is None:
        return []
    if isinstance(values, set | frozenset):
        return sorted(values, key=repr)
    if not isinstance(values, list | tuple):
        raise FilterSyntaxError(f"{what} is a list, not {values!r}")
    return list(values)


def refuse_blank(given: Iterable[object], left: Iterable[object], what: str) -> None:
    """Refuse a filter list that held only blank values.

    Raises:
        FilterSyntaxError: Something was given and nothing is left.
    """
    if list(given) and not list(left):
        raise FilterSyntaxError(f"{what} holds only blank values; leave it out for no filter")
