"""Answers that quote: the sentences of the passages that fit a question best, with their references."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lightrag.llm.offline.context import AnswerContext
from lightrag.llm.offline.lexicon import STOPWORDS
from lightrag.llm.offline.names import DATE, find_names
from lightrag.llm.offline.relations import shown
from lightrag.llm.offline.sentences import Sentence, split_sentences
from lightrag.llm.offline.words import stem, words_of

INTRODUCTION = "Offline reader, no language model: these sentences of the documents fit the question best."
NOTHING_FITS = "Offline reader, no language model: no sentence of the passages found fits this question."
NO_CONTEXT = (
    "Offline reader, no language model: it answers by quoting documents, and no passage came with this question. "
    "Configure a language model to get answers in words of its own."
)

_MAX_PARTS = 4
_MAX_QUOTES = 6
_QUOTES_PER_PART = 2
_MAX_QUOTE = 420
# A sentence must share at least this part of what the question asks, weighted by how rare the words are.
_MIN_COVERAGE = 0.3
# A second sentence for the same part of a question must come close to the first.
_MIN_OF_BEST = 0.72

_PART = re.compile(
    r"[?;]|,?\s+\band\s+(?=(?:who|whom|whose|what|when|where|why|which|how|for whom|to whom)\b)|,\s+(?=(?:who|what|when|where|why|how)\b)",
    re.IGNORECASE,
)
_KINDS = (
    ("count", re.compile(r"\bhow (?:many|much|old|long|far|high|deep)\b|\bcosts?\b|\bprice\b|\bwhat (?:sum|amount|dues|profit|loss)\b", re.IGNORECASE)),
    ("person", re.compile(r"\bwho(?:m|se)?\b", re.IGNORECASE)),
    ("time", re.compile(r"\bwhen\b|\bwhat (?:year|date|day|time)\b|\bwhich (?:year|day)\b", re.IGNORECASE)),
    ("place", re.compile(r"\bwhere\b", re.IGNORECASE)),
    ("reason", re.compile(r"\bwhy\b", re.IGNORECASE)),
)  # fmt: skip
_WHO_IS = re.compile(r"\b(?:who|what)\s+(?:is|was|are|were)\s+(?P<name>[^,?]+)", re.IGNORECASE)
_NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|seventy|eighty|"
    r"ninety|hundred|thousand|million|penny|pence|threepence|pounds?|dollars?|euros?)\b",
    re.IGNORECASE,
)
_TIME = re.compile(r"\b(?:[12]\d{3}|morning|evening|night|o'clock|yesterday|year|month|century)\b", re.IGNORECASE)
_PLACE = re.compile(r"\b(?:in|at|near|from|to|under|behind|beneath|on) (?:the )?[A-Z]")
_REASON = re.compile(r"\b(?:because|since|so that|in order|for fear|why|therefore|reason)\b", re.IGNORECASE)
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
    defined: str


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
    if "single" in response_type.lower():
        body = " ".join(quotes)
    else:
        body = "\n".join(f"- {quote}" for quote in quotes)
    return f"{INTRODUCTION}\n\n{body}{_references(cited, context)}"


def _nothing_fits(context: AnswerContext) -> str:
    looked_at = list(dict.fromkeys(passage.reference_id for passage in context.passages if passage.reference_id))[:3]
    if not looked_at:
        return NOTHING_FITS
    return f"{NOTHING_FITS} The search came upon:{_references(looked_at, context)}"


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
        heading: frozenset[str] = frozenset()
        for position, sentence in enumerate(split_sentences(text)):
            stems = frozenset(map(stem, words_of(f"{sentence.key} {sentence.text}")))
            if sentence.kind == "heading":
                heading |= stems
            lines.append(_Line(sentence, stems, reference_id, number, position))
    return lines


def _parts(question: str) -> list[_Part]:
    """Return what a question asks, one by one; names said once hold for what follows."""
    names: tuple[str, ...] = ()
    parts: list[_Part] = []
    for clause in _PART.split(question):
        words = words_of(clause)
        told = [stem(word) for word in words if word.lower() not in STOPWORDS]
        found = tuple(mention.name for sentence in split_sentences(clause) for mention in find_names(sentence, 0))
        if not told and not found:
            continue
        kind = next((name for name, pattern in _KINDS if pattern.search(clause)), "")
        who_is = _WHO_IS.search(clause)
        defined = who_is["name"].strip().removeprefix("the ").removeprefix("The ") if who_is else ""
        if found:
            names = found
        carried = {stem(word) for name in names for word in words_of(name)}
        parts.append(_Part(frozenset(told) | carried, names, kind, defined))
    return parts[:_MAX_PARTS]


def _choose(question: str, lines: Sequence[_Line]) -> list[_Line]:
    """Return the sentences to quote, in the order of the parts of the question."""
    frequency = Counter(found for line in lines for found in line.stems)
    chosen: list[_Line] = []
    for part in _parts(question):
        worth = {word: math.log(1 + len(lines) / (1 + frequency[word])) for word in part.stems}
        total = sum(worth.values()) or 1.0
        nearby = _passage_worth(lines, worth, total)
        ranked = sorted(
            ((_score(line, part, worth, total) + 0.25 * nearby[line.passage], line) for line in lines),
            key=lambda item: (-item[0], item[1].passage, item[1].position),
        )
        good = [(score, line) for score, line in ranked if score > 0]
        taken = 0
        for score, line in good:
            if taken >= _QUOTES_PER_PART or score < _MIN_OF_BEST * good[0][0]:
                break
            if any(line.sentence.text == other.sentence.text for other in chosen):
                taken += 1
                continue
            chosen.append(line)
            taken += 1
    return chosen[:_MAX_QUOTES]


def _passage_worth(lines: Sequence[_Line], worth: dict[str, float], total: float) -> dict[int, float]:
    """Return for each passage which part of what is asked it holds anywhere: a sentence speaks in its context."""
    held: dict[int, set[str]] = {}
    for line in lines:
        held.setdefault(line.passage, set()).update(line.stems & worth.keys())
    return {passage: sum(worth[word] for word in found) / total for passage, found in held.items()}


def _score(line: _Line, part: _Part, worth: dict[str, float], total: float) -> float:
    """Tell how well a sentence fits a part of a question; 0.0 if it does not."""
    if line.sentence.kind == "heading" or line.sentence.text.rstrip().endswith("?"):
        return 0.0
    coverage = sum(worth[word] for word in part.stems & line.stems) / total
    if coverage < _MIN_COVERAGE:
        return 0.0
    text = line.text
    score = coverage
    score += 0.25 * sum(name in text for name in part.names) / max(1, len(part.names))
    score += _fits_kind(text, part)
    if part.defined and re.search(
        rf"{re.escape(part.defined)}(?:,| is| was| are| were) (?:the |a |an |one |in |[A-Z])", text
    ):
        score += 0.6
    length = len(text.split())
    return score * (1.0 if length <= 32 else 32 / length) * (0.6 if length < 4 else 1.0)


def _fits_kind(text: str, part: _Part) -> float:
    """Tell whether a sentence has what the question word asks for: a person, a number, a date."""
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
        return 0.3 if others else 0.0
    return 0.0


def _quoted(line: _Line, lines: Sequence[_Line]) -> str:
    """Return a sentence in quotation marks with its reference; one that begins with a pronoun brings its predecessor."""
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
