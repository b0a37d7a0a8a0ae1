"""What stands before a question on the Ollama route: a mode, an instruction, a filter.

/naive question             mode
/naivecontext question      only the context, /context for the default mode
/mix[in French] question    mode and instruction;  /[in French] question
/filter{"required_tags": ["type:act"]} question     before or after the mode
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import Any, cast, get_args

from lightrag.contracts.query import QueryMode
from lightrag.exceptions import FilterSyntaxError
from lightrag.query_filters import FILTER_ATTRIBUTES
from lightrag.query_filters.strict_model import nearest, unique_fields

MODES: tuple[QueryMode, ...] = get_args(QueryMode)
_FILTER = "/filter{"
_PREFIX = re.compile(r"/(?P<word>[a-z]*)(?:\[(?P<instruction>[^\]]*)\])?(?:\s+|$)")


@dataclass(frozen=True)
class Prefixed:
    """A message taken apart.

    Attributes:
        query: The question.
        mode: Mode of the query.
        only_need_context: The context is wanted, not an answer.
        user_prompt: Instruction for the answer.
        filter: Filter fields, as in the body of ``POST /query``.
    """

    query: str
    mode: QueryMode = "mix"
    only_need_context: bool = False
    user_prompt: str | None = None
    filter: dict[str, Any] = field(default_factory=dict)


def parse_prefix(message: str) -> Prefixed:
    """Take a message apart.

    Raises:
        FilterSyntaxError: The filter is no JSON object, or has an unknown field.
    """
    found = Prefixed(message)
    limits, rest = _take_filter(message.lstrip())
    match = _PREFIX.match(rest)
    choice = _choice(match) if match else None
    if match and choice:
        mode, only_context = choice
        rest = rest[match.end() :]
        found = replace(found, mode=mode, only_need_context=only_context, user_prompt=match["instruction"] or None)
        if limits is None:
            limits, rest = _take_filter(rest.lstrip())
    if limits is None and not choice:
        return found
    return replace(found, query=rest.strip(), filter=limits or {})


def _choice(match: re.Match[str]) -> tuple[QueryMode, bool] | None:
    word, instruction = match["word"], match["instruction"]
    if not word:
        return None if instruction is None else ("mix", False)
    name = word.removesuffix("context")
    only_context = name != word
    if only_context and not name:
        return "mix", True
    if name not in MODES or (only_context and name == "bypass"):
        return None
    return cast("QueryMode", name), only_context


def _take_filter(text: str) -> tuple[dict[str, Any] | None, str]:
    if not text.startswith(_FILTER):
        return None, text
    start = len(_FILTER) - 1
    try:
        given, end = json.JSONDecoder(object_pairs_hook=unique_fields).raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        raise FilterSyntaxError(
            f'the filter is not JSON ({error}); write it as /filter{{"required_tags": ["type:act"]}} and the question'
        ) from error
    for name in given:
        if name not in FILTER_ATTRIBUTES:
            near = nearest(name, FILTER_ATTRIBUTES)
            hint = f"; did you mean {near!r}?" if near else "."
            raise FilterSyntaxError(f"unknown filter field {name!r}{hint} Allowed are {', '.join(FILTER_ATTRIBUTES)}")
    return {name: value for name, value in given.items() if value is not None}, text[end:].lstrip()
