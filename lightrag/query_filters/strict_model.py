"""The base of all filter models: a field that does not exist is an error, never ignored."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from lightrag.exceptions import FilterSyntaxError

ModelT = TypeVar("ModelT", bound="StrictModel")


def nearest(name: str, allowed: Iterable[str]) -> str | None:
    """Return the allowed name that a misspelt one most likely means, ``None`` when none is near."""
    import difflib

    by_folded = {known.casefold(): known for known in allowed}
    found = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def unique_fields(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields of a JSON object, as ``object_pairs_hook``; of two of a name one would silently win.

    Raises:
        ValueError: A name comes twice.
    """
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"an object has the field {twice!r} twice")
    return fields


def read_json(text: str) -> Any:
    """Return the value of a JSON text in which no object has a field twice.

    Raises:
        ValueError: It is no JSON, or a field comes twice.
        RecursionError: It is nested too deep.
    """
    return json.loads(text, object_pairs_hook=unique_fields)


class StrictModel(BaseModel):
    """An immutable model that names the nearest right field when it meets an unknown one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_fields(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        for name in data:
            if name not in cls.model_fields:
                near = nearest(str(name), cls.model_fields)
                hint = f"; did you mean {near!r}?" if near else "."
                allowed = ", ".join(cls.model_fields)
                raise FilterSyntaxError(f"unknown field {name!r}{hint} Allowed are {allowed}")
        return dict(data)


def parse_model(kind: type[ModelT], value: object) -> ModelT:
    """Return ``value`` as the model: an instance as it is, a mapping validated.

    Raises:
        FilterSyntaxError: The mapping is not valid; every fault is named with its path.
    """
    if isinstance(value, kind):
        return value
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise FilterSyntaxError(describe(error)) from error


def describe(error: ValidationError) -> str:
    """Return the faults of a pydantic error as one line, each with the path of its field."""
    faults = []
    for fault in error.errors(include_url=False, include_context=False):
        path = ".".join(str(part) for part in fault["loc"])
        message = fault["msg"].removeprefix("Value error, ")
        faults.append(message if not path or message.startswith(path) else f"{path}: {message}")
    return "; ".join(faults)
