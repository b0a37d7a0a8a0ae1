"""Connections to the database file of a workspace, and what their errors mean to a caller."""

from __future__ import annotations

import shutil
import sqlite3
import time
from pathlib import Path

from lightrag.exceptions import InputError, LightRAGError, StorageError, StorageFullError

# Small pages, because a document touches many rows far apart and the log takes whole pages: at 200 documents, merged by
# sixteen, pages of 4 KiB write a fifth more in all than those of 1 KiB, and half of that saves 2 % more.
PAGE_BYTES = 1024

# The log is folded into the file each time it has grown by this much: often enough to bound its size, rarely enough
# that a hub entity that many documents touch is folded in once for all of them.
CHECKPOINT_BYTES = 64 * 2**20

# How long a write waits for another process that holds the file, seconds.
BUSY_SECONDS = 5.0

# Free space under which a failed write is put down to a full disk, bytes.
_NO_ROOM_BYTES = 2**20


def connect_writer(path: Path) -> sqlite3.Connection:
    """Open the one connection that writes, creating the file.

    A commit is on the disk when it returns (``synchronous=FULL``): neither a killed process nor a power cut takes it
    back.

    Raises:
        sqlite3.Error: The file cannot be opened or is not a database.
    """
    connection = _connect(path)
    try:
        connection.execute(f"PRAGMA page_size={PAGE_BYTES}")
        _enter_wal(connection)
        connection.execute("PRAGMA synchronous=FULL")
        # Deleted text is overwritten where that costs no further page; some builds of SQLite overwrite it always.
        connection.execute("PRAGMA secure_delete=FAST")
        page_bytes = int(connection.execute("PRAGMA page_size").fetchone()[0])
        connection.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_BYTES // page_bytes}")
        connection.execute(f"PRAGMA journal_size_limit={CHECKPOINT_BYTES}")
        connection.execute("PRAGMA cache_size=-32000")
    except BaseException:
        connection.close()
        raise
    return connection


def connect_reader(path: Path) -> sqlite3.Connection:
    """Open a connection that only reads. Readers see the last commit and never wait for the writer."""
    connection = _connect(path)
    connection.execute("PRAGMA query_only=ON")
    connection.execute("PRAGMA cache_size=-8000")
    return connection


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    connection.execute("PRAGMA temp_store=MEMORY")
    return connection


def _enter_wal(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging; SQLite does not wait by itself for another process that switches as well."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").fetchone()
            return
        except sqlite3.OperationalError as error:
            if _primary_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _primary_code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def is_full(error: BaseException | None) -> bool:
    """Tell whether a write failed because the disk, or what the file may take of it, is used up."""
    return isinstance(error, sqlite3.Error) and _primary_code(error) == sqlite3.SQLITE_FULL


def translated(error: Exception, path: Path) -> Exception:
    """Return the error of :mod:`lightrag.exceptions` that says what a failure means, or the error itself if none does.

    Args:
        error: Raised by the driver, or while a value was handed to it.
        path: The database file, named in the message.
    """
    if isinstance(error, LightRAGError):
        return error
    if isinstance(error, UnicodeEncodeError):
        return InputError(f"text with a lone surrogate cannot be stored: {error.object[error.start : error.end]!r}")
    if isinstance(error, OverflowError | sqlite3.DataError):
        return InputError(f"value cannot be stored: {error}")
    if isinstance(error, sqlite3.Error):
        return _of_driver(error, path)
    return error


def _of_driver(error: sqlite3.Error, path: Path) -> StorageError:
    code = _primary_code(error)
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _no_room(path)):
        return StorageFullError(f"no room left to write {str(path)!r}: {error}. Nothing of this write was stored")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StorageError(
            f"database file {str(path)!r} is damaged: {error}. Restore it from a backup, or move it away"
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StorageError(
            f"database file {str(path)!r} is locked by another process; waited {BUSY_SECONDS:g} seconds"
        )
    if code == sqlite3.SQLITE_READONLY:
        return StorageError(f"database file {str(path)!r} cannot be written: {error}")
    return StorageError(f"database file {str(path)!r}: {error}")


def log_outgrows_disk(path: Path) -> bool:
    """Tell whether the log has become larger than what is free: later there would be no room to fold it in."""
    try:
        return path.with_name(f"{path.name}-wal").stat().st_size > shutil.disk_usage(path.parent).free
    except OSError:
        return False


def _no_room(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < _NO_ROOM_BYTES
    except OSError:
        return False
