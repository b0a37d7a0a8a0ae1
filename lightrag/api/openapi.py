"""The OpenAPI document: stable operation ids, error bodies, and a description of every field."""

from __future__ import annotations

import re
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from lightrag.api.schemas.base import ErrorBody

ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorBody, "description": text}
    for status, text in {
        400: "The request cannot be carried out as it is.",
        401: "A login is needed, or the token is not valid.",
        403: "The API key is missing or wrong.",
        404: "Something named does not exist.",
        409: "Something of that name exists, or other work is in the way.",
        413: "The request is too large.",
        422: "A field is not valid.",
        429: "Too many requests or documents; Retry-After says when to come again.",
        500: "The server failed; the log has the error id.",
        502: "A model failed.",
        503: "A store failed.",
        504: "A model did not answer in time.",
        507: "The disk is full.",
    }.items()
}

DESCRIPTION = """\
Answers questions from documents and the graph of what they tell. Every question can be limited by dates, tags and
sources of the documents.

* `POST /documents/upload`, `/documents/text`: store documents, with metadata.
* `POST /query`, `/query/stream`, `/query/data`: ask.
* `GET /graphs`: look at the graph.

Every error has the body `{"detail": ..., "code": ...}`.
"""

_ATTRIBUTE = re.compile(r"^ {4}(\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)


def operation_id(route: APIRoute) -> str:
    """Return the id of an operation: the name of its handler, which clients may rely on."""
    return route.name


def install_openapi(app: FastAPI) -> None:
    """Let an application describe itself with the field descriptions that docstrings hold."""

    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = get_openapi(
                title=app.title,
                version=app.version,
                description=app.description,
                routes=app.routes,
                tags=app.openapi_tags,
            )
            for schema in document.get("components", {}).get("schemas", {}).values():
                _describe_fields(schema)
            for operations in document["paths"].values():
                for operation in operations.values():
                    _errors_as_json(operation["responses"])
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]


def _describe_fields(schema: dict[str, Any]) -> None:
    """Move what a docstring says under ``Attributes:`` to the fields themselves."""
    text = str(schema.get("description") or "")
    head, separator, listed = text.partition("Attributes:\n")
    if not separator:
        return
    schema["description"] = head.strip()
    for name, meaning in _ATTRIBUTE.findall(listed if listed.startswith("    ") else f"    {listed}"):
        field = schema.get("properties", {}).get(name)
        if field is not None and "$ref" not in field:
            field.setdefault("description", " ".join(meaning.replace("``", "`").split()))


def _errors_as_json(responses: dict[str, Any]) -> None:
    """Say of errors that they are JSON, also where a success is something else."""
    for status, response in responses.items():
        if status >= "400" and response.get("content"):
            response["content"] = {"application/json": next(iter(response["content"].values()))}
