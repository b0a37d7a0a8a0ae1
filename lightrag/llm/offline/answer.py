"""Answers that quote: the sentences of the passages that fit a question best, with their references."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lightrag.llm.offline.context import AnswerContext
from lightrag.llm.offline.names import DATE, find_names
from lightrag.llm.offline.people import type_of
from lightrag.llm.offline.relations import shown
from lightrag.llm.offline.sentences import Sentence, split_sentences
from lightrag.llm.offline.words import content_stems, stem, words_of

INTRODUCTION = "Offline reader, no language model: these sentences of the documents fit the question best."
NOTHING_FITS = "Offline reader, no language model: no sentence of the passages found fits this question."
NO_CONTEXT = (
    "Offline reader, no language model: it answers by quoting documents, and no passage came with this question. "
    "Configure a language model to get answers in words of its own."
)

_MAX_PARTS = 4
_MAX_QUOTES = 6
_MAX_QUOTE = 420
# A sentence must hold at least this share of what the question asks, weighted by how rare the words are.
_MIN_COVERAGE = 0.3
# A further sentence for the same part of a question must come close to the first.
_MIN_OF_BEST = 0.75
# What a name is worth where the sentence has only a part of it, or only its passage has it.
_PARTIAL_NAME = 0.5
_NAME_NEARBY = 0.45
# One passage shall not fill the answer.
_SAME_PASSAGE = 0.12

_PART = re.compile(
    r"[?;]|,?(?<!\s)\s++\band\s++(?=(?:for\s+|to\s+|by\s+)?(?:who|whom|whose|what|when|where|why|which|how)\b)"
    r"|,\s+(?=(?:who|what|when|where|why|how)\b)",
    re.IGNORECASE,
)
_KINDS = tuple(
    (name, re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE))
    for name, pattern in (
        (
            "about",
            r"who (?:is|was|are|were)|what (?:is|was|are|were) (?:the |an? )?[A-Z]|know about|tell me about|story of",
        ),
        ("count", r"how (?:many|much|old|long|far|high|deep)|costs?|price|what (?:sum|amount|dues|profit|loss)"),
        ("person", r"who(?:m|se)?"),
        ("time", r"when|what (?:year|date|day|time)|which (?:year|day)"),
        ("place", r"where"),
        ("reason", r"why"),
    )
)
_NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|seventy|eighty|"
    r"ninety|hundred|thousand|million|penny|pence|threepence|pounds?|dollars?|euros?)\b",
    re.IGNORECASE,
)
_TIME = re.compile(r"\b(?:[12]\d{3}|morning|evening|night|o'clock|yesterday|year|month|century)\b", re.IGNORECASE)
_PLACE = re.compile(r"\b(?:in|at|near|from|to|under|behind|beneath|on) (?:the )?[A-Z]")
_REASON = re.compile(r"\b(?:because|since|so that|in order|for fear|why|therefore|reason)\b", re.IGNORECASE)
_WHO_TYPES = ("person", "organization")
_PRONOUN_START = re.compile(r"^[\"“'‘]?(?:He|She|It|They|His|Her|Its|Their|This|That|These|Those)\b")


@dataclass(frozen=True, slots=True)
class _Line:
    """A sentence of a passage."""

    sentence: Sentence
    stems: frozenset[str]
    reference_id: str
    passage: int
    position: int

    @property
    def text(self) -> str:
        return shown(self.sentence)


@dataclass(frozen=True, slots=True)
class _Part:
    """One of the things that a question asks."""

    stems: frozenset[str]
    names: tuple[str, ...]
    kind: str


class _Scale:
    """What the words and names of one part of a question are worth among the sentences at hand."""

    def __init__(self, part: _Part, lines: Sequence[_Line]) -> None:
        frequency = Counter(found for line in lines for found in line.stems)
        self.part = part
        self._words = {word: math.log(1 + len(lines) / (1 + frequency[word])) for word in part.stems}
        self._names = {name: frozenset(map(stem, words_of(name))) for name in part.names}
        rarest = {
            name: max((math.log(1 + len(lines) / (1 + frequency[word])) for word in words), default=1.0)
            for name, words in self._names.items()
        }
        self._name_worth = {name: 1.2 * worth for name, worth in rarest.items()}
        self._total = sum(self._words.values()) + sum(self._name_worth.values()) or 1.0
        self._nearby: dict[int, set[str]] = {}
        for line in lines:
            named = {name for name, words in self._names.items() if words <= line.stems}
            self._nearby.setdefault(line.passage, set()).update(named)

    def coverage(self, line: _Line) -> float:
        """Return which share of the part a sentence holds, 0.0 to 1.0."""
        held = sum(self._words[word] for word in self.part.stems & line.stems)
        for name, words in self._names.items():
            if words <= line.stems:
                held += self._name_worth[name]
                continue
            partial = _PARTIAL_NAME * len(words & line.stems) / max(1, len(words))
            nearby = _NAME_NEARBY if name in self._nearby[line.passage] else 0.0
            held += self._name_worth[name] * max(partial, nearby)
        return held / self._total


def answer_reply(question: str, context: AnswerContext, response_type: str = "") -> str:
    """Return the answer to a question.

    Args:
        question: What is asked.
        context: Passages and references.
        response_type: Form of the answer, in words; ``Single Paragraph`` joins the quotations.
    """
    if not context.passages and not context.facts:
        return NO_CONTEXT
    lines = _lines(context)
    chosen = _choose(question, lines)
    if not chosen:
        return _nothing_fits(context)
    quotes = [_quoted(line, lines) for line in chosen]
    cited = list(dict.fromkeys(line.reference_id for line in chosen if line.reference_id))
    single = "single" in response_type.lower()
    body = " ".join(quotes) if single else "\n".join(f"- {quote}" for quote in quotes)
    return f"{INTRODUCTION}\n\n{body}{_references(cited, context)}"


def _nothing_fits(context: AnswerContext) -> str:
    looked_at = list(dict.fromkeys(passage.reference_id for passage in context.passages if passage.reference_id))[:3]
    if not looked_at:
        return NOTHING_FITS
    return f"{NOTHING_FITS} The search came upon what is listed below.{_references(looked_at, context)}"


def _references(ids: Sequence[str], context: AnswerContext) -> str:
    if not ids:
        return ""
    return "\n\n### References\n\n" + "\n".join(
        f"- [{number}] {context.files.get(number, '')}".rstrip() for number in ids
    )


def _lines(context: AnswerContext) -> list[_Line]:
    """Return the sentences of all passages; descriptions from the graph only where there is no passage."""
    texts = [(passage.text, passage.reference_id) for passage in context.passages]
    if not texts:
        texts = [(fact, "") for fact in context.facts]
    lines: list[_Line] = []
    for number, (text, reference_id) in enumerate(texts):
        for position, sentence in enumerate(split_sentences(text)):
            stems = frozenset([*map(stem, words_of(f"{sentence.key} {sentence.text}")), *content_stems(sentence.text)])
            lines.append(_Line(sentence, stems, reference_id, number, position))
    return lines


def _parts(question: str) -> list[_Part]:
    """Return what a question asks, one by one; names said once hold for what follows."""
    names: tuple[str, ...] = ()
    parts: list[_Part] = []
    for clause in _PART.split(question):
        found = tuple(
            dict.fromkeys(mention.name for sentence in split_sentences(clause) for mention in find_names(sentence, 0))
        )
        in_names = {stem(word) for name in found for word in words_of(name)}
        told = frozenset(content_stems(clause)) - in_names
        if not told and not found:
            continue
        names = found or names
        kind = next((name for name, pattern in _KINDS if pattern.search(clause)), "")
        parts.append(_Part(told, names, kind))
    return parts[:_MAX_PARTS]


def _choose(question: str, lines: Sequence[_Line]) -> list[_Line]:
    """Return the sentences to quote, in the order of the parts of the question."""
    parts = _parts(question)
    per_part = 2 if len(parts) > 1 else 4
    chosen: list[_Line] = []
    for part in parts:
        scale = _Scale(part, lines)
        scores = {line: score for line in lines if (score := _score(line, scale)) > 0}
        best = max(scores.values(), default=0.0)
        taken: list[_Line] = []
        while scores and len(taken) < per_part:
            line = max(scores, key=lambda item: (_fresh(scores[item], item, taken), -item.passage, -item.position))
            score = scores.pop(line)
            if _fresh(score, line, taken) < _MIN_OF_BEST * best:
                break
            if not any(line.sentence.text == other.sentence.text for other in taken):
                taken.append(line)
        chosen.extend(line for line in taken if line not in chosen)
    return chosen[:_MAX_QUOTES]


def _fresh(score: float, line: _Line, taken: Sequence[_Line]) -> float:
    """Return a score, lowered for each sentence of the same passage that is quoted already."""
    return score - _SAME_PASSAGE * sum(other.passage == line.passage for other in taken)


def _score(line: _Line, scale: _Scale) -> float:
    """Tell how well a sentence fits a part of a question; 0.0 if it does not."""
    if line.sentence.kind == "heading" or line.sentence.text.rstrip().endswith("?"):
        return 0.0
    coverage = scale.coverage(line)
    if coverage < _MIN_COVERAGE:
        return 0.0
    text = line.text
    score = coverage + _fits_kind(text, scale.part)
    length = len(text.split())
    return score * (1.0 if length <= 32 else 32 / length) * (0.6 if length < 4 else 1.0)


def _fits_kind(text: str, part: _Part) -> float:
    """Tell whether a sentence has what the question word asks for: a person, a number, a date."""
    if part.kind == "about":
        return max((_tells_what_is(text, name) for name in part.names), default=0.0)
    if part.kind == "count":
        return 0.35 if _NUMBER.search(text) else -0.1
    if part.kind == "time":
        return 0.35 if DATE.search(text) else 0.2 if _TIME.search(text) else -0.1
    if part.kind == "place":
        return 0.25 if _PLACE.search(text) else 0.0
    if part.kind == "reason":
        return 0.25 if _REASON.search(text) else 0.0
    if part.kind == "person":
        asked = {word for name in part.names for word in words_of(name)}
        names = find_names(Sentence(text, "prose", "", 0), 0)
        others = [mention for mention in names if len(mention.words) > 1 and not set(mention.words) <= asked]
        return 0.3 if any(type_of(mention.words, [mention]) in _WHO_TYPES for mention in others) else 0.0
    return 0.0


def _tells_what_is(text: str, name: str) -> float:
    """Tell whether a sentence defines what a name names, or at least begins with it."""
    name_pattern = re.escape(name)
    if re.search(rf"{name_pattern}(?:,| is| was| are| were) (?:the|an?|one)\b|{name_pattern} (?:is|was) [A-Z]", text):
        return 0.6
    if re.search(rf"[A-Z]\w+ (?:is|was) (?:the |an? )?{name_pattern}\b", text):
        return 0.6
    return 0.2 if re.match(rf"(?:[Tt]he )?(?:\w+\.? )?{name_pattern}\b", text) else 0.0


def _quoted(line: _Line, lines: Sequence[_Line]) -> str:
    """Return a sentence in quotation marks with its reference; a pronoun at its beginning brings the one before."""
    text = line.text
    if _PRONOUN_START.match(text):
        before = next(
            (other for other in lines if other.passage == line.passage and other.position == line.position - 1), None
        )
        same = before is not None and before.sentence.paragraph == line.sentence.paragraph
        if before is not None and same and len(before.text) + len(text) < _MAX_QUOTE:
            text = f"{before.text} {text}"
    if len(text) > _MAX_QUOTE:
        text = text[: text.rfind(" ", 0, _MAX_QUOTE)] + " …"
    inner = text.replace('"', "'").replace("“", "‘").replace("”", "’")
    reference = f" [{line.reference_id}]" if line.reference_id else ""
    return f"“{inner}”{reference}"
