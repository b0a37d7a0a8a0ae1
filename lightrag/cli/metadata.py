"""What the command line says about documents, as the metadata that the engine and the server take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lightrag.cli.options import MetadataOptions
from lightrag.cli.times import Edge, find_zone, has_offset, moment
from lightrag.exceptions import InputError


def metadata_fields(options: MetadataOptions) -> dict[str, Any]:
    """Return the fields of ``DocumentMetadata`` that were given, as JSON; checked, tags in normal form.

    Raises:
        InputError: A value cannot be used.
    """
    from lightrag.query_filters import DocumentMetadata

    fields: dict[str, Any] = {}
    if options.tag is not None:
        fields["tags"] = list(options.tag)
    if options.doc_type is not None:
        fields["doc_type"] = options.doc_type
    if options.meta is not None:
        fields["meta"] = meta_object(options.meta)
    fields |= dates(options)
    DocumentMetadata.coerce(fields)
    return fields


def dates(options: MetadataOptions) -> dict[str, str]:
    """Return the dates that were given as ISO-8601 texts with offset.

    Raises:
        InputError: One is no date, or the zone is unknown.
    """
    given = {"start_date": (options.start, Edge.START, "--start"), "end_date": (options.end, Edge.END, "--end")}
    zone = find_zone(options.zone)
    return {name: moment(text, zone, edge, option) for name, (text, edge, option) in given.items() if text is not None}


def zone_in_use(texts: Sequence[str | None], zone: str | None) -> str | None:
    """Return the name of the zone that dates were read in; ``None`` when all of them say it themselves.

    Args:
        texts: The dates, as typed.
        zone: As asked for.
    """
    if any(text is not None and not has_offset(text.strip()) for text in texts):
        return find_zone(zone).name
    return None


def meta_object(texts: Sequence[str]) -> dict[str, Any]:
    """Return free metadata from ``KEY=VALUE`` and JSON objects; later ones win. A value is always text.

    Raises:
        InputError: One is neither.
    """
    found: dict[str, Any] = {}
    for text in texts:
        if text.lstrip().startswith("{"):
            found |= json_object(text, "--meta")
            continue
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise InputError(f"--meta {text!r} is neither KEY=VALUE nor a JSON object")
        found[key.strip()] = value
    return found


def json_object(text: str, name: str) -> dict[str, Any]:
    """Return a JSON object.

    Args:
        text: JSON.
        name: Of the option, for messages.

    Raises:
        InputError: It is none.
    """
    from lightrag.query_filters.strict_model import read_json

    try:
        value = read_json(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise InputError(f"{name} holds {type(value).__name__}; write a JSON object")
    return value
