"""What the ``openai`` package keeps to itself about the body of a stream."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator
from typing import Any

from lightrag.exceptions import ModelReplyError
from lightrag.runtime.model_errors import redact, refuse_told_error

_DONE = re.compile(rb"(?:^|[\r\n])data: ?\[DONE\]")
_DONE_BYTES = len(b"\r\ndata: [DONE]")
_HEAD_BYTES = 4000


class EventWatch:
    """Notices the line ``data: [DONE]``, and remembers how a body began.

    The line tells a stream of a server that gives no finish reasons from one that broke off; the beginning tells what
    came from a server that sends no events at all.
    """

    def __init__(self, response: Any) -> None:
        """Watch a response whose body has not been read yet.

        Args:
            response: Of the HTTP client under the package.
        """
        self._done = False
        self._head = b""
        self._read = response.aiter_bytes
        response.aiter_bytes = self._watched

    def done(self) -> bool:
        """Tell whether the server marked the end of its events."""
        return self._done

    def refuse_no_events(self, source: str, secret: str | None) -> None:
        """Say what came instead of events; to be called when none came.

        Args:
            source: Names the model in messages.
            secret: Key, which some servers repeat.

        Raises:
            ProviderError: It is an error in spite of its status.
            ModelReplyError: It is something else, such as the page of a proxy.
        """
        text = self._head.decode("utf-8", "replace").strip()
        if not text or self._done:
            return
        try:
            told = json.loads(text)
        except ValueError:
            told = None
        if isinstance(told, dict):
            refuse_told_error(source, told.get("error"), secret)
        raise ModelReplyError(f"{source} sent no stream of events: {redact(text, secret)[:200]!r}")

    async def _watched(self, *args: Any, **kwargs: Any) -> AsyncGenerator[bytes, None]:
        before = b""
        async for data in self._read(*args, **kwargs):
            if len(self._head) < _HEAD_BYTES:
                self._head += data[: _HEAD_BYTES - len(self._head)]
            before = before[-_DONE_BYTES:] + data
            self._done = self._done or _DONE.search(before) is not None
            yield data
