"""Reading the context of an answer prompt back."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from lightrag.prompts.rendering import CONTEXT_MARKER, between

_REFERENCE = re.compile(r"^[ \t]*(?:[-*]\s*)?\[(?P<id>[^\]\s]{1,12})\]\s+(?P<file>\S.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of the context.

    Attributes:
        reference_id: Id of its document in the reference list; ``""`` if it has none.
        text: Its text.
    """

    reference_id: str
    text: str


@dataclass(slots=True)
class AnswerContext:
    """What an answer may use.

    Attributes:
        passages: Passages, best first.
        facts: Descriptions of entities and relations, best first.
        files: File of each reference id.
    """

    passages: list[Passage] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)


def read_context(system_prompt: str) -> AnswerContext | None:
    """Return the context of an answer prompt, or ``None`` when the prompt is no answer prompt.

    Found by its JSON lines, so that it is also read out of a template that a user wrote.
    """
    context = AnswerContext()
    body = between(system_prompt, CONTEXT_MARKER)
    text = system_prompt if body is None else body
    found = body is not None
    for line in text.splitlines():
        record = _record(line)
        if record is None:
            continue
        found = True
        content, description = record.get("content"), record.get("description")
        if isinstance(content, str):
            context.passages.append(Passage(str(record.get("reference_id") or ""), content))
        elif isinstance(description, str) and ("entity" in record or "entity1" in record):
            context.facts.append(description)
    for match in _REFERENCE.finditer(text):
        context.files.setdefault(match["id"], match["file"].rstrip())
    return context if found else None


def _record(line: str) -> dict[str, object] | None:
    stripped = line.strip().rstrip(",")
    if not (stripped.startswith("{") and stripped.endswith("}")):
        return None
    try:
        value = json.loads(stripped)
    except ValueError:
        return None
    return value if isinstance(value, dict) and {"content", "description"} & set(value) else None
