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
    job_start: str | None = Field(description="When it began, ISO-8601; null before the first run.")
    docs: int = Field(description="Documents of the run, count.", examples=[12])
    batchs: int = Field(description="The same.", examples=[12])
    cur_batch: int = Field(description="Documents that are finished, count.", examples=[7])
    latest_message: str = Field(description="Last line of the log.")
    history_messages: list[str] = Field(description="Last lines of the log, 1000 at the most.")
    update_status: dict[str, list[bool]] = Field(description="Always empty: there is one process.")
    recovery_required: bool = Field(description="Always false: an interrupted run resumes by itself.")
    recovery_kind: str | None = Field(None, description="Always null.")
    recovery_message: str | None = Field(None, description="Always null.")
    destructive_busy: bool = Field(description="Whether something is being deleted.")
    scanning: bool = Field(description="Whether the input folder is being scanned.")
    scanning_exclusive: bool = Field(False, description="Always false: a scan keeps nobody out.")
    pending_enqueues: int = Field(description="Documents that are being stored now, count.")
    cancellation_requested: bool = Field(description="Whether the run was asked to stop.")
    cancellation_reason: str | None = Field(None, description="Why.")
    cancellation_detail: str | None = Field(None, description="Always null.")

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

    status: str = Field(description="no_recovery_required: an interrupted run resumes by itself.")
    message: str = Field(description="In words.")
    cancelled_manual_retries: int = Field(description="Always 0.")
