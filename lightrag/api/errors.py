"""Errors as responses: one table from class to status and code, one body for all.

The engine's errors know nothing of HTTP. The nearest base class of an error decides.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from lightrag import exceptions
from lightrag.api.validation import faults, one_line
from lightrag.runtime.model_errors import TruncatedReplyError

logger = logging.getLogger("lightrag.api")

# class of the error                     status, code
ERRORS: dict[type[Exception], tuple[int, str]] = {
    exceptions.FilterSyntaxError: (422, "invalid_filter"),
    exceptions.ScopeError: (422, "invalid_scope"),
    exceptions.QueryValidationError: (422, "invalid_query"),
    exceptions.UnsupportedFilterError: (422, "unsupported_filter"),
    exceptions.InputError: (400, "invalid_input"),
    exceptions.StorageFullError: (507, "storage_full"),
    exceptions.StorageError: (503, "storage_error"),
    exceptions.ModelTimeoutError: (504, "model_timeout"),
    exceptions.ContextTooLongError: (422, "context_too_long"),
    TruncatedReplyError: (502, "reply_cut_off"),
    exceptions.ModelError: (502, "model_error"),
    exceptions.PipelineBusyError: (409, "pipeline_busy"),
    exceptions.PipelineCancelledError: (409, "pipeline_cancelled"),
    exceptions.AccessDeniedError: (403, "access_denied"),
    exceptions.NotFoundError: (404, "not_found"),
    exceptions.DuplicateError: (409, "duplicate"),
    exceptions.SourceConflictRepairCASError: (409, "source_conflict_changed"),
    exceptions.MissingDependencyError: (501, "missing_dependency"),
    exceptions.LightRAGError: (500, "internal_error"),
}

CODES = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    413: "too_large",
    415: "unsupported_media_type",
    422: "validation_error",
    429: "too_many_requests",
    499: "client_gone",
    500: "internal_error",
    503: "unavailable",
}


class ApiError(HTTPException):
    """An error of the server itself, such as a missing credential.

    Attributes:
        code: Short name of the kind of error.
    """

    def __init__(
        self, status_code: int, detail: str, code: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        """Say what is wrong.

        Args:
            status_code: HTTP status.
            detail: For people.
            code: For programs; that of the status when not given.
            headers: Sent with the response.
        """
        super().__init__(status_code, detail, headers)
        self.code = code or CODES.get(status_code, "error")


def status_and_code(error: Exception) -> tuple[int, str]:
    """Return status and code of an error of the engine."""
    for kind in type(error).__mro__:
        if kind in ERRORS:
            return ERRORS[kind]
    return 500, "internal_error"


def error_response(
    status: int, detail: Any, code: str, *, path: str = "", headers: Mapping[str, str] | None = None
) -> Response:
    """Return the body that all errors have.

    Args:
        status: HTTP status.
        detail: Text, or a list of faults.
        code: For programs.
        path: Path of the request: Ollama's clients look for ``error``, and ``/query/data`` has a form of its own.
        headers: Sent with it.
    """
    body: dict[str, Any] = {"detail": detail, "code": code}
    text = detail if isinstance(detail, str) else one_line(detail)
    if path.startswith("/api/"):
        body["error"] = text
    if status == 422 and path.endswith("/query/data"):
        status = 400
        body |= {"status": "failure", "message": f"Validation error: {text}", "data": {}, "metadata": {}}
    # Escaped, since a message may repeat half a surrogate pair that somebody sent.
    return Response(json.dumps(body, default=str), status_code=status, headers=headers, media_type="application/json")


def internal_error() -> tuple[str, str]:
    """Return a new id for a failure that nobody foresaw, and the text that names it to the caller."""
    error_id = uuid4().hex[:12]
    return error_id, f"Internal server error (error_id: {error_id})"


def _path(request: Request) -> str:
    root = str(request.scope.get("root_path") or "")
    return request.url.path.removeprefix(root)


async def _engine_error(request: Request, error: Exception) -> Response:
    status, code = status_and_code(error)
    if status >= 500:
        # What a model provider did is told whole by its message.
        trace = None if isinstance(error, exceptions.ModelError) else error
        logger.error("%s %s: %s", request.method, _path(request), error, exc_info=trace)
    return error_response(status, str(error), code, path=_path(request))


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = getattr(error, "code", None) or CODES.get(error.status_code, "error")
    return error_response(error.status_code, error.detail, code, path=_path(request), headers=error.headers)


async def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return error_response(422, faults(request, error), "validation_error", path=_path(request))


def install_error_handlers(app: FastAPI) -> None:
    """Let an application answer errors by the table above."""
    app.add_exception_handler(exceptions.LightRAGError, _engine_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
