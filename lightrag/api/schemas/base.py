"""What all bodies of requests share: unknown fields are refused, and null means "not given"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from lightrag.query_filters.strict_model import StrictModel


class RequestModel(StrictModel):
    """A body of a request."""

    @model_validator(mode="before")
    @classmethod
    def _null_is_default(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        return {name: value for name, value in data.items() if value is not None}


class ResponseModel(BaseModel):
    """A body of a response. Clients must expect further fields."""

    model_config = ConfigDict(extra="allow")


class ErrorBody(ResponseModel):
    """Body of every error.

    Attributes:
        detail: What was wrong and what was allowed: a text, or for 422 a list of faults with the path of each.
        code: Short name of the kind of error, for programs.
    """

    detail: str | list[dict[str, Any]] = Field(
        description="What was wrong and what was allowed; for 422 a list of faults, each with its path.",
        examples=["document 'doc-1' does not exist"],
    )
    code: str = Field(description="Short name of the kind of error, for programs.", examples=["not_found"])
