"""A provider of models that answers as OpenAI or as Ollama does, out of a fact model, until it is told to misbehave.

A fault is an async function that gets the exchange and the good answer; see :mod:`tests.storms.faults`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.fakes.facts import FactModel, embed_text
from tests.llm.stub_server import Exchange, Request, StubServer, running_stub

KEY = "sk-storm-0123456789-secret"


@dataclass
class Good:
    """What a provider in good health would answer.

    Attributes:
        task: ``extract``, ``keywords``, ``answer``, ``summary``, ``glean`` or ``embed``.
        text: The reply of a chat.
        vectors: The vectors of an embedding.
        stream: Whether a stream was asked for.
        ollama: Whether Ollama's protocol is spoken.
        body: What was asked.
    """

    task: str
    text: str
    vectors: list[list[float]]
    stream: bool
    ollama: bool
    body: dict[str, Any]

    def pieces(self) -> list[str]:
        """Return the text in pieces of a few characters."""
        return [self.text[start : start + 7] for start in range(0, len(self.text), 7)] or [""]


Fault = Callable[[Exchange, Good], Awaitable[None]]


def chat_body(good: Good, text: str | None = None, reason: str | None = "stop", **message: Any) -> dict[str, Any]:
    """Return a whole reply in the protocol that was spoken."""
    content = good.text if text is None else text
    said = {"role": "assistant", "content": content, **message}
    if good.ollama:
        return {
            "model": "m",
            "created_at": "2024-01-01T00:00:00Z",
            "message": said,
            "done": True,
            "done_reason": reason,
        }
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "message": said, "finish_reason": reason}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}  # fmt: skip


def piece_line(good: Good, text: str | None, reason: str | None = None) -> bytes:
    """Return one piece of a streamed reply as it is sent; ``None`` for the last one, which holds the reason."""
    if good.ollama:
        said = {"role": "assistant", "content": text or ""}
        line = {"model": "m", "created_at": "2024-01-01T00:00:00Z", "message": said, "done": text is None}
        if text is None:
            line["done_reason"] = reason or "stop"
        return json.dumps(line, ensure_ascii=False).encode() + b"\n"
    delta = {} if text is None else {"content": text}
    choice = {"index": 0, "delta": delta, "finish_reason": reason or ("stop" if text is None else None)}
    event = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(event, ensure_ascii=False).encode() + b"\n\n"


def stream_lines(good: Good) -> list[bytes]:
    """Return a whole streamed reply, line by line."""
    lines = [*(piece_line(good, text) for text in good.pieces()), piece_line(good, None)]
    return lines if good.ollama else [*lines, b"data: [DONE]\n\n"]


def vectors_body(good: Good, vectors: list[list[float]] | None = None) -> dict[str, Any]:
    """Return vectors in the protocol and encoding that were asked for."""
    rows = good.vectors if vectors is None else vectors
    if good.ollama:
        return {"model": "m", "embeddings": rows}
    coded: list[Any] = list(rows)
    if good.body.get("encoding_format") == "base64":
        coded = [base64.b64encode(np.asarray(row, dtype="<f4").tobytes()).decode() for row in rows]
    data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(coded)]
    return {"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}


async def answer_well(exchange: Exchange, good: Good) -> None:
    """Answer as a provider in good health."""
    if good.task == "embed":
        await exchange.send_json(vectors_body(good))
    elif good.stream:
        await exchange.start_stream("application/x-ndjson" if good.ollama else "text/event-stream")
        for line in stream_lines(good):
            await exchange.send_chunk(line)
        await exchange.end_stream()
    else:
        await exchange.send_json(chat_body(good))


@dataclass
class Provider:
    """The provider.

    Attributes:
        stub: The server under it.
        faults: Chooses the fault of a request; ``None`` answers well.
        model: Makes the good answers.
        tasks: What was asked, in order.
        open: Requests that are being answered now.
    """

    stub: StubServer
    faults: Callable[[Good], Fault | None] = lambda good: None
    model: FactModel = field(default_factory=FactModel)
    tasks: list[str] = field(default_factory=list)
    open: int = 0
    most_open: int = 0

    @property
    def openai(self) -> str:
        return f"{self.stub.url}/v1"

    @property
    def ollama(self) -> str:
        return self.stub.url

    def count(self, task: str) -> int:
        return self.tasks.count(task)

    async def handle(self, exchange: Exchange) -> None:
        good = await self._good(exchange.request)
        self.tasks.append(good.task)
        self.open += 1
        self.most_open = max(self.open, self.most_open)
        try:
            await (self.faults(good) or answer_well)(exchange, good)
        finally:
            self.open -= 1

    async def _good(self, request: Request) -> Good:
        body = request.body
        ollama = request.path.startswith("/api/")
        if "embed" in request.path:
            texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
            return Good("embed", "", [embed_text(text).tolist() for text in texts], False, ollama, body)
        messages = body["messages"]
        system = next((one["content"] for one in messages if one["role"] == "system"), "")
        history = [one for one in messages[:-1] if one["role"] != "system"]
        prompt = messages[-1]["content"]
        text = await self.model(prompt, system, history)
        return Good(self.model.calls[-1][0], text, [], bool(body.get("stream")), ollama, body)


@asynccontextmanager
async def running_provider() -> AsyncIterator[Provider]:
    """Serve on a free local port until the block ends."""
    async with running_stub() as stub:
        provider = Provider(stub)
        stub.handler = provider.handle
        yield provider
