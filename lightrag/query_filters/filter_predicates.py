"""Filters as predicates: exact ones over document rows, coarse ones over the summaries of graph objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar, overload

from lightrag.constants import OPEN_END_MS, OPEN_START_MS
from lightrag.predicates import (
    MATCH_ALL,
    MATCH_NONE,
    And,
    Compare,
    Compiler,
    ContainsAll,
    ContainsAny,
    In,
    Not,
    Operator,
    Or,
    Predicate,
    Under,
    normalise,
)
from lightrag.query_filters.date_filter import DateFilter, DateRangeMode, DocumentDateShape, UndatedMatch
from lightrag.query_filters.dates import ceil_ms, floor_ms, instant_us
from lightrag.query_filters.query_filter import RequiredTagsMode, VectorQueryFilter, as_filter

T = TypeVar("T")

_DATED = Compare("filter_dated", Operator.EQ, value=True)
_UNDATED = Compare("filter_dated", Operator.EQ, value=False)
_HAS_START = Compare("filter_start_ms", Operator.GT, OPEN_START_MS)
_HAS_END = Compare("filter_end_ms", Operator.LT, OPEN_END_MS)
_UNDATED_EVIDENCE = Compare("has_undated_evidence", Operator.EQ, value=True)
_OPEN_START = Compare("has_open_start", Operator.EQ, value=True)
_OPEN_END = Compare("has_open_end", Operator.EQ, value=True)

NOT_STAMPED: Predicate = normalise(Not(Or((_DATED, Compare("filter_start_ms", Operator.EQ, OPEN_START_MS)))))
"""Rows without filter fields: written before filters existed, or with pushdown off.

