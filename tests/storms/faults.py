"""What a provider can do wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.llm.stub_server import Exchange
from tests.storms.provider import Fault, Good, answer_well, chat_body, piece_line, stream_lines, vectors_body


class HangUp(ConnectionError):
    """Ends the connection at once; the stub closes it."""


def status(code: int, message: str = "overloaded", headers: Mapping[str, str] | None = None, **error: Any) -> Fault:
    async def fault(exchange: Exchange, good: Good) -> None:
        body = {"error": message} if good.ollama else {"error": {"message": message, "type": "x", **error}}
        await exchange.send_json(body, code, headers)

    return fault


async def drop_before_headers(exchange: Exchange, good: Good) -> None:
    raise HangUp


async def drop_after_headers(exchange: Exchange, good: Good) -> None:
    exchange.writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{")
    await exchange.writer.drain()
    raise HangUp


async def hang(exchange: Exchange, good: Good) -> None:
    await exchange.wait_for_hang_up()


async def hang_after_headers(exchange: Exchange, good: Good) -> None:
    kind = "text/event-stream" if good.stream and not good.ollama else "application/json"
    await exchange.start_stream(kind)
    await exchange.wait_for_hang_up()


async def hang_in_body(exchange: Exchange, good: Good) -> None:
    await _start(exchange, good)
    data = b"".join(stream_lines(good)) if good.stream else json.dumps(chat_body(good)).encode()
    await exchange.send_chunk(data[: len(data) // 2])
    await exchange.wait_for_hang_up()


async def _start(exchange: Exchange, good: Good) -> None:
    kind = ("application/x-ndjson" if good.ollama else "text/event-stream") if good.stream else "application/json"
    await exchange.start_stream(kind)


def raw(body: bytes, content_type: str = "application/json", headers: Mapping[str, str] | None = None) -> Fault:
    async def fault(exchange: Exchange, good: Good) -> None:
        await exchange.send(body, content_type, 200, headers)

    return fault


def payload(make: Callable[[Good], Any]) -> Fault:
    async def fault(exchange: Exchange, good: Good) -> None:
        await exchange.send_json(make(good))

    return fault


html = raw(b"<html><body>Welcome to the captive portal, Bearer sk-storm-0123456789-secret</body></html>", "text/html")
html_as_json = raw(b"<html><body>Welcome</body></html>")
empty = raw(b"")
gzip_rubbish = raw(b"\x00\x01 rubbish", headers={"content-encoding": "gzip"})
not_utf8 = raw(b'{"choices": [{"message": {"content": "\xff\xfe\xe2\x82"}}]}')
json_null = raw(b"null")
json_list = raw(b"[]")
json_text = raw(b'"hello"')
error_in_200 = payload(
    lambda good: (
        {"error": "the model crashed"} if good.ollama else {"error": {"message": "the model crashed", "code": 503}}
    )
)
wrong_types = payload(lambda good: {"choices": 7, "message": 9, "data": 5, "embeddings": "x"})


def finish(reason: str, part: float = 1.0) -> Fault:
    """The reply ends for a reason, after a part of its text."""

    async def fault(exchange: Exchange, good: Good) -> None:
        text = good.text[: int(len(good.text) * part)]
        if not good.stream:
            await exchange.send_json(chat_body(good, text, reason))
            return
        await _start(exchange, good)
        await exchange.send_chunk(piece_line(good, text))
        await exchange.send_chunk(piece_line(good, None, reason))
        if not good.ollama:
            await exchange.send_chunk(b"data: [DONE]\n\n")
        await exchange.end_stream()

    return fault


null_content = payload(
    lambda good: (
        chat_body(good, None)
        | (
            {"message": {"role": "assistant", "content": None}}
            if good.ollama
            else {"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": None}}]}
        )
    )
)
tool_calls = payload(
    lambda good: chat_body(
        good,
        "",
        "tool_calls",
        tool_calls=[
            {"id": "1", "type": "function", "function": {"name": "f", "arguments": {} if good.ollama else "{}"}}
        ],
    )
)


def cut(where: str) -> Fault:
    """A streamed reply that ends early.

    ``line``: connection lost in the middle of a line; ``character``: in the middle of a character; ``between``:
    connection lost between two pieces; ``polite``: the body ends orderly between two pieces; ``done``: after the finish
    reason, without ``[DONE]``; ``nothing``: the body is empty.
    """

    async def fault(exchange: Exchange, good: Good) -> None:
        if not good.stream:
            await answer_well(exchange, good)
            return
        lines = stream_lines(good)
        half = lines[: max(1, len(lines) // 2)]
        await _start(exchange, good)
        if where == "done":
            half = lines if good.ollama else lines[:-1]
        if where == "nothing":
            half = []
        for line in half:
            await exchange.send_chunk(line)
        if where == "line":
            await exchange.send_chunk(lines[len(half)][:20])
        if where == "character":
            await exchange.send_chunk(piece_line(good, "日本語").split("語".encode())[0] + b"\xe8\xaa")
        if where in ("polite", "done", "nothing"):
            await exchange.end_stream()
        else:
            raise HangUp

    return fault


async def polite_half_line(exchange: Exchange, good: Good) -> None:
    await _start(exchange, good)
    lines = stream_lines(good)
    await exchange.send_chunk(lines[0])
    await exchange.send_chunk(lines[1][:25])
    await exchange.end_stream()


async def stalls(exchange: Exchange, good: Good) -> None:
    """Two pieces, then nothing for ever."""
    await _start(exchange, good)
    for line in stream_lines(good)[:2]:
        await exchange.send_chunk(line)
    await exchange.wait_for_hang_up()


async def hangs_after_the_end(exchange: Exchange, good: Good) -> None:
    """All of a stream, but the body never ends."""
    await _start(exchange, good)
    for line in stream_lines(good):
        await exchange.send_chunk(line)
    await exchange.wait_for_hang_up()


async def error_in_stream(exchange: Exchange, good: Good) -> None:
    await _start(exchange, good)
    await exchange.send_chunk(stream_lines(good)[0])
    error = (
        b'{"error": "the model crashed"}\n' if good.ollama else b'data: {"error": {"message": "the model crashed"}}\n\n'
    )
    await exchange.send_chunk(error)
    await exchange.end_stream()


def trickle(pause: float) -> Fault:
    async def fault(exchange: Exchange, good: Good) -> None:
        body = json.dumps(chat_body(good)).encode()
        await _start(exchange, good)
        for start in range(len(body)):
            await exchange.send_chunk(body[start : start + 1])
            await asyncio.sleep(pause)
        await exchange.end_stream()

    return fault


def large(megabytes: int) -> Fault:
    async def fault(exchange: Exchange, good: Good) -> None:
        await exchange.start_stream("application/json")
        block = b" " * 2**20
        for _ in range(megabytes):
            await exchange.send_chunk(block)
        await exchange.send_chunk(b"oops")
        await exchange.end_stream()

    return fault


def redirect(target: str, code: int = 307) -> Fault:
    async def fault(exchange: Exchange, good: Good) -> None:
        await exchange.send(b"", "text/plain", code, {"location": target})

    return fault


def vectors(change: Callable[[list[list[float]]], list[list[float]]]) -> Fault:
    return payload(lambda good: vectors_body(good, change(good.vectors)))


async def out_of_order(exchange: Exchange, good: Good) -> None:
    body = vectors_body(good)
    if not good.ollama:
        body["data"].reverse()
    await exchange.send_json(body)


async def no_finish_reasons(exchange: Exchange, good: Good) -> None:
    """All of a stream of OpenAI's, with its marker, but without a finish reason."""
    await _start(exchange, good)
    for text in good.pieces():
        await exchange.send_chunk(piece_line(good, text))
    marker = b"data: [DONE]\n\n"
    await exchange.send_chunk(marker[:7])
    await exchange.send_chunk(marker[7:])
    await exchange.end_stream()


async def speaks_of_the_marker(exchange: Exchange, good: Good) -> None:
    """A stream about streams, that breaks off orderly."""
    await _start(exchange, good)
    await exchange.send_chunk(piece_line(good, "It ends with\ndata: [DONE]\n\nas you see"))
    await exchange.end_stream()
