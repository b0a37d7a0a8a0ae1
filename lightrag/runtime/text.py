"""Cleaning of text that comes from outside: documents, model replies and what users type.

Names of entities pass through :func:`normalize_name` whatever their source, so that one thing has one name;
what it returns is safe in XML, in stored keys and in scoped identities: no control character, no ``<SEP>``.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable

from lightrag.constants import (
    GRAPH_FIELD_SEP,
    MAX_ENTITY_NAME_BYTES,
    MAX_ENTITY_NAME_CHARS,
    UNKNOWN_ENTITY_TYPE,
)
from lightrag.runtime.clusters import truncate_clusters
from lightrag.runtime.hashing import compute_mdhash_id

__all__ = [
    "content_summary",
    "is_readable",
    "normalize_entity_type",
    "normalize_name",
    "sanitize_text",
    "split_keywords",
    "truncate_clusters",
]

# Vertical tab, form feed and NEL end lines or pages; dropping them would join two words.
_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85]")
# U+FFFE and U+FFFF are no characters and, like the controls and lone surrogates, not allowed in XML.
_FORBIDDEN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
# Soft hyphens, byte order marks and direction marks cannot be seen, so two names must not differ by them
# alone. The joiners U+200C and U+200D stay: they spell words in Persian and the Indic scripts and build
# emoji.
_INVISIBLE = re.compile("[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")
# Any one of these is text that somebody can read; joiners and variation selectors alone are none.
_READABLE = re.compile(
    "[^\\s\u00ad\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff]"
)

# The second of each pair lists every mark that can close the first.
_QUOTES = dict(zip("\"'`“‘«‹＂„‚", ['"', "'", "`", "”", "’", "»", "›", "＂", "“”", "‘’"], strict=True))
_BRACKETS = dict(zip("([{<（［【「『《〈", ")]}>）］】」』》〉", strict=True))
_BOLD = "**"

_MAX_NAME_PASSES = 16
_CUT_MARK = "~"
_CUT_HASH_CHARS = 16
_SUMMARY_MARK = "…"
_KEYWORD_SEPARATORS = re.compile("[,;|\n，；、]")
_TYPE_SEPARATORS = re.compile("[,;|，；、]")


def _drop_forbidden(text: str) -> str:
    return _FORBIDDEN.sub("", _LINE_ENDS.sub("\n", text))


def sanitize_text(text: str) -> str:
    r"""Return a text that every store and model accepts.

    HTML entities are resolved once, line ends become ``\n``, control characters (except ``\n`` and ``\t``),
    lone surrogates and the non-characters U+FFFE and U+FFFF are removed, and white space around the text is
    stripped.

    It is meant for text on its way in, once: a document that explains ``&amp;lt;`` loses one level of
    escaping each time.
    """
    return _drop_forbidden(html.unescape(text)).strip()


def whole_characters(text: str) -> str:
    """Return a text in which halves of surrogate pairs are joined, and single halves are U+FFFD.

    A provider that cuts between two halves sends such text; no store, file or connection could take it.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def is_readable(text: str) -> bool:
    """Tell whether a text holds anything but white space and characters that cannot be seen."""
    return _READABLE.search(text) is not None


def _bracket_partners(text: str) -> dict[int, int]:
    """Map the position of each opening bracket to that of its closing one."""
    opened: dict[str, list[int]] = {closing: [] for closing in _BRACKETS.values()}
    partners: dict[int, int] = {}
    for position, character in enumerate(text):
        closing = _BRACKETS.get(character)
        if closing is not None:
            opened[closing].append(position)
        elif opened.get(character):
            partners[opened[character].pop()] = position
    return partners


def _is_quoted(text: str, start: int, end: int) -> bool:
    """Tell whether ``text[start:end]`` is one quotation: no quote of the same kind stands inside."""
    closing = _QUOTES.get(text[start])
    if closing is None or end - start < 2 or text[end - 1] not in closing:
        return False
    return not any(text.count(quote, start + 1, end - 1) for quote in {text[start], text[end - 1]})


def _is_bold(text: str, start: int, end: int) -> bool:
    """Tell whether ``text[start:end]`` is one run of bold text in Markdown."""
    marks = text.startswith(_BOLD, start, end) and text.endswith(_BOLD, start, end)
    return marks and end - start > 2 * len(_BOLD) and text.count(_BOLD, start, end) == 2


