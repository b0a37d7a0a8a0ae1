"""Filling templates, and keeping data from posing as part of them."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from lightrag.exceptions import InputError
from lightrag.prompts import PROMPTS

# The markers between which a prompt shows text that is not ours.
DOCUMENT_MARKER = "document_text"
QUESTION_MARKER = "question"
DESCRIPTIONS_MARKER = "descriptions"
CONTEXT_MARKER = "context"

_MARKER_TAG = re.compile(
    rf"<(\s*+(?:/\s*+)?(?:{DOCUMENT_MARKER}|{QUESTION_MARKER}|{DESCRIPTIONS_MARKER}|{CONTEXT_MARKER})\s*+)>",
    re.IGNORECASE,
)


class _PlainSlots(string.Formatter):
    """Fills ``{name}`` only: a template may not reach into a value with dots or brackets, nor format it."""

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, str]:
        if not field_name.isidentifier():
            raise KeyError(field_name)
        return kwargs[field_name], field_name


_FORMATTER = _PlainSlots()


def seal(text: str) -> str:
    """Return a text that can stand between the markers of a prompt.

    A marker inside it gets typographic brackets, so that no document can end its own passage and go on as if
    it were the prompt. The field delimiters are broken in the same way, so that no document brings ready-made
    records.
    """
    sealed = _MARKER_TAG.sub(r"‹\1›", text)
    for delimiter in (PROMPTS["DEFAULT_TUPLE_DELIMITER"], PROMPTS["DEFAULT_COMPLETION_DELIMITER"]):
        if delimiter in sealed:
            sealed = sealed.replace(delimiter, _broken(str(delimiter)))
    return sealed


def _broken(delimiter: str) -> str:
    typographic = delimiter.replace("<", "‹").replace(">", "›")
    return typographic if typographic != delimiter else f"{delimiter[:1]} {delimiter[1:]}"


def between(prompt: str, marker: str) -> str | None:
    """Return what stands between the last pair of a marker, or ``None`` when it is not there.

    The last one counts, because the examples of a prompt use the same markers before it.
    """
    closing = f"</{marker}>"
    end = prompt.rfind(closing)
    if end < 0:
        return None
    opening = f"<{marker}>\n"
    start = prompt.rfind(opening, 0, end)
    if start < 0:
        return None
    return prompt[start + len(opening) : end].removesuffix("\n")


@lru_cache(maxsize=256)
def _segments(template: str) -> tuple[tuple[str, bool], ...] | None:
    """Return the parts of a template, each with whether it is literal; ``None`` when a slot is to be formatted.

    Raises:
        KeyError: A slot is no plain name.
        ValueError: A brace stands alone.
    """
    segments: list[tuple[str, bool]] = []
    for literal, field, spec, conversion in string.Formatter().parse(template):
        segments.append((literal, True))
        if spec or conversion:
            return None
        if field is not None:
            if not field.isidentifier():
                raise KeyError(field or "0")
            segments.append((field, False))
    return tuple(segments)


def fill(template: str, slots: Mapping[str, Any], *, name: str) -> str:
    """Fill the slots of a template; slots that it does not use are passed over.

    Args:
        template: Text with ``{slot}``; ``{{`` and ``}}`` stand for braces.
        slots: What to put in. Values are inserted as they are and never read as templates themselves.
        name: Names the template in the error message.

    Raises:
        InputError: The template has a slot that is not offered, or a single brace.
    """
    try:
        segments = _segments(template)
        if segments is None:
            return _FORMATTER.vformat(template, (), slots)
        return "".join([part if is_literal else str(slots[part]) for part, is_literal in segments])
    except KeyError as error:
        raise InputError(
            f"prompt template {name!r} has the slot {error.args[0]!r}; allowed are {sorted(slots)}"
        ) from error
    except (ValueError, IndexError) as error:
        raise InputError(
            f"prompt template {name!r} cannot be filled: {error}; a literal brace is written '{{{{' or '}}}}'"
        ) from error


def render(name: str, **slots: Any) -> str:
    """Fill the template ``PROMPTS[name]``, which may be the user's own.

    Raises:
        InputError: There is no such template, or it cannot be filled.
    """
    template = PROMPTS.get(name)
    if not isinstance(template, str):
        raise InputError(
            f"PROMPTS[{name!r}] is {type(template).__name__}; expected a template of type str, one of "
            f"{sorted(key for key, value in PROMPTS.items() if isinstance(value, str))}"
        )
    return fill(template, slots, name=name)


def render_examples(name: str, **slots: Any) -> str:
    """Fill the examples ``PROMPTS[name]``, a list of templates or one, and join them by empty lines."""
    examples = PROMPTS.get(name) or []
    if isinstance(examples, str):
        examples = [examples]
    return "\n\n".join(fill(str(example), slots, name=name) for example in examples)
