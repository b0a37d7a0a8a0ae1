"""Keys in order, for reading them page by page."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Container, Iterable


class KeyOrder:
    """The keys of a mapping, sorted when they are asked for and not before.

    Deleted keys are passed over where they stand, so that whoever deletes page by page does not sort again each time.
    """

    def __init__(self) -> None:
        """Start unsorted."""
        self._sorted: list[str] | None = None
        self._lock = threading.Lock()

    def added(self) -> None:
        """Note that there is a new key."""
        self._sorted = None

    def page(self, keys: Iterable[str], present: Container[str], after: str, limit: int) -> list[str]:
        """Return up to ``limit`` present keys that sort after ``after``.

        Args:
            keys: All keys, for sorting them.
            present: Tells which keys are still there.
            after: Last key of the page before.
            limit: Length of the page.
        """
        if limit <= 0:
            return []
        with self._lock:
            if self._sorted is None:
                self._sorted = sorted(keys)
            known = self._sorted
        found: list[str] = []
        for position in range(bisect_right(known, after), len(known)):
            if known[position] in present:
                found.append(known[position])
                if len(found) == limit:
                    break
        return found
