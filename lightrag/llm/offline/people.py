"""Deciding what a name names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lightrag.llm.offline.lexicon import (
    APPOSITION_TYPES,
    FIRST_TYPES,
    GIVEN_NAMES,
    HEAD_TYPES,
    PERSON_VERBS,
    PLACE_NAMES,
    PLACE_PREPOSITIONS,
    PLAIN_ADJECTIVES,
    SPEECH_VERBS,
)
from lightrag.llm.offline.names import Mention

OTHER = "other"


def type_of(words: Sequence[str], mentions: Sequence[Mention]) -> str:
    """Return the type of a name from its words and from what stands around it.

    Args:
        words: Words of the name.
        mentions: Where it occurs.
    """
    lower = [word.lower().strip(".") for word in words]
    if any(mention.title for mention in mentions):
        return "person"
    by_head = _type_by_head(lower)
    if by_head:
        return by_head
    appositions = Counter(
        APPOSITION_TYPES[mention.before]
        for mention in mentions
        if mention.before in APPOSITION_TYPES and not mention.initial
    )
    if appositions:
        return appositions.most_common(1)[0][0]
    if lower[0] in GIVEN_NAMES:
        return "person"
    if len(lower) == 1 and lower[0] in PLACE_NAMES:
        return "location"
    return _type_by_context(words, mentions)


def _type_by_head(lower: Sequence[str]) -> str:
    last = HEAD_TYPES.get(next((word for word in reversed(lower) if not word.isdigit()), ""), "")
    if lower[0] in FIRST_TYPES and len(lower) > 1 and last not in ("document", "organization"):
        return FIRST_TYPES[lower[0]]
    if "of" in lower[1:]:
        head = HEAD_TYPES.get(lower[lower.index("of") - 1], "")
        if head:
            return head
    plain = [word for word in lower if not word.isdigit() and word not in ("no", "nr")]
    if len(plain) < 2 and len(plain) == len(lower):
        return ""
    return HEAD_TYPES.get(plain[-1], "") if plain else ""


def _looks_like_a_place(mention: Mention) -> bool:
    if mention.article:
        return False
    return mention.before in PLACE_PREPOSITIONS or mention.in_address or mention.after == "near"


def _type_by_context(words: Sequence[str], mentions: Sequence[Mention]) -> str:
    """Judge by verbs and prepositions around a name, and by its shape where these say nothing."""
    speech = sum(mention.before in SPEECH_VERBS or mention.after in SPEECH_VERBS for mention in mentions)
    acts = sum(mention.after in PERSON_VERBS for mention in mentions)
    places = sum(_looks_like_a_place(mention) for mention in mentions)
    articles = sum(mention.article for mention in mentions)
    if speech:
        return "person"
    if len(words) == 1:
        if words[0].isupper() and 2 <= len(words[0]) <= 6:
            return "organization"
        if places * 2 >= len(mentions):
            return "location"
        return "person" if acts * 2 >= len(mentions) else OTHER
    if places * 2 > len(mentions) and not acts:
        return "location"
    plain = words[0].lower() in PLAIN_ADJECTIVES
    if (
        len(words) in (2, 3)
        and not articles
        and not plain
        and all(word[0].isupper() and word.isalpha() for word in words)
    ):
        return "person"
    return OTHER
