"""Reading what a language model replied: what replies of every kind need, and replies to the keyword prompt.

Nothing here raises, whatever the reply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from lightrag.constants import GRAPH_FIELD_SEP
from lightrag.prompts.thinking import split_thinking
from lightrag.runtime.text import sanitize_text, split_keywords

KeywordsReply = tuple[list[str], list[str]]

MAX_KEYWORDS = 20
MAX_KEYWORD_CHARS = 100
_SNIPPET_CHARS = 80
MAX_KEYWORDS_PER_KIND = 64
_MAX_REPAIR_CHARS = 50_000

_WRAPPING = (('"', '"'), ("'", "'"), ("`", "`"), ("**", "**"), ("*", "*"), ("“", "”"), ("‘", "’"))
_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_FENCE_LINE = re.compile(r"^[ \t]*(?:```|~~~)[\w+-]*[ \t]*$", re.MULTILINE)
_INLINE_FENCE = re.compile(r"\A\s*```(?:json|text)?|```\s*\Z", re.IGNORECASE)

JSON_START = re.compile(r"[\[{](?=\s*(?:[\"'“”\[{}\]]|$))")
_HIGH_KEYS = ("high_level_keywords", "high_level", "hl_keywords", "high", "highlevelkeywords")
_LOW_KEYS = ("low_level_keywords", "low_level", "ll_keywords", "low", "lowlevelkeywords")
_KEYWORD_LINE = re.compile(
    r"^\W{0,12}(?P<kind>high|low)[ _-]?level(?:[ _-]?keywords)?\W{0,6}?[:：=](?P<words>.+)$",
    re.IGNORECASE | re.MULTILINE,
)

# Backspace, form feed and a lone carriage return have no place in a description: \beta, \frac and \rho do.
# Line feeds and tabs do have one, so there only well-known commands count.
_ESCAPE = re.compile(
    r"\\(?:[\"\\/]|u[0-9a-fA-F]{4}"
    r"|[bfr](?![A-Za-z])"
    r"|n(?!(?:abla|eq|eg|u|ot|otin|mid|exists|e)(?![A-Za-z]))"
    r"|t(?!(?:heta|imes|ext|extbf|extit|exttt|au|an|ilde|op|o|frac|riangle|herefore)(?![A-Za-z])))"
    r"|\\"
)


def unify_line_ends(reply: str) -> str:
    r"""Return a reply whose lines all end with ``\n``."""
    return _LINE_END.sub("\n", reply)


def without_fences(text: str) -> str:
    """Return a reply without the lines that open and close code fences."""
    if "```" not in text and "~~~" not in text:
        return text
    return _INLINE_FENCE.sub("", _FENCE_LINE.sub("", text))


def mend_escapes(text: str) -> str:
    r"""Double the backslashes of LaTeX and paths that a model wrote into JSON as they are (``"\alpha"``)."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda match: "\\\\" if match[0] == "\\" else match[0], text)


def json_values(text: str) -> list[Any] | None:
    """Return the JSON values that follow each other in a text; ``None`` when one cannot be read whole."""
    decoder = json.JSONDecoder(strict=False)
    values: list[Any] = []
    position = 0
    while start := JSON_START.search(text, position):
        try:
            value, position = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            return None
        values.append(value)
    return values


def repair_json(text: str) -> Any:
    """Return what can be made of damaged JSON, or ``None``."""
    import json_repair

    if len(text) > _MAX_REPAIR_CHARS:
        return None
    try:
        return json_repair.loads(text)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        # The repairer is made for the usual damage and can trip over the unusual.
        return None


def snippet(text: str) -> str:
    """Return the beginning of a text for a message, on one line."""
    line = " ".join(text[: 4 * _SNIPPET_CHARS].split())
    return line if len(line) <= _SNIPPET_CHARS else line[: _SNIPPET_CHARS - 1] + "…"


def clean_field(value: str) -> str:
    """Return a field without white space and the quotes or emphasis put around it."""
    text = value.strip()
    for opening, closing in _WRAPPING:
        width = len(opening)
        if len(text) > 2 * width and text.startswith(opening) and text.endswith(closing):
            inner = text[width:-width]
            if opening not in inner and closing not in inner:
                text = inner.strip()
    return text


def clean_text(value: str) -> str:
    """Return a description as one clean line that does not contain the separator of stored descriptions."""
    return " ".join(sanitize_text(clean_field(value).replace(GRAPH_FIELD_SEP, " ")).split())


def clean_keywords(value: Any) -> tuple[str, ...]:
    """Return keywords, given as text or as a list, without repetitions."""
    given = value if isinstance(value, list | tuple) else [value]
    plain = [clean_text(str(item)).strip("[]") for item in given if isinstance(item, str | int | float)]
    words: dict[str, str] = {}
    for word in split_keywords(plain):
        short = word[:MAX_KEYWORD_CHARS].strip()
        if short:
            words.setdefault(short.casefold(), short)
    return tuple(words.values())[:MAX_KEYWORDS]


def parse_keywords_reply(reply: str) -> KeywordsReply:
    """Read the keywords of a question.

    Args:
        reply: What the model returned: JSON in any condition, or lines ``High-level keywords: a, b``.

    Returns:
        High-level and low-level keywords, each without repetitions; both empty when the reply holds none.
    """
    text = mend_escapes(without_fences(split_thinking(unify_line_ends(reply)).answer))
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
