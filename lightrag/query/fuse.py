"""Merge ranked lists and cut them to budgets. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")


def round_robin(lists: Sequence[Sequence[T]], key: Callable[[T], Hashable]) -> list[T]:
    """Take the first of every list, then the second of every list, and so on; of equal keys the first one stays.

    Args:
        lists: Ranked lists, the most trusted first.
        key: Identity of an item.
    """
    merged: dict[Hashable, T] = {}
    for rank in range(max(map(len, lists), default=0)):
        for ranked in lists:
            if rank < len(ranked):
                merged.setdefault(key(ranked[rank]), ranked[rank])
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
