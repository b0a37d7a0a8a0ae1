"""The query-side filter: one bundle of everything by which a query can be limited to some documents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, StrictBool, model_validator

from lightrag.constants import MAX_QUERY_FILTER_TAGS
from lightrag.exceptions import FilterSyntaxError
from lightrag.query_filters.date_filter import DateFilter, Instant
from lightrag.query_filters.dates import floor_ms, instant_us
from lightrag.query_filters.search_filters import SearchFilters
from lightrag.query_filters.sources import (
    listed,
    normalize_doc_type,
    normalize_list,
    normalize_source_path,
    refuse_blank,
)
from lightrag.query_filters.strict_model import StrictModel, parse_model
from lightrag.query_filters.tags import normalize_tag, normalize_tags


class RequiredTagsMode(StrEnum):
    """Whether a document must carry all required tags or at least one of them."""

    AND = "and"
    OR = "or"


class KgEvidencePolicy(StrEnum):
    """What a filtered query shows of an entity or relation that excluded documents contribute to as well.

    ``prune_evidence``: what the eligible documents say of it. ``strict_drop``: nothing. ``keep_merged``: the
    merged description, which tells what the excluded documents say.
    """

    PRUNE_EVIDENCE = "prune_evidence"
    STRICT_DROP = "strict_drop"
    KEEP_MERGED = "keep_merged"


def _query_tags(name: str) -> BeforeValidator:
    def check(value: object) -> list[str]:
        given = listed(value, name)
        tags = normalize_tags(given, max_tags=MAX_QUERY_FILTER_TAGS)  # type: ignore[arg-type]
        refuse_blank(given, tags, name)
        return tags

    return BeforeValidator(check)


def _check_scope_tag(value: object) -> object:
    if value is not None and not (isinstance(value, str) and value and normalize_tag(value) == value):
        raise FilterSyntaxError(f"scope tag {value!r} is not in normal form")
    return value


_DocTypes = Annotated[
    list[str], BeforeValidator(lambda values: normalize_list(values, "doc_types", normalize_doc_type))
]
_Folders = Annotated[
    list[str], BeforeValidator(lambda values: normalize_list(values, "path_prefixes", normalize_source_path))
]


class VectorQueryFilter(StrictModel):
    """Everything that limits a query, in normal form. All parts narrow: a document must satisfy every one.

    Attributes:
        date_filter: Dates of the document.
        required_tags: Tags it must carry, by ``required_tags_mode``.
        required_tags_mode: All of them or any of them.
        forbidden_tags: Tags it must not carry.
        apply_forbidden_tags_to_kg: Also drop entities and relations to which a document with a forbidden tag
            contributes.
        search_filters: Entity types, relation types, documents by id, properties.
        doc_types: It is of one of these types.
        path_prefixes: It lies in one of these folders.
        modified_after: It was changed at or after this instant, by whole milliseconds.
        modified_before: It was changed at or before this instant.
        kg_evidence_policy: What is shown of objects with excluded evidence.
        scope_tag: A tag it must carry whatever ``required_tags_mode`` says, because it names a partition.
        all_of: Further filters, each of which it must satisfy: limits that the caller cannot lift.
    """

    date_filter: DateFilter | None = None
    required_tags: Annotated[list[str], _query_tags("required_tags")] = Field(default_factory=list)
    required_tags_mode: RequiredTagsMode = RequiredTagsMode.AND
    forbidden_tags: Annotated[list[str], _query_tags("forbidden_tags")] = Field(default_factory=list)
    apply_forbidden_tags_to_kg: StrictBool = False
    search_filters: SearchFilters | None = None
    doc_types: _DocTypes = Field(default_factory=list)
    path_prefixes: _Folders = Field(default_factory=list)
    modified_after: Instant | None = None
    modified_before: Instant | None = None
    kg_evidence_policy: KgEvidencePolicy = KgEvidencePolicy.PRUNE_EVIDENCE
    scope_tag: Annotated[str | None, BeforeValidator(_check_scope_tag)] = None
    all_of: list[VectorQueryFilter] = Field(default_factory=list)

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        after, before = self.modified_after, self.modified_before
        if after is not None and before is not None and instant_us(after) > instant_us(before):
            raise FilterSyntaxError(
                f"modified_after {after.isoformat()!r} lies after modified_before {before.isoformat()!r}"
            )
        return self

    @property
    def is_active(self) -> bool:
        """Whether the filter can leave anything out, documents or graph objects."""
        return self.restricts_documents or bool(
            (self.search_filters is not None and self.search_filters.is_active)
            or any(part.is_active for part in self.all_of)
        )

    @property
    def restricts_documents(self) -> bool:
        """Whether the filter can leave documents out; otherwise it concerns graph objects only."""
        return bool(
            (self.date_filter is not None and self.date_filter.is_active)
            or self.required_tags
            or self.forbidden_tags
            or self.doc_types
            or self.path_prefixes
            or self.modified_after is not None
            or self.modified_before is not None
            or self.scope_tag is not None
            or (self.search_filters is not None and self.search_filters.document_ids)
            or any(part.restricts_documents for part in self.all_of)
        )

    @property
    def object_exclusions(self) -> list[tuple[VectorQueryFilter, bool]]:
        """What drops graph objects although a document of theirs is accepted: ``strict_drop`` and forbidden tags.

        Returns:
            Filters; an object is dropped if one of them accepts a document of its evidence, or, with ``True``, if there
            is one that it does not accept. A person's corrections drop nothing.
        """
        strict = self.kg_evidence_policy is KgEvidencePolicy.STRICT_DROP
        return [(self, True)] * strict + [(carrying, False) for carrying in _forbidding_objects(self)]

    @property
    def modified_after_ms(self) -> int | None:
        """``modified_after`` in whole milliseconds, as documents' modification times are compared."""
        return None if self.modified_after is None else floor_ms(instant_us(self.modified_after))

    @property
    def modified_before_ms(self) -> int | None:
        """``modified_before`` in whole milliseconds."""
        return None if self.modified_before is None else floor_ms(instant_us(self.modified_before))


