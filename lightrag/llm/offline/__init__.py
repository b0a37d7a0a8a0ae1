"""The offline reader: answers the engine's prompts by rules, without a model, a key or a network.

It recognises each prompt by its markers and does what it asks as far as rules can: it finds names and what links them,
keywords, telling sentences. Its answers are quotations with references and say that they come from it. It exists so
that everything can be tried and tested; it is never chosen silently, and its first use is logged.
"""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lightrag.prompts.rendering import DESCRIPTIONS_MARKER, DOCUMENT_MARKER, QUESTION_MARKER, between

if TYPE_CHECKING:
    from lightrag.contracts.models import LLMFunc, LLMReply
    from lightrag.runtime.endpoints import ModelEndpoint

logger = logging.getLogger("lightrag.llm.offline")

MODEL_NAME = "offline-reader@1"
_PIECE = re.compile(r"\S+\s*|\s+")
_WORDS_PER_PIECE = 4
_FORM = re.compile(r"^- Form and length: (?P<form>[^.\n]{1,60})\.", re.MULTILINE)


class _Notice:
    """Logs once per process that answers come from rules."""

    given = False

    @classmethod
    def give(cls) -> None:
        if not cls.given:
            cls.given = True
            logger.warning(
                "the offline reader is used instead of a language model: entities and relations come from rules, "
                "answers are quotations"
            )


async def offline_complete(
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> LLMReply:
    """Reply to one of the engine's prompts.

    Args:
        prompt: The user prompt.
        system_prompt: The system prompt.
        history_messages: Not used, but for telling a question after what was missed.
        kwargs: ``stream=True`` gives an iterator of pieces; everything else is ignored.

    Returns:
        The reply, the same for the same prompts. A prompt without documents is answered by saying that there are none.
    """
    del history_messages
    _Notice.give()
    reply = _reply(prompt, system_prompt or "", json_wanted=bool(kwargs.get("response_format")))
    return _pieces(reply) if kwargs.get("stream") else reply


def create_llm(endpoint: ModelEndpoint) -> LLMFunc:
    """Return :func:`offline_complete` for the table of bindings; the endpoint does not concern it."""
    del endpoint
    return offline_complete


def _reply(prompt: str, system_prompt: str, *, json_wanted: bool) -> str:
    """Do what a prompt asks. Each task is imported when it is first asked for."""
    document = between(prompt, DOCUMENT_MARKER)
    as_json = json_wanted or '"relationships"' in system_prompt
    if document is not None:
        from lightrag.llm.offline.extraction import extraction_reply

        return extraction_reply(document, as_json=as_json)
    if f"<{DOCUMENT_MARKER}>" in system_prompt:
        from lightrag.llm.offline.extraction import empty_reply

        return empty_reply(as_json=as_json)
    descriptions = between(prompt, DESCRIPTIONS_MARKER)
    if descriptions is not None:
        from lightrag.llm.offline.summary import summary_reply

        return summary_reply(descriptions, prompt)
    question = between(prompt, QUESTION_MARKER)
    if question is not None:
        from lightrag.llm.offline.keywords import keywords_reply

        return keywords_reply(question)
    return _answer(prompt, system_prompt)


def _answer(question: str, system_prompt: str) -> str:
    from lightrag.llm.offline.answer import NO_CONTEXT, answer_reply
    from lightrag.llm.offline.context import read_context

    context = read_context(system_prompt)
    if context is None:
        return NO_CONTEXT
    form = _FORM.search(system_prompt)
    return answer_reply(question, context, form["form"] if form else "")


async def _pieces(text: str) -> AsyncIterator[str]:
    """Yield a text a few words at a time."""
    words = _PIECE.findall(text)
    for start in range(0, len(words), _WORDS_PER_PIECE):
        yield "".join(words[start : start + _WORDS_PER_PIECE])
