"""The date part of a query filter: a window, how a document relates to it, and which documents count."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, NamedTuple, Self

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator

from lightrag.exceptions import FilterSyntaxError
from lightrag.query_filters.dates import (
    coerce_aware_datetime,
    coerce_instant,
    serialize_aware_datetime,
    validate_date_pair,
)
from lightrag.query_filters.strict_model import StrictModel, nearest

_AS_STORED = PlainSerializer(serialize_aware_datetime, return_type=str, when_used="json-unless-none")

OffsetDatetime = Annotated[datetime, BeforeValidator(coerce_aware_datetime), _AS_STORED]
"""An aware datetime, given as one or as ISO-8601 text; JSON keeps its offset."""

Instant = Annotated[
    datetime,
    BeforeValidator(coerce_instant),
    _AS_STORED,
    WithJsonSchema({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "number"}]}),
]
"""As :data:`OffsetDatetime`, and also taken from a number of Unix seconds."""


class DateRangeMode(StrEnum):
    """How a document's interval must relate to the query's window. Both are closed at both ends.

    ``overlap``: they share an instant. ``contained_by``: the document lies wholly inside the window.
    ``contains``: the document covers the whole window, as a law in force throughout.
    """

    OVERLAP = "overlap"
    CONTAINED_BY = "contained_by"
    CONTAINS = "contains"


class DocumentDateShape(StrEnum):
    """Which bounds a document must have: any or none, at least one, both, a start, an end."""

    ANY = "any"
    DATED = "dated"
    BOUNDED = "bounded"
    HAS_START = "has_start"
    HAS_END = "has_end"


class UndatedMatch(StrEnum):
    """What happens to documents without any date: left out, also matched, or the only ones matched."""

    EXCLUDE = "exclude"
    INCLUDE_OR = "include_or"
    ONLY = "only"


class DateRangeFilter(StrictModel):
    """The query's window. A bound left out or null is open, and the window still counts as given.

    Attributes:
        start: First instant of the window.
        end: Last instant of the window, itself inside.
    """

    start: OffsetDatetime | None = Field(default=None, examples=["1930-06-15T00:00:00Z"])
    end: OffsetDatetime | None = Field(default=None, examples=["1930-06-15T23:59:59Z"])

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        validate_date_pair(self.start, self.end)
        return self


class Preset(NamedTuple):
    """A row of the preset table; ``None`` means that the knob is not used."""

    range_mode: DateRangeMode | None
    shape: DocumentDateShape | None
    undated: UndatedMatch


DATE_FILTER_PRESETS: Mapping[str, Preset] = {
    "broad_retrieval": Preset(DateRangeMode.OVERLAP, DocumentDateShape.ANY, UndatedMatch.EXCLUDE),
    "archive_discovery": Preset(DateRangeMode.OVERLAP, DocumentDateShape.ANY, UndatedMatch.INCLUDE_OR),
    "legislation_in_force": Preset(DateRangeMode.CONTAINS, DocumentDateShape.HAS_START, UndatedMatch.EXCLUDE),
    "activity_in_period": Preset(DateRangeMode.OVERLAP, DocumentDateShape.HAS_START, UndatedMatch.EXCLUDE),
    "wholly_within_period": Preset(DateRangeMode.CONTAINED_BY, DocumentDateShape.HAS_START, UndatedMatch.EXCLUDE),
    "strict_catalog": Preset(DateRangeMode.OVERLAP, DocumentDateShape.BOUNDED, UndatedMatch.EXCLUDE),
    "uncatalogued_only": Preset(None, None, UndatedMatch.ONLY),
}
"""Named intents, so that nobody has to think in the three knobs. The web form offers the same table."""


class DateFilter(StrictModel):
    """Dates that a document must have: three independent knobs.

    A document matches when its bounds have the ``shape`` and its interval relates to the ``range`` by
    ``range_mode``; ``undated`` then adds the documents without any date, or takes only those. A missing bound
    of a document reaches to infinity. Without a ``range`` only ``shape`` and ``undated`` count, and with all
    defaults nothing is filtered.

    Attributes:
        range: The window; ``None`` skips ``range_mode``.
        range_mode: Relation between interval and window.
        shape: Which bounds the document must have.
        undated: What happens to documents without any date. ``include_or`` with neither range nor shape has
            nothing
            to add to, and so matches only undated documents.
    """

    range: DateRangeFilter | None = Field(
        default=None, examples=[{"start": "1930-06-15T00:00:00Z", "end": "1930-06-15T23:59:59Z"}]
    )
    range_mode: DateRangeMode = DateRangeMode.OVERLAP
    shape: DocumentDateShape = DocumentDateShape.ANY
    undated: UndatedMatch = UndatedMatch.EXCLUDE

    @property
    def is_active(self) -> bool:
        """Whether the filter can leave any document out."""
        return (
            self.range is not None
            or self.shape is not DocumentDateShape.ANY
            or self.undated is not UndatedMatch.EXCLUDE
        )

    @classmethod
    def preset(cls, name: str, start: datetime | str | None = None, end: datetime | str | None = None) -> DateFilter:
        """Return the filter of a named intent over a window.

        Args:
            name: A key of :data:`DATE_FILTER_PRESETS`, or its label such as ``"Legislation / in force"``.
            start: First instant of the window; open when left out.
            end: Last instant; the same as ``start`` for "on that day at that time". With neither bound there
                is no
                window, and ``uncatalogued_only`` never has one.

        Raises:
            FilterSyntaxError: Unknown name, or a bound is naive or out of order.
        """
        key = re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_")
        preset = DATE_FILTER_PRESETS.get(key)
        if preset is None:
            near = nearest(key, DATE_FILTER_PRESETS)
            hint = f"; did you mean {near!r}?" if near else "."
            raise FilterSyntaxError(f"unknown preset {name!r}{hint} Allowed are {', '.join(DATE_FILTER_PRESETS)}")
        if preset.range_mode is None or preset.shape is None:
            return cls(undated=preset.undated)
        first = None if start is None else coerce_aware_datetime(start)
        last = None if end is None else coerce_aware_datetime(end)
        validate_date_pair(first, last)
        window = None if first is None and last is None else DateRangeFilter(start=first, end=last)
        return cls(range=window, range_mode=preset.range_mode, shape=preset.shape, undated=preset.undated)
