"""Locks that hold across event loops, threads and processes."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from types import TracebackType
from typing import IO

# How often a waiter looks again, seconds. Waiting is rare: it takes two writers of one workspace.
_POLL = 0.005


class WorkspaceLock:
    """An asynchronous lock that any loop, thread or process may wait for.

    Within the process a thread lock decides; between processes a lock on a file, where the system has such locks. A
    waiter that is cancelled leaves nothing behind.
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

    def locked(self) -> bool:
        """Tell whether somebody in this process holds it."""
        return self._inside.locked()

    async def acquire(self) -> None:
        """Wait until it is free, and take it."""
        await self._acquire_inside()
        try:
            while not self._take_file():  # noqa: ASYNC110
                await asyncio.sleep(_POLL)
        except BaseException:
            self._inside.release()
            raise

    async def acquire_here(self) -> bool:
        """Wait for holders in this process only; return whether it was taken, not while another process has it."""
        await self._acquire_inside()
        return self._take_file_or_release()

    async def _acquire_inside(self) -> None:
        # An event belongs to one loop, and the holder may be in another loop or process.
        while not self._inside.acquire(blocking=False):  # noqa: ASYNC110
            await asyncio.sleep(_POLL)

    def try_acquire(self) -> bool:
        """Take it if it is free, without waiting; return whether it was taken."""
        return self._inside.acquire(blocking=False) and self._take_file_or_release()

    def _take_file_or_release(self) -> bool:
        taken = False
        try:
            taken = self._take_file()
        finally:
            if not taken:
                self._inside.release()
        return taken

    def release(self) -> None:
        """Give it back."""
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
        self.release()
