"""Words, and the forms under which they are compared."""

from __future__ import annotations

import re
from functools import lru_cache

from lightrag.llm.offline.lexicon import STOPWORDS

_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3041-\u30ff\u3400-\u9fff々]+")
_WORD = re.compile(r"[^\W_]+(?:['’\-.&/][^\W_]+)*")

# Base word, then forms that are to count as the same.
_IRREGULAR_FORMS = """
    begin began begun
    bring brought
    build built builder
    buy bought
    child children
    design designed designer designs
    die dead death died dying
    draw drew drawn
    find found
    give gave given
    hide hid hidden
    hold held holder
    invent invented invention inventions inventor inventors
    keep kept keeper
    kill killed killer murder murdered murderer
    know knew known
    lead led
    leave left
    lend lent
    lose lost
    make made maker
    man men
    marry married marriage
    meet met meeting
    owner own owned owning owns
    pay paid payment payments
    print printed printing prints
    run ran
    see saw seen
    sell sold
    send sent
    sink sank sunk
    speak spoke spoken
    steal stole stolen
    strike struck
    take took taken
    teach taught teacher
    wife wives
    win won
    woman women
    work worked working works
    write wrote written writer
"""
_IRREGULAR = {
    form: words[0]
    for words in (line.split() for line in _IRREGULAR_FORMS.splitlines() if line.strip())
    for form in words
}
_PLURALS = (("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"))


def words_of(text: str) -> list[str]:
    """Return the words of a text as they stand."""
    return _WORD.findall(text)


def content_stems(text: str) -> list[str]:
    """Return the stems of those words of a text that say something, in order.

    Where no spaces separate words, as in Chinese, pairs of neighbouring characters stand for them.
    """
    stems: list[str] = []
    for word in words_of(text):
        if _UNSPACED.search(word):
            stems.extend(pair for run in _UNSPACED.findall(word) for pair in _pairs(run))
        elif word.lower() not in STOPWORDS:
            stems.append(stem(word))
    return stems


def _pairs(run: str) -> list[str]:
    return [run[start : start + 2] for start in range(max(1, len(run) - 1))]


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    """Return the form under which a word is compared with others: small letters, common endings removed."""
    base = word.lower().replace("’", "'").removesuffix("'s").strip("'")
    if base in _IRREGULAR:
        return _IRREGULAR[base]
    if len(base) < 4 or not base.isascii() or not base.isalpha():
        return base
    for ending, replacement in _PLURALS:
        if base.endswith(ending):
            return base[: -len(ending)] + replacement
    if base.endswith("s") and not base.endswith(("ss", "us", "is")):
        base = base[:-1]
    for ending in ("ing", "ed"):
        root = base.removesuffix(ending)
        if root != base and len(root) >= 3 and any(letter in "aeiouy" for letter in root):
            doubled = len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz"
            return (root[:-1] if doubled else root).removesuffix("e")
    return base.removesuffix("e") if len(base) > 4 else base
