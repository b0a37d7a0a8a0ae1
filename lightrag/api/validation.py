"""Faults of a request, told so that a stranger can repair it: the path, what is wrong, and a right example."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, get_args

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel

_LONGEST_ECHO = 200
_FIELD_FIRST = re.compile(r"(?P<name>[a-z_]+)(?P<rest>(?:\.\w+)*):? ")
_SECRETS = {"password", "client_secret"}


def faults(request: Request, error: RequestValidationError) -> list[dict[str, Any]]:
    """Return each fault as ``type``, ``loc``, ``msg``, the ``input`` where it is short, and an ``example`` if known."""
    found = []
    body_model = _body_model(request)
    for item in error.errors():
        location, message = _located(list(item["loc"]), str(item["msg"]).removeprefix("Value error, "), body_model)
        fault: dict[str, Any] = {"type": item["type"], "loc": location, "msg": message}
        given = item.get("input")
        if _can_be_shown(given) and not _SECRETS.intersection(location):
            fault["input"] = given[:_LONGEST_ECHO] if isinstance(given, str) else given
        example = _example(body_model, location[1:]) if location[:1] == ["body"] else None
        if example is not None:
            fault["example"] = example
        found.append(fault)
    return found


def _located(location: list[Any], message: str, body_model: type[BaseModel] | None) -> tuple[list[Any], str]:
    """Take the path of a field into the location, where the whole body was judged and the message begins with it."""
    match = _FIELD_FIRST.match(message)
    if location != ["body"] or match is None or body_model is None or match["name"] not in body_model.model_fields:
        return location, message
    return ["body", match["name"], *match["rest"].split(".")[1:]], message[match.end() :]


def _can_be_shown(given: Any) -> bool:
    """Tell whether a value is short, or can be cut, and JSON: it has no word for what is no number."""
    return isinstance(given, bool | int | str) or (isinstance(given, float) and math.isfinite(given))


def one_line(found: Sequence[Any]) -> str:
    """Return faults as one line, each with the path of its field."""
    parts = []
    for fault in found:
        path = ".".join(str(part) for part in fault["loc"] if part != "body")
        parts.append(f"{path}: {fault['msg']}" if path else str(fault["msg"]))
    return "; ".join(parts)


def _body_model(request: Request) -> type[BaseModel] | None:
    body = getattr(request.scope.get("route"), "body_field", None)
    kind = getattr(getattr(body, "field_info", None), "annotation", None)
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _example(model: type[BaseModel] | None, path: Sequence[str | int]) -> Any:
    """Follow a path through models and return the first example of the field that it ends at."""
    example = None
    for part in path:
        field = model.model_fields.get(part) if model is not None and isinstance(part, str) else None
        if field is None:
            break
        example = field.examples[0] if field.examples else None
        model = _model_in(field.annotation)
    return example


def _model_in(annotation: Any) -> type[BaseModel] | None:
    for kind in (annotation, *get_args(annotation)):
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return kind
    return None
