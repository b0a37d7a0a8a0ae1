"""Options that several commands share, as dataclasses.

A command takes such a dataclass as one parameter; on the command line each of its fields is an option of its own.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command as Typer reads it: with one parameter for each field of the dataclasses that it takes.

    Args:
        command: Its parameters are ordinary ones and frozen dataclasses whose fields are annotated with options and
            have defaults.
    """
    groups: dict[str, type] = {}
    flat: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        if is_dataclass(parameter.annotation) and isinstance(parameter.annotation, type):
            groups[parameter.name] = parameter.annotation
            flat += _parameters(parameter.annotation)
        else:
            flat.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def run(**given: Any) -> None:
        made = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)})
            for name, kind in groups.items()
        }
        command(**made, **given)

    # Typer looks for the parameters in all three places.
    del run.__wrapped__  # type: ignore[attr-defined]
    run.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return run


def _parameters(kind: type) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)  # type: ignore[arg-type]
    ]
