"""Servers that take one text per request are asked about several at once, and no longer than there is a use for it."""

from __future__ import annotations

import asyncio

import pytest

from lightrag.llm.embeddings import one_request_each


class Server:
    """Answers once it is told to, and notes what is asked of it."""

    def __init__(self) -> None:
        self.ready = asyncio.Event()
        self.asked: list[str] = []
        self.cancelled: list[str] = []
        self.under_way = self.most = 0

    async def embed(self, text: str) -> list[float]:
        self.asked.append(text)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            await self.ready.wait()
        except asyncio.CancelledError:
            self.cancelled.append(text)
            raise
        finally:
            self.under_way -= 1
        return [float(text)]


async def a_while() -> None:
    """Let everything run that can."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_so_many_at_once_and_all_in_their_order() -> None:
    server = Server()
    task = asyncio.create_task(one_request_each(server.embed, [str(number) for number in range(20)], 3))
    await a_while()
    assert server.asked == ["0", "1", "2"]
    server.ready.set()
    assert await task == [[float(number)] for number in range(20)]
    assert server.most == 3


async def test_a_text_that_fails_stops_the_others() -> None:
    server = Server()

    async def embed(text: str) -> list[float]:
        if text == "bad":
            await a_while()
            raise ValueError(text)
        return await server.embed(text)

    with pytest.raises(ValueError, match="bad"):
        await one_request_each(embed, ["1", "bad", "2", "3", "4"], 3)
    await a_while()
    # The slot of the one that failed may be taken once more before the news is out.
    assert server.asked == server.cancelled
    assert set(server.asked) in ({"1", "2"}, {"1", "2", "3"})


async def test_who_is_cancelled_stops_them_all() -> None:
    server = Server()
    task = asyncio.create_task(one_request_each(server.embed, ["1", "2", "3"], 2))
    await a_while()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await a_while()
    assert server.asked == server.cancelled == ["1", "2"]
