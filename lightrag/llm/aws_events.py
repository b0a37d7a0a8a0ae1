"""The event stream format of Amazon (``application/vnd.amazon.eventstream``).

A message is: its length and that of its headers (4 bytes each, big-endian), a CRC-32 of both, the headers, the payload,
a CRC-32 of everything before. A header is: length of its name (1 byte), the name, its type (1 byte), the value.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass

from lightrag.exceptions import ModelReplyError

_PRELUDE = struct.Struct(">III")
_CRC = struct.Struct(">I")
# A service sends far less; more means that the bytes are something else.
_LARGEST_MESSAGE = 16 * 1024 * 1024
_STRING = 7
# Bytes of values whose length does not stand before them, by type.
_FIXED = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}


@dataclass(frozen=True)
class EventMessage:
    """One message.

    Attributes:
        headers: Those that are text.
        payload: The body.
    """

    headers: dict[str, str]
    payload: bytes


async def event_messages(source: str, chunks: AsyncIterator[bytes]) -> AsyncGenerator[EventMessage, None]:
    """Return the messages in a stream of bytes.

    Args:
        source: Names the model in messages.
        chunks: Bytes, cut anywhere.

    Raises:
        ModelReplyError: The bytes are no event stream, or end inside a message.
    """
    waiting = b""
    async for chunk in chunks:
        waiting += chunk
        while len(waiting) >= _PRELUDE.size:
            total, headers_length, checksum = _PRELUDE.unpack_from(waiting)
            if zlib.crc32(waiting[:8]) != checksum or not _PRELUDE.size + 4 <= total <= _LARGEST_MESSAGE:
                raise ModelReplyError(f"{source} sent something that is no event stream")
            if len(waiting) < total:
                break
            message, waiting = waiting[:total], waiting[total:]
            if zlib.crc32(message[:-4]) != _CRC.unpack(message[-4:])[0]:
                raise ModelReplyError(f"{source} sent a damaged event")
            headers_end = _PRELUDE.size + headers_length
            yield EventMessage(_headers(source, message[_PRELUDE.size : headers_end]), message[headers_end:-4])
    if waiting:
        raise ModelReplyError(f"{source} broke off inside an event")


def _headers(source: str, data: bytes) -> dict[str, str]:
    headers: dict[str, str] = {}
    position = 0
    try:
        while position < len(data):
            name_end = position + 1 + data[position]
            name, kind = data[position + 1 : name_end].decode(), data[name_end]
            position = name_end + 1
            if kind in _FIXED:
                position += _FIXED[kind]
                continue
            (length,) = struct.unpack_from(">H", data, position)
            value, position = data[position + 2 : position + 2 + length], position + 2 + length
            if kind == _STRING:
                headers[name] = value.decode()
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise ModelReplyError(f"{source} sent an event with damaged headers") from error
    return headers
