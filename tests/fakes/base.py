"""What the in-memory stores share: a workspace that commits its stores together."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


class FakeWorkspace:
    """Writes of an open transaction, for all stores of one workspace.

    Attributes:
        reads: Name of every read call so far, ``namespace.method``; tests count round trips with it.
    """

    def __init__(self) -> None:
        self._pending: list[Callable[[], None]] | None = None
        self.reads: list[str] = []

    def write(self, change: Callable[[], None]) -> None:
        """Do a change now, or when the open transaction ends."""
        if self._pending is None:
            change()
        else:
            self._pending.append(change)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Collect changes; they all happen at the end, or none after an exception."""
        if self._pending is not None:
            yield
            return
        self._pending = []
        try:
            yield
            pending, self._pending = self._pending, None
            for change in pending:
                change()
        finally:
            self._pending = None


@dataclass(kw_only=True, eq=False)
class InMemory:
    """Mixin of the stores. ``rows`` survives ``finalize``, as a file would."""

    fake: FakeWorkspace = field(default_factory=FakeWorkspace)
    rows: dict[Any, Any] = field(default_factory=dict)
    is_open: bool = field(default=False, init=False)

    async def initialize(self) -> None:
        self.is_open = True

    async def finalize(self) -> None:
        self.is_open = False

    async def drop(self) -> dict[str, str]:
        self.fake.write(self.forget)
        return {"status": "success", "message": "data dropped"}

    def forget(self) -> None:
        self.rows.clear()

    @property
    def transaction_group(self) -> Hashable | None:
        return self.fake

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        async with self.fake.transaction():
            yield

    def note(self, method: str) -> None:
        self.fake.reads.append(f"{self.namespace}.{method}")


def copied(value: Any) -> Any:
    """Return a copy that the caller may change."""
    return copy.deepcopy(value)
