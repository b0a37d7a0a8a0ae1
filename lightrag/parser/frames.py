"""Messages between the main process and the processes that parse: a header in JSON, then bytes.

Nothing is pickled, so a parser that a hostile file has taken over cannot make the main process run anything.
"""

from __future__ import annotations

import json
import struct
from typing import Any, BinaryIO

_LENGTHS = struct.Struct(">QQ")


def write_frame(stream: BinaryIO, header: dict[str, Any], body: bytes = b"") -> None:
    """Write a message.

    Raises:
        OSError: The other side is gone.
    """
    head = json.dumps(header).encode("ascii")
    stream.write(_LENGTHS.pack(len(head), len(body)))
    stream.write(head)
    stream.write(body)
    stream.flush()


def read_frame(stream: BinaryIO) -> tuple[dict[str, Any], bytes]:
    """Read a message.

    Raises:
        EOFError: The other side is gone.
        ValueError: What came is no message.
    """
    head_length, body_length = _LENGTHS.unpack(_exactly(stream, _LENGTHS.size))
    header = json.loads(_exactly(stream, head_length))
    if not isinstance(header, dict):
        raise ValueError("a message must begin with a JSON object")  # noqa: TRY004 - of the other side, not the caller
    return header, _exactly(stream, body_length)


def _exactly(stream: BinaryIO, length: int) -> bytes:
    data = stream.read(length)
    if len(data) < length:
        raise EOFError("the other side is gone")
    return data
