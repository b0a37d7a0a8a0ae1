"""Docling as an external service: the asynchronous routes of docling-serve, version 1 of its interface."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lightrag.exceptions import InputError, LightRAGError, ModelReplyError
from lightrag.parser.result import ParsedText
from lightrag.parser.service import Service, ServiceOptions, connect, file_name, parsed_text, read_content

_NAME = "docling"
# The service itself waits so long before it answers that a task is still going on, which saves questions.
_WAIT_SECONDS = 5
_FINAL = frozenset({"success", "partial_success", "failure", "skipped"})


async def parse_with_docling(source: str, content: bytes | Path, options: ServiceOptions) -> ParsedText:
    """Let docling-serve parse a file; it recognises text in pictures and the structure of tables.

    Args:
        source: Its path.
        content: Its bytes, or where they are.
        options: Where the service is.

    Raises:
        InputError: The file cannot be read or converted, or holds no text.
        ProviderError: The service cannot be reached, or refuses the request.
        ModelReplyError: Its answer cannot be used.
        ModelTimeoutError: It took too long.
    """
    data = await read_content(source, content)
    headers = {"X-Api-Key": options.api_key} if options.api_key else {}
    async with connect(_NAME, options, headers, source) as service:
        task = await service.json(
            "POST",
            "v1/convert/file/async",
            source,
            files={"files": (file_name(source), data)},
            # Pictures inside the text would be thousands of letters that mean nothing to a language model.
            data={"to_formats": "md", "image_export_mode": "placeholder"},
        )
        task_id = task.get("task_id")
        if not isinstance(task_id, str) or not task_id:
            raise ModelReplyError(f"{_NAME} accepted {source!r} without naming a task")
        state = await _wait(service, source, task_id)
        if state == "failure":
            # Whether there is a result with the reason depends on the version.
            raise InputError(f"{_NAME} cannot convert {source!r}: {await _reason(service, source, task_id)}")
        result = await service.json("GET", f"v1/result/{task_id}", source)
    return _read_result(source, result)


async def _wait(service: Service, source: str, task_id: str) -> str:
    async def ask() -> dict[str, Any]:
        return await service.json("GET", f"v1/status/poll/{task_id}", source, params={"wait": _WAIT_SECONDS})

    done = await service.poll(ask, lambda state: str(state.get("task_status")) in _FINAL)
    return str(done["task_status"])


async def _reason(service: Service, source: str, task_id: str) -> str:
    try:
        result = await service.json("GET", f"v1/result/{task_id}", source)
    except LightRAGError as error:
        return str(error)
    return _errors(result)


def _read_result(source: str, result: dict[str, Any]) -> ParsedText:
    status = result.get("status")
    if status not in ("success", "partial_success"):
        raise InputError(f"{_NAME} cannot convert {source!r} ({status}): {_errors(result)}")
    document = result.get("document")
    text = document.get("md_content") if isinstance(document, dict) else None
    warnings = (f"{_NAME} converted only a part: {_errors(result)}",) if status == "partial_success" else ()
    return parsed_text(_NAME, source, text, warnings)


def _errors(result: dict[str, Any]) -> str:
    found = result.get("errors")
    errors = found if isinstance(found, list) else []
    messages = [str(error.get("error_message") or error) if isinstance(error, dict) else str(error) for error in errors]
    return "; ".join(messages) or "it gives no reason"
