"""What models think aloud before they answer: a ``<think>`` block at the start of a reply.

Only a block at the start counts. A document may speak of these tags, so inside a reply they are ordinary
text.
"""

from __future__ import annotations

_OPEN = "<think>"
_CLOSE = "</think>"


class ReasoningFilter:
    """Takes a reply in pieces and gives what a reader should see of it.

    Some servers send the reasoning as a field of its own, others put it into the text. Dropped, both vanish;
    kept, both come out as one ``<think>`` block before the answer.
    """

    def __init__(self, *, keep: bool = False) -> None:
        """Start a reply.

        Args:
            keep: Give the reasoning too, as a ``<think>`` block.
        """
        self._keep = keep
        self._block_open = False
        self._state = "answer" if keep else "start"
        self._pending = ""

    def feed(self, content: str, reasoning: str = "") -> str:
        """Return what can be shown after one more piece.

        Args:
            content: Piece of the reply's text.
            reasoning: Piece of the reasoning, where the server sends it apart.
        """
        shown = self._feed_reasoning(reasoning) if reasoning and self._keep else ""
        if not content:
            return shown
        if self._block_open:
            self._block_open = False
            shown += _CLOSE
        if self._state == "answer":
            return shown + content
        self._pending += content
        return shown + self._advance()

    def finish(self) -> str:
        """Return what was held back until the end of the reply."""
        rest, self._pending = self._pending, ""
        if self._block_open:
            self._block_open = False
            return rest + _CLOSE
        return "" if self._state == "thinking" else rest

    def _feed_reasoning(self, reasoning: str) -> str:
        if self._block_open:
            return reasoning
        self._block_open = True
        return _OPEN + reasoning

    def _advance(self) -> str:
        if self._state == "start":
            head = self._pending.lstrip()
            if len(head) < len(_OPEN) and _OPEN.startswith(head):
                return ""
            if not head.startswith(_OPEN):
                return self._release(self._pending)
            self._state = "thinking"
            self._pending = head[len(_OPEN) :]
        if self._state == "thinking":
            _, closed, rest = self._pending.partition(_CLOSE)
            if not closed:
                # The closing tag may arrive in two pieces; nothing longer is needed to recognise it.
                self._pending = self._pending[-len(_CLOSE) + 1 :]
                return ""
            self._state = "after"
            self._pending = rest
        rest = self._pending.lstrip()
        return self._release(rest) if rest else ""

    def _release(self, text: str) -> str:
        self._state = "answer"
        self._pending = ""
        return text
