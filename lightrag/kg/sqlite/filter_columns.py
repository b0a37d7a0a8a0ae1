"""The filter fields of a row as columns of their own, beside the JSON of everything else.

Columns are never null, so a filter needs no third truth value; ``given`` remembers which of them a row brought, because
a row reads back exactly as it was written and a missing field is not the same as its default.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from lightrag.exceptions import InputError
from lightrag.kg.texts import check_text, encode_json


class FilterColumn(NamedTuple):
    """A filter field.

    Attributes:
        name: Of the field and of its column.
        kind: ``tags``, ``boolean``, ``integer`` or ``text``.
    """

    name: str
    kind: str


# The position of a column is its bit in ``given``, which is stored: new columns go to the end, with a migration.
FILTER_COLUMNS: tuple[FilterColumn, ...] = (
    FilterColumn("tenant_tag", "text"),
    FilterColumn("filter_tags", "tags"),
    FilterColumn("filter_dated", "boolean"),
    FilterColumn("filter_start_ms", "integer"),
    FilterColumn("filter_start_us", "integer"),
    FilterColumn("filter_end_ms", "integer"),
    FilterColumn("filter_end_us", "integer"),
    FilterColumn("filter_start_date", "text"),
    FilterColumn("filter_end_date", "text"),
    FilterColumn("full_doc_id", "text"),
    FilterColumn("source_path", "text"),
    FilterColumn("doc_type", "text"),
    FilterColumn("modified_at", "integer"),
    FilterColumn("has_undated_evidence", "boolean"),
    FilterColumn("has_open_start", "boolean"),
    FilterColumn("has_open_end", "boolean"),
    FilterColumn("filter_doc_count", "integer"),
)

_SQL: Mapping[str, tuple[str, Any]] = {
    "text": ("TEXT NOT NULL DEFAULT ''", ""),
    "tags": ("TEXT NOT NULL DEFAULT '[]'", "[]"),
    "boolean": ("INTEGER NOT NULL DEFAULT 0", 0),
    "integer": ("INTEGER NOT NULL DEFAULT 0", 0),
}
_POSITIONS: Mapping[str, int] = {column.name: position for position, column in enumerate(FILTER_COLUMNS)}
_DEFAULTS: tuple[Any, ...] = tuple(_SQL[column.kind][1] for column in FILTER_COLUMNS)

FILTER_NAMES = frozenset(_POSITIONS)

COLUMN_NAMES: tuple[str, ...] = ("given", *_POSITIONS)
"""Names of the columns in the order of :func:`split` and :func:`joined`."""

COLUMN_LIST = ", ".join(COLUMN_NAMES)
COLUMN_DEFINITIONS = ", ".join(
    ["given INTEGER NOT NULL DEFAULT 0", *(f"{column.name} {_SQL[column.kind][0]}" for column in FILTER_COLUMNS)]
)


def split(row: Mapping[str, Any]) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    """Return the values of the columns, ``given`` first, and the other fields of a row.

    Raises:
        InputError: A filter field has a value of another type.
    """
    if FILTER_NAMES.isdisjoint(row):
        return (0, *_DEFAULTS), row
    given = 0
    values = list(_DEFAULTS)
    rest = dict(row)
    for name in FILTER_NAMES & row.keys():
        value = rest.pop(name)
        if value is None:
            continue
        position = _POSITIONS[name]
        values[position] = _encoded(FILTER_COLUMNS[position], value)
        given |= 1 << position
    return (given, *values), rest


def joined(fields: dict[str, Any], columns: Sequence[Any]) -> dict[str, Any]:
    """Add the filter fields that a row brought to its other fields, in place.

    Args:
        fields: Its other fields.
        columns: Values of its columns, ``given`` first.
    """
    for name, position, decode in _readers(columns[0]):
        value = columns[position]
        fields[name] = value if decode is None else decode(value)
    return fields


@lru_cache(maxsize=4096)
def _readers(given: int) -> tuple[tuple[str, int, Callable[[Any], Any] | None], ...]:
    decoders: Mapping[str, Callable[[Any], Any]] = {"tags": json.loads, "boolean": bool}
    return tuple(
        (column.name, position + 1, decoders.get(column.kind))
        for position, column in enumerate(FILTER_COLUMNS)
        if given >> position & 1
    )


def _encoded(column: FilterColumn, value: Any) -> Any:
    match column.kind:
        case "tags" if isinstance(value, list | tuple) and all(isinstance(tag, str) for tag in value):
            return encode_json(list(value), column.name)
        case "boolean" if isinstance(value, bool):
            return int(value)
        case "integer" if isinstance(value, int) and not isinstance(value, bool):
            return value
        case "text" if isinstance(value, str):
            check_text(value, column.name)
            return value
    wanted = "list of str" if column.kind == "tags" else column.kind
    raise InputError(f"field {column.name!r} must be {wanted}, not {value!r}")
