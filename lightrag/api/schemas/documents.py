"""Bodies of the document routes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from lightrag.api.schemas.base import RequestModel, ResponseModel
from lightrag.api.schemas.filters import FilterFields
from lightrag.contracts.doc_status import DocProcessingStatus, DocStatus
from lightrag.query_filters import DocumentMetadata, public_metadata
from lightrag.query_filters.date_filter import OffsetDatetime
from lightrag.query_filters.strict_model import StrictModel

METADATA_EXAMPLE: dict[str, Any] = {
    "start_date": "1928-04-01T00:00:00+01:00",
    "end_date": "1932-12-31T23:59:59Z",
    "tags": ["type:act", "jurisdiction:uk", "lang:en"],
    "meta": {"citation": "Acts of the Duchy of Orlmark 1928, chapter 7"},
    "doc_type": "act",
}
_METADATA_TEXT = "Dates, tags and free metadata of the document, by which questions can be limited."


class Chunking(RequestModel):
    """How a text is cut."""

    strategy: str = Field(
        "fixed_token",
        description="fixed_token, recursive_character, semantic_vector or paragraph_semantic.",
        examples=["recursive_character"],
    )
    params: dict[str, Any] = Field(
        default_factory=dict,
        description="chunk_token_size and chunk_overlap_token_size (tokens), split_by_character, separators and so on, "
        "as the strategy has them; an error lists those.",
        examples=[{"chunk_token_size": 800, "chunk_overlap_token_size": 80}],
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        from lightrag.chunker.registry import chunk_options

        try:
            chunk_options(self.params, strategy=self.strategy)
        except TypeError as error:
            raise ValueError(f"params: {error}") from error
        return self


class InsertTextRequest(RequestModel):
    """A text to store."""

    text: str = Field(
        min_length=1, description="The text, characters.", examples=["Ada Lovelace wrote the first program."]
    )
    file_source: str | None = Field(
        None, max_length=1024, description="Path that identifies the document and is shown in references.",
        examples=["notes/ada.md"],
    )  # fmt: skip
    metadata: DocumentMetadata | None = Field(None, description=_METADATA_TEXT, examples=[METADATA_EXAMPLE])
    chunking: Chunking | None = Field(
        None, description="How it is cut; the server's way when left out.", examples=[{"strategy": "fixed_token"}]
    )


class InsertTextsRequest(RequestModel):
    """Texts to store."""

    texts: list[str] = Field(
        min_length=1, description="The texts, none of them empty.", examples=[["First note.", "Second note."]]
    )
    file_sources: list[str] | None = Field(
        None, description="As many paths, each different.", examples=[["notes/1.md", "notes/2.md"]]
    )
    metadata: DocumentMetadata | None = Field(
        None, description=f"{_METADATA_TEXT} Shared by all texts.", examples=[METADATA_EXAMPLE]
    )
    chunking: Chunking | None = Field(
        None, description="How they are cut; the server's way when left out.", examples=[{"strategy": "fixed_token"}]
    )

    @field_validator("texts")
    @classmethod
    def _none_empty(cls, value: list[str]) -> list[str]:
        for position, text in enumerate(value):
            if not text:
                raise ValueError(f"texts[{position}] is empty")
        return value


class MetadataPatch(StrictModel):
    """Fields of a document's metadata to replace. What is left out stays; null clears a field."""

    start_date: OffsetDatetime | None = Field(
        None, description="First date, ISO-8601 with offset.", examples=["1928-04-01T00:00:00+01:00"]
    )
    end_date: OffsetDatetime | None = Field(
        None,
        description="Last date, ISO-8601 with offset; the instant itself counts.",
        examples=["1932-12-31T23:59:59Z"],
    )
    tags: list[str] | None = Field(None, description="All its tags, 64 at the most.", examples=[["type:act"]])
    meta: dict[str, Any] | None = Field(
        None, description="Any JSON object, 256 KiB at the most; given back, never searched.", examples=[{"pages": 4}]
    )
    modified_at: OffsetDatetime | None = Field(
        None, description="When its source was last changed.", examples=["2026-01-31T10:15:30Z"]
    )
    doc_type: str | None = Field(None, description="Kind of source.", examples=["act"])
    source_path: str | None = Field(None, description="Path in its source.", examples=["archive/act-1928.md"])

    def changes(self) -> dict[str, Any]:
        """Return what was sent, nulls included."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class InsertResponse(ResponseModel):
    """What became of a text or of one file."""

    status: Literal["success", "partial_success", "failure"] = Field(
        description="success: stored durably, and processed next; partial_success: some files of the request only.",
        examples=["success"],
    )
    message: str = Field(description="In words.", examples=["file 'report.md' is stored and will be processed"])
    track_id: str = Field(
        description="Names the request; GET /documents/track_status/{track_id} tells what becomes of it.",
        examples=["upload_20260131_101530_1a2b3c4d"],
    )


class FileResult(ResponseModel):
    """What became of one file of an upload."""

    file_name: str = Field(description="Name as sent.", examples=["report.md"])
    file_path: str | None = Field(
        description="Name under which it is stored; null when refused.", examples=["report.md"]
    )
    status: Literal["success", "failure"] = Field(description="Whether it is stored.", examples=["success"])
    message: str = Field(description="In words.", examples=["stored; it will be processed"])
    code: str | None = Field(None, description="Code of the error when refused.", examples=["duplicate"])


class UploadResponse(InsertResponse):
    """What became of the files of an upload."""

    files: list[FileResult] = Field(description="One result per file, in the order sent.")


class DocStatusResponse(ResponseModel):
    """A document, or a refused attempt to store one."""

    id: str = Field(description="Id of the document.", examples=["doc-0123456789abcdef0123456789abcdef"])
    content_summary: str = Field(
        description="Its first 250 characters at the most.",
        examples=["The Commissioners may take dues of every ship..."],
    )
    content_length: int = Field(description="Length of its text, characters.", examples=[5120])
    status: DocStatus = Field(description="State of its processing.", examples=["processed"])
    created_at: str = Field(
        description="When it was accepted, ISO-8601.", examples=["2026-01-31T10:15:30.123456+00:00"]
    )
    updated_at: str = Field(
        description="When its state last changed, ISO-8601.", examples=["2026-01-15T09:30:12.000001+00:00"]
    )
    track_id: str | None = Field(
        None, description="Names the request that brought it.", examples=["upload_20260115_093000_1a2b3c4d"]
    )
    chunks_count: int | None = Field(None, description="Chunks that it was cut into, count.", examples=[4])
    error_msg: str | None = Field(None, description="Why it failed.", examples=[None])
    metadata: dict[str, Any] | None = Field(
        None, description="Notes of its processing.", examples=[{"parse_format": "raw"}]
    )
    file_path: str = Field(description="Path that identifies it.", examples=["archive/act-1928-harbour-and-bridge.md"])
    start_date: str | None = Field(
        None, description="Its first date, as submitted, with its offset.", examples=["1903-05-01T00:00:00+01:00"]
    )
    end_date: str | None = Field(
        None, description="Its last date, as submitted, with its offset.", examples=["1928-03-31T23:59:59+00:00"]
    )
    tags: list[str] = Field(default_factory=list, description="Its tags, in normal form.", examples=[["type:act"]])
    meta: dict[str, Any] = Field(
        default_factory=dict,
        description="Free metadata, as submitted.",
        examples=[{"title": "Velmouth Harbour Act 1903"}],
    )
    modified_at: str | None = Field(
        None, description="When its source was last changed, ISO-8601.", examples=["2026-01-15T09:30:00Z"]
    )
    doc_type: str | None = Field(None, description="Kind of source.", examples=["act"])
    source_path: str | None = Field(None, description="Path in its source.", examples=["archive/act-1928.md"])

    @classmethod
    def of(cls, doc_id: str, row: DocProcessingStatus) -> DocStatusResponse:
        """Return the public form of a stored row."""
        return cls(
            id=doc_id,
            content_summary=row.content_summary,
            content_length=row.content_length,
            status=row.status,
            created_at=row.created_at,
            updated_at=row.updated_at,
            track_id=row.track_id,
            chunks_count=row.chunks_count,
            error_msg=row.error_msg,
            metadata=row.metadata,
            file_path=row.file_path,
            **public_metadata(row.metadata),
        )


class PaginatedRequest(FilterFields):
    """Which documents to list."""

    status_filter: DocStatus | None = Field(None, description="Only this state.", examples=["processed"])
    status_filters: list[DocStatus] | None = Field(
        None, description="Only these states; wins over status_filter.", examples=[["pending", "processing"]]
    )
    search: str = Field(
        "",
        max_length=256,
        description="Only documents with this in name, title, tags or first lines; case is ignored.",
        examples=["harbour"],
    )
    page: int = Field(1, ge=1, le=1_000_000_000, description="Number of the page, from 1.", examples=[1])
    page_size: int = Field(50, ge=10, le=200, description="Documents per page, count.", examples=[50])
    sort_field: Literal["created_at", "updated_at", "id", "file_path"] = Field(
        "updated_at", description="What the list is sorted by.", examples=["updated_at"]
    )
    sort_direction: Literal["asc", "desc"] = Field("desc", description="Upwards or downwards.", examples=["desc"])


class Pagination(ResponseModel):
    """Where a page lies."""

    page: int = Field(description="Number of this page, from 1.", examples=[1])
    page_size: int = Field(description="Documents per page, count.", examples=[50])
    total_count: int = Field(description="Documents on all pages, count.", examples=[128])
    total_pages: int = Field(description="Pages, count.", examples=[3])
    has_next: bool = Field(description="Whether there is a page after this one.", examples=[True])
    has_prev: bool = Field(description="Whether there is a page before this one.", examples=[False])

    @classmethod
    def of(cls, page: int, page_size: int, total: int) -> Pagination:
        """Return where a page lies among so many documents."""
        pages = -(-total // page_size)
        return cls(
            page=page,
            page_size=page_size,
            total_count=total,
            total_pages=pages,
            has_next=page < pages,
            has_prev=page > 1,
        )


class PaginatedResponse(ResponseModel):
    """A page of documents."""

    documents: list[DocStatusResponse] = Field(description="The documents of the page.")
    pagination: Pagination = Field(description="Where the page lies.")
    status_counts: dict[str, int] = Field(
        description="Documents of each state, and of all, whatever was asked for.",
        examples=[{"processed": 12, "all": 12}],
    )


class StatusCountsResponse(ResponseModel):
    """How many documents there are."""

    status_counts: dict[str, int] = Field(
        description="Documents of each state, and of all.", examples=[{"processed": 12, "failed": 0, "all": 12}]
    )


class TrackStatusResponse(ResponseModel):
    """What became of a request."""

    track_id: str = Field(description="The request.", examples=["upload_20260115_093000_1a2b3c4d"])
    documents: list[DocStatusResponse] = Field(description="The documents that it brought.")
    total_count: int = Field(description="How many, count.", examples=[1])
    status_summary: dict[str, int] = Field(description="How many in each state.", examples=[{"processed": 1}])

    @classmethod
    def of(cls, track_id: str, rows: Mapping[str, DocProcessingStatus]) -> TrackStatusResponse:
        """Return the public form of the rows of a request."""
        summary: dict[str, int] = {}
        for row in rows.values():
            summary[row.status.value] = summary.get(row.status.value, 0) + 1
        documents = [DocStatusResponse.of(doc_id, row) for doc_id, row in rows.items()]
        return cls(track_id=track_id, documents=documents, total_count=len(documents), status_summary=summary)


class SupportedFileTypesResponse(ResponseModel):
    """Which files can be uploaded."""

    supported_extensions: list[str] = Field(description="Suffixes, with the dot.", examples=[[".md", ".txt"]])
    engines: dict[str, list[str]] = Field(description="The same by parser.", examples=[{"legacy": [".md", ".txt"]}])


class DeleteDocumentsRequest(RequestModel):
    """Which documents to delete."""

    doc_ids: list[str] = Field(
        min_length=1, description="Ids, each once.", examples=[["doc-0123456789abcdef0123456789abcdef"]]
    )
    delete_file: bool = Field(False, description="Also delete the files in the input folder.", examples=[False])
    delete_llm_cache: bool = Field(False, description="Also forget what the model said about them.", examples=[False])

    @field_validator("doc_ids")
    @classmethod
    def _each_once(cls, value: list[str]) -> list[str]:
        if any(not doc_id.strip() for doc_id in value):
            raise ValueError("doc_ids holds a blank id")
        if len(set(value)) != len(value):
            raise ValueError("doc_ids names a document more than once")
        return value


class DeleteDocumentsResponse(ResponseModel):
    """What happens to documents that shall be deleted."""

    status: Literal["deletion_started", "busy", "not_allowed"] = Field(
        description="busy: the pipeline works; try again later.", examples=["deletion_started"]
    )
    message: str = Field(description="In words.", examples=["2 documents are being deleted"])
    doc_id: str = Field(description="The ids, separated by a comma and a blank.", examples=["doc-1, doc-2"])


class OutcomeResponse(ResponseModel):
    """How an order ended."""

    status: str = Field(description="Outcome, one word.", examples=["success"])
    message: str = Field(description="In words.", examples=["5 files deleted"])


class ReprocessResponse(ResponseModel):
    """Failed documents are tried again."""

    status: Literal["reprocessing_started"] = Field(description="Always the same.")
    message: str = Field(description="In words.", examples=["failed documents are tried once more"])
    track_id: str = Field(
        "", description="Empty: documents keep the id of the request that brought them.", examples=[""]
    )


class ScanResponse(ResponseModel):
    """Whether a scan began."""

    status: Literal["scanning_started", "scanning_skipped_pipeline_busy"] = Field(description="Whether it began.")
    message: str = Field(description="In words.", examples=["the input folder is being scanned"])
    track_id: str = Field(description="Names the scan.", examples=["scan_20260131_101530_1a2b3c4d"])


class ScanStatusResponse(ResponseModel):
    """How far a scan is."""

    track_id: str = Field(description="Names the scan.", examples=["scan_20260115_093000_1a2b3c4d"])
    status: Literal["running", "completed", "failed", "cancelled", "abandoned"] = Field(description="How far it is.")
    counts: dict[str, int] = Field(description="Files by what became of them.", examples=[{"claimed_new": 3}])
    counters_dropped: int = Field(0, description="Kinds that were not counted, count; always 0.", examples=[0])
    samples: dict[str, Any] = Field(
        description="Some names of each kind: items, truncated, dropped.",
        examples=[{"claimed_new": {"items": ["letters/1926.md"], "truncated": False, "dropped": 0}}],
    )
    created_at: float = Field(description="When it began, Unix seconds.", examples=[1769854530.25])
    updated_at: float = Field(description="When it last went on, Unix seconds.", examples=[1768469412.5])
    version: int = Field(description="Number that grows with every change.", examples=[7])
    message: str = Field(description="In words.", examples=["3 files looked at, 1 new documents"])


class ClearCacheRequest(RequestModel):
    """Nothing; an empty object."""


class Bar(ResponseModel):
    """A bar of the histogram of dates."""

    start_year: int = Field(description="First year, as a number.", examples=[1930])
    years: int = Field(description="Width, years.", examples=[10])
    documents: int = Field(description="Documents whose period touches it, count.", examples=[4])


class FacetsResponse(ResponseModel):
    """What there is to filter by."""

    documents: int = Field(description="Processed documents, count.", examples=[30])
    tags: dict[str, dict[str, int]] = Field(
        description="Documents by facet and value: the tag type:act counts under type and act; a tag without colon "
        "under an empty facet.",
        examples=[{"type": {"act": 4}}],
    )
    doc_types: dict[str, int] = Field(description="Documents by type; empty is unknown.", examples=[{"act": 4}])
    folders: dict[str, int] = Field(description="Documents by folder, all below included.", examples=[{"archive": 20}])
    histogram: list[Bar] = Field(
        description="Documents by years, oldest first.", examples=[[{"start_year": 1930, "years": 1, "documents": 4}]]
    )
    undated: int = Field(description="Documents without any date, count.", examples=[3])
