"""Texts on their way into a store: what every family can store, and rows as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from lightrag.exceptions import InputError

_decode = json.JSONDecoder().raw_decode
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def encode_json(value: Any, what: object) -> str:
    """Return compact JSON.

    Args:
        value: What to encode.
        what: Names it in messages.

    Raises:
        InputError: It is not JSON, or holds NaN, infinity or a lone surrogate.
    """
    try:
        text = _ENCODER.encode(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"row {what!r} cannot be stored as JSON: {error}") from error
    if not text.isascii():
        check_text(text, what)
    return text


def check_text(text: str, what: object) -> None:
    """Refuse a text that has no UTF-8 form.

    Raises:
        InputError: It holds a lone surrogate.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        surrogate = error.object[error.start : error.end]
        raise InputError(f"text of {what!r} holds the lone surrogate {surrogate!r}, which cannot be stored") from error


def check_ids(ids: Iterable[str]) -> None:
    """Refuse ids that a statement could not find again.

    Raises:
        InputError: One is not a text, or holds NUL or a lone surrogate.
    """
    listed = list(ids)
    try:
        together = "".join(listed)
    except TypeError as error:
        wrong = next(value for value in listed if not isinstance(value, str))
        raise InputError(f"id {wrong!r} must be a str") from error
    if together.isascii() and "\0" not in together:
        return
    for value in listed:
        if "\0" in value:
            raise InputError(f"id {value!r} holds NUL, which no store can hold")
        check_text(value, value)


def decode_object(text: str) -> dict[str, Any]:
    """Return the object of a stored JSON text."""
    # Without the search for white space around it, which the encoder never writes.
    value: dict[str, Any] = _decode(text)[0]
    return value


def without(row: Mapping[str, Any], names: frozenset[str]) -> Mapping[str, Any]:
    """Return a row without some fields; the row itself when it has none of them."""
    if names.isdisjoint(row):
        return row
    return {name: value for name, value in row.items() if name not in names}
