"""The answer: the prompt, the model, and the stream of its pieces."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from lightrag.contracts.models import Tokenizer
from lightrag.exceptions import InputError
from lightrag.prompts import PROMPTS
from lightrag.prompts.building import AnswerPromptOptions, ContextBlocks, answer_system_prompt, context_text
from lightrag.query.cache import answer_key, keep
from lightrag.query.context import context_blocks
from lightrag.runtime.model_errors import TruncatedReplyError
from lightrag.runtime.model_set import PRIORITY_QUERY
from lightrag.runtime.subjects import subject_logger
from lightrag.runtime.tokens import count_tokens

if TYPE_CHECKING:
    from lightrag.query.plan import QueryPlan
    from lightrag.query.result import QueryResult
    from lightrag.query.state import QueryState

logger = subject_logger("lightrag.query")

_CONTEXT_SLOT = re.compile(r"\{(?:context_data|content_data)\}")
_ANY_SLOT = re.compile(r"\{(response_type|user_prompt|context_data|content_data)\}")


class AnswerStream:
    """An answer in pieces.

    Closing it before the end (``aclose``, or dropping the last reference) stops the model. ``on_complete`` is awaited
    with the whole text only when the last piece has been read.
    """

    def __init__(self, pieces: AsyncIterator[str], on_complete: Callable[[str], Awaitable[None]] | None = None) -> None:
        """Wrap the pieces that a model gives.

        Args:
            pieces: Text by text.
            on_complete: Told the whole text once it is complete.
        """
        self._source = pieces
        self._pieces = aiter(pieces)
        self._on_complete = on_complete
        self._read: list[str] = []

    def __aiter__(self) -> AnswerStream:
        return self

    async def __anext__(self) -> str:
        try:
            piece = await anext(self._pieces)
        except StopAsyncIteration:
            on_complete, self._on_complete = self._on_complete, None
            if on_complete is not None:
                await on_complete("".join(self._read))
            raise
        if self._on_complete is not None:
            self._read.append(piece)
        return piece

    async def aclose(self) -> None:
        """Stop: no further piece is asked for, and nothing is remembered."""
        self._on_complete = None
        close = getattr(self._source, "aclose", None)
        if close is not None:
            await close()


async def one_piece(text: str) -> AsyncIterator[str]:
    """Return a whole text as a stream."""
    yield text


def prompt_tokens(plan: QueryPlan, tokenizer: Tokenizer) -> int:
    """Return the tokens of everything in the prompt beside the retrieved lines: instructions, question, history."""
    naive = plan.mode == "naive"
    frame = system_prompt(plan, context_text(ContextBlocks("", ""), naive=naive))
    size = count_tokens(tokenizer, frame) + count_tokens(tokenizer, plan.query)
    for message in plan.param.conversation_history or ():
        size += count_tokens(tokenizer, str(message.get("content") or ""))
    return size


def system_prompt(plan: QueryPlan, context: str) -> str:
    """Return the system prompt of an answer: the caller's template, or ours.

    A caller's template need not have every slot, and braces that are no slots stay as they are. Without a slot for the
    context the context follows the template: a model that never sees it could only guess.

    Args:
        plan: The query.
        context: Text of the context.

    Raises:
        InputError: A template in ``PROMPTS`` that the user replaced cannot be filled.
    """
    options = AnswerPromptOptions(
        response_type=plan.response_type,
        user_prompt=plan.user_prompt,
        system_prompt=plan.system_prompt,
        naive=plan.mode == "naive",
    )
    if plan.system_prompt is None:
        return answer_system_prompt(context, options)
    try:
        filled = answer_system_prompt(context, options)
    except InputError:
        filled = _fill_known(plan.system_prompt, options, context)
    if _CONTEXT_SLOT.search(plan.system_prompt) is None:
        filled = f"{filled}\n\n<context>\n{context}\n</context>"
    return filled


def _fill_known(template: str, options: AnswerPromptOptions, context: str) -> str:
    slots: Mapping[str, str] = {
        "response_type": options.response_type,
        "user_prompt": options.user_prompt,
        "context_data": context,
        "content_data": context,
    }
    return _ANY_SLOT.sub(lambda match: slots[match.group(1)], template)


async def answer(state: QueryState, result: QueryResult) -> None:
    """Write the answer, or what was asked for instead of it, into the result.

    Raises:
        ModelError: The model failed before its first piece.
    """
    plan = state.plan
    blocks = context_blocks(
        state.entities,
        state.relations,
        state.chunks,
        state.references,
        headings=state.context.settings.enable_content_headings,
    )
    text = context_text(blocks, naive=plan.mode == "naive")
    if plan.param.only_need_context and not plan.param.only_need_prompt:
        result.content = text
        return
    prompt = system_prompt(plan, text)
    if plan.param.only_need_prompt:
        result.content = f"{prompt}\n\n{plan.query}"
        return
    await _model_answer(state, result, prompt)


async def _model_answer(state: QueryState, result: QueryResult, prompt: str) -> None:
    plan = state.plan
    result.llm_generated = True
    key = answer_key(state, prompt)
    known = await state.context.cache.get(key) if key else None
    if known is not None:
        _deliver(result, known, stream=plan.param.stream)
        return

    async def remember(text: str) -> None:
        await keep(state.context, key, text, prompt=plan.query)

    await state.tell("generating_response")
    await _deliver_reply(state, result, prompt, remember if key else None)


async def _deliver_reply(
    state: QueryState, result: QueryResult, system: str | None, remember: Callable[[str], Awaitable[None]] | None
) -> None:
    """Ask the model and give its answer in the form that was asked for; only a whole one is remembered."""
    stream = state.plan.param.stream
    try:
        reply = await ask_model(state, system)
    except TruncatedReplyError as error:
        # Half an answer is better than none to a person who waits, if it says so, and is never served again.
        if not error.reply.strip():
            raise
        logger.warning("the answer was cut off at the model's length limit")
        if stream:
            result.stream = AnswerStream(_cut_off(error))
        else:
            result.content, result.cut_off = error.reply, True
        return
    if isinstance(reply, str):
        if remember is not None:
            await remember(reply)
        _deliver(result, reply, stream=stream)
    else:
        result.stream = AnswerStream(reply, remember)


async def _cut_off(error: TruncatedReplyError) -> AsyncIterator[str]:
    yield error.reply
    raise error


async def ask_model(state: QueryState, system: str | None) -> str | AsyncIterator[str]:
    """Put the question to the model; pieces only when a stream was asked for."""
    param = state.plan.param
    model = state.context.models.query
    call: dict[str, Any] = {
        "system_prompt": system,
        "history": param.conversation_history or (),
        "priority": PRIORITY_QUERY,
    }
    if not param.stream:
        return await model.text(state.plan.query, **call)
    return await model.reply(state.plan.query, **call, stream=True)


async def answer_without_context(state: QueryState, result: QueryResult) -> None:
    """Mode ``bypass``: the question and the history go to the model, with the caller's system prompt as it is."""
    param = state.plan.param
    if param.only_need_context or param.only_need_prompt:
        result.content = state.plan.query if param.only_need_prompt else ""
        return
    await state.tell("generating_response")
    result.llm_generated = True
    await _deliver_reply(state, result, state.plan.system_prompt, None)


def _deliver(result: QueryResult, text: str, *, stream: bool) -> None:
    """Give a whole text in the form that was asked for."""
    if stream:
        result.stream = AnswerStream(one_piece(text))
    else:
        result.content = text


def fail_text() -> str:
    """Return the words for "nothing found"; they end with ``[no-context]``."""
    return str(PROMPTS["fail_response"])
