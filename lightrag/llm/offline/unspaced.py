"""Names in scripts without capitals: by quotation marks, by endings, and by what is said again and again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from lightrag.llm.offline.entities import Entity, Place
from lightrag.llm.offline.lexicon import CJK_FUNCTION_CHARACTERS, CJK_SUFFIX_TYPES
from lightrag.llm.offline.people import OTHER
from lightrag.llm.offline.sentences import Sentence

_QUOTED = re.compile(r"[「『《〈“]([^「」『』《》〈〉“”]{2,16})[」』》〉”]")
_KATAKANA = re.compile(r"[\u30a1-\u30fa\u30fc]{2,}(?:・[\u30a1-\u30fa\u30fc]+)*[\u4e00-\u9fff]{0,4}")
_KANA = re.compile(r"[\u3041-\u3096]")
_IDEOGRAPHS = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff々]+")
# Words of scripts that have spaces but no capitals.
_UNCASED = re.compile(r"[\u0590-\u08ff\u0900-\u0dff\u10a0-\u10ff\u0e00-\u0fff\uac00-\ud7a3]{2,}")
_CASED = re.compile(r"[A-Za-zÀ-ɏͰ-ϿЀ-ԯ]")
_MAX_ENTITIES = 20
_MAX_LENGTH = 6
_SUFFIXES = sorted(
    ((suffix, kind) for kind, suffixes in CJK_SUFFIX_TYPES.items() for suffix in suffixes.split()),
    key=lambda item: -len(item[0]),
)
_BARE_SUFFIXES = frozenset(suffix for suffix, _ in _SUFFIXES)


def is_cased(text: str) -> bool:
    """Tell whether most letters of a text belong to a script with capitals."""
    letters = sum(character.isalpha() for character in text)
    return letters == 0 or len(_CASED.findall(text)) * 2 >= letters


def find_uncased_entities(sentences: Sequence[Sentence]) -> list[Entity]:
    """Return what a passage in a script without capitals seems to be about, in order of first occurrence."""
    counts: Counter[str] = Counter()
    text = "\n".join(sentence.text for sentence in sentences)
    for name in _QUOTED.findall(text):
        counts[name.strip()] += 2
    counts.update(_KATAKANA.findall(text))
    japanese = _KANA.search(text) is not None
    for run in _IDEOGRAPHS.findall(text):
        if japanese:
            counts.update([run] if 2 <= len(run) <= 2 * _MAX_LENGTH else [])
        else:
            counts.update(_pieces(run))
    counts.update(word for word in _UNCASED.findall(text) if len(word) > 3)
    names = _longest(
        {
            name: count
            for name, count in counts.items()
            if name and name not in _BARE_SUFFIXES and (count > 1 or _type(name) != OTHER)
        }
    )
    entities = []
    for name in sorted(names, key=lambda item: (-names[item] * len(item), item))[:_MAX_ENTITIES]:
        places = [
            Place(number, start, start + len(name))
            for number, sentence in enumerate(sentences)
            if (start := sentence.text.find(name)) >= 0
        ]
        if places:
            entities.append(Entity(name, _type(name), places))
    return sorted(entities, key=lambda entity: (entity.places[0].sentence, entity.places[0].start))


def _pieces(run: str) -> set[str]:
    """Return the pieces of a run of Chinese characters that can be words."""
    return {
        run[start:end]
        for start in range(len(run))
        for end in range(start + 2, min(len(run), start + _MAX_LENGTH) + 1)
        if not CJK_FUNCTION_CHARACTERS & set(run[start:end])
    }


def _longest(counts: dict[str, int]) -> dict[str, int]:
    """Leave out names that occur as often inside a longer one, and longer ones that are hardly ever said."""
    kept: dict[str, int] = {}
    for name in sorted(counts, key=lambda item: (-len(item), item)):
        if counts[name] < 2 and len(name) > _MAX_LENGTH - 2 and _IDEOGRAPHS.fullmatch(name):
            continue
        inside = [longer for longer in kept if name in longer]
        if sum(kept[longer] for longer in inside) < counts[name]:
            kept[name] = counts[name]
    return kept


def _type(name: str) -> str:
    return next((kind for suffix, kind in _SUFFIXES if name.endswith(suffix) and len(name) > len(suffix)), OTHER)
