"""The reply to a summary prompt: the most telling sentences of the descriptions."""

from __future__ import annotations

import math
import re
from collections import Counter

from lightrag.llm.offline.sentences import split_sentences
from lightrag.llm.offline.words import content_stems, words_of

_LENGTH = re.compile(r"at most (\d{1,6}) tokens", re.IGNORECASE)
_DEFAULT_TOKENS = 600
# English words have about four tokens to three words; scripts without spaces have about one per character.
_TOKENS_PER_WORD = 1.4
_ITEM = re.compile(r"(?:\A|\n)- ")


def summary_reply(descriptions: str, prompt: str) -> str:
    """Condense descriptions.

    Args:
        descriptions: The list from the prompt, one item per line that begins with ``- ``.
        prompt: The whole prompt, which states the length.
    """
    stated = _LENGTH.search(prompt)
    budget = int(stated[1]) if stated else _DEFAULT_TOKENS
    texts = [text for text in _ITEM.split(descriptions) if text.strip()]
    sentences = list(
        {
            " ".join(content_stems(sentence.text)) or sentence.text: sentence.text
            for text in texts
            for sentence in split_sentences(text)
        }.values()
    )
    return " ".join(_choose(sentences, budget))


def _choose(sentences: list[str], budget: int) -> list[str]:
    """Return the sentences that fit, in their order: the first one, then those that tell most that is new."""
    costs = [_tokens(sentence) for sentence in sentences]
    if sum(costs) <= budget:
        return sentences
    stems = [set(content_stems(sentence)) for sentence in sentences]
    frequency = Counter(stem for found in stems for stem in found)
    worth = {stem: math.log(1 + len(sentences) / count) for stem, count in frequency.items()}
    chosen: list[int] = []
    covered: set[str] = set()
    left = set(range(len(sentences)))
    room = budget
    candidate: int | None = 0
    while candidate is not None:
        left.discard(candidate)
        if costs[candidate] <= room or not chosen:
            chosen.append(candidate)
            covered |= stems[candidate]
            room -= costs[candidate]
        fitting = [number for number in left if costs[number] <= room]
        left = set(fitting)
        candidate = max(
            fitting, key=lambda number: (_news(stems[number], covered, worth) / costs[number], -number), default=None
        )
    return [sentences[number] for number in sorted(chosen)]


def _news(stems: set[str], covered: set[str], worth: dict[str, float]) -> float:
    return sum(worth[stem] for stem in stems - covered)


def _tokens(text: str) -> int:
    wide = sum(ord(character) > 0x2E7F for character in text)
    return 1 + wide + math.ceil(_TOKENS_PER_WORD * len(words_of(text)))
