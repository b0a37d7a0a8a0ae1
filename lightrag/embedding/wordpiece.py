"""Turning text into word pieces, as models of the BERT family (uncased) expect it.

The steps are those of the BERT paper's published description: clean, lower the case, drop accents, set CJK characters
and punctuation apart, then cut each word into the longest pieces that the vocabulary has.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

CONTINUATION = "##"
MAX_WORD_CHARACTERS = 100
_CACHED_WORDS = 65_536

_ASCII_WORDS = re.compile(r"[a-z0-9]+|[^\sa-z0-9]")
_CONTROLS = dict.fromkeys([*range(9), 11, 12, *range(14, 32), 127])
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip
_ASCII_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


class WordPieceTokenizer:
    """A vocabulary, and the way to its ids."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        """Take the pieces in the order of their ids.

        Args:
            vocabulary: Pieces; must hold ``[UNK]``, ``[CLS]``, ``[SEP]`` and ``[PAD]``.
        """
        self._ids = {piece: number for number, piece in enumerate(vocabulary)}
        self.unknown, self.start, self.end, self.padding = (
            self._ids[name] for name in ("[UNK]", "[CLS]", "[SEP]", "[PAD]")
        )
        self._longest = max(map(len, vocabulary))
        self._word_ids = lru_cache(maxsize=_CACHED_WORDS)(self._cut_word)

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text, without the marks of start and end."""
        ids: list[int] = []
        for word in split_words(text):
            ids.extend(self._word_ids(word))
        return ids

    def _cut_word(self, word: str) -> tuple[int, ...]:
        """Cut a word into the longest pieces from left to right; a rest that has no piece makes all of it unknown."""
        if len(word) > MAX_WORD_CHARACTERS:
            return (self.unknown,)
        ids: list[int] = []
        start = 0
        while start < len(word):
            prefix = CONTINUATION if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                found = self._ids.get(prefix + word[start:end])
                if found is not None:
                    ids.append(found)
                    start = end
                    break
            else:
                return (self.unknown,)
        return tuple(ids)


def split_words(text: str) -> list[str]:
    """Return the words and punctuation marks of a text in lower case and without accents."""
    if text.isascii():
        return _ASCII_WORDS.findall(text.translate(_CONTROLS).lower())
    cleaned = "".join(_cleaned(character) for character in text)
    bare = "".join(
        character for character in unicodedata.normalize("NFD", cleaned) if unicodedata.category(character) != "Mn"
    )
    # Character by character: Python would write a sigma at the end of a word in another way.
    lowered = bare.replace("Σ", "σ").lower()
    return "".join(f" {character} " if _is_punctuation(character) else character for character in lowered).split()


@lru_cache(maxsize=16_384)
def _cleaned(character: str) -> str:
    """Return what stands for a character: a space for white space, nothing for controls, ideographs set apart."""
    if character in "\t\n\r" or (character.isspace() and unicodedata.category(character) != "Cc"):
        return " "
    if character == "\ufffd" or unicodedata.category(character) in ("Cc", "Cf", "Cn", "Co", "Cs"):
        return ""
    code = ord(character)
    return f" {character} " if any(first <= code <= last for first, last in _IDEOGRAPHS) else character


@lru_cache(maxsize=16_384)
def _is_punctuation(character: str) -> bool:
    return character in _ASCII_PUNCTUATION or unicodedata.category(character).startswith("P")