def _unwrap(text: str) -> str:
    """Strip quotes, brackets and bold marks that enclose the whole text; brackets around nothing stay."""
    if not text or not (text[0] in _QUOTES or text[0] in _BRACKETS or text.startswith(_BOLD)):
        return text
    partners = _bracket_partners(text)
    start, end = 0, len(text)
    while start < end:
        bracketed = partners.get(start) == end - 1 and end - start > 2
        if bracketed or _is_quoted(text, start, end):
            start, end = start + 1, end - 1
        elif _is_bold(text, start, end):
            start, end = start + len(_BOLD), end - len(_BOLD)
        elif text[start] == " ":
            start += 1
        elif text[end - 1] == " ":
            end -= 1
        else:
            break
    return text[start:end]


def _clean_name_once(text: str) -> str:
    text = _INVISIBLE.sub("", _drop_forbidden(html.unescape(text)))
    text = unicodedata.normalize("NFC", text).replace(GRAPH_FIELD_SEP, " ")
    return _unwrap(" ".join(text.split()))


def _clean_name(text: str) -> str:
    """Clean until nothing changes: a step can uncover work for another, as nested escapes do."""
    for _ in range(_MAX_NAME_PASSES):
        cleaned = _clean_name_once(text)
        if cleaned == text:
            return text
        text = cleaned
    # Only escapes nested on purpose come here; without an ampersand nothing is left to uncover.
    return _clean_name_once(text.replace("&", "＆"))


def _bound_name(name: str) -> str:
    """Shorten a name beyond the limits; the hash of all of it keeps apart two names that start alike."""
    if len(name) <= MAX_ENTITY_NAME_CHARS and len(name.encode("utf-8")) <= MAX_ENTITY_NAME_BYTES:
        return name
    mark = _CUT_MARK + compute_mdhash_id(name)[:_CUT_HASH_CHARS]
    return truncate_clusters(name, MAX_ENTITY_NAME_CHARS - len(mark), MAX_ENTITY_NAME_BYTES - len(mark)) + mark


def normalize_name(raw: object) -> str:
    """Return the one form of an entity name, whether a model, a user or a file gave it.

    HTML entities are resolved, control and invisible characters and lone surrogates removed, Unicode composed
    (NFC), inner white space collapsed, quotes, brackets and bold marks around the whole name stripped, and
    the separator ``<SEP>`` replaced by a space. Letter case is kept. A name longer than
    ``MAX_ENTITY_NAME_CHARS`` or ``MAX_ENTITY_NAME_BYTES`` is cut between grapheme clusters and ends with
    ``~`` and a hash of all of it.

    Applying it twice changes nothing, so stored names can be looked up through it.

    Args:
        raw: The name; numbers, which models put into JSON, are taken as text, ``None`` as no name.

    Returns:
        The name; ``""`` when nothing of it is left.
    """
    return "" if raw is None else _bound_name(_clean_name(str(raw)))


def normalize_entity_type(raw: object) -> str:
    """Return the lower-cased form of an entity type; ``"UNKNOWN"`` when there is none.

    Models sometimes answer with a list of the types they were offered: the first one is taken.
    """
    kind = "" if raw is None else str(raw)
    for _ in range(_MAX_NAME_PASSES):
        alternatives = _TYPE_SEPARATORS.split(_clean_name(kind).lower())
        narrowed = next((part.strip() for part in alternatives if part.strip()), "")
        if narrowed == kind:
            break
        kind = narrowed
    return UNKNOWN_ENTITY_TYPE if kind in ("", UNKNOWN_ENTITY_TYPE.lower()) else _bound_name(kind)


def split_keywords(raw: str | Iterable[object]) -> list[str]:
    """Return the keywords of a comma-separated text or of a list, cleaned, without repeats, in order.

    Western and CJK commas, semicolons, bars and line ends separate keywords.
    """
    parts = [raw] if isinstance(raw, str) else [str(part) for part in raw if part is not None]
    keywords = (
        " ".join(keyword.split()) for part in parts for keyword in _KEYWORD_SEPARATORS.split(sanitize_text(part))
    )
    return list(dict.fromkeys(_unwrap(keyword) for keyword in keywords if _unwrap(keyword)))


def content_summary(text: str, max_chars: int = 250) -> str:
    """Return the start of a text for lists of documents, with ``…`` when something was left out.

    Args:
        text: A document.
        max_chars: Longest result in characters, the mark included.
    """
    text = text.strip()
    if len(text) <= max_chars:
        return text
    return truncate_clusters(text, max_chars - len(_SUMMARY_MARK)).rstrip() + _SUMMARY_MARK
