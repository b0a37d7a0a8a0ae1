"""The program of a parsing process: reads files from its standard input, answers with their text.

It is started by :mod:`lightrag.parser.process` and ends when its input ends, so it does not outlive the process that
started it.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any, BinaryIO

from lightrag.exceptions import InputError, MissingDependencyError
from lightrag.parser.frames import read_frame, write_frame
from lightrag.parser.registry import parse_content
from lightrag.parser.result import FileContent

# What the parent grants beyond its own limit before the process ends itself; it only matters if the parent is gone.
_GRACE_SECONDS = 5.0


def main(memory_bytes: int) -> None:
    """Serve until standard input ends.

    Args:
        memory_bytes: Address space that this process may use.
    """
    requests, replies = _take_streams()
    _limit_memory(memory_bytes)
    write_frame(replies, {"ready": True})
    while True:
        try:
            header, data = read_frame(requests)
        except EOFError:
            return
        _alarm(float(header["seconds"]) + _GRACE_SECONDS)
        answer, text = _serve(header, data)
        # Not kept until the next file comes: it may be large.
        del data
        _alarm(0)
        write_frame(replies, answer, text)


def _take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Keep the two pipes for messages; whatever a library prints goes to standard error."""
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return requests, replies


def _limit_memory(memory_bytes: int) -> None:
    if sys.platform != "win32":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        allowed = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
        resource.setrlimit(resource.RLIMIT_AS, (allowed, hard))
        # A crash on a hostile file is expected, and its memory image would be as large as the limit.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _alarm(seconds: float) -> None:
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _serve(header: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    source = str(header["source"])
    try:
        if header.get("path"):
            data = Path(header["path"]).read_bytes()
        parsed = parse_content(FileContent(source, data, tuple(header["passwords"])))
    except InputError as error:
        return {"kind": "input", "message": str(error)}, b""
    except MissingDependencyError as error:
        return {"kind": "missing", "message": str(error), "package": error.package, "extra": error.extra}, b""
    except MemoryError:
        return {"kind": "memory"}, b""
    except RecursionError:
        return {"kind": "input", "message": f"{source!r} is nested too deeply to be parsed"}, b""
    except OSError as error:
        return {"kind": "input", "message": f"file {source!r} cannot be read: {error.strerror or error}"}, b""
    return {"kind": "parsed", "warnings": list(parsed.warnings)}, parsed.text.encode("utf-8", "surrogatepass")
