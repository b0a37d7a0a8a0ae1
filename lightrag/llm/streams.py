"""Streamed replies whose early end closes the connection."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack
from typing import TypeVar

T = TypeVar("T")


class ReplyStream(AsyncIterator[str]):
    """The pieces of a reply, with everything that must be closed when they end.

    An async generator alone would not do: one that was never started does not run its ``finally``, and the
    request is already on its way when the stream is handed out.
    """

    def __init__(self, pieces: AsyncGenerator[str, None], resources: AsyncExitStack) -> None:
        """Own a reply.

        Args:
            pieces: The texts.
            resources: Closes response and connection.
        """
        self._pieces = pieces
        self._resources = resources

    async def __anext__(self) -> str:
        ended = True
        try:
            piece = await anext(self._pieces)
            ended = False
            return piece
        finally:
            if ended:
                await self._resources.aclose()

    async def aclose(self) -> None:
        """Stop the reply: the connection to the server is closed. Idempotent."""
        try:
            await self._pieces.aclose()
        finally:
            await self._resources.aclose()


async def started(events: AsyncIterator[T]) -> AsyncGenerator[T, None]:
    """Wait for the first event, so that a failure to get it is raised here, and return all of them."""
    return _after(await anext(events, None), events)


async def _after(first: T | None, events: AsyncIterator[T]) -> AsyncGenerator[T, None]:
    if first is not None:
        yield first
    async for event in events:
        yield event
