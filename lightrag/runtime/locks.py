"""Locks that hold across event loops, threads, processes and machines."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO

from lightrag.contracts.storage import SharedLock

# How often a waiter looks again, seconds. Waiting is rare: it takes two writers of one workspace.
_POLL = 0.005


class WorkspaceLock:
    """An asynchronous lock that any loop, thread, process or machine may wait for.

    Within the process a thread lock decides; between processes a lock on a file, where the system has such locks;
    between machines one of the stores, if they have one. A waiter that is cancelled leaves nothing behind.
    """

    def __init__(self, path: Path | None = None) -> None:
        """Make a lock, which is free.

        Args:
            path: File to lock against other processes; ``None`` for a lock of this process only. Its folder is made
                when it is first needed.
        """
        self._path = path
        self._inside = threading.Lock()
        self._file: IO[bytes] | None = None
        self._shared_of: Callable[[], SharedLock | None] = _none
        self._shared: SharedLock | None = None

    def share(self, shared_of: Callable[[], SharedLock | None]) -> None:
        """Take a lock of the stores as well, the last of all.

        Args:
            shared_of: Makes it, each time that it is taken; ``None`` where the stores have none.
        """
        self._shared_of = shared_of

    def locked(self) -> bool:
        """Tell whether somebody in this process holds it."""
        return self._inside.locked()

    async def acquire(self) -> None:
        """Wait until it is free, and take it."""
        await self._acquire_inside()
        await self._take_outside_or_release(wait=True)

    async def acquire_here(self) -> bool:
        """Wait for holders in this process only; return whether it was taken, not while another process has it."""
        await self._acquire_inside()
        return await self._take_outside_or_release(wait=False)

    async def try_acquire(self) -> bool:
        """Take it if it is free, without waiting; return whether it was taken."""
        return self._inside.acquire(blocking=False) and await self._take_outside_or_release(wait=False)

    async def _acquire_inside(self) -> None:
        # An event belongs to one loop, and the holder may be in another loop or process.
        while not self._inside.acquire(blocking=False):  # noqa: ASYNC110
            await asyncio.sleep(_POLL)

    async def _take_outside_or_release(self, *, wait: bool) -> bool:
        taken = False
        try:
            taken = await self._take_outside(wait=wait)
        finally:
            if not taken:
                self._release_here()
        return taken

    async def _take_outside(self, *, wait: bool) -> bool:
        while not self._take_file():
            if not wait:
                return False
            await asyncio.sleep(_POLL)
        shared = self._shared_of()
        if shared is not None and not await shared.acquire(wait=wait):
            return False
        self._shared = shared
        return True

    async def release(self) -> None:
        """Give it back.

        Raises:
            StorageError: The lock of the stores was lost while it was held; the others are given back.
        """
        shared, self._shared = self._shared, None
        try:
            if shared is not None:
                await shared.release()
        finally:
            self._release_here()

    def _release_here(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            # Closing gives the system's lock back.
            file.close()
        self._inside.release()

    def _take_file(self) -> bool:
        if self._path is None:
            return True
        try:
            import fcntl
        except ModuleNotFoundError:
            return True
        self._path.parent.mkdir(parents=True, exist_ok=True)
        file = self._path.open("ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return False
        self._file = file
        return True

    async def __aenter__(self) -> None:
        await self.acquire()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.release()


def _none() -> None:
    return None
