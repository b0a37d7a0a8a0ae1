"""Merge ranked lists and cut them to budgets. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import zip_longest
from typing import TypeVar

T = TypeVar("T")

_GAP = object()


def round_robin(lists: Sequence[Sequence[T]], key: Callable[[T], Hashable]) -> list[T]:
    """Take the first of every list, then the second of every list, and so on; of equal keys the first one stays.

    Args:
        lists: Ranked lists, the most trusted first.
        key: Identity of an item.
    """
    merged: dict[Hashable, T] = {}
    if len(lists) == 1:
        for item in lists[0]:
            merged.setdefault(key(item), item)
        return list(merged.values())
    for rank in zip_longest(*lists, fillvalue=_GAP):
        for item in rank:
            if item is not _GAP:
                merged.setdefault(key(item), item)  # type: ignore[arg-type]
    return list(merged.values())


def within_budget(sizes: Iterable[int], budget: int) -> int:
    """Return how many items from the front fit: the first that does not fit ends the list.

    Args:
        sizes: Tokens of each item.
        budget: Tokens of all together.
    """
    used = 0
    count = 0
    for size in sizes:
        used += size
        if used > budget:
            break
        count += 1
    return count
