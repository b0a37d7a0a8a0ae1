"""The entities of a passage: names that mean the same are one, and each has a type."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from lightrag.llm.offline.lexicon import (
    APPOSITION_TYPES,
    GENERIC_HEADS,
    GERMAN_WORDS,
    GIVEN_NAMES,
    HEAD_TYPES,
    PLAIN_ADJECTIVES,
    ROLE_NOUNS,
    STOPWORDS,
    TITLES,
)
from lightrag.llm.offline.names import Mention, find_dates, find_names
from lightrag.llm.offline.people import OTHER, type_of
from lightrag.llm.offline.sentences import Sentence

_NUMBERED = re.compile(
    r"(?:^|\s)(?P<core>(?:Patent|Act|Case|Order|Article|Section|Regulation|Directive)\s(?:No\.?\s)?\d\S*)$"
)
_TOLD = re.compile(r"(?: is| was|,) (?:a|an|the) ((?:[a-z\-]+ ?){1,4})")
_THING = re.compile(r"\b[Tt]he ((?:[a-z][a-z\-]+ ){1,2}?[a-z][a-z\-]{2,})\b")
_ROLE_OF = r"(?:,| is| was)? (?:the|a|an|our) (?:[a-z]+ ){0,2}?(?P<role>[a-z]+)\b"
_PRONOUN = re.compile(r"(?:He|She|His|Her)\b")
_CODE = re.compile(r"`([A-Za-z_][\w./\-]{2,60})`")
_MAX_THINGS = 6
_MAX_ACRONYM = 6
_GERMAN_SHARE = 0.1
_PARTS_OF_A_BOOK = frozenset(
    ("chapter", "part", "volume", "book", "page", "box", "item", "figure", "table", "appendix", "section")
)
_FAMILY = frozenset(("family", "brothers", "sisters", "clan", "dynasty", "estate"))
_ENDINGS_OF_NO_NOUN = ("ly", "ing", "ed")


@dataclass(slots=True)
class Place:
    """Where an entity is spoken of.

    Attributes:
        sentence: Number of the sentence.
        start: Where the mention begins in it.
        end: Where it ends.
        by_name: The name stands there, not a role or a part of the name.
    """

    sentence: int
    start: int
    end: int
    by_name: bool = True


@dataclass(slots=True)
class Entity:
    """One thing that a passage names.

    Attributes:
        name: The fullest form.
        type: As the rules see it.
        places: Where it is spoken of, in order.
    """

    name: str
    type: str
    places: list[Place] = field(default_factory=list)


def find_entities(sentences: Sequence[Sentence]) -> list[Entity]:
    """Return the entities of a passage in the order in which they first occur."""
    mentions = [mention for number, sentence in enumerate(sentences) for mention in find_names(sentence, number)]
    known = _Names(sentences, mentions)
    entities: dict[str, Entity] = {}
    for mention in mentions:
        words = known.resolve(mention)
        if words is None:
            continue
        name = known.display.get(words) or " ".join(words)
        entity = entities.setdefault(name, Entity(name, known.types[words]))
        by_name = len(mention.words) >= len(words)
        entity.places.append(Place(mention.sentence, mention.start, mention.end, by_name))
    _add_dates(sentences, entities)
    _add_things(sentences, entities)
    _add_roles(sentences, mentions, known, entities)
    _add_pronouns(sentences, entities)
    for entity in entities.values():
        entity.places.sort(key=lambda place: (place.sentence, place.start))
    return sorted(entities.values(), key=lambda entity: (entity.places[0].sentence, entity.places[0].start))


class _Names:
    """The full names of a passage, and what shorter forms stand for."""

    def __init__(self, sentences: Sequence[Sentence], mentions: Sequence[Mention]) -> None:
        self._kinds = [sentence.kind for sentence in sentences]
        spoken = [word for sentence in sentences for word in sentence.text.lower().split()]
        self._nouns_have_capitals = sum(word in GERMAN_WORDS for word in spoken) > _GERMAN_SHARE * len(spoken)
        self._texts = [sentence.text for sentence in sentences]
        self._lower = {
            word for sentence in sentences for word in re.findall(r"[^\W\d_]+", sentence.text) if word[0].islower()
        }
        groups: dict[tuple[str, ...], list[Mention]] = defaultdict(list)
        for mention in mentions:
            groups[mention.words].append(mention)
        self.types: dict[tuple[str, ...], str] = {}
        self._aliases: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        self._recent: dict[str, tuple[str, ...]] = {}
        self.display: dict[tuple[str, ...], str] = {}
        self._titles: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        for words, group in groups.items():
            if len(words) > 1 and self._is_name(words, group):
                self._accept(words, group)
        for words, group in groups.items():
            if len(words) == 1 and self._stands_alone(words[0], group):
                self._accept(words, group)

    def _accept(self, words: tuple[str, ...], group: Sequence[Mention]) -> None:
        kind = type_of(words, group)
        if kind == "person" and self._nouns_have_capitals and not _is_certainly_a_person(words, group):
            kind = OTHER
        told = {_told_kind(self._texts[mention.sentence], mention) for mention in group} - {""}
        self.types[words] = told.pop() if kind in (OTHER, "concept") and len(told) == 1 else kind
        if len(words) == 1:
            titled = next((mention for mention in group if mention.title), None)
            if titled is not None:
                self.display[words] = self._texts[titled.sentence][titled.start : titled.end].removesuffix("'s")
            return
        last = words[-1].lower()
        if kind == "person":
            for part in {words[0].lower(), last}:
                self._aliases[part].append(words)
            for mention in group:
                if mention.title:
                    self._titles[mention.title].add(words)
        elif last in GENERIC_HEADS:
            self._aliases[last].append(words)

    def _is_name(self, words: tuple[str, ...], group: Sequence[Mention]) -> bool:
        """Tell whether several capitalised words are a name: not a heading, not a line in capitals."""
        if all(mention.is_upper for mention in group):
            return False
        if any(self._kinds[mention.sentence] == "prose" for mention in group):
            return True
        plain = [word.lower() for word in words if word.isalpha()]
        if words[0].lower() in _PARTS_OF_A_BOOK:
            return False
        return bool(plain) and plain[-1] in HEAD_TYPES and HEAD_TYPES[plain[-1]] in ("document", "organization")

    def _stands_alone(self, word: str, group: Sequence[Mention]) -> bool:
        """Tell whether one capitalised word is a name by itself."""
        lower = word.lower()
        if (
            lower in self._aliases
            or lower in PLAIN_ADJECTIVES
            or len(word) < 2
            or lower in TITLES
            or lower.rstrip("s") in GENERIC_HEADS
        ):
            return False
        if (
            word.isupper()
            and word.isalpha()
            and 2 <= len(word) <= _MAX_ACRONYM
            and any(mention.initial for mention in group)
        ):
            return True
        if any(mention.title for mention in group):
            return True
        prose = [mention for mention in group if self._kinds[mention.sentence] == "prose"]
        certain = [mention for mention in prose if not mention.initial]
        if not certain or (word.isupper() and len(word) > _MAX_ACRONYM):
            return False
        if self._nouns_have_capitals and len(certain) < 2:
            return False
        return lower not in self._lower or len(certain) > 1 or any(mention.article for mention in certain)

    def resolve(self, mention: Mention) -> tuple[str, ...] | None:
        """Return the words of the full name that a mention stands for, or ``None``."""
        words = mention.words
        if mention.is_upper and words not in self.types:
            folded = tuple(word.lower() for word in words)
            return next((full for full in self.types if tuple(word.lower() for word in full) == folded), None)
        if words in self.types:
            words = self._shortest_form(words)
            for part in {words[0].lower(), words[-1].lower()}:
                self._recent[part] = words
            return words
        if len(words) > 1:
            return None
        part = words[0].lower()
        candidates = self._aliases.get(part, [])
        if mention.after in _FAMILY:
            return None
        titled = [full for full in candidates if mention.title and full in self._titles[mention.title]]
        if len(titled) == 1:
            return titled[0]
        if len(candidates) == 1:
            return candidates[0]
        if candidates and mention.title in ("", "mr", "mrs", "miss", "ms"):
            return self._recent.get(part)
        return None

    def _shortest_form(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """``Orlmark Patent No. 2207`` and ``Patent No. 2207`` are one; the form that other texts use is kept."""
        core = _NUMBERED.search(" ".join(words))
        if core is None or core["core"].split()[0] == "Act":
            return words
        short = tuple(core["core"].split())
        self.types.setdefault(short, self.types[words])
        return short


def _is_certainly_a_person(words: tuple[str, ...], group: Sequence[Mention]) -> bool:
    return words[0].lower() in GIVEN_NAMES or any(mention.title for mention in group)


def _told_kind(text: str, mention: Mention) -> str:
    """Return the type that a sentence tells outright: ``The Marigold Queen was a passenger ship``."""
    told = _TOLD.match(text, mention.end)
    return (
        next((APPOSITION_TYPES[word] for word in reversed(told[1].split()) if word in APPOSITION_TYPES), "")
        if told
        else ""
    )


def _add_dates(sentences: Sequence[Sentence], entities: dict[str, Entity]) -> None:
    for number, sentence in enumerate(sentences):
        if sentence.kind == "table":
            continue
        for date in find_dates(sentence, number):
            entity = entities.setdefault(date.text, Entity(date.text, "date"))
            entity.places.append(Place(number, date.start, date.end))


def _add_things(sentences: Sequence[Sentence], entities: dict[str, Entity]) -> None:
    """Add what has no capital: things spoken of again and again (``the silver key``), and names of programs."""
    found: dict[str, list[Place]] = defaultdict(list)
    for number, sentence in enumerate(sentences):
        for code in _CODE.finditer(sentence.text):
            entity = entities.setdefault(code[1], Entity(code[1], "artifact"))
            entity.places.append(Place(number, code.start(1), code.end(1)))
        if sentence.kind != "prose":
            continue
        for match in _THING.finditer(sentence.text):
            words = match[1].split()
            if _is_thing(words):
                found[match[1]].append(Place(number, match.start(1), match.end(1)))
    ranked = sorted(found.items(), key=lambda item: (-len(item[1]), item[1][0].sentence))
    for phrase, places in [item for item in ranked if len(item[1]) > 1][:_MAX_THINGS]:
        name = phrase.title()
        kind = HEAD_TYPES.get(phrase.split()[-1], "concept")
        entity = entities.setdefault(name, Entity(name, kind))
        entity.places.extend(places)


def _is_thing(words: Sequence[str]) -> bool:
    if any(word in STOPWORDS for word in words) or words[0] in PLAIN_ADJECTIVES:
        return False
    return not words[-1].endswith(_ENDINGS_OF_NO_NOUN) and words[-1] not in ROLE_NOUNS


def _add_roles(
    sentences: Sequence[Sentence], mentions: Sequence[Mention], known: _Names, entities: dict[str, Entity]
) -> None:
    """Let ``the inspector`` stand for the one person of the passage who has that rank or role."""
    holders: dict[str, Counter[str]] = defaultdict(Counter)
    for mention in mentions:
        words = known.resolve(mention)
        if words is None or known.types[words] != "person" or words in known.display:
            continue
        if mention.title in ROLE_NOUNS:
            holders[mention.title][" ".join(words)] += 1
        told = re.match(_ROLE_OF, sentences[mention.sentence].text[mention.end :])
        if told and told["role"] in ROLE_NOUNS:
            holders[told["role"]][" ".join(words)] += 1
    roles = {role: next(iter(names)) for role, names in holders.items() if len(names) == 1}
    if not roles:
        return
    pattern = re.compile(rf"\b[Tt]he ({'|'.join(sorted(roles))})\b(?! of\b)")
    for number, sentence in enumerate(sentences):
        if sentence.kind != "prose":
            continue
        for match in pattern.finditer(sentence.text):
            entities[roles[match[1]]].places.append(Place(number, match.start(), match.end(), by_name=False))


def _add_pronouns(sentences: Sequence[Sentence], entities: dict[str, Entity]) -> None:
    """Let a pronoun that begins a sentence stand for the only person of the sentence before it in the paragraph."""
    persons: dict[int, set[str]] = defaultdict(set)
    for entity in entities.values():
        if entity.type == "person":
            for place in entity.places:
                persons[place.sentence].add(entity.name)
    by_name = {entity.name: entity for entity in entities.values()}
    for number in range(1, len(sentences)):
        sentence, previous = sentences[number], sentences[number - 1]
        pronoun = _PRONOUN.match(sentence.text)
        together = sentence.kind == "prose" and sentence.paragraph == previous.paragraph
        if pronoun and together and len(persons[number - 1]) == 1:
            name = next(iter(persons[number - 1]))
            by_name[name].places.append(Place(number, 0, pronoun.end(), by_name=False))
            persons[number].add(name)


def describes(sentence: str, place: Place) -> bool:
    """Tell whether a sentence says what the entity at a place is: ``X is the …``, ``X, a …``."""
    return re.match(r"(?:,| is| was| are| were) (?:the|a|an|one)\b|\s*\(", sentence[place.end :]) is not None


def is_weak(entity: Entity) -> bool:
    """Tell whether an entity is known by one bare word at one place only."""
    return entity.type == OTHER and len(entity.places) == 1 and " " not in entity.name
