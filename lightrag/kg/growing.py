"""Arrays that grow at their end without being copied each time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

_MIN_CAPACITY = 64


class GrowingArray:
    """A one-dimensional array with spare room behind its end.

    Views taken earlier keep what they saw of their length only as long as nobody writes to those positions; whoever
    reads and writes in different threads shares a lock.
    """

    __slots__ = ("_data", "_fill", "_size")

    def __init__(self, dtype: DTypeLike, fill: int | bool = 0) -> None:
        """Start empty.

        Args:
            dtype: Of the values.
            fill: Value of positions that nobody has written to.
        """
        self._data = np.full(0, fill, dtype=dtype)
        self._fill = fill
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def values(self) -> NDArray[Any]:
        """All values, as a view."""
        return self._data[: self._size]

    def resize(self, size: int) -> None:
        """Make the array so long; new positions get the fill value."""
        if size > len(self._data):
            larger = np.full(max(size + size // 4, _MIN_CAPACITY), self._fill, dtype=self._data.dtype)
            larger[: self._size] = self._data[: self._size]
            self._data = larger
        elif size < self._size:
            self._data[size : self._size] = self._fill
        self._size = size

    def put(self, positions: NDArray[np.integer], values: ArrayLike) -> None:
        """Write values, growing up to the highest position."""
        if len(positions):
            self.resize(max(self._size, int(positions.max()) + 1))
            self._data[positions] = values

    def set(self, position: int, value: int | bool) -> None:
        """Write one value, growing up to its position."""
        if position >= self._size:
            self.resize(position + 1)
        self._data[position] = value

    def extend(self, values: ArrayLike) -> None:
        """Write values behind the end."""
        start = self._size
        added = np.asarray(values)
        self.resize(start + len(added))
        self._data[start : self._size] = added

    def keep(self, positions: NDArray[np.integer]) -> None:
        """Drop all values but those at the positions, in the given order."""
        kept = self._data[positions]
        self._data, self._size = kept, len(kept)
