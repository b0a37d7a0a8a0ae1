"""How a reply ended: whole, cut off at its length limit, held back by the provider, or never."""

from __future__ import annotations

from lightrag.exceptions import ModelReplyError
from lightrag.runtime.model_errors import ProviderError, TruncatedReplyError
from lightrag.runtime.reasoning import ReasoningFilter

_CUT_OFF = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
# What came before is no more than a part, and asking for more tokens would not help.
_ENDED_EARLY = frozenset(
    {
        "content_filter",
        "content_filtered",
        "guardrail_intervened",
        "safety",
        "recitation",
        "prohibited_content",
        "error",
    }
)


def check_ending(source: str, finish_reason: str, text: str, *, empty: bool) -> None:
    """Check that a reply is whole. Words for its end that nobody knows count as an ordinary end.

    Args:
        source: Names the model in messages.
        finish_reason: Why the server stopped; ``""`` when it does not say.
        text: What came.
        empty: There is nothing in it for a reader.

    Raises:
        TruncatedReplyError: The reply was cut off at its length limit; it carries what came.
        ModelReplyError: The provider ended it early, or there is no text in it.
    """
    reason = finish_reason.lower()
    if reason in _CUT_OFF:
        raise TruncatedReplyError(f"the reply of {source} was cut off at its length limit", text)
    if empty:
        raise ModelReplyError(f"{source} gave an empty reply (finish reason {finish_reason or 'unknown'!r})")
    if reason in _ENDED_EARLY:
        raise ModelReplyError(f"the provider ended the reply of {source} early (finish reason {finish_reason!r})")


class StreamedReply:
    """Takes a reply in pieces, gives what a reader should see of it, and tells at its end whether it was whole.

    Attributes:
        finish_reason: Why the server stopped, as far as it has said so; set by the binding.
    """

    def __init__(self, source: str, *, keep_reasoning: bool) -> None:
        """Start a reply.

        Args:
            source: Names the model in messages.
            keep_reasoning: Give the reasoning too, as a ``<think>`` block.
        """
        self.finish_reason = ""
        self._source = source
        self._reader = ReasoningFilter(keep=keep_reasoning)
        # Reasoning alone is no reply, so what is no reasoning is watched even where both are shown.
        self._answer = ReasoningFilter()
        self._shown: list[str] = []
        self._empty = True

    def feed(self, content: str, reasoning: str = "") -> str:
        """Return what can be shown after one more piece."""
        if self._empty:
            self._empty = not self._answer.feed(content).strip()
        return self._note(self._reader.feed(content, reasoning))

    def finish(self) -> str:
        """Return what was held back until the end of the reply."""
        if self._empty:
            self._empty = not self._answer.finish().strip()
        return self._note(self._reader.finish())

    def check(self, *, ended: bool) -> None:
        """Check that the reply was whole, when its last piece has been given.

        Args:
            ended: The server said that this is the end. A connection that closes orderly does not say so: a proxy in
                between, or a server that dies, closes like that in the middle of a sentence.

        Raises:
            TruncatedReplyError: The reply was cut off at its length limit; it carries what came.
            ModelReplyError: The provider ended it early, or there is no text in it.
            ProviderError: It broke off.
        """
        if not ended and not self._empty:
            raise ProviderError(f"the stream of {self._source} broke off before its end")
        check_ending(self._source, self.finish_reason, "".join(self._shown), empty=self._empty)

    def _note(self, text: str) -> str:
        if text:
            self._shown.append(text)
        return text
