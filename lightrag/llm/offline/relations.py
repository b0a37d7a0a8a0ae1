"""Relations between entities that a sentence names together, and what passages say about each entity."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise

from lightrag.llm.offline.entities import Entity, describes
from lightrag.llm.offline.lexicon import SPEECH_VERBS, STOPWORDS
from lightrag.llm.offline.sentences import Sentence
from lightrag.llm.offline.words import words_of

MAX_DESCRIPTION = 420
_MAX_SENTENCES = 3
_MAX_KEYWORDS = 4
_MAX_PHRASE_WORDS = 3
# Beyond this many entities a sentence is a list, in which only neighbours are related.
_MAX_ENTITIES_PAIRED = 3
_MAX_BETWEEN = 160

_ROLE = re.compile(
    r"^(?:,| is| was| are| were| as| became)? ?(?:the|a|an) (?P<role>(?:[a-z\-]+ ){1,3}?)(?:of|at|in|for|to) "
)
_ONLY_JOINED = re.compile(r"^[\s,;&]*(?:and|or)?[\s,;]*(?:the )?$")
_CLAUSE_END = re.compile(r"[.;:!?]")
_WEAK_WORDS = STOPWORDS | SPEECH_VERBS
_MAX_LABEL = 30
_CO_OCCURRENCE = "mentioned together"


@dataclass(slots=True)
class Relation:
    """Two entities that stand in sentences together.

    Attributes:
        source: Name of the one that was named first.
        target: Name of the other.
        keywords: What links them.
        sentences: Numbers of the sentences.
    """

    source: str
    target: str
    keywords: list[str] = field(default_factory=list)
    sentences: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Spot:
    entity: Entity
    start: int
    end: int


def find_relations(sentences: Sequence[Sentence], entities: Sequence[Entity]) -> list[Relation]:
    """Return the relations that sentences show, those shown most often first.

    Args:
        sentences: Sentences of a passage.
        entities: Its entities.
    """
    spots: dict[int, list[_Spot]] = {}
    for entity in entities:
        for place in entity.places:
            spots.setdefault(place.sentence, []).append(_Spot(entity, place.start, place.end))
    subject = _subject(sentences, entities)
    found: dict[tuple[str, str], Relation] = {}
    for number in sorted(number for number in spots if sentences[number].kind != "heading"):
        sentence = sentences[number]
        there = _distinct(spots[number])
        for first, second in _pairs(there, sentence.text):
            _add(found, first.entity.name, second.entity.name, _keywords(sentence.text, first, second), number)
        labelled = subject is not None and 0 < len(sentence.key) < _MAX_LABEL and there[0].entity is not subject
        if subject is not None and labelled:
            _add(found, subject.name, there[0].entity.name, [sentence.key.lower()], number)
    return sorted(found.values(), key=lambda relation: (-len(relation.sentences), relation.sentences[0]))


def _subject(sentences: Sequence[Sentence], entities: Sequence[Entity]) -> Entity | None:
    """Return the document that the first heading names; lines such as ``Inventor: …`` speak of it."""
    first = next((number for number, sentence in enumerate(sentences) if sentence.kind == "heading"), None)
    for entity in entities:
        if entity.type in ("document", "organization") and any(place.sentence == first for place in entity.places):
            return entity
    return None


def _distinct(spots: Sequence[_Spot]) -> list[_Spot]:
    """Return one spot per entity, in the order of the sentence."""
    seen: dict[str, _Spot] = {}
    for spot in sorted(spots, key=lambda item: item.start):
        seen.setdefault(spot.entity.name, spot)
    return list(seen.values())


def _pairs(spots: Sequence[_Spot], text: str) -> list[tuple[_Spot, _Spot]]:
    pairs = combinations(spots, 2) if len(spots) <= _MAX_ENTITIES_PAIRED else pairwise(spots)
    return [
        (first, second)
        for first, second in pairs
        if 0 <= second.start - first.end <= _MAX_BETWEEN and not _ONLY_JOINED.match(text[first.end : second.start])
    ]


def _add(
    found: dict[tuple[str, str], Relation], source: str, target: str, keywords: Sequence[str], number: int
) -> None:
    first, second = sorted((source, target))
    relation = found.setdefault((first, second), Relation(source, target))
    for keyword in keywords:
        known = [word for word in relation.keywords if word != _CO_OCCURRENCE]
        if keyword not in known and len(known) < _MAX_KEYWORDS:
            relation.keywords = [*known, keyword] if keyword != _CO_OCCURRENCE or not known else known
    if number not in relation.sentences:
        relation.sentences.append(number)


def _keywords(text: str, first: _Spot, second: _Spot) -> list[str]:
    """Return what links two entities: a role (``daughter``), or the words that say something between them."""
    between = text[first.end : second.start]
    role = _ROLE.match(between)
    if role:
        words = [word for word in role["role"].split() if word not in STOPWORDS]
        if words:
            return [" ".join(words)]
    phrase = _telling(between)
    if not phrase and SPEECH_VERBS & set(words_of(between)):
        return ["spoken of"]
    if not phrase:
        phrase = _telling(_CLAUSE_END.split(text[second.end :], maxsplit=1)[0])
    return [" ".join(phrase)] if phrase else [_CO_OCCURRENCE]


def _telling(text: str) -> list[str]:
    """Return the first few words that say something and are no names."""
    words = [word for word in words_of(text) if word.islower() and word not in _WEAK_WORDS and len(word) > 2]
    return [word for word in words if not word.endswith("ly")][:_MAX_PHRASE_WORDS]


def describe_entity(entity: Entity, sentences: Sequence[Sentence]) -> str:
    """Return the sentences that introduce an entity: those that say what it is, and the first that name it."""
    told: list[int] = []
    named: list[int] = []
    for place in entity.places:
        sentence = sentences[place.sentence]
        if not place.by_name or sentence.kind == "table":
            continue
        if sentence.kind == "prose" and describes(sentence.text, place):
            told.append(place.sentence)
        elif sentence.kind == "prose":
            named.append(place.sentence)
    numbers = list(dict.fromkeys([*told[:2], *named])) or [entity.places[0].sentence]
    return _joined(sorted(_within(numbers, sentences)), sentences)


def describe_relation(relation: Relation, sentences: Sequence[Sentence]) -> str:
    """Return the sentences that show a relation."""
    return _joined(_within(relation.sentences, sentences), sentences)


def _within(numbers: Sequence[int], sentences: Sequence[Sentence]) -> list[int]:
    """Return the first sentences that fit a description; always one."""
    kept: list[int] = []
    room = MAX_DESCRIPTION
    for number in numbers[: 2 * _MAX_SENTENCES]:
        size = len(shown(sentences[number]))
        if len(kept) < _MAX_SENTENCES and (size <= room or not kept):
            kept.append(number)
            room -= size
    return kept


def _joined(numbers: Sequence[int], sentences: Sequence[Sentence]) -> str:
    texts = dict.fromkeys(shown(sentences[number]) for number in numbers)
    return " ".join(text if not text[-1:].isalnum() else f"{text}." for text in texts)


def shown(sentence: Sentence) -> str:
    """Return a sentence as it is quoted, with the label in front of it."""
    label = sentence.key
    if label and not label.isupper() and len(label) < _MAX_LABEL and not sentence.text.startswith(label):
        return f"{sentence.key}: {sentence.text}"
    return sentence.text
