"""What a user says about a document when it is uploaded, and how it is stored."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, ModelWrapValidatorHandler, PrivateAttr, model_validator

from lightrag.constants import MAX_DOCUMENT_META_BYTES, MAX_DOCUMENT_META_DEPTH
from lightrag.exceptions import FilterSyntaxError
from lightrag.query_filters.date_filter import OffsetDatetime
from lightrag.query_filters.dates import serialize_aware_datetime, validate_date_pair
from lightrag.query_filters.sources import listed, normalize_doc_type, normalize_source_path
from lightrag.query_filters.strict_model import StrictModel, parse_model
from lightrag.query_filters.tags import is_lossless, normalize_tags
from lightrag.types import Metadata

USER_START_DATE = "user_start_date"
USER_END_DATE = "user_end_date"
USER_TAGS = "user_tags"
USER_META = "user_meta"
USER_MODIFIED_AT = "user_modified_at"
USER_DOC_TYPE = "user_doc_type"
USER_SOURCE_PATH = "user_source_path"

USER_METADATA_KEYS: tuple[str, ...] = (
    USER_START_DATE,
    USER_END_DATE,
    USER_TAGS,
    USER_META,
    USER_MODIFIED_AT,
    USER_DOC_TYPE,
    USER_SOURCE_PATH,
)
"""Keys of a doc_status row's ``metadata`` that belong to the user and survive every change of status."""


def _check_tags(value: object) -> list[str]:
    return normalize_tags(listed(value, "tags"))  # type: ignore[arg-type]


