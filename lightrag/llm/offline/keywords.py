"""The reply to a keyword prompt, made by rules."""

from __future__ import annotations

import json

from lightrag.llm.offline.entities import find_entities
from lightrag.llm.offline.lexicon import STOPWORDS
from lightrag.llm.offline.names import find_names
from lightrag.llm.offline.sentences import split_sentences
from lightrag.llm.offline.unspaced import find_uncased_entities, is_cased
from lightrag.llm.offline.words import words_of

_MAX_PER_KIND = 8
_QUESTION_WORDS = frozenset(("many", "much", "long", "often", "kind", "sort", "please", "explain", "describe", "list"))


def keywords_of(question: str) -> tuple[list[str], list[str]]:
    """Return the high-level and low-level keywords of a question.

    Names and the phrases of neighbouring words that say something are low-level, single words of them high-level.
    """
    sentences = split_sentences(question)
    if not is_cased(question):
        found = [entity.name for entity in find_uncased_entities(sentences)]
        return [], found or [question.strip()]
    names = [entity.name for entity in find_entities(sentences)]
    # In a question even a first word can be a name, and nothing else tells.
    loose = [mention.name for number, sentence in enumerate(sentences) for mention in find_names(sentence, number)]
    names += [name for name in loose if not any(name in known for known in names)]
    covered = {word.lower() for name in [*names, *loose] for word in words_of(name)}
    phrases: list[str] = []
    single: list[str] = []
    for sentence in sentences:
        for run in _runs(sentence.text, covered):
            single.extend(run)
            if len(run) > 1:
                phrases.append(" ".join(run))
    low = list(dict.fromkeys([*names, *phrases]))
    high = list(dict.fromkeys(single))
    if not low:
        low = high[:_MAX_PER_KIND] or ([question.strip()] if question.strip() else [])
    return high[:_MAX_PER_KIND], low[:_MAX_PER_KIND]


def _runs(text: str, covered: set[str]) -> list[list[str]]:
    """Return the runs of neighbouring words that say something and belong to no name."""
    runs: list[list[str]] = [[]]
    for word in words_of(text):
        lower = word.lower()
        if lower in STOPWORDS or lower in covered or lower in _QUESTION_WORDS or len(lower) < 2:
            runs.append([])
        else:
            runs[-1].append(lower)
    return [run for run in runs if run]


def keywords_reply(question: str) -> str:
    """Return the reply to a keyword prompt."""
    high, low = keywords_of(question)
    return json.dumps({"high_level_keywords": high, "low_level_keywords": low}, ensure_ascii=False)
