"""Multipart forms: strict about their fields, and one result for each file."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from fastapi import Request

from lightrag.api.errors import ApiError, status_and_code
from lightrag.api.intake import FileOutcome
from lightrag.api.schemas.documents import FileResult, UploadResponse
from lightrag.exceptions import FilterSyntaxError
from lightrag.query_filters import DocumentMetadata
from lightrag.query_filters.strict_model import nearest, read_json

UPLOAD_FIELDS = ("file", "files", "metadata")


async def refuse_unknown_fields(request: Request, allowed: Collection[str]) -> None:
    """Refuse a form with a field that nobody reads.

    Raises:
        ApiError: There is one, whose message names the nearest right one; or there are two metadata.
    """
    form = await request.form()
    if len(form.getlist("metadata")) > 1:
        raise ApiError(
            422, "the form field 'metadata' comes more than once; send one for all files", "validation_error"
        )
    for name in form:
        if name not in allowed:
            near = nearest(name, allowed)
            hint = f"; did you mean {near!r}?" if near else "."
            raise ApiError(
                422, f"unknown form field {name!r}{hint} Allowed are {', '.join(allowed)}", "validation_error"
            )


def parse_metadata(text: str | None) -> DocumentMetadata | None:
    """Return the metadata of a form, ``None`` when there is none.

    Raises:
        FilterSyntaxError: It is no JSON object, or not valid.
    """
    if text is None or not text.strip():
        return None
    try:
        given = read_json(text)
    except (ValueError, RecursionError) as error:
        raise FilterSyntaxError(
            f"metadata is not JSON ({error}); send an object such as "
            '{"start_date": "2024-01-15T00:00:00Z", "tags": ["type:report"]}'
        ) from error
    if given is None:
        return None
    if not isinstance(given, dict):
        raise FilterSyntaxError(f"metadata is {type(given).__name__}; send a JSON object")
    return DocumentMetadata.coerce({name: value for name, value in given.items() if value is not None})


def file_results(outcomes: Sequence[FileOutcome], track_id: str) -> UploadResponse:
    """Return the response to an upload.

    Raises:
        ApiError: No file was stored; the first reason decides about the status.
        LightRAGError: As above.
    """
    refused = [outcome for outcome in outcomes if outcome.error is not None]
    if len(refused) == len(outcomes):
        raise _for_all(refused)
    results = [
        FileResult(
            file_name=outcome.sent_name,
            file_path=outcome.name or None,
            status="failure" if outcome.error else "success",
            message=outcome.reason if outcome.error else "stored; it will be processed",
            code=outcome.code,
        )
        for outcome in outcomes
    ]
    if len(outcomes) == 1:
        message = f"file {outcomes[0].name!r} is stored and will be processed"
    else:
        message = f"{len(outcomes) - len(refused)} of {len(outcomes)} files are stored and will be processed"
    return UploadResponse(
        status="partial_success" if refused else "success", message=message, track_id=track_id, files=results
    )


def _for_all(refused: Sequence[FileOutcome]) -> ApiError:
    first = refused[0].error
    detail = "; ".join(outcome.reason for outcome in refused)
    if isinstance(first, ApiError):
        return ApiError(first.status_code, detail, first.code, first.headers)
    assert first is not None
    status, code = status_and_code(first)
    return ApiError(status, detail, code)
