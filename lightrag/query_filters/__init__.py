"""Filters by dates, tags and sources: models, normal forms, and the truth about which documents they accept.

Pure functions and values; nothing here reads a store, except two functions that are handed one.

* Two-valued logic: a comparison with something a document does not have is false, and ``not`` is its exact
  complement.
* Nothing is coerced, and nothing is silently dropped: an unknown field, a naive date, a list of blanks, a
  value over
  a limit is a :class:`~lightrag.exceptions.FilterSyntaxError` that says what was allowed.
* An empty list or a missing field is "no filter"; a filter that nothing satisfies gives nothing.
* All parts of a filter narrow. Date bounds are closed and compared by instant. Tags are compared element by
  element
  in normal form.
* :func:`document_matches_filter` decides. :func:`document_predicate` says the same over stored rows, exactly;
  :func:`summary_predicate` is a coarse gate for graph objects that lets too much through, never too little.
"""

from __future__ import annotations

from lightrag.query_filters.date_filter import (
    DATE_FILTER_PRESETS,
    DateFilter,
    DateRangeFilter,
    DateRangeMode,
    DocumentDateShape,
    UndatedMatch,
)
from lightrag.query_filters.dates import (
    coerce_aware_datetime,
    instant_us,
    parse_stored_datetime,
    serialize_aware_datetime,
    validate_date_pair,
)
from lightrag.query_filters.document_metadata import USER_METADATA_KEYS, DocumentMetadata, public_metadata
from lightrag.query_filters.documents import (
    DocDateClass,
    DocumentFacts,
    classify_doc_dates,
    document_facts,
    document_matches_date_filter,
    document_matches_filter,
    effective_doc_range,
    facts_match_filter,
)
from lightrag.query_filters.eligibility import (
    DocumentStatusReader,
    build_eligible_chunk_ids,
    resolve_eligible_doc_ids,
)
from lightrag.query_filters.filter_predicates import (
    NOT_STAMPED,
    build_backend_filter_expr,
    document_predicate,
    kg_union_tags_match,
    partition_predicate,
    summary_predicate,
)
from lightrag.query_filters.normal_form import (
    STAMPED_FIELDS,
    facts_to_row,
    normal_form,
    stamp_chunk_filter_metadata,
)
from lightrag.query_filters.query_filter import (
    FILTER_ATTRIBUTES,
    KgEvidencePolicy,
    RequiredTagsMode,
    VectorQueryFilter,
    as_filter,
    build_filter_cache_hash,
    build_vector_query_filter,
    combine_filters,
    has_active_filters,
)
from lightrag.query_filters.search_filters import SearchFilters
from lightrag.query_filters.sources import normalize_doc_type, normalize_source_path
from lightrag.query_filters.summary import NO_DOCUMENTS, SUMMARY_FIELDS, FilterSummary, summarise
from lightrag.query_filters.tags import is_lossless, normalize_tag, normalize_tags

__all__ = [
    # what a user says about a document
    "DocumentMetadata",
    "USER_METADATA_KEYS",
    "public_metadata",
    # what a query asks for
    "DATE_FILTER_PRESETS",
    "DateFilter",
    "DateRangeFilter",
    "DateRangeMode",
    "DocumentDateShape",
    "FILTER_ATTRIBUTES",
    "KgEvidencePolicy",
    "RequiredTagsMode",
    "SearchFilters",
    "UndatedMatch",
    "VectorQueryFilter",
    "as_filter",
    "build_filter_cache_hash",
    "build_vector_query_filter",
    "combine_filters",
    "has_active_filters",
    # normal forms of values
    "coerce_aware_datetime",
    "instant_us",
    "is_lossless",
    "normalize_doc_type",
    "normalize_source_path",
    "normalize_tag",
    "normalize_tags",
    "parse_stored_datetime",
    "serialize_aware_datetime",
    "validate_date_pair",
    # the truth
    "DocDateClass",
    "DocumentFacts",
    "classify_doc_dates",
    "document_facts",
    "document_matches_date_filter",
    "document_matches_filter",
    "effective_doc_range",
    "facts_match_filter",
    # stored rows and predicates over them
    "NOT_STAMPED",
    "STAMPED_FIELDS",
    "build_backend_filter_expr",
    "document_predicate",
    "facts_to_row",
    "normal_form",
    "partition_predicate",
    "stamp_chunk_filter_metadata",
    # graph objects
    "FilterSummary",
    "NO_DOCUMENTS",
    "SUMMARY_FIELDS",
    "kg_union_tags_match",
    "summarise",
    "summary_predicate",
    # the status store
    "DocumentStatusReader",
    "build_eligible_chunk_ids",
    "resolve_eligible_doc_ids",
]
