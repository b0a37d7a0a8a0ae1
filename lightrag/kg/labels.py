"""Labels of a graph that resemble a text."""

from __future__ import annotations

from collections.abc import Sequence

ALL_NODES = "*"
"""Stands for all nodes in a view of the graph."""

_EQUAL = 1000
_PREFIX = 500
_BASE = 100
_WORD_START = 50


def best_labels(labels: Sequence[str], query: str, limit: int) -> list[str]:
    """Return the labels that contain a text in any case, best first.

    Args:
        labels: All of them.
        query: What to look for; blank finds nothing.
        limit: How many at the most.
    """
    wanted = query.strip().casefold()
    if not wanted or limit <= 0:
        return []
    scored = [(_score(folded, wanted), label) for label in labels if wanted in (folded := label.casefold())]
    scored.sort(key=lambda item: (-item[0], item[1]))
    return [label for _, label in scored[:limit]]


def _score(label: str, wanted: str) -> int:
    if label == wanted:
        return _EQUAL
    if label.startswith(wanted):
        return _PREFIX
    starts = (position for position in range(1, len(label)) if label.startswith(wanted, position))
    at_word = any(not label[position - 1].isalnum() for position in starts)
    return _BASE - len(label) + (_WORD_START if at_word else 0)
