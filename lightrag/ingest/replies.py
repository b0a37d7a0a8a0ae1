"""Understanding what a model replied to an extraction or keyword prompt.

Models keep to a format as far as they can: they think aloud first, fence their output, lose a sign of a
delimiter, join rows, break off at their length limit, or answer in the other format. Whatever can be read
without guessing is read; what cannot is dropped record by record, each with a warning. Nothing here raises,
whatever the reply.
"""

from __future__ import annotations

from lightrag.ingest.reply_fields import EntityMention, ExtractionReply, RelationMention
from lightrag.ingest.reply_json import has_known_keys, read_json, starts_like_json
from lightrag.ingest.reply_rows import RowFormat, has_rows, read_rows
from lightrag.llm.replies import KeywordsReply, parse_keywords_reply, snippet, unify_line_ends, without_fences
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
    thinking = split_thinking(unify_line_ends(reply))
    text = without_fences(thinking.answer)
    if not (has_rows(text, form) or has_known_keys(text)) and thinking.reasoning:
        # Some models put all of their output into the reasoning block.
        inside = without_fences(thinking.reasoning)
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
