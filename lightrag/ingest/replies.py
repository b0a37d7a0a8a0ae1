"""Understanding what a model replied to an extraction or keyword prompt.

Models keep to a format as far as they can: they think aloud first, fence their output, lose a sign of a
delimiter, join rows, break off at their length limit, or answer in the other format. Whatever can be read
without guessing is read; what cannot is dropped record by record, each with a warning. Nothing here raises,
whatever the reply.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lightrag.ingest.reply_fields import (
    EntityMention,
    ExtractionReply,
    RelationMention,
    clean_keywords,
    snippet,
)
from lightrag.ingest.reply_json import (
    has_known_keys,
    json_values,
    mend_escapes,
    read_json,
    repair_json,
    starts_like_json,
)
from lightrag.ingest.reply_rows import RowFormat, has_rows, read_rows
from lightrag.prompts import PROMPTS
from lightrag.prompts.thinking import split_thinking

__all__ = [
    "EntityMention",
    "ExtractionReply",
    "KeywordsReply",
    "RelationMention",
    "parse_extraction_reply",
    "parse_keywords_reply",
]

MAX_KEYWORDS_PER_KIND = 64

_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_FENCE_LINE = re.compile(r"^[ \t]*(?:```|~~~)[\w+-]*[ \t]*$", re.MULTILINE)
_INLINE_FENCE = re.compile(r"\A\s*```(?:json|text)?|```\s*\Z", re.IGNORECASE)

_HIGH_KEYS = ("high_level_keywords", "high_level", "hl_keywords", "high", "highlevelkeywords")
_LOW_KEYS = ("low_level_keywords", "low_level", "ll_keywords", "low", "lowlevelkeywords")
_KEYWORD_LINE = re.compile(
    r"^\W{0,12}(?P<kind>high|low)[ _-]?level(?:[ _-]?keywords)?\W{0,6}?[:：=](?P<words>.+)$",
    re.IGNORECASE | re.MULTILINE,
)

KeywordsReply = tuple[list[str], list[str]]


def parse_extraction_reply(
    reply: str,
    *,
    tuple_delimiter: str | None = None,
    completion_delimiter: str | None = None,
) -> ExtractionReply:
    """Read the entities and relations of a reply, in rows or in JSON, whichever was asked for.

    Args:
        reply: What the model returned.
        tuple_delimiter: Separates the fields of a row; ``None`` for the one that the prompts name.
        completion_delimiter: Ends a reply in rows; ``None`` for the one that the prompts name.

    Returns:
        All records that can be read, and how whole the reply is. A reply without any record is ``usable``
        only if it says so in its format: the completion marker alone, or JSON with empty lists.
    """
    result = ExtractionReply()
    form = RowFormat.of(
        tuple_delimiter or str(PROMPTS["DEFAULT_TUPLE_DELIMITER"]),
        completion_delimiter or str(PROMPTS["DEFAULT_COMPLETION_DELIMITER"]),
    )
    thinking = split_thinking(_LINE_END.sub("\n", reply))
    text = _without_fences(thinking.answer)
    if not (has_rows(text, form) or has_known_keys(text)) and thinking.reasoning:
        # Some models put all of their output into the reasoning block.
        inside = _without_fences(thinking.reasoning)
        if has_rows(inside, form) or has_known_keys(inside):
            result.warnings.append("the records stand inside a block of reasoning")
            text = inside
    if _is_json(text, form):
        read_json(text, result)
    else:
        read_rows(text, form, result)
    if thinking.unclosed:
        result.warnings.append("the reply breaks off while the model is still reasoning")
        result.cut_off, result.complete = True, False
    if not result.usable:
        result.warnings.append(f"no usable record in the reply: {snippet(reply)!r}")
    return result


def _is_json(text: str, form: RowFormat) -> bool:
    """Tell whether a reply is to be read as JSON: keys of it, and no rows unless JSON comes first."""
    if starts_like_json(text) and (has_known_keys(text) or not has_rows(text, form)):
        return True
    return has_known_keys(text) and not has_rows(text, form)


def _without_fences(text: str) -> str:
    if "```" not in text and "~~~" not in text:
        return text
    return _INLINE_FENCE.sub("", _FENCE_LINE.sub("", text))


def parse_keywords_reply(reply: str) -> KeywordsReply:
    """Read the keywords of a question.

    Args:
        reply: What the model returned: JSON in any condition, or lines ``High-level keywords: a, b``.

    Returns:
        High-level and low-level keywords, each without repetitions; both empty when the reply holds none.
    """
    text = mend_escapes(_without_fences(split_thinking(_LINE_END.sub("\n", reply)).answer))
    values = json_values(text)
    if values is None:
        start = text.find("{")
        values = [repair_json(text[start:])] if start >= 0 else []
    for value in values:
        found = _keywords_in(value)
        if found is not None:
            return found
    high: list[str] = []
    low: list[str] = []
    for line in _KEYWORD_LINE.finditer(text):
        (high if line["kind"].lower() == "high" else low).extend(clean_keywords(line["words"]))
    return high[:MAX_KEYWORDS_PER_KIND], low[:MAX_KEYWORDS_PER_KIND]


def _keywords_in(value: Any, depth: int = 0) -> KeywordsReply | None:
    """Return the keywords of an object, or of one inside it."""
    if isinstance(value, list) and depth < 3:
        candidates = list(value)
    elif isinstance(value, Mapping):
        record = {str(key).strip().lower().replace(" ", "_").replace("-", "_"): item for key, item in value.items()}
        high = next((record[key] for key in _HIGH_KEYS if key in record), None)
        low = next((record[key] for key in _LOW_KEYS if key in record), None)
        if high is not None or low is not None:
            return list(clean_keywords(high)), list(clean_keywords(low))
        candidates = list(record.values()) if depth < 3 else []
    else:
        return None
    return next((found for item in candidates if (found := _keywords_in(item, depth + 1)) is not None), None)
