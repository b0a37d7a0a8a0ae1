"""The journal of a folder: what was written since its files were, in the order it was acknowledged.

A frame is the length and the CRC-32 of its content, then the content. What follows the last whole frame was never
acknowledged: the process ended while it was being written.
"""

from __future__ import annotations

import logging
import os
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

from lightrag.exceptions import SchemaVersionError, StorageError
from lightrag.kg.files.atomic import sync_folder

logger = logging.getLogger("lightrag.kg.files")

JOURNAL_NAME = "lightrag.journal"

_MAGIC = b"lightrag-journal "
_HEADER = _MAGIC + b"1\n"
_FRAME = struct.Struct(">II")


def read_journal(path: Path) -> tuple[list[bytes], int]:
    """Return the contents of all whole frames, and where the last of them ends.

    Raises:
        SchemaVersionError: A newer version wrote the journal.
        StorageError: The file is no journal.
        OSError: It cannot be read.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return [], 0
    if not data.startswith(_HEADER):
        if _HEADER.startswith(data):
            return [], 0
        if data.startswith(_MAGIC):
            raise SchemaVersionError(f"{str(path)!r} was written by a newer version of LightRAG; use that one")
        raise StorageError(f"{str(path)!r} is not a journal of LightRAG; move it away")
    frames: list[bytes] = []
    position = len(_HEADER)
    while position + _FRAME.size <= len(data):
        length, checksum = _FRAME.unpack_from(data, position)
        start = position + _FRAME.size
        content = data[start : start + length]
        if len(content) < length or zlib.crc32(content) != checksum:
            break
        frames.append(content)
        position = start + length
    if position < len(data):
        logger.warning("%s: %d bytes of an unfinished write are left out", path, len(data) - position)
    return frames, position


class Journal:
    """The journal, opened for writing.

    Attributes:
        path: The file; it exists from the first write on.
        size: Bytes of whole frames.
    """

    def __init__(self, path: Path, size: int) -> None:
        """Continue a journal.

        Args:
            path: The file.
            size: Where its last whole frame ends, 0 for a new one.
        """
        self.path = path
        self.size = size
        self._descriptor: int | None = None

    def append(self, contents: Sequence[bytes]) -> None:
        """Write frames; all of them are on the disk when this returns.

        Raises:
            OSError: They could not be written; none of them is in the journal.
        """
        descriptor = self._opened()
        parts = [] if self.size else [_HEADER]
        for content in contents:
            parts += (_FRAME.pack(len(content), zlib.crc32(content)), content)
        together = b"".join(parts)
        try:
            _write_all(descriptor, together, self.size)
            _sync(descriptor)
        except BaseException:
            os.ftruncate(descriptor, self.size)
            raise
        self.size += len(together)

    def _opened(self) -> int:
        if self._descriptor is None:
            is_new = not self.path.exists()
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
            os.ftruncate(self._descriptor, self.size)
            if is_new:
                sync_folder(self.path.parent)
        return self._descriptor

    def clear(self) -> None:
        """Delete the journal, after everything in it was written elsewhere."""
        self.close()
        self.path.unlink(missing_ok=True)
        sync_folder(self.path.parent)
        self.size = 0

    def close(self) -> None:
        """Close the file; what it holds stays."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


# The length of a file is part of what fdatasync makes durable; not every system has it.
_sync = getattr(os, "fdatasync", os.fsync)


def _write_all(descriptor: int, data: bytes, position: int) -> None:
    os.lseek(descriptor, position, os.SEEK_SET)
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
