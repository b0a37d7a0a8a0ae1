"""Bodies of the routes about source paths that several documents have."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from lightrag.api.schemas.base import RequestModel, ResponseModel
from lightrag.contracts.sources import SourceConflictSummary, SourceRepair

_PATH = "archive/act-1928.md"
_DOCUMENT = "doc-0123456789abcdef0123456789abcdef"


class SourceConflictItem(ResponseModel):
    """A source path that several documents have."""

    canonical_source_key: str = Field(description="The path.", examples=[_PATH])
    candidate_count: int | None = Field(description="How many documents have it, count.", examples=[2])
    sample_doc_ids: list[str] = Field(description="Some of them, oldest first.", examples=[[_DOCUMENT]])

    @classmethod
    def of(cls, summary: SourceConflictSummary) -> SourceConflictItem:
        """Return the public form."""
        return cls(**{**vars(summary), "sample_doc_ids": list(summary.sample_doc_ids)})


class SourceConflictsResponse(ResponseModel):
    """Source paths that several documents have."""

    conflicts: list[SourceConflictItem] = Field(description="The paths of this page, sorted.")
    next_cursor: str | None = Field(
        description="Send it as cursor for the next page; null after the last one.", examples=[_PATH]
    )


class SourceConflictRepairRequest(RequestModel):
    """Which document a source path shall stand for."""

    canonical_source_key: str = Field(min_length=1, max_length=4096, description="The path.", examples=[_PATH])
    primary_doc_id: str = Field(
        min_length=1, max_length=4096, description="The document that it shall stand for.", examples=[_DOCUMENT]
    )
    expected_candidate_count: int | None = Field(
        None, ge=0, description="candidate_count of the trial, count; needed to change something.", examples=[2]
    )
    expected_candidate_fingerprint: str | None = Field(
        None, max_length=128, description="fingerprint of the trial; needed to change something.",
        examples=["22c0fb5d81388595516487be6d0bcc8c0c6a0250ba93bda0823226e00d75b30c"],
    )  # fmt: skip
    dry_run: bool = Field(True, description="Only tell what would be done.", examples=[True])

    @model_validator(mode="after")
    def _has_tokens(self) -> Self:
        seen = (self.expected_candidate_count, self.expected_candidate_fingerprint)
        if not self.dry_run and None in seen:
            raise ValueError(
                "with dry_run false, expected_candidate_count and expected_candidate_fingerprint must be sent as the "
                "answer to a trial (dry_run true) has them"
            )
        return self

    def repair(self) -> SourceRepair:
        """Return what is asked for."""
        return SourceRepair(
            self.canonical_source_key,
            self.primary_doc_id,
            self.expected_candidate_count or 0,
            self.expected_candidate_fingerprint or "",
        )


class SourceConflictRepairResponse(ResponseModel):
    """What a repair did, or would do."""

    canonical_source_key: str = Field(description="The path.", examples=[_PATH])
    primary_doc_id: str = Field(description="The document that it stands for.", examples=[_DOCUMENT])
    candidate_count: int = Field(description="How many documents have the path, count.", examples=[2])
    fingerprint: str = Field(
        description="Of which documents these are.",
        examples=["22c0fb5d81388595516487be6d0bcc8c0c6a0250ba93bda0823226e00d75b30c"],
    )
    demoted_sample_doc_ids: list[str] = Field(
        description="Some of those that become repetitions. They stay, and are found, until they are deleted.",
        examples=[["doc-7d1e0b"]],
    )
    committed: bool = Field(description="Whether it was done.", examples=[False])
