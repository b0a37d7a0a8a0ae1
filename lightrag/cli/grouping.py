"""How commands are declared: options that several of them share, as dataclasses, and examples.

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
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)}) for name, kind in groups.items()
        }
        command(**made, **given)

    run.__doc__ = flowing(inspect.getdoc(command) or "")
    # Typer looks for the parameters in all three places.
    del run.__wrapped__
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
        for field in fields(kind)
    ]


def flowing(text: str) -> str:
    """Return a text with each paragraph in one line, for terminals of any width."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def examples(*lines: str) -> str:
    """Return example command lines as the end of a help text, one a line."""
    return "\n\n".join(("Examples:", *(f"$ {line}" for line in lines)))
