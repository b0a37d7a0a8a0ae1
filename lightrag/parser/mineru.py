"""MinerU as an external service: the route ``/file_parse`` of versions 2 and 3, or the jobs of version 4."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from lightrag.exceptions import InputError, ModelReplyError
from lightrag.parser.result import ParsedText
from lightrag.parser.service import Service, ServiceOptions, connect, file_name, parsed_text, read_content

_NAME = "mineru"
_FINAL = frozenset({"completed", "partial", "failed", "canceled"})
_MEDIA_TYPES = {
    ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
}


async def parse_with_mineru(source: str, content: bytes | Path, options: ServiceOptions) -> ParsedText:
    """Let the MinerU service of versions 2 and 3 parse a file; it answers when it is done.

    Args:
        source: Its path.
        content: Its bytes, or where they are.
        options: Where the service is.

    Raises:
        InputError: The file cannot be read or parsed, or holds no text.
        ProviderError: The service cannot be reached, or refuses the request.
        ModelReplyError: Its answer cannot be used.
        ModelTimeoutError: It took too long.
    """
    data = await read_content(source, content)
    async with connect(_NAME, options, _headers(options), source) as service:
        answer = await service.json(
            "POST",
            "file_parse",
            source,
            files={"files": (file_name(source), data)},
            data={"return_md": "true", "response_format_zip": "false"},
        )
    results = answer.get("results")
    found = list(results.values()) if isinstance(results, dict) else []
    if len(found) != 1 or not isinstance(found[0], dict):
        reason = answer.get("error") or answer.get("message") or f"{len(found)} results for one file"
        raise ModelReplyError(f"{_NAME} sent no result for {source!r}: {reason}")
    return parsed_text(_NAME, source, found[0].get("md_content"))


async def parse_with_mineru_jobs(source: str, content: bytes | Path, options: ServiceOptions) -> ParsedText:
    """Let a MinerU service of version 4, self-hosted or the official one, parse a file as a job.

    Args:
        source: Its path.
        content: Its bytes, or where they are.
        options: Where the service is.

    Raises:
        InputError: The file cannot be read or parsed, or holds no text.
        ProviderError: The service cannot be reached, or refuses the request.
        ModelReplyError: Its answer cannot be used.
        ModelTimeoutError: It took too long.
    """
    data = await read_content(source, content)
    async with connect(_NAME, options, _headers(options), source) as service:
        file_id = await _upload(service, source, data)
        job = await service.json(
            "POST",
            "v1/parse/jobs",
            source,
            json={
                "files": [{"source": {"type": "file_id", "file_id": file_id}}],
                "output_formats": ["markdown"],
            },
        )
        job_id = _text_field(job, source, "job_id")

        async def ask() -> dict[str, Any]:
            return await service.json("GET", f"v1/parse/jobs/{job_id}", source)

        done = await service.poll(ask, lambda state: str(state.get("status")) in _FINAL)
        output = await service.send("GET", f"v1/files/{_output_id(done, source)}/content", source)
    return parsed_text(_NAME, source, output.content.decode("utf-8", "replace"))


async def _upload(service: Service, source: str, data: bytes) -> str:
    """Return the id of the uploaded file."""
    name = file_name(source)
    media_type = _MEDIA_TYPES.get(Path(name).suffix.lower(), "application/octet-stream")
    session = await service.json(
        "POST",
        "v1/uploads",
        source,
        json={
            "filename": name,
            "bytes": len(data),
            "mime_type": media_type,
            "purpose": "parse",
            # A file that the service has already is not sent again.
            "sha256sum": hashlib.sha256(data).hexdigest(),
        },
    )
    if session.get("status") == "pending":
        await _send_bytes(service, source, session, data, media_type)
        session = await service.json("POST", f"v1/uploads/{_text_field(session, source, 'id')}/complete", source)
    file = session.get("file")
    return _text_field(file if isinstance(file, dict) else {}, source, "id")


async def _send_bytes(service: Service, source: str, session: dict[str, Any], data: bytes, media_type: str) -> None:
    url = urljoin(service.options.endpoint, _text_field(session, source, "upload_url"))
    given = session.get("upload_headers")
    headers = {str(name): str(value) for name, value in given.items()} if isinstance(given, dict) else {}
    headers.setdefault("Content-Type", media_type)
    # The address may be another host's, which must not learn the key of this one.
    bare = ServiceOptions(service.options.endpoint, "", service.options.timeout, service.options.poll_interval)
    async with connect(_NAME, bare, {}, source) as storage:
        await storage.send(str(session.get("upload_method") or "PUT"), url, source, content=data, headers=headers)


def _output_id(job: dict[str, Any], source: str) -> str:
    """Return the id of the Markdown of a finished job."""
    files = job.get("files")
    file = files[0] if isinstance(files, list) and files and isinstance(files[0], dict) else {}
    if file.get("status", job.get("status")) != "completed":
        error = file.get("error") or job.get("error") or "it gives no reason"
        reason = error.get("message", error) if isinstance(error, dict) else error
        raise InputError(f"{_NAME} cannot parse {source!r} ({job.get('status')}): {reason}")
    outputs = file.get("output_files")
    markdown = outputs.get("markdown") if isinstance(outputs, dict) else None
    return _text_field(markdown if isinstance(markdown, dict) else {}, source, "file_id")


def _text_field(answer: dict[str, Any], source: str, name: str) -> str:
    value = answer.get(name)
    if not isinstance(value, str) or not value:
        raise ModelReplyError(f"{_NAME} sent no {name!r} for {source!r}")
    return value


def _headers(options: ServiceOptions) -> dict[str, str]:
    return {"Authorization": f"Bearer {options.api_key}"} if options.api_key else {}