def _check_meta(value: object) -> dict[str, Any]:
    """Refuse what would not come back from JSON as it was sent, or is too large or too deep."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise FilterSyntaxError(f"meta is a JSON object, not {value!r}")
    _check_json(value, "meta", objects=0, lists=0)
    size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
    if size > MAX_DOCUMENT_META_BYTES:
        raise FilterSyntaxError(f"meta has {size} bytes as JSON; allowed are {MAX_DOCUMENT_META_BYTES}")
    return value


def _check_json(value: object, path: str, *, objects: int, lists: int) -> None:
    if value is None or isinstance(value, bool | int):
        return
    if isinstance(value, float):
        if not math.isfinite(value):
            raise FilterSyntaxError(f"{path} is {value!r}, which JSON cannot hold")
    elif isinstance(value, str):
        _check_json_text(value, path)
    elif isinstance(value, dict):
        _check_depth(objects + 1, path, "objects")
        for key, item in value.items():
            if not isinstance(key, str):
                raise FilterSyntaxError(f"{path} has the key {key!r}; keys of JSON objects are texts")
            _check_json_text(key, path)
            _check_json(item, f"{path}.{key}", objects=objects + 1, lists=lists)
    elif isinstance(value, list):
        _check_depth(lists + 1, path, "lists")
        for index, item in enumerate(value):
            _check_json(item, f"{path}[{index}]", objects=objects, lists=lists + 1)
    else:
        raise FilterSyntaxError(f"{path} is of type {type(value).__name__}, which JSON cannot hold")


def _check_depth(depth: int, path: str, what: str) -> None:
    if depth > MAX_DOCUMENT_META_DEPTH:
        raise FilterSyntaxError(f"{path} nests {what} deeper than the {MAX_DOCUMENT_META_DEPTH} levels allowed")


def _check_json_text(text: str, path: str) -> None:
    """Refuse what some store cannot hold: NUL, and halves of surrogate pairs."""
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise FilterSyntaxError(f"{path} holds a NUL character or half a surrogate pair")


def _optional(normal_form: Any) -> BeforeValidator:
    """Blank counts as not given."""
    return BeforeValidator(lambda value: (normal_form(value) or None) if value is not None else None)


class DocumentMetadata(StrictModel):
    """Metadata of one document, or shared by the documents of one upload.

    Attributes:
        start_date: When what the document says begins to hold; ISO-8601 with offset or an aware datetime.
        end_date: When it ends, itself included.
        tags: Broad categories to filter by, in normal form.
        meta: Any JSON object; given back as it was, never searched.
        modified_at: When the source was last changed.
        doc_type: Kind of source, such as ``pdf`` or ``note``, without case.
        source_path: Path in the source, relative to its root.
    """

    start_date: OffsetDatetime | None = Field(default=None, examples=["1903-05-01T00:00:00+01:00"])
    end_date: OffsetDatetime | None = Field(default=None, examples=["1928-03-31T23:59:59Z"])
    tags: Annotated[list[str], BeforeValidator(_check_tags)] = Field(
        default_factory=list, examples=[["type:act", "place:velmouth"]]
    )
    meta: Annotated[dict[str, Any], BeforeValidator(_check_meta)] = Field(
        default_factory=dict, examples=[{"title": "Velmouth Harbour Act 1903"}]
    )
    modified_at: OffsetDatetime | None = Field(default=None, examples=["2026-01-15T09:30:00Z"])
    doc_type: Annotated[str | None, _optional(normalize_doc_type)] = Field(default=None, examples=["act"])
    source_path: Annotated[str | None, _optional(normalize_source_path)] = Field(
        default=None, examples=["archive/act-1903.md"]
    )

    _altered_tags: tuple[str, ...] = PrivateAttr(default=())

    @model_validator(mode="wrap")
    @classmethod
    def _remember_altered_tags(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        metadata = handler(data)
        if isinstance(data, Mapping):
            submitted = listed(data.get("tags"), "tags")
            altered = (tag for tag in submitted if isinstance(tag, str) and tag.strip() and not is_lossless(tag))
            metadata._altered_tags = tuple(altered)  # noqa: SLF001 - a validator of this very class
        return metadata

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        validate_date_pair(self.start_date, self.end_date)
        return self

    @property
    def altered_tags(self) -> tuple[str, ...]:
        """The tags, as submitted, of which normalising replaced characters.

        For a tag that separates tenants that is a leak, so ``lightrag.kg_scopes.check_scope_tags`` refuses
        them.
        """
        return self._altered_tags

    @classmethod
    def coerce(cls, value: DocumentMetadata | Mapping[str, Any]) -> DocumentMetadata:
        """Return metadata given as the model or as plain JSON.

        Raises:
            FilterSyntaxError: It is not valid; every fault is named with its path.
        """
        return parse_model(cls, value)

    def to_storage(self) -> Metadata:
        """Return the ``user_*`` keys of a doc_status row; dates keep their offset, absent ones get none."""
        stored: Metadata = {USER_TAGS: list(self.tags), USER_META: dict(self.meta)}
        dates = {
            USER_START_DATE: self.start_date,
            USER_END_DATE: self.end_date,
            USER_MODIFIED_AT: self.modified_at,
        }
        stored.update({key: serialize_aware_datetime(date) for key, date in dates.items() if date is not None})
        texts = {USER_DOC_TYPE: self.doc_type, USER_SOURCE_PATH: self.source_path}
        stored.update({key: text for key, text in texts.items() if text is not None})
        return stored


def public_metadata(metadata: Mapping[str, Any] | None) -> Metadata:
    """Return the user's part of a doc_status row's ``metadata`` under its public names.

    Returns:
        ``start_date``, ``end_date``, ``modified_at`` (as stored, or ``None``), ``doc_type``, ``source_path``
        (text or ``None``), ``tags`` (list) and ``meta`` (dict).
    """
    row = metadata or {}
    single = (USER_START_DATE, USER_END_DATE, USER_MODIFIED_AT, USER_DOC_TYPE, USER_SOURCE_PATH)
    public: Metadata = {key.removeprefix("user_"): row.get(key) for key in single}
    public["tags"] = list(row.get(USER_TAGS) or [])
    public["meta"] = dict(row.get(USER_META) or {})
    return public
