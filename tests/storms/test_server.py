"""The server's routes over a provider that misbehaves: an answer that is not whole never looks whole to a client."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from lightrag.api.app import create_app
from lightrag.settings_api import load_api_settings
from tests.storms import faults
from tests.storms.engines import engine_at, insert
from tests.storms.provider import KEY, Fault, Provider

QUESTION = {"query": "What did Ada7 write?", "mode": "mix"}
CHAT = {"model": "x", "messages": [{"role": "user", "content": "/mix What did Ada7 write?"}]}

pytestmark = pytest.mark.parametrize("binding", ["openai", "ollama"])


@pytest.fixture
async def client(provider: Provider, tmp_path: Path, binding: str) -> AsyncIterator[httpx.AsyncClient]:
    settings = load_api_settings(input_dir=str(tmp_path / "inputs"), host="127.0.0.1")
    engine = engine_at(provider, binding, tmp_path)
    app = create_app(settings, engine=engine)
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://test") as opened,
    ):
        await insert(engine, 8)
        yield opened


async def lines(client: httpx.AsyncClient, path: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    answer = await client.post(path, json=body)
    return [json.loads(line) for line in answer.text.splitlines()]


BREAKS: dict[str, Fault] = {
    "orderly": faults.cut("polite"),
    "lost": faults.cut("line"),
    "error": faults.error_in_stream,
    "filtered": faults.finish("content_filter", 0.4),
    "nothing": faults.cut("nothing"),
    "refused with the key": faults.status(401, f"bad key {KEY}"),
    "page": faults.html,
}


@pytest.mark.parametrize("name", BREAKS)
async def test_a_broken_stream_ends_with_an_error(provider: Provider, client: httpx.AsyncClient, name: str) -> None:
    provider.faults = lambda good: BREAKS[name] if good.task == "answer" else None
    told = await lines(client, "/query/stream", QUESTION)
    assert "error" in told[-1], told
    assert told[-1]["code"] in ("model_error", "query_failed")
    chat = await lines(client, "/api/chat", CHAT)
    assert "error" in chat[-1], chat
    assert not any(line.get("done") for line in chat)
    assert KEY not in str(told) + str(chat)
    provider.faults = lambda good: None
    provider.tasks.clear()
    whole = await lines(client, "/query/stream", QUESTION)
    assert "error" not in whole[-1]
    assert provider.count("answer") == 1, "nothing of it was kept"


async def test_an_answer_that_is_cut_off_says_so(provider: Provider, client: httpx.AsyncClient) -> None:
    provider.faults = lambda good: faults.finish("length", 0.4) if good.task == "answer" else None
    streamed = await lines(client, "/query/stream", QUESTION)
    assert streamed[-2]["response"]
    assert streamed[-1]["code"] == "reply_cut_off"
    (whole,) = await lines(client, "/query/stream", {**QUESTION, "stream": False})
    assert whole["cut_off"]
    assert (await client.post("/query", json=QUESTION)).json()["cut_off"] is True
    for stream in (True, False):
        last = (await lines(client, "/api/chat", {**CHAT, "stream": stream}))[-1]
        assert (last["done"], last["done_reason"]) == (True, "length")
    provider.faults = lambda good: None
    assert "cut_off" not in (await client.post("/query", json=QUESTION)).json()
    assert (await lines(client, "/api/chat", CHAT))[-1]["done_reason"] == "stop"
