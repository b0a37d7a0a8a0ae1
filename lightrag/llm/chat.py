"""What all chat bindings share: the messages, the engine's own keyword arguments, and the check of a reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightrag.exceptions import InputError
from lightrag.llm.endings import check_ending
from lightrag.runtime.reasoning import ReasoningFilter
from lightrag.runtime.usage import report_usage

Message = dict[str, Any]

# Keyword arguments with which an engine calls every model function; no server knows them.
_ENGINE_KEYWORDS = ("hashing_kv", "mode", "_priority")


@dataclass(frozen=True)
class ChatOptions:
    """Keyword arguments of a model function, sorted.

    Attributes:
        stream: Return an iterator of pieces.
        keep_reasoning: Give the model's reasoning too, as a ``<think>`` block before the answer.
        response_format: Format that the reply must have, as OpenAI defines it; ``None`` for text.
        timeout: Seconds that the server may take; ``None`` for the library's default.
        request: Everything else, sent to the server.
        token_tracker: Told the tokens of the call by ``add_usage({...})``; ``None`` for nobody.
    """

    stream: bool
    keep_reasoning: bool
    response_format: Mapping[str, Any] | None
    timeout: float | None
    request: dict[str, Any]
    token_tracker: Any = None

    def note_usage(self, prompt_tokens: Any, completion_tokens: Any, cost: Any = None) -> None:
        """Pass on what the server says that a call used; what is no number counts as not said."""
        note_usage(self.token_tracker, prompt_tokens, completion_tokens, cost)


def note_usage(tracker: Any, prompt_tokens: Any, completion_tokens: Any, cost: Any = None) -> None:
    """Tell the engine, and the caller's own tracker, what a call used.

    Args:
        tracker: Has ``add_usage({...})``; ``None`` for nobody.
        prompt_tokens: As the server says; what is no number counts as not said.
        completion_tokens: As the server says.
        cost: As the server says.
    """
    sent, received = _number(prompt_tokens), _number(completion_tokens)
    price = _number(cost)
    report_usage(None if sent is None else int(sent), None if received is None else int(received), cost=price)
    if tracker is not None and (sent is not None or received is not None):
        counts = {"prompt_tokens": int(sent or 0), "completion_tokens": int(received or 0)}
        tracker.add_usage({**counts, "total_tokens": sum(counts.values())})


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None


def chat_options(kwargs: Mapping[str, Any]) -> ChatOptions:
    """Sort the keyword arguments of a model function.

    ``keyword_extraction=True``, as older engines called it, asks for a JSON object.
    """
    request = {name: value for name, value in kwargs.items() if name not in _ENGINE_KEYWORDS}
    response_format = request.pop("response_format", None)
    if request.pop("keyword_extraction", False) and response_format is None:
        response_format = {"type": "json_object"}
    return ChatOptions(
        stream=bool(request.pop("stream", False)),
        keep_reasoning=bool(request.pop("enable_cot", False)),
        response_format=response_format,
        timeout=request.pop("timeout", None),
        token_tracker=request.pop("token_tracker", None),
        request=request,
    )


def model_name(kwargs: dict[str, Any]) -> str:
    """Take the model's name from ``model=``, or from the settings behind ``hashing_kv`` as existing code expects.

    Raises:
        InputError: Neither names a model.
    """
    name = kwargs.pop("model", None)
    if not name:
        settings = getattr(kwargs.get("hashing_kv"), "global_config", None) or {}
        name = settings.get("llm_model_name")
    if not name:
        raise InputError("no model is named: give model='...', for example in llm_model_kwargs")
    return str(name)


def chat_messages(prompt: str, system_prompt: str | None, history: Sequence[Mapping[str, Any]] | None) -> list[Message]:
    """Return the conversation: system prompt, history, prompt."""
    messages: list[Message] = [{"role": "system", "content": system_prompt}] if system_prompt else []
    messages.extend(dict(message) for message in history or ())
    messages.append({"role": "user", "content": prompt})
    return messages


@dataclass(frozen=True)
class ChatReply:
    """A whole reply as a server gave it.

    Attributes:
        content: The text.
        reasoning: Reasoning that came apart from the text.
        finish_reason: Why the server stopped: ``stop``, ``length``, ...
    """

    content: str
    reasoning: str
    finish_reason: str


def reply_text(source: str, reply: ChatReply, *, keep_reasoning: bool) -> str:
    """Return what a reader should see of a whole reply.

    Args:
        source: Names the model in messages.
        reply: The reply.
        keep_reasoning: Give the reasoning too.

    Raises:
        TruncatedReplyError: The reply was cut off at the model's length limit; it carries what came.
        ModelReplyError: The provider ended it early, or there is no text in it.
    """
    answer = _shown(reply, keep_reasoning=False)
    text = _shown(reply, keep_reasoning=True) if keep_reasoning else answer
    check_ending(source, reply.finish_reason, text, empty=not answer.strip())
    return text


def _shown(reply: ChatReply, *, keep_reasoning: bool) -> str:
    reader = ReasoningFilter(keep=keep_reasoning)
    return reader.feed(reply.content, reply.reasoning) + reader.finish()
