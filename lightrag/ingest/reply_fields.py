"""What an extraction reply is made of, and how its single fields are cleaned."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

from lightrag.constants import UNKNOWN_ENTITY_TYPE
from lightrag.llm.replies import clean_field, clean_keywords, clean_text, snippet
from lightrag.runtime.text import normalize_entity_type, normalize_name

MAX_TYPE_CHARS = 64
MAX_WEIGHT = 1000.0

_SENTENCE_END = re.compile(r"""[.!?。！？…]["'”’)\]]*$""")


@dataclass(frozen=True, slots=True)
class EntityMention:
    """What one reply says about an entity.

    Attributes:
        name: Normalised name, never empty.
        type: In small letters, or ``UNKNOWN``.
        description: One line of text; may be empty.
    """

    name: str
    type: str
    description: str


@dataclass(frozen=True, slots=True)
class RelationMention:
    """What one reply says about a relation, which has no direction.

    Attributes:
        source: Normalised name of one end.
        target: Normalised name of the other; never equal to ``source``.
        keywords: Distinct keywords; may be empty.
        description: One line of text; may be empty if there are keywords.
        weight: Positive; 1.0 unless the reply gives one.
    """

    source: str
    target: str
    keywords: tuple[str, ...]
    description: str
    weight: float = 1.0


@dataclass(slots=True)
class ExtractionReply:
    """A reply, understood as far as it can be.

    Attributes:
        entities: In the order of the reply; a name may occur more than once.
        relations: In the order of the reply.
        warnings: One line for each record that was repaired or dropped, and for each oddity of the whole.
        complete: The reply says that it is finished: completion marker, or closed JSON.
        usable: It follows one of the formats, be it with nothing in it; ``False`` for prose, or only broken
            records.
        cut_off: It visibly breaks off: last record unfinished, JSON not closed, reasoning without an end. A
            reply can be neither ``complete`` nor ``cut_off``: whole rows, but no completion marker.
    """

    entities: list[EntityMention] = field(default_factory=list)
    relations: list[RelationMention] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    complete: bool = False
    usable: bool = False
    cut_off: bool = False

    def add_entity(self, name: str, type_: str, description: str, *, where: str) -> None:
        """Add an entity, or warn when its name is empty."""
        clean = normalize_name(clean_field(name))
        if not clean:
            self.warnings.append(f"{where}: entity without a name dropped: {snippet(description or name)!r}")
            return
        self.entities.append(EntityMention(clean, clean_type(type_), clean_text(description)))

    def add_relation(self, ends: tuple[str, str], keywords: Any, description: str, weight: Any, *, where: str) -> None:
        """Add a relation, or warn when it has no ends, leads back to itself, or says nothing."""
        source, target = (normalize_name(clean_field(end)) for end in ends)
        if not source or not target:
            self.warnings.append(f"{where}: relation without two ends dropped: {snippet(' - '.join(ends))!r}")
            return
        if source == target:
            self.warnings.append(f"{where}: relation of {source!r} to itself dropped")
            return
        words, text = clean_keywords(keywords), clean_text(description)
        if not words and not text:
            self.warnings.append(f"{where}: relation {source!r} - {target!r} says nothing, dropped")
            return
        strength = clean_weight(weight)
        if strength is None:
            self.warnings.append(f"{where}: weight {snippet(str(weight))!r} is no positive number, 1.0 taken")
        self.relations.append(RelationMention(source, target, words, text, strength or 1.0))


def clean_type(value: str) -> str:
    """Return the first of the entity types in small letters; ``UNKNOWN`` for none or for a whole sentence."""
    name = normalize_entity_type(clean_field(value).strip("<>[](){}.#/ "))
    name = name.partition("/")[0].strip()
    return name if 0 < len(name) <= MAX_TYPE_CHARS else UNKNOWN_ENTITY_TYPE


def clean_weight(value: Any) -> float | None:
    """Return a weight, given as number or text, or ``None`` when it is not a positive number."""
    if value is None or value == "":
        return 1.0
    try:
        number = float(clean_field(value) if isinstance(value, str) else value)
    except (TypeError, ValueError, OverflowError):
        return None
    return min(number, MAX_WEIGHT) if math.isfinite(number) and number > 0 else None


def is_number(text: str) -> bool:
    """Tell whether a field holds a number and nothing else."""
    return re.fullmatch(r"[+-]?\d{1,6}(?:[.,]\d{1,6})?", clean_field(text)) is not None


def is_sentence(text: str) -> bool:
    """Tell whether a field reads like a sentence and not like a type or a list of keywords."""
    stripped = text.strip()
    return bool(_SENTENCE_END.search(stripped)) or (len(stripped.split()) > 6 and stripped.count(",") < 3)


def ends_like_a_sentence(text: str) -> bool:
    """Tell whether a text ends with a sentence's final punctuation."""
    return bool(_SENTENCE_END.search(text.rstrip()))
