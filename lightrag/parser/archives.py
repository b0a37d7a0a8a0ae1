"""Checks of zip archives, which most office formats are, before anything in them is unpacked."""

from __future__ import annotations

import struct
import zipfile
import zlib
from io import BytesIO

from lightrag.exceptions import InputError

MAX_UNPACKED_BYTES = 512 * 1024 * 1024
MAX_RATIO = 100
MAX_ENTRIES = 10_000

# What unpacks to little can do no harm, however well it was packed.
_HARMLESS_BYTES = 10 * 1024 * 1024
_MAX_DIRECTORY_BYTES = MAX_ENTRIES * 1024
_END_RECORD = b"PK\x05\x06"
_END_RECORD_FORMAT = "<4s4H2LH"
_END_RECORD_BYTES = struct.calcsize(_END_RECORD_FORMAT)
_LONGEST_COMMENT = 0xFFFF
_ENCRYPTED_FLAG = 0x1
# What the standard library raises on archives with any byte changed.
_BROKEN = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, struct.error, LookupError, ValueError, RuntimeError),
    *(EOFError, OSError),
)


def open_archive(data: bytes, source: str) -> zipfile.ZipFile:
    """Open a zip archive that is safe to unpack.

    Args:
        data: Its bytes.
        source: Names the file in messages.

    Raises:
        InputError: It is damaged, protected by a password, or a zip bomb: it would unpack to more than 512 MiB, to more
            than 100 times its size, or has more than 10,000 entries.
    """
    _check_end_record(data, source)
    try:
        archive = zipfile.ZipFile(BytesIO(data))
    except _BROKEN as error:
        raise InputError(f"{source!r} is damaged: its archive cannot be opened ({error})") from error
    entries = archive.infolist()
    if len(entries) > MAX_ENTRIES:
        raise _bomb(source, f"it has {len(entries):,} entries; allowed are {MAX_ENTRIES:,}")
    total = sum(entry.file_size for entry in entries)
    if total > MAX_UNPACKED_BYTES:
        raise _bomb(source, f"it unpacks to {total:,} bytes; allowed are {MAX_UNPACKED_BYTES:,}")
    if total > _HARMLESS_BYTES and total > len(data) * MAX_RATIO:
        raise _bomb(source, f"it unpacks to {total // len(data):,} times its size; allowed is {MAX_RATIO} times")
    if any(entry.flag_bits & _ENCRYPTED_FLAG for entry in entries):
        raise InputError(f"{source!r} is protected by a password; save it without one")
    return archive


def read_entry(archive: zipfile.ZipFile, name: str, source: str) -> bytes:
    """Return one file of an archive, never more of it than the archive's directory promises.

    Raises:
        InputError: There is no such file, or it is damaged.
    """
    try:
        return archive.read(name)
    except _BROKEN as error:
        raise InputError(f"{source!r} is damaged: its part {name!r} cannot be read ({error})") from error


def _bomb(source: str, why: str) -> InputError:
    return InputError(f"{source!r} is refused as a zip bomb: {why}")


def _check_end_record(data: bytes, source: str) -> None:
    """Refuse a huge directory before it is read: each entry takes a kilobyte of memory."""
    start = data.rfind(_END_RECORD, max(0, len(data) - _END_RECORD_BYTES - _LONGEST_COMMENT))
    if start < 0 or start + _END_RECORD_BYTES > len(data):
        raise InputError(f"{source!r} is damaged: the end of its archive is missing")
    fields = struct.unpack_from(_END_RECORD_FORMAT, data, start)
    entries, directory_bytes = fields[4], fields[5]
    # Archives of more than 65,535 entries or 4 GiB say so elsewhere and have the highest numbers here.
    if entries > MAX_ENTRIES:
        raise _bomb(source, f"it has more than {MAX_ENTRIES:,} entries")
    if directory_bytes > _MAX_DIRECTORY_BYTES:
        raise _bomb(source, f"the list of its entries takes {directory_bytes:,} bytes")