A row that carries the fields is dated, or its start is the sentinel; a row whose fields are missing, null or
the default 0 is neither. Such rows must pass a pushed-down filter and be judged by their document's metadata,
or switching pushdown on would lose them.
"""

_SHAPES: Mapping[DocumentDateShape, Predicate] = {
    DocumentDateShape.ANY: MATCH_ALL,
    DocumentDateShape.DATED: MATCH_ALL,
    DocumentDateShape.BOUNDED: And((_HAS_START, _HAS_END)),
    DocumentDateShape.HAS_START: _HAS_START,
    DocumentDateShape.HAS_END: _HAS_END,
}


def document_predicate(filter: VectorQueryFilter | Mapping[str, Any]) -> Predicate:
    """Return the normalised predicate that says a filter over rows of the normal form.

    For every document ``evaluate(document_predicate(f), normal_form(metadata, doc_id=i))`` equals
    ``document_matches_filter(metadata, f, doc_id=i)``.

    Raises:
        FilterSyntaxError: A filter in API form is not valid.
    """
    return normalise(_document(as_filter(filter)))


def _document(filter: VectorQueryFilter) -> Predicate:
    parts: list[Predicate] = [_document(part) for part in filter.all_of]
    if filter.date_filter is not None:
        parts.append(_dates(filter.date_filter))
    parts.append(_required(filter))
    parts.append(Not(ContainsAny("filter_tags", tuple(filter.forbidden_tags))))
    if filter.doc_types:
        parts.append(In("doc_type", tuple(filter.doc_types)))
    if filter.path_prefixes:
        parts.append(Or(tuple(Under("source_path", folder) for folder in filter.path_prefixes)))
    parts.append(_modified(filter))
    if filter.search_filters is not None and filter.search_filters.document_ids:
        parts.append(In("full_doc_id", tuple(filter.search_filters.document_ids)))
    return And(tuple(parts))


def _required(filter: VectorQueryFilter) -> Predicate:
    scope = ContainsAll("filter_tags", () if filter.scope_tag is None else (filter.scope_tag,))
    required = tuple(filter.required_tags)
    if filter.required_tags_mode is RequiredTagsMode.OR and required:
        return And((scope, ContainsAny("filter_tags", required)))
    return And((scope, ContainsAll("filter_tags", required)))


def _modified(filter: VectorQueryFilter) -> Predicate:
    after, before = filter.modified_after_ms, filter.modified_before_ms
    parts: list[Predicate] = []
    if after is not None:
        parts.append(Compare("modified_at", Operator.GE, after))
    if before is not None:
        # An unknown time is stored as the lowest value, so an upper bound alone would let it in.
        parts.append(Compare("modified_at", Operator.GT, OPEN_START_MS))
        parts.append(Compare("modified_at", Operator.LE, before))
    return And(tuple(parts))


def _dates(dates: DateFilter) -> Predicate:
    if not dates.is_active:
        return MATCH_ALL
    if dates.undated is UndatedMatch.ONLY:
        return _UNDATED
    base = MATCH_NONE if _has_no_criterion(dates) else And((_DATED, _SHAPES[dates.shape], _window(dates)))
    return base if dates.undated is UndatedMatch.EXCLUDE else Or((_UNDATED, base))


def _has_no_criterion(dates: DateFilter) -> bool:
    return dates.range is None and dates.shape is DocumentDateShape.ANY


def _window(dates: DateFilter) -> Predicate:
    if dates.range is None:
        return MATCH_ALL
    opens, closes = dates.range.start, dates.range.end
    if dates.range_mode is DateRangeMode.OVERLAP:
        return And((_start_at_most(closes), _end_at_least(opens)))
    if dates.range_mode is DateRangeMode.CONTAINED_BY:
        return And((_start_at_least(opens), _end_at_most(closes)))
    starts = Not(_HAS_START) if opens is None else _start_at_most(opens)
    ends = Not(_HAS_END) if closes is None else _end_at_least(closes)
    return And((starts, ends))


# The four comparisons with a bound of the query. An open bound (``None``) constrains nothing. The first
# clause is on whole milliseconds, sound alone and served by an index; the second settles the millisecond that
# both share.


def _start_at_most(bound: datetime | None) -> Predicate:
    if bound is None:
        return MATCH_ALL
    milliseconds, rest = divmod(instant_us(bound), 1000)
    return _bounded("filter_start", Operator.LE, milliseconds, Operator.LE, rest)


def _start_at_least(bound: datetime | None) -> Predicate:
    if bound is None:
        return MATCH_ALL
    milliseconds, rest = divmod(instant_us(bound), 1000)
    return _bounded("filter_start", Operator.GE, milliseconds, Operator.GE, rest)


def _end_at_most(bound: datetime | None) -> Predicate:
    if bound is None:
        return MATCH_ALL
    microseconds = instant_us(bound)
    return _bounded("filter_end", Operator.LE, ceil_ms(microseconds), Operator.GE, -microseconds % 1000)


def _end_at_least(bound: datetime | None) -> Predicate:
    if bound is None:
        return MATCH_ALL
    microseconds = instant_us(bound)
    return _bounded("filter_end", Operator.GE, ceil_ms(microseconds), Operator.LE, -microseconds % 1000)


def _bounded(field: str, operator: Operator, milliseconds: int, rest_operator: Operator, rest: int) -> Predicate:
    """Compare a bound that is stored as milliseconds and a rest of microseconds."""
    coarse = Compare(f"{field}_ms", operator, milliseconds)
    if rest == (999 if rest_operator is Operator.LE else 0):
        return coarse  # every rest satisfies it
    inside = Compare(f"{field}_ms", Operator.LT if operator is Operator.LE else Operator.GT, milliseconds)
    return And((coarse, Or((inside, Compare(f"{field}_us", rest_operator, rest)))))


# --- summaries of graph objects
# ------------------------------------------------------------------------------------


def summary_predicate(filter: VectorQueryFilter | Mapping[str, Any]) -> Predicate:
    """Return a normalised predicate over the fields of a ``FilterSummary`` that loses nothing.

    An object to which an eligible document contributes always matches, whatever ``kg_union_skip_open_bounds``
    was when it was summarised; an object that matches may still have no eligible document. Therefore the
    window is tested for overlap in every ``range_mode``, and sources are not tested at all. Forbidden tags
    are tested only with ``apply_forbidden_tags_to_kg``, which asks for objects to be dropped although an
    eligible document contributes.

    Raises:
        FilterSyntaxError: A filter in API form is not valid.
    """
    return normalise(_summary(as_filter(filter)))


def _summary(filter: VectorQueryFilter) -> Predicate:
    parts: list[Predicate] = [_summary(part) for part in filter.all_of]
    if filter.date_filter is not None:
        parts.append(_summary_dates(filter.date_filter))
    parts.append(_required(filter))
    if filter.apply_forbidden_tags_to_kg:
        parts.append(Not(ContainsAny("filter_tags", tuple(filter.forbidden_tags))))
    return And(tuple(parts))


def _summary_dates(dates: DateFilter) -> Predicate:
    if not dates.is_active:
        return MATCH_ALL
    if dates.undated is UndatedMatch.ONLY:
        return _UNDATED_EVIDENCE
    base = MATCH_NONE if _has_no_criterion(dates) else And((_DATED, _summary_overlap(dates)))
    return base if dates.undated is UndatedMatch.EXCLUDE else Or((_UNDATED_EVIDENCE, base))


def _summary_overlap(dates: DateFilter) -> Predicate:
    parts: list[Predicate] = []
    if dates.range is not None and dates.range.end is not None:
        latest = floor_ms(instant_us(dates.range.end))
        parts.append(Or((_OPEN_START, Compare("filter_start_ms", Operator.LE, latest))))
    if dates.range is not None and dates.range.start is not None:
        earliest = ceil_ms(instant_us(dates.range.start))
        parts.append(Or((_OPEN_END, Compare("filter_end_ms", Operator.GE, earliest))))
    return And(tuple(parts))


def partition_predicate(scope_tag: str | None) -> Predicate:
    """Return the predicate of graph objects in one partition; ``None`` is the aggregate, stored as ``""``."""
    return Compare("tenant_tag", Operator.EQ, scope_tag or "")


def kg_union_tags_match(
    filter_tags: Sequence[str] | set[str] | frozenset[str],
    required: Sequence[str] | set[str] | frozenset[str],
    forbidden: Sequence[str] | set[str] | frozenset[str],
    apply_forbidden_to_kg: bool,
    required_mode: RequiredTagsMode = RequiredTagsMode.AND,
) -> bool:
    """Tell whether the united tags of a graph object pass the coarse tag gate.

    Args:
        filter_tags: Tags of all documents that contribute to the object.
        required: Required tags, in normal form.
        forbidden: Forbidden tags, in normal form.
        apply_forbidden_to_kg: Whether forbidden tags count at all; united tags soon hold every tag of the
            corpus.
        required_mode: All required tags or any of them.
    """
    united, wanted = frozenset(filter_tags), frozenset(required)
    if required_mode == RequiredTagsMode.AND:
        accepted = wanted <= united
    else:
        accepted = not wanted or not wanted.isdisjoint(united)
    return accepted and not (apply_forbidden_to_kg and not united.isdisjoint(forbidden))


# --- for the stores
# ------------------------------------------------------------------------------------------------


@overload
def build_backend_filter_expr(filter: VectorQueryFilter | Mapping[str, Any]) -> Predicate: ...


@overload
def build_backend_filter_expr(
    filter: VectorQueryFilter | Mapping[str, Any], compiler: Compiler[T], *, for_summaries: bool = ...
) -> T: ...


def build_backend_filter_expr(
    filter: VectorQueryFilter | Mapping[str, Any],
    compiler: Compiler[T] | None = None,
    *,
    for_summaries: bool = False,
) -> Predicate | T:
    """Return what to ask a store with stamped rows for: the matching rows and all that are not stamped.

    Args:
        filter: As a model or in API form.
        compiler: The store's compiler; without one the predicate itself is returned.
        for_summaries: The rows are those of entities or relations.

    Raises:
        UnsupportedFilterError: The store cannot express a clause.
        FilterSyntaxError: A filter in API form is not valid.
    """
    wanted = summary_predicate(filter) if for_summaries else document_predicate(filter)
    predicate = normalise(Or((NOT_STAMPED, wanted)))
    return predicate if compiler is None else compiler.compile(predicate)
