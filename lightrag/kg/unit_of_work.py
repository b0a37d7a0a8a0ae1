"""Blocks of writes that are one change, for every family that has transactions, embedded or on a server.

A write is a function that is called when the block ends. So a family can carry out all of them in one transaction, try
again what a transaction lost, and let reads inside the block see the state before it without doing anything for it.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

T = TypeVar("T")
W = TypeVar("W")


@dataclass(slots=True, eq=False)
class _Block(Generic[W]):
    """Writes collected by a :meth:`UnitOfWork.transaction`."""

    writes: list[W] = field(default_factory=list)
    closed: bool = False


_BLOCKS: ContextVar[Mapping[int, _Block[Any]]] = ContextVar("blocks", default={})  # noqa: B039 - never changed in place


class UnitOfWork(ABC, Generic[W]):
    """What all stores of a workspace write to."""

    @abstractmethod
    async def _commit(self, writes: Sequence[W]) -> None:
        """Carry out writes, at least one, all or none, and return when they are durable.

        An implementation goes on to the end when its caller is cancelled meanwhile; see :func:`settled`.
        """

    async def write(self, write: W) -> None:
        """Commit a write; inside a :meth:`transaction` only remember it.

        Raises:
            StorageFullError: There is no room left; nothing of the write was stored.
            StorageError: It could not be stored.
        """
        block = _BLOCKS.get().get(id(self))
        if block is not None and not block.closed:
            block.writes.append(write)
            return
        await self._commit([write])

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Collect the writes of the block, those of tasks started in it included, and commit them as one.

        A block inside another one joins it; when it fails, only its own writes are forgotten.
        """
        blocks = _BLOCKS.get()
        outer = blocks.get(id(self))
        block: _Block[W] = _Block()
        token = _BLOCKS.set({**blocks, id(self): block})
        try:
            yield
        finally:
            block.closed = True
            _BLOCKS.reset(token)
        if not block.writes:
            return
        if outer is not None and not outer.closed:
            outer.writes.extend(block.writes)
            return
        await self._commit(block.writes)


async def settled(waiting: asyncio.Future[T]) -> T:
    """Await a commit to its end, also when the caller is cancelled meanwhile.

    The commit is made in any case. A caller that left before would give back its locks while what it wrote is not
    there yet, and the next one would compute from the state before.
    """
    cancelled: asyncio.CancelledError | None = None
    while not waiting.done():
        try:
            await asyncio.shield(waiting)
        except asyncio.CancelledError as error:
            if waiting.cancelled():
                raise
            cancelled = error
    if cancelled is not None:
        raise cancelled
    return waiting.result()