def _forbidding_objects(filter: VectorQueryFilter) -> list[VectorQueryFilter]:
    """Return filters that accept the documents which ``apply_forbidden_tags_to_kg`` is about."""
    inner = [carrying for part in filter.all_of for carrying in _forbidding_objects(part)]
    if not (filter.apply_forbidden_tags_to_kg and filter.forbidden_tags):
        return inner
    return [VectorQueryFilter(required_tags=filter.forbidden_tags, required_tags_mode=RequiredTagsMode.OR), *inner]


FILTER_ATTRIBUTES: tuple[str, ...] = (
    "date_filter",
    "required_tags",
    "required_tags_mode",
    "forbidden_tags",
    "apply_forbidden_tags_to_kg",
    "search_filters",
    "doc_types",
    "path_prefixes",
    "modified_after",
    "modified_before",
    "kg_evidence_policy",
)
"""What :func:`build_vector_query_filter` reads off a query's parameters."""


def as_filter(filter: VectorQueryFilter | Mapping[str, Any]) -> VectorQueryFilter:
    """Return a filter given as the model or as a mapping in API form.

    Raises:
        FilterSyntaxError: The mapping is not valid.
    """
    return parse_model(VectorQueryFilter, filter)


def build_vector_query_filter(query_param: object, *, scope_tag: str | None = None) -> VectorQueryFilter | None:
    """Return the effective filter of a query. Every leg, route and store gets its filter from here.

    Args:
        query_param: Anything with some of :data:`FILTER_ATTRIBUTES`, as attributes or as keys, each a model
            or plain
            JSON. What is missing or ``None`` is not set.
        scope_tag: The partition that :func:`lightrag.kg_scopes.resolve_kg_scope_from_required_tags` found
            among the
            required tags. Documents must carry it in every ``required_tags_mode``; the mode applies to the
            others.

    Returns:
        ``None`` when nothing is filtered, so that the query runs exactly as without filters.

    Raises:
        FilterSyntaxError: A part is not valid, also when blank values leave an empty list.
    """
    if isinstance(query_param, VectorQueryFilter):
        given: dict[str, Any] = {name: getattr(query_param, name) for name in VectorQueryFilter.model_fields}
    elif isinstance(query_param, Mapping):
        given = {name: query_param.get(name) for name in FILTER_ATTRIBUTES}
    else:
        given = {name: getattr(query_param, name, None) for name in FILTER_ATTRIBUTES}
    parts = {name: value for name, value in given.items() if value is not None}
    filter = parse_model(VectorQueryFilter, parts)
    if scope_tag is not None:
        others = [tag for tag in filter.required_tags if tag != scope_tag]
        filter = parse_model(VectorQueryFilter, {**parts, "required_tags": others, "scope_tag": scope_tag})
    return filter if filter.is_active else None


