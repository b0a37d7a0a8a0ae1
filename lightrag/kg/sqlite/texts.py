"""Lists of texts and numbers on their way into a statement."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def json_list(ids: Sequence[str]) -> str:
    """Return ids as a JSON array for ``json_each``, whatever their number.

    Ids that cannot be stored become ``null``, so that positions stay: SQLite would take NUL for the end of an id.
    """
    text = _ENCODER.encode(ids if isinstance(ids, list) else list(ids))
    if "\\u0000" not in text and _storable(text):
        return text
    return _ENCODER.encode([value if _storable(value) else None for value in ids])


def _storable(value: str) -> bool:
    if value.isascii():
        return "\0" not in value
    if "\0" in value:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def int_list(numbers: Iterable[int]) -> str:
    """Return numbers as a JSON array for ``json_each``."""
    return f"[{','.join(map(str, numbers))}]"
