"""Key-value stores: documents, chunks and cached model replies."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from lightrag.contracts.storage import StorageNameSpace
from lightrag.exceptions import StorageError

Record = dict[str, Any]


@dataclass(kw_only=True, eq=False)
class BaseKVStorage(StorageNameSpace):
    """JSON objects by string key.

    Stored rows carry ``create_time`` and ``update_time`` (epoch seconds) and ``_id`` beside what was written; what a
    caller reads is a copy that it may change.

    Attributes:
        supports_strict_point_reads: Whether ``None`` from a read always means that there is no row, and never that it
            could not be read.
    """

    supports_strict_point_reads: ClassVar[bool] = False

    embedding_func: Any = None

    @abstractmethod
    async def get_by_id(self, id: str) -> Record | None:
        """Return the row, or ``None`` when there is none."""

    async def get_by_id_strict(self, id: str) -> Record | None:
        """Return the row, or ``None`` when it is certain that there is none.

        Raises:
            StorageError: The row could not be read, or the store cannot tell the difference.
        """
        if not self.supports_strict_point_reads:
            raise StorageError(
                f"{type(self).__name__} cannot tell a row that is missing from one that cannot be read; a store that "
                "can sets supports_strict_point_reads"
            )
        return await self.get_by_id(id)

    @abstractmethod
    async def get_by_ids(self, ids: Sequence[str]) -> list[Record | None]:
        """Return the rows in the order of ``ids``, ``None`` where there is none."""

    @abstractmethod
    async def filter_keys(self, keys: set[str]) -> set[str]:
        """Return those of ``keys`` that are *not* stored."""

    @abstractmethod
    async def upsert(self, data: Mapping[str, Record]) -> None:
        """Insert or replace rows. ``create_time`` of a replaced row is kept.

        Raises:
            StorageFullError: The disk is full. Nothing of ``data`` was stored.
        """

    @abstractmethod
    async def delete(self, ids: Sequence[str]) -> None:
        """Delete rows; unknown ids are passed over."""

    @abstractmethod
    async def is_empty(self) -> bool:
        """Tell whether the namespace holds no row."""

    @abstractmethod
    async def scan(self, *, after: str = "", limit: int = 500) -> list[tuple[str, Record]]:
        """Return up to ``limit`` rows whose key sorts after ``after``, by key: one page of all rows."""
