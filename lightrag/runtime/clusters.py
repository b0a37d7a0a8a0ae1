"""Where a text may be cut without splitting what a reader sees as one character.

The rules are those of Unicode Standard Annex 29 (extended grapheme clusters), reduced to what the standard
library's character database can tell: combining marks, emoji sequences, flags, Hangul syllables, Indic
conjuncts and CR LF.
"""

from __future__ import annotations

import unicodedata

_ZERO_WIDTH_JOINER = "\u200d"
_VIRAMA_CLASS = 9


def _extends(character: str) -> bool:
    """Tell whether a character belongs to whatever stands before it."""
    code = ord(character)
    return (
        unicodedata.category(character) in ("Mn", "Mc", "Me")
        or code in (0x200C, 0x200D, 0xFF9E, 0xFF9F)
        or 0x1F3FB <= code <= 0x1F3FF  # skin tones
        or 0xE0020 <= code <= 0xE007F  # tag characters of sub-regional flags
    )


def _is_hangul_lead(code: int) -> bool:
    return 0x1100 <= code <= 0x115F or 0xA960 <= code <= 0xA97C


def _is_hangul_vowel_or_tail(code: int) -> bool:
    return 0x1160 <= code <= 0x11FF or 0xD7B0 <= code <= 0xD7FB


def _joins_hangul(before: int, after: int) -> bool:
    syllable_before = 0xAC00 <= before <= 0xD7A3
    if _is_hangul_vowel_or_tail(after):
        return _is_hangul_lead(before) or _is_hangul_vowel_or_tail(before) or syllable_before
    return _is_hangul_lead(before) and (_is_hangul_lead(after) or 0xAC00 <= after <= 0xD7A3)


def _is_regional_indicator(character: str) -> bool:
    return 0x1F1E6 <= ord(character) <= 0x1F1FF


def _splits_flag(text: str, index: int) -> bool:
    """Tell whether ``index`` lies inside a flag: a pair of letters, counted from the start of the run."""
    if not (_is_regional_indicator(text[index - 1]) and _is_regional_indicator(text[index])):
        return False
    run = 0
    while run < index and _is_regional_indicator(text[index - 1 - run]):
        run += 1
    return run % 2 == 1


def is_cluster_boundary(text: str, index: int) -> bool:
    """Tell whether a text may be cut before ``text[index]``.

    Args:
        text: Any text.
        index: Position in characters, ``0 <= index <= len(text)``.
    """
    if index <= 0 or index >= len(text):
        return True
    before, after = text[index - 1], text[index]
    if before.isascii() and after.isascii():
        return not (before == "\r" and after == "\n")
    joined = (
        _extends(after)
        or before == _ZERO_WIDTH_JOINER
        or (unicodedata.combining(before) == _VIRAMA_CLASS and unicodedata.category(after) == "Lo")
        or _joins_hangul(ord(before), ord(after))
        or _splits_flag(text, index)
    )
    return not joined


def _fitting_length(text: str, max_bytes: int) -> int:
    """Return how many leading characters fit into ``max_bytes`` of UTF-8."""
    used = 0
    for position, character in enumerate(text):
        code = ord(character)
        used += 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4
        if used > max_bytes:
            return position
    return len(text)


def truncate_clusters(text: str, max_chars: int, max_bytes: int | None = None) -> str:
    """Return the longest start of a text that fits and ends between two grapheme clusters.

    A single cluster that is longer than the limits, as in text made of combining marks only, is cut between
    characters.

    Args:
        text: Any text.
        max_chars: Longest result in characters.
        max_bytes: Longest result in UTF-8 bytes; ``None`` for no such limit.
    """
    length = min(len(text), max(max_chars, 0))
    if max_bytes is not None:
        length = min(length, _fitting_length(text[:length], max(max_bytes, 0)))
    cut = length
    while cut > 0 and not is_cluster_boundary(text, cut):
        cut -= 1
    return text[: cut or length]
