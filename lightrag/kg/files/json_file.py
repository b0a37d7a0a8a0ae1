"""JSON files of rows by key, read and written without building what they hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lightrag.exceptions import StorageError

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_PIECE_CHARS = 1 << 18


def encode(value: Any) -> str:
    """Return compact JSON of a value that is known to have a JSON form."""
    return _ENCODER.encode(value)


def read_rows(path: Path) -> Iterator[tuple[str, Any, str]]:
    """Yield key, value and the text of the value of every row of a file; a missing file has none.

    Raises:
        StorageError: The file is no JSON object.
        OSError: It cannot be read.
    """
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return
    except UnicodeDecodeError as error:
        raise _damaged(path, error) from error
    try:
        yield from _split_object(text)
    except ValueError as error:
        raise _damaged(path, error) from error


def _split_object(text: str) -> Iterator[tuple[str, Any, str]]:
    position = _after_space(text, 0)
    if position == len(text):
        return
    position = _after(text, position, "{")
    if text[position : position + 1] == "}":
        _end(text, position + 1)
        return
    while True:
        key, position = _DECODER.raw_decode(text, position)
        if not isinstance(key, str):
            raise json.JSONDecodeError("no key", text, position)
        start = _after(text, _after_space(text, position), ":")
        value, end = _DECODER.raw_decode(text, start)
        yield key, value, text[start:end]
        position = _after_space(text, end)
        if text[position : position + 1] == "}":
            _end(text, position + 1)
            return
        position = _after(text, position, ",")


def _after(text: str, position: int, wanted: str) -> int:
    if text[position : position + 1] != wanted:
        raise ValueError(f"{wanted!r} expected at character {position}")
    return _after_space(text, position + 1)


def _end(text: str, position: int) -> None:
    if _after_space(text, position) != len(text):
        raise ValueError(f"nothing expected after character {position}")


def _after_space(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


def object_pieces(rows: Mapping[str, str]) -> Iterator[bytes]:
    """Return the content of a file of rows.

    Args:
        rows: JSON text of each row, by key.
    """
    lines = (f"{encode(key)}: {text}" for key, text in rows.items())
    return joined_pieces("{\n", ",\n", lines, "\n}\n")


def joined_pieces(opening: str, between: str, parts: Iterable[str], closing: str) -> Iterator[bytes]:
    """Return texts one after another as pieces of a file, each large enough to be worth a write."""
    pending = [opening]
    size = 0
    first = True
    for part in parts:
        pending.append(part if first else between + part)
        first = False
        size += len(part)
        if size > _PIECE_CHARS:
            yield "".join(pending).encode("utf-8", "surrogatepass")
            pending, size = [], 0
    pending.append(closing)
    yield "".join(pending).encode("utf-8", "surrogatepass")


def line_pieces(values: Iterable[Any]) -> Iterator[bytes]:
    """Return values as lines of JSON."""
    return joined_pieces("", "\n", map(encode, values), "\n")


def read_lines(path: Path) -> Iterator[Any]:
    """Yield the value of every line of a file of ours; a missing file has none.

    Raises:
        StorageError: A line is no JSON.
        OSError: The file cannot be read.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        for number, line in enumerate(file, 1):
            try:
                if not line.isspace():
                    yield json.loads(line.decode("utf-8", "surrogatepass"))
            except ValueError as error:
                raise _damaged(path, f"line {number}: {error}") from error


def _damaged(path: Path, problem: object) -> StorageError:
    return StorageError(f"file {str(path)!r} is damaged: {problem}. Restore it from a backup, or move it away")