def has_active_filters(query_param: object) -> bool:
    """Tell whether a query is filtered at all.

    Dates are active with a range, a shape other than ``any`` or an ``undated`` other than ``exclude``; modes
    and policies alone filter nothing.

    Raises:
        FilterSyntaxError: As :func:`build_vector_query_filter`.
    """
    return build_vector_query_filter(query_param) is not None


def combine_filters(*filters: VectorQueryFilter | None) -> VectorQueryFilter | None:
    """Return the filter that accepts what all of the given ones accept; ``None`` stands for no filter.

    What concerns display, as ``kg_evidence_policy``, is taken from the first filter.
    """
    active = [filter for filter in filters if filter is not None and filter.is_active]
    if len(active) < 2:
        return active[0] if active else None
    return active[0].model_copy(update={"all_of": [*active[0].all_of, *active[1:]]})


def build_filter_cache_hash(query_param: object, *, scope_tag: str | None = None) -> str | None:
    """Return a digest of all active filter fields for the key of a cached answer, ``None`` without a filter.

    The order and spelling of tags, types, folders and ids, and the offset in which an instant is written,
    make no difference; everything that can change the result does.

    Args:
        query_param: As for :func:`build_vector_query_filter`, or a filter that it returned.
        scope_tag: As there.

    Raises:
        FilterSyntaxError: As there.
    """
    filter = build_vector_query_filter(query_param, scope_tag=scope_tag)
    if filter is None:
        return None
    text = json.dumps(_canonical(filter), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _canonical(filter: VectorQueryFilter) -> dict[str, Any]:
    form: dict[str, Any] = {
        "required": sorted(filter.required_tags),
        "mode": filter.required_tags_mode if len(filter.required_tags) > 1 else RequiredTagsMode.AND,
        "forbidden": sorted(filter.forbidden_tags),
        "forbidden_kg": bool(filter.forbidden_tags) and filter.apply_forbidden_tags_to_kg,
        "doc_types": sorted(filter.doc_types),
        "folders": sorted(filter.path_prefixes),
        "modified": [filter.modified_after_ms, filter.modified_before_ms],
        "policy": filter.kg_evidence_policy,
        "scope": filter.scope_tag,
        "all_of": sorted(
            (_canonical(part) for part in filter.all_of), key=lambda part: json.dumps(part, sort_keys=True)
        ),
    }
    if filter.date_filter is not None and filter.date_filter.is_active:
        form["dates"] = _canonical_dates(filter.date_filter)
    search = filter.search_filters
    if search is not None and search.is_active:
        form["search"] = [
            sorted(label.casefold() for label in search.labels),
            sorted(relation_type.casefold() for relation_type in search.relation_types),
            sorted(search.document_ids),
            search.properties,
        ]
    return form


def _canonical_dates(dates: DateFilter) -> list[Any]:
    def instant(bound: datetime | None) -> int | None:
        return None if bound is None else instant_us(bound)

    window = None if dates.range is None else [instant(dates.range.start), instant(dates.range.end)]
    return [window, dates.range_mode, dates.shape, dates.undated]
