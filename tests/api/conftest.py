"""A server in this process, over an engine with models whose behaviour a test can foresee."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from lightrag import LightRAG
from lightrag.api.app import create_app
from lightrag.api.state import ServerState
from lightrag.settings_api import load_api_settings
from tests.fakes.facts import FactModel, make_embedding

FACTS = "Ada -> Engine: Ada wrote the first program for the Engine.\nEngine -> Babbage: Babbage designed the Engine.\n"


class StreamingFactModel(FactModel):
    """As the fact model; an answer that shall stream comes word by word.

    Attributes:
        pause: Seconds between two words.
        pieces_given: Words so far.
        closed_early: Streams that nobody read to the end.
        failure: Raised after the first word.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.pause = 0.0
        self.words = 3
        self.pieces_given = 0
        self.closed_early = 0
        self.failure: Exception | None = None

    async def __call__(self, prompt: str, system_prompt: str | None = None, **kwargs: Any) -> Any:
        reply = await super().__call__(prompt, system_prompt, **kwargs)
        if not kwargs.get("stream"):
            return reply
        return self._stream()

    async def _stream(self) -> AsyncIterator[str]:
        ended = False
        try:
            for number in range(self.words):
                await asyncio.sleep(self.pause)
                self.pieces_given += 1
                yield f"word{number} "
                if self.failure is not None:
                    raise self.failure
            ended = True
        finally:
            if not ended and self.failure is None:
                self.closed_early += 1


@dataclass
class Server:
    """A server and a client of it.

    Attributes:
        app: The application.
        client: Sends requests to it.
        model: The language model behind it.
    """

    app: FastAPI
    client: httpx.AsyncClient
    model: StreamingFactModel

    @property
    def state(self) -> ServerState:
        state: ServerState = self.app.state.server
        return state

    @property
    def engine(self) -> LightRAG:
        return self.state.engine

    async def settle(self, seconds: float = 20.0) -> None:
        """Wait until nothing is pending and nothing is worked on."""
        deadline = time.monotonic() + seconds
        while True:
            counts = await self.engine.get_processing_status()
            waiting = sum(counts.get(state, 0) for state in ("pending", "parsing", "analyzing", "processing"))
            if not waiting and not self.state.background.is_working:
                return
            assert time.monotonic() < deadline, counts
            await asyncio.sleep(0.02)

    async def add(self, text: str = FACTS, source: str = "facts.md", **fields: Any) -> str:
        """Store a text, let it be processed, and return the id of its document."""
        answer = await self.client.post("/documents/text", json={"text": text, "file_source": source, **fields})
        assert answer.status_code == 200, answer.text
        await self.settle()
        status = (await self.client.get(f"/documents/track_status/{answer.json()['track_id']}")).json()
        assert status["status_summary"] == {"processed": 1}, status
        return str(status["documents"][0]["id"])


Serve = Callable[..., Awaitable[Server]]


@asynccontextmanager
async def running(folder: Path, engine_fields: dict[str, Any], **settings: Any) -> AsyncIterator[Server]:
    """Run a server for the length of the block."""
    model = StreamingFactModel()
    engine = LightRAG(
        working_dir=str(folder / "store"),
        llm_model_func=model,
        embedding_func=make_embedding(),
        entity_extract_max_gleaning=0,
        **engine_fields,
    )
    settings = {"input_dir": str(folder / "inputs"), "host": "127.0.0.1", "shutdown_seconds": 5, **settings}
    app = create_app(load_api_settings(**settings), engine=engine)
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://test") as client,
    ):
        yield Server(app, client, model)


@pytest.fixture
async def serve(tmp_path: Path) -> AsyncIterator[Serve]:
    """Return a function that starts servers; all end with the test."""
    async with AsyncExitStack() as stack:

        async def start(engine_fields: dict[str, Any] | None = None, **settings: Any) -> Server:
            return await stack.enter_async_context(running(tmp_path, engine_fields or {}, **settings))

        yield start


@pytest.fixture
async def server(serve: Serve) -> Server:
    """A server without key or accounts."""
    return await serve()
