"""From options to the filter fields of the engine and of the HTTP interface, which are the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lightrag.cli.metadata import json_object, zone_in_use
from lightrag.cli.options import FilterOptions
from lightrag.cli.times import Edge, Zone, find_zone, moment
from lightrag.exceptions import InputError

DEFAULT_PRESET = "broad_retrieval"
_UNCATALOGUED = "uncatalogued_only"
_IDLE_DIGITS = re.compile(r"(\d\d\.\d{3})000\b")


@dataclass(frozen=True)
class ChosenFilter:
    """Which documents a command is about.

    Attributes:
        fields: Filter fields as JSON; none when nothing is filtered.
        zone: Name of the zone that dates were read in; ``None`` without such dates.
    """

    fields: dict[str, Any]
    zone: str | None = None

    def in_words(self) -> str:
        """Return one line; ``""`` when nothing is filtered."""
        words = "; ".join([*_parts(self.fields), *([f"zone {self.zone}"] if self.zone else [])])
        return _IDLE_DIGITS.sub(r"\1", words)

    def as_json(self) -> dict[str, Any]:
        """Return what is printed beside results."""
        return {"filter": self.fields, "zone": self.zone}


def choose(options: FilterOptions) -> ChosenFilter:
    """Return the filter that options describe.

    Raises:
        InputError: They cannot be used, alone or together.
    """
    from lightrag.query_filters import build_vector_query_filter

    if options.any_tag and not options.require:
        raise InputError("--any says that one of the required tags is enough; name them with --require")
    if options.forbid_in_graph and not options.forbid:
        raise InputError("--forbid-in-graph needs --forbid")
    zone = find_zone(options.zone)
    fields = _given_json(options.filter_json) | _tags_and_sources(options) | _modification(options, zone)
    dates = _date_filter(options, zone)
    if dates is not None:
        fields["date_filter"] = dates
    build_vector_query_filter(fields)
    typed = [options.start, options.end, options.at, options.after, options.before]
    return ChosenFilter(fields, zone_in_use(typed, options.zone))


def _given_json(text: str | None) -> dict[str, Any]:
    from lightrag.query_filters import FILTER_ATTRIBUTES
    from lightrag.query_filters.strict_model import nearest

    if text is None:
        return {}
    if text.startswith("@"):
        try:
            text = Path(text[1:]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"--filter: file {text[1:]!r} cannot be read: {error}") from error
    fields = json_object(text, "--filter")
    for name in fields:
        if name not in FILTER_ATTRIBUTES:
            near = nearest(name, FILTER_ATTRIBUTES)
            hint = f"; did you mean {near!r}?" if near else "."
            raise InputError(f"--filter has no field {name!r}{hint} Allowed are {', '.join(FILTER_ATTRIBUTES)}")
    return fields


def _tags_and_sources(options: FilterOptions) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "required_tags": options.require,
        "required_tags_mode": "or" if options.any_tag else None,
        "forbidden_tags": options.forbid,
        "apply_forbidden_tags_to_kg": options.forbid_in_graph or None,
        "doc_types": options.doc_type,
        "path_prefixes": options.folder,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _modification(options: FilterOptions, zone: Zone) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if options.after is not None:
        fields["modified_after"] = moment(options.after, zone, Edge.START, "--after")
    if options.before is not None:
        fields["modified_before"] = moment(options.before, zone, Edge.END, "--before")
    return fields


def _date_filter(options: FilterOptions, zone: Zone) -> dict[str, Any] | None:
    from lightrag.query_filters import DateFilter, UndatedMatch

    if options.at is not None and (options.start is not None or options.end is not None):
        raise InputError("--at is one point in time; give either that, or a period with --from and --to")
    start = None if options.start is None else moment(options.start, zone, Edge.START, "--from")
    end = None if options.end is None else moment(options.end, zone, Edge.END, "--to")
    if options.at is not None:
        start = end = moment(options.at, zone, Edge.POINT, "--at")
    if start is None and end is None and options.preset is None and options.undated is None:
        return None
    chosen = DateFilter.preset(options.preset or DEFAULT_PRESET, start, end)
    if chosen.undated is UndatedMatch.ONLY and (start is not None or end is not None):
        raise InputError(f"--preset {_UNCATALOGUED} takes documents without any date; leave the dates out")
    fields = chosen.model_dump(mode="json", exclude_none=True)
    if options.undated is not None:
        allowed = [match.value for match in UndatedMatch]
        if options.undated not in allowed:
            raise InputError(f"--undated is {options.undated!r}; allowed are {', '.join(allowed)}")
        fields["undated"] = options.undated
    return fields


def _parts(fields: Mapping[str, Any]) -> list[str]:
    parts = []
    if fields.get("required_tags"):
        joint = " or " if fields.get("required_tags_mode") == "or" else " and "
        parts.append(f"tagged {joint.join(fields['required_tags'])}")
    if fields.get("forbidden_tags"):
        parts.append(f"not tagged {', '.join(fields['forbidden_tags'])}")
    if fields.get("doc_types"):
        parts.append(f"of type {' or '.join(fields['doc_types'])}")
    if fields.get("path_prefixes"):
        parts.append(f"in {' or '.join(fields['path_prefixes'])}")
    dates = fields.get("date_filter")
    if isinstance(dates, Mapping):
        parts.append(_dates_in_words(dates))
    modified = [f"{word} {fields[name]}" for name, word in _MODIFIED.items() if fields.get(name) is not None]
    if modified:
        parts.append(f"modified {' and '.join(modified)}")
    parts += [name.replace("_", " ") for name in ("search_filters", "kg_evidence_policy") if fields.get(name)]
    return parts


_MODIFIED = {"modified_after": "from", "modified_before": "to"}
_RELATIONS = {"overlap": "touching", "contained_by": "wholly within", "contains": "covering all of"}
_SHAPES = {
    "dated": "having a date",
    "bounded": "having both dates",
    "has_start": "having a start",
    "has_end": "having an end",
}


def _dates_in_words(dates: Mapping[str, Any]) -> str:
    undated = dates.get("undated", "exclude")
    if undated == "only":
        return "without any date"
    words = []
    window = dates.get("range") or {}
    start, end = window.get("start"), window.get("end")
    relation = _RELATIONS.get(str(dates.get("range_mode", "overlap")), "touching")
    if start is not None and start == end:
        words.append(f"{'at' if relation != 'wholly within' else relation} {start}")
    elif start is not None or end is not None:
        words.append(f"{relation} {start or '...'} to {end or '...'}")
    shape = _SHAPES.get(str(dates.get("shape")))
    if shape:
        words.append(shape)
    if undated == "include_or":
        words.append("or undated" if words else "without any date")
    return ", ".join(words)
