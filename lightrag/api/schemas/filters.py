"""The fields by which a request can be limited to some documents; the same on every route that takes them."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, StrictBool, model_validator

from lightrag.api.schemas.base import RequestModel
from lightrag.contracts.query import QueryParam
from lightrag.exceptions import FilterSyntaxError
from lightrag.query_filters import (
    DATE_FILTER_PRESETS,
    FILTER_ATTRIBUTES,
    DateFilter,
    KgEvidencePolicy,
    RequiredTagsMode,
    SearchFilters,
    build_vector_query_filter,
)
from lightrag.query_filters.date_filter import Instant
from lightrag.query_filters.strict_model import parse_model, read_json

_WINDOW = {"start": "1930-01-01T00:00:00Z", "end": "1939-12-31T23:59:59Z"}


class FilterFields(RequestModel):
    """Limits; all of them narrow. Without any, nothing is filtered."""

    date_filter: DateFilter | None = Field(
        None,
        description="Dates of the documents: a window, how a document relates to it, and which documents count.",
        examples=[{"range": _WINDOW, "range_mode": "overlap", "shape": "has_start", "undated": "exclude"}],
    )
    required_tags: list[str] | None = Field(
        None,
        description="Tags that documents must carry, at most 32. A scope tag also chooses the graph that is asked.",
        examples=[["type:act", "jurisdiction:uk"]],
    )
    required_tags_mode: RequiredTagsMode | None = Field(
        None, description="'and' (default): all required tags; 'or': at least one.", examples=["and"]
    )
    forbidden_tags: list[str] | None = Field(
        None, description="Tags that documents must not carry, at most 32.", examples=[["status:draft"]]
    )
    apply_forbidden_tags_to_kg: StrictBool | None = Field(
        None,
        description="Also drop entities and relations to which a document with a forbidden tag contributes.",
        examples=[False],
    )
    search_filters: SearchFilters | None = Field(
        None,
        description="Entity types, relation types, documents by id, stored properties.",
        examples=[{"labels": ["person"], "document_ids": ["doc-0123456789abcdef0123456789abcdef"]}],
    )
    doc_types: list[str] | None = Field(
        None, description="Types of documents, any of them, in any case.", examples=[["act", "filing"]]
    )
    path_prefixes: list[str] | None = Field(
        None, description="Folders that the documents lie in, any of them, by whole names.", examples=[["archive/1931"]]
    )
    modified_after: Annotated[Instant | None, Field(
        description="Earliest modification: ISO-8601 with offset, or Unix seconds. The instant itself counts.",
        examples=["2026-01-01T00:00:00Z"],
    )] = None  # fmt: skip
    modified_before: Annotated[Instant | None, Field(
        description="Latest modification, ISO-8601 with offset, or epoch seconds.",
        examples=["2026-06-30T23:59:59+02:00"],
    )] = None  # fmt: skip
    kg_evidence_policy: KgEvidencePolicy | None = Field(
        None,
        description=(
            "What is shown of an entity or relation that excluded documents contribute to as well: "
            "'prune_evidence' (default) what the others say, 'strict_drop' nothing, 'keep_merged' the merged text, "
            "which tells what the excluded ones say."
        ),
        examples=["prune_evidence"],
    )

    @model_validator(mode="after")
    def _check_filter(self) -> Self:
        build_vector_query_filter(self)
        return self

    def given(self) -> dict[str, Any]:
        """Return what was sent, by field name, without nulls; nested models as models."""
        fields = type(self).model_fields
        values = {name: getattr(self, name) for name in fields if name in self.model_fields_set}
        return {name: value for name, value in values.items() if value is not None}

    def filter_param(self) -> QueryParam:
        """Return the limits alone as parameters of a question."""
        return QueryParam(**{name: value for name, value in self.given().items() if name in FILTER_ATTRIBUTES})


class FilterQuery(RequestModel):
    """Limits as they fit into an address."""

    required_tags: list[str] = Field(
        default_factory=list, description="Tags that documents must carry.", examples=[["type:act"]]
    )
    required_tags_mode: RequiredTagsMode = Field(
        RequiredTagsMode.AND, description="'and': all required tags; 'or': at least one.", examples=["and"]
    )
    forbidden_tags: list[str] = Field(
        default_factory=list, description="Tags that documents must not carry.", examples=[["status:draft"]]
    )
    doc_types: list[str] = Field(default_factory=list, description="Types of documents.", examples=[["act"]])
    path_prefixes: list[str] = Field(
        default_factory=list, description="Folders that the documents lie in.", examples=[["archive"]]
    )
    filter: str | None = Field(
        None,
        description="Any filter fields of POST /query as a JSON object; those given by name win.",
        examples=['{"date_filter": {"shape": "dated"}}'],
    )

    def filter_param(self) -> QueryParam:
        """Return the limits as parameters of a question.

        Raises:
            FilterSyntaxError: They are not valid.
        """
        given: Any = {}
        if self.filter and self.filter.strip():
            try:
                given = read_json(self.filter)
            except (ValueError, RecursionError) as error:
                raise FilterSyntaxError(f"filter is not JSON ({error})") from error
        if not isinstance(given, dict):
            raise FilterSyntaxError(f"filter is {type(given).__name__}; send a JSON object")
        named = {name: getattr(self, name) for name in self.model_fields_set if name != "filter"}
        return parse_model(FilterFields, {**given, **named}).filter_param()


def preset_examples(body: dict[str, Any]) -> dict[str, Any]:
    """Return an OpenAPI example of a request for each preset of date filters.

    Args:
        body: The rest of the request.
    """
    examples: dict[str, Any] = {}
    for name, preset in DATE_FILTER_PRESETS.items():
        date_filter: dict[str, Any] = {"undated": preset.undated.value}
        if preset.range_mode is not None and preset.shape is not None:
            date_filter |= {"range": _WINDOW, "range_mode": preset.range_mode.value, "shape": preset.shape.value}
        label = name.replace("_", " ").capitalize()
        examples[name] = {"summary": f"Preset: {label}", "value": {**body, "date_filter": date_filter}}
    return examples
