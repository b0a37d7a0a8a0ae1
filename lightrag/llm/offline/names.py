"""Finding names in sentences by their capitals."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lightrag.llm.offline.lexicon import (
    AND_HEADS,
    CALENDAR_WORDS,
    DEMONYMS,
    GIVEN_NAMES,
    MONTHS,
    NUMBER_HEADS,
    OF_HEADS,
    SENTENCE_STARTERS,
    TITLES,
)
from lightrag.llm.offline.sentences import Sentence

_TOKEN = re.compile(r"[^\W_]+(?:['’\-.&/][^\W_]+)*")
_MONTH = "|".join(MONTHS)
DATE = re.compile(
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{_MONTH})(?:,?\s+\d{{4}})?"
    rf"|(?:{_MONTH})\s+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?|(?:{_MONTH}),?\s+\d{{4}}|\d{{4}}-\d{{2}}-\d{{2}})\b"
)
_YEAR = re.compile(r"\d{4}")
_CONNECTORS = frozenset(
    [
        "of",
        "de",
        "del",
        "della",
        "di",
        "da",
        "dos",
        "van",
        "von",
        "der",
        "den",
        "la",
        "le",
        "du",
        "des",
        "al",
        "bin",
        "ibn",
    ]
)
_FAMILY_CONNECTORS = _CONNECTORS - {"of"}
_OPENING = re.compile(r"[\"“‘«(\[:;—–]|[.!?…]\s")
_MAX_NAME_WORDS = 8


@dataclass(frozen=True, slots=True)
class Mention:
    """A name where it stands.

    Attributes:
        words: Its words as they are written, without title and possessive ending.
        title: Form of address or rank in front of it, in small letters; ``""`` for none.
        sentence: Number of the sentence.
        start: Where it begins in the sentence, the title included.
        end: Where it ends.
        initial: It begins a sentence or quotation, so its capital proves nothing.
        article: ``the`` stands before it.
        before: The word right before, in small letters, the article left out; ``""`` if a sign stands between.
        after: The word right behind, in small letters; ``""`` if a sign stands between.
        in_address: A comma and a name stand before it, a comma or nothing behind: ``Quay Street, Velmouth``.
    """

    words: tuple[str, ...]
    title: str
    sentence: int
    start: int
    end: int
    initial: bool
    article: bool
    before: str
    after: str
    in_address: bool

    @property
    def name(self) -> str:
        """The words as one text."""
        return " ".join(self.words)

    @property
    def is_upper(self) -> bool:
        """All of it is in capitals."""
        return all(word.isupper() for word in self.words)


@dataclass(frozen=True, slots=True)
class DateMention:
    """A date with a year where it stands."""

    text: str
    sentence: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    end: int

    @property
    def lower(self) -> str:
        return self.text.lower()

    @property
    def capital(self) -> bool:
        first = self.text[0]
        return first.isupper() or (len(self.text) > 1 and first.islower() and self.text[1].isupper())


def find_dates(sentence: Sentence, number: int) -> list[DateMention]:
    """Return the dates of a sentence that carry a year."""
    return [
        DateMention(match[0], number, match.start(), match.end())
        for match in DATE.finditer(sentence.text)
        if _YEAR.search(match[0])
    ]


def find_names(sentence: Sentence, number: int) -> list[Mention]:
    """Return the runs of capitalised words of a sentence that can be names.

    Args:
        sentence: The sentence.
        number: Its number, kept in the result.
    """
    text = sentence.text
    masked = [(match.start(), match.end()) for match in DATE.finditer(text)]
    tokens = [
        _Token(match[0], match.start(), match.end())
        for match in _TOKEN.finditer(text)
        if not any(start <= match.start() < end for start, end in masked)
    ]
    found: list[Mention] = []
    position = 0
    while position < len(tokens):
        if not tokens[position].capital or _is_common(tokens[position]):
            position += 1
            continue
        last = _run_end(text, tokens, position)
        mention = _mention(text, tokens, position, last, number)
        if mention is not None:
            found.append(mention)
        position = last + 1
    return found


def _is_common(token: _Token) -> bool:
    """Tell whether a word has its capital from the beginning of a sentence or from a title in title case."""
    if token.lower in TITLES:
        return False
    return token.lower in SENTENCE_STARTERS and (len(token.text) == 1 or not token.text.isupper())


def _gap(text: str, tokens: Sequence[_Token], index: int) -> str:
    """Return what stands between a token and the next."""
    return text[tokens[index].end : tokens[index + 1].start]


def _joins(text: str, tokens: Sequence[_Token], index: int) -> bool:
    """Tell whether nothing but a space, or the full stop of an abbreviation, stands before the next token."""
    gap = _gap(text, tokens, index)
    if gap in (" ", "-"):
        return not tokens[index].text.endswith(("'s", "’s"))
    word = tokens[index].lower
    return gap == ". " and (word in TITLES or word in NUMBER_HEADS or (len(word) == 1 and word != "i"))


def _run_end(text: str, tokens: Sequence[_Token], first: int) -> int:
    """Return the index of the last token of the name that begins at a token."""
    last = first
    while last + 1 < len(tokens) and last - first < _MAX_NAME_WORDS:
        following = tokens[last + 1]
        if last == first and tokens[last].text.endswith(("'s", "’s")) and _gap(text, tokens, last) == " ":
            # ``Abbot's Stair`` is one name, ``Marlowe's`` in front of anything else is the end of one.
            if following.capital and tokens[first].lower[:-2] not in GIVEN_NAMES:
                last += 1
                continue
            break
        if not _joins(text, tokens, last):
            break
        if following.capital and _is_common(following) and following.lower not in NUMBER_HEADS:
            break
        if following.capital or (following.text[0].isdigit() and tokens[last].lower in NUMBER_HEADS):
            last += 1
            continue
        end = _over_connector(text, tokens, first, last)
        if end == last:
            break
        last = end
    return last


def _over_connector(text: str, tokens: Sequence[_Token], first: int, last: int) -> int:
    """Return where the name ends if a small word inside it is stepped over; ``last`` if it ends before that."""
    word = tokens[last + 1].lower
    target = last + 2
    if target >= len(tokens) or _gap(text, tokens, last + 1) != " ":
        return last
    if word == "of" and tokens[target].lower == "the" and target + 1 < len(tokens):
        target += 1
    if word in _FAMILY_CONNECTORS and tokens[target].capital and tokens[first].capital:
        return target
    if word == "of" and tokens[target].capital and tokens[last].lower in OF_HEADS:
        return target
    if word in ("and", "&") and tokens[target].capital and not _is_person_like(tokens[first : last + 1]):
        end = target
        while end + 1 < len(tokens) and tokens[end + 1].capital and _gap(text, tokens, end) == " ":
            end += 1
        heads = [index for index in range(target, end + 1) if tokens[index].lower in AND_HEADS]
        return heads[-1] if heads else last
    return last


def _is_person_like(tokens: Sequence[_Token]) -> bool:
    return len(tokens) > 1 and (tokens[0].lower in GIVEN_NAMES or tokens[0].lower in TITLES)


def _mention(text: str, tokens: Sequence[_Token], first: int, last: int, number: int) -> Mention | None:
    """Trim what does not belong to the name; ``None`` if nothing is left but a title, a weekday or a first word."""
    initial = first == 0 or bool(_OPENING.search(text[tokens[first - 1].end : tokens[first].start]))
    article = first > 0 and tokens[first - 1].lower == "the"
    while last >= first and (tokens[last].lower in CALENDAR_WORDS or tokens[last].lower in _CONNECTORS):
        last -= 1
    if first > last or (first == last and DEMONYMS.issuperset(tokens[first].lower.split("-"))):
        return None
    start = first
    title = ""
    while first <= last and tokens[first].lower in TITLES:
        title = tokens[first].lower
        first += 1
    if first > last:
        return None
    name = re.sub(r"['’]s?$", "", text[tokens[first].start : tokens[last].end])
    previous = start - 2 if article else start - 1
    return Mention(
        words=tuple(name.split()),
        title=title,
        sentence=number,
        start=tokens[start].start,
        end=tokens[last].end,
        initial=initial,
        article=article,
        before=tokens[previous].lower if previous >= 0 and _gap(text, tokens, previous) == " " else "",
        after=tokens[last + 1].lower if last + 1 < len(tokens) and _gap(text, tokens, last) == " " else "",
        in_address=start > 0
        and tokens[start - 1].capital
        and _gap(text, tokens, start - 1) == ", "
        and text[tokens[last].end : tokens[last].end + 2] in ("", ",", ", ", "."),
    )
