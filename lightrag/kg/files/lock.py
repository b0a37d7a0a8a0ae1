"""One process at a time works in a folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from lightrag.exceptions import StorageError

LOCK_NAME = "lightrag.lock"

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int, *, shared: bool) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int, *, shared: bool) -> None:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


class FolderLock:
    """A lock that ends with the process, however that ends."""

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        """Take the lock.

        Args:
            folder: The folder.
            read_only: Only keep writers out, and write nothing: without a lock file nobody is there to be kept out.

        Raises:
            StorageError: Another process has it; the message says which.
            OSError: The lock file cannot be made.
        """
        self._path = folder / LOCK_NAME
        self._owns = not read_only
        self._descriptor: int | None = None
        if read_only and not self._path.exists():
            return
        while True:
            descriptor = os.open(self._path, os.O_RDONLY if read_only else os.O_RDWR | os.O_CREAT, 0o666)
            try:
                _try_lock(descriptor, shared=read_only)
                if self._is_current(descriptor):
                    break
            except OSError as error:
                holder = _holder(descriptor)
                os.close(descriptor)
                raise StorageError(
                    f"folder {str(folder)!r} is in use by another process{holder}. File storages are for one process "
                    "at a time: stop the other one, or choose the SQLite storages for both"
                ) from error
            # The file was deleted by whoever had the lock before: a lock on it keeps nobody out.
            os.close(descriptor)
        self._descriptor = descriptor
        if self._owns:
            os.truncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())

    def _is_current(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), self._path.stat())
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Give the lock back and delete its file."""
        if self._descriptor is None:
            return
        if self._owns and sys.platform != "win32":
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = None


def _holder(descriptor: int) -> str:
    try:
        text = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
    except (AttributeError, OSError):
        return ""
    return f" (process {text})" if text.isdigit() else ""
