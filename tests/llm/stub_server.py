"""A model server for tests: speaks just enough HTTP, records what it was asked, and notices who hangs up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Request:
    """One request as it came in."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class Exchange:
    """What a handler works with: the request, and ways to answer it."""

    request: Request
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send_json(self, payload: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        await self.send(json.dumps(payload).encode(), "application/json", status, headers)

    async def send(
        self, body: bytes, content_type: str, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        lines = [f"HTTP/1.1 {status} Status", f"content-type: {content_type}", f"content-length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        self.writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await self.writer.drain()

    async def start_stream(self, content_type: str) -> None:
        self.writer.write(
            f"HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ntransfer-encoding: chunked\r\n\r\n".encode()
        )
        await self.writer.drain()

    async def send_chunk(self, data: bytes) -> None:
        self.writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        await self.writer.drain()

    async def end_stream(self) -> None:
        self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()

    async def send_events(self, events: list[Any]) -> None:
        """Answer as server-sent events, as OpenAI does."""
        await self.start_stream("text/event-stream")
        for event in events:
            await self.send_chunk(f"data: {json.dumps(event)}\n\n".encode())
        await self.send_chunk(b"data: [DONE]\n\n")
        await self.end_stream()

    async def send_lines(self, lines: list[Any]) -> None:
        """Answer as JSON lines, as Ollama does."""
        await self.start_stream("application/x-ndjson")
        for line in lines:
            await self.send_chunk(json.dumps(line).encode() + b"\n")
        await self.end_stream()

    async def wait_for_hang_up(self) -> None:
        """Return when the client closes the connection."""
        assert await self.reader.read(1) == b"", "the client sent more instead of hanging up"


Handler = Callable[[Exchange], Awaitable[None]]


@dataclass
class StubServer:
    """The server.

    Attributes:
        url: Address without a path.
        handler: Answers the next requests; tests set it.
        requests: What came in, in order.
        connections: How many connections were opened.
        asked: Set when a request has come in.
        hung_up: Set when a handler saw the client close the connection.
    """

    url: str = ""
    handler: Handler | None = None
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)

    def answers(self, payload: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """Answer every request with the same JSON."""

        async def handler(exchange: Exchange) -> None:
            await exchange.send_json(payload, status, headers)

        self.handler = handler

    def hangs(self) -> None:
        """Never answer; notice when the client gives up."""

        async def handler(exchange: Exchange) -> None:
            await exchange.wait_for_hang_up()
            self.hung_up.set()

        self.handler = handler

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while (request := await read_request(reader)) is not None:
                self.requests.append(request)
                self.asked.set()
                assert self.handler is not None
                await self.handler(Exchange(request, reader, writer))
        except ConnectionError:
            self.hung_up.set()
        finally:
            writer.close()


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(first.split()[1], headers, json.loads(body or b"{}"))


@asynccontextmanager
async def running_stub() -> AsyncIterator[StubServer]:
    """Serve on a free local port until the block ends."""
    stub = StubServer()
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await stub.serve(reader, writer)
        except asyncio.CancelledError:
            pass  # the test is over
        finally:
            tasks.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    stub.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield stub
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()
