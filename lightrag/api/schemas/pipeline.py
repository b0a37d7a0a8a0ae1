"""Bodies of the pipeline routes."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from lightrag.api.schemas.base import RequestModel, ResponseModel

SHOWN_HISTORY_LINES = 1000


class PipelineStatusResponse(ResponseModel):
    """What the pipeline does."""

    busy: bool = Field(description="Whether documents are being processed.", examples=[False])
    job_name: str = Field(description="What runs, or ran last.", examples=["processing documents"])
    job_start: str | None = Field(
        description="When it began, ISO-8601; null before the first run.", examples=["2026-01-15T09:30:00+00:00"]
    )
    docs: int = Field(description="Documents of the run, count.", examples=[12])
    batchs: int = Field(description="The same count, under an older name.", examples=[12])
    cur_batch: int = Field(description="Documents that are finished, count.", examples=[7])
    latest_message: str = Field(description="Last line of the log.", examples=["document act-1903.md: extracting"])
    history_messages: list[str] = Field(
        description="Last lines of the log, 1000 at the most.", examples=[["3 documents wait"]]
    )
    update_status: dict[str, list[bool]] = Field(description="Always empty: there is one process.", examples=[{}])
    recovery_required: bool = Field(description="Always false: an interrupted run resumes by itself.", examples=[False])
    recovery_kind: str | None = Field(None, description="Always null.", examples=[None])
    recovery_message: str | None = Field(None, description="Always null.", examples=[None])
    destructive_busy: bool = Field(description="Whether something is being deleted.", examples=[False])
    scanning: bool = Field(description="Whether the input folder is being scanned.", examples=[False])
    scanning_exclusive: bool = Field(False, description="Always false: a scan keeps nobody out.", examples=[False])
    pending_enqueues: int = Field(description="Documents that are being stored now, count.", examples=[0])
    cancellation_requested: bool = Field(description="Whether the run was asked to stop.", examples=[False])
    cancellation_reason: str | None = Field(None, description="Why.", examples=[None])
    cancellation_detail: str | None = Field(None, description="Always null.", examples=[None])

    @classmethod
    def of(cls, snapshot: dict[str, Any], *, scanning: bool) -> PipelineStatusResponse:
        """Return the public form of the pipeline's state."""
        history = list(snapshot["history_messages"])
        if len(history) > SHOWN_HISTORY_LINES:
            left_out = len(history) - SHOWN_HISTORY_LINES
            history = [f"... {left_out} earlier lines left out", *history[-SHOWN_HISTORY_LINES:]]
        return cls(
            **{
                **snapshot,
                "history_messages": history,
                "update_status": {},
                "recovery_required": False,
                "scanning": scanning,
            }
        )


class ForceResetRequest(RequestModel):
    """Confirmation."""

    confirm: bool = Field(False, description="Must be true.", examples=[True])


class ForceResetResponse(ResponseModel):
    """Outcome."""

    status: str = Field(
        description="no_recovery_required: an interrupted run resumes by itself.", examples=["no_recovery_required"]
    )
    message: str = Field(description="In words.", examples=["nothing has to be reset"])
    cancelled_manual_retries: int = Field(description="Retries that were called off, count; always 0.", examples=[0])
