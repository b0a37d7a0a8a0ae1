"""Answers line by line, and work that stops when nobody waits for it any more."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Mapping
from typing import Any, TypeVar

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from lightrag.api.errors import ApiError

T = TypeVar("T")
Line = Mapping[str, Any]


class NDJSONResponse(Response):
    """One JSON object per line. Closes the source of its lines when it ends, for whatever reason it ends."""

    media_type = "application/x-ndjson"

    def __init__(
        self, lines: AsyncGenerator[Line, None], status_code: int = 200, background: BackgroundTask | None = None
    ) -> None:
        """Stream lines.

        Args:
            lines: Where they come from.
            status_code: HTTP status.
            background: Run after the last one.
        """
        headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        super().__init__(status_code=status_code, headers=headers, background=background)
        del self.headers["content-length"]
        self.lines = lines

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the lines until they end or the client goes away."""
        sending = asyncio.create_task(self._send(send))
        leaving = asyncio.create_task(_gone(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            left_early = not sending.done()
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)
            await self.lines.aclose()
        if not left_early:
            sending.result()
        if self.background is not None:
            await self.background()

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for line in self.lines:
            await send(_body(as_line(line), more=True))
        await send(_body(b"", more=False))


def as_line(line: Line) -> bytes:
    """Return an object as one line of JSON; half a surrogate pair, which UTF-8 cannot hold, becomes a question mark."""
    return (json.dumps(line, ensure_ascii=False, default=str) + "\n").encode("utf-8", "replace")


def _body(data: bytes, *, more: bool) -> Message:
    return {"type": "http.response.body", "body": data, "more_body": more}


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Wait for work, and cancel it when the client goes away. The body must have been read.

    Raises:
        ApiError: The client has gone (499); nobody will see it.
    """
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_gone(request.receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ApiError(499, "the client went away before the answer was ready")
        return working.result()
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def first_then_rest(request: Request, lines: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """Wait for the first item, so that an error before it is still an ordinary response, and return all of them.

    Raises:
        ApiError: The client has gone.
    """
    try:
        first = await unless_gone(request, _next(lines))
    except BaseException:
        await lines.aclose()
        raise
    return _chain(first, lines)


async def _next(lines: AsyncIterator[T]) -> list[T]:
    async for item in lines:
        return [item]
    return []


async def _chain(first: list[T], rest: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    try:
        for item in first:
            yield item
        async for item in rest:
            yield item
    finally:
        await rest.aclose()
