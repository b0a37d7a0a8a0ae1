"""The routes that speak as Ollama does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lightrag.api.ollama_prefix import Prefixed, parse_prefix
from lightrag.base import OllamaServerInfos
from lightrag.exceptions import FilterSyntaxError
from tests.api.conftest import Serve, Server

FILTER = '/filter{"required_tags": ["city"]}'


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Who?", Prefixed("Who?")),
        ("/local Who?", Prefixed("Who?", "local")),
        ("/bypass Who?", Prefixed("Who?", "bypass")),
        ("/context Who?", Prefixed("Who?", "mix", only_need_context=True)),
        ("/naivecontext Who?", Prefixed("Who?", "naive", only_need_context=True)),
        ("/mix[in French] Who?", Prefixed("Who?", "mix", user_prompt="in French")),
        ("/[in French] Who?", Prefixed("Who?", "mix", user_prompt="in French")),
        ("/locally grown?", Prefixed("/locally grown?")),
        ("/bypasscontext x", Prefixed("/bypasscontext x")),
        ("/etc/passwd?", Prefixed("/etc/passwd?")),
        ("/ Who?", Prefixed("/ Who?")),
        ("/filters are good", Prefixed("/filters are good")),
        (f"{FILTER} Who?", Prefixed("Who?", filter={"required_tags": ["city"]})),
        (f"{FILTER}/naive Who?", Prefixed("Who?", "naive", filter={"required_tags": ["city"]})),
        (f"/naive {FILTER} Who?", Prefixed("Who?", "naive", filter={"required_tags": ["city"]})),
        ('/filter{"doc_types": ["a}b"]}\n/local Who?', Prefixed("Who?", "local", filter={"doc_types": ["a}b"]})),
        ('/filter{"doc_types": null} Who?', Prefixed("Who?")),
    ],
)
def test_prefixes(message: str, expected: Prefixed) -> None:
    assert parse_prefix(message) == expected


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ('/filter{"required_tag": ["x"]} Who?', "did you mean 'required_tags'"),
        ("/filter{required_tags} Who?", "not JSON"),
        ('/naive /filter{"a": Who?', "not JSON"),
    ],
)
def test_malformed_filters(message: str, words: str) -> None:
    with pytest.raises(FilterSyntaxError, match=words):
        parse_prefix(message)


async def test_models(serve: Serve) -> None:
    server = await serve(ollama_emulating_model_name="archive")
    assert (await server.client.get("/api/version")).json() == {"version": "0.9.3"}
    (entry,) = (await server.client.get("/api/tags")).json()["models"]
    assert entry["name"] == entry["model"] == "archive:latest"
    assert entry["size"] == 7365960935
    assert entry["digest"] == "sha256:lightrag"
    assert entry["modified_at"] == "2024-01-15T00:00:00Z"
    assert entry["details"]["family"] == "lightrag"
    assert entry["details"]["parameter_size"] == "13B"
    (running,) = (await server.client.get("/api/ps")).json()["models"]
    assert running["details"]["family"] == "llama"
    assert running["details"]["parameter_size"] == "7.2B"
    assert "expires_at" in running


async def test_what_the_model_can_do(server: Server) -> None:
    for body in ({"model": "lightrag:latest"}, {"name": "lightrag:latest", "verbose": True}, None):
        told = (await server.client.post("/api/show", json=body)).json()
        assert told["capabilities"] == ["completion"]
        assert told["details"]["family"] == "lightrag"


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


async def chat(server: Server, content: str, **fields: Any) -> Any:
    body = {"model": "lightrag:latest", "messages": [{"role": "user", "content": content}], **fields}
    return await server.client.post("/api/chat", json=body)


@pytest.fixture
async def filled(server: Server) -> Server:
    await server.add()
    await server.add("Engine -> London: shown in London.", "london.md", metadata={"tags": ["city"]})
    return server


async def test_chat_streams(filled: Server) -> None:
    found = lines((await chat(filled, "/naive Where was the Engine shown?")).text)
    assert [line["message"]["content"] for line in found] == ["word0 ", "word1 ", "word2 ", ""]
    for line in found:
        assert line["model"] == "lightrag:latest"
        assert line["message"]["role"] == "assistant"
        assert line["message"]["images"] is None
    last = found[-1]
    assert (last["done"], last["done_reason"], last["load_duration"]) == (True, "stop", 0)
    assert last["prompt_eval_count"] > 0
    assert last["eval_count"] > 0
    assert last["total_duration"] >= last["eval_duration"] > 0


async def test_chat_as_one_object(filled: Server) -> None:
    told = (await chat(filled, "Where was the Engine shown?", stream=False)).json()
    assert told["message"]["content"] == "answer to Where was the Engine shown?"
    assert told["done"] is True


async def test_filter_reaches_the_corpus(filled: Server) -> None:
    told = (await chat(filled, f"/naivecontext {FILTER} Engine shown in London", stream=False)).json()
    assert "London" in told["message"]["content"]
    assert "Ada" not in told["message"]["content"]
    plain = (await chat(filled, "/naivecontext Ada wrote the first program for the Engine", stream=False)).json()
    assert "Ada" in plain["message"]["content"]


@pytest.mark.parametrize("stream", [True, False])
async def test_malformed_filter_is_refused(filled: Server, stream: bool) -> None:
    for content in ('/filter{"required_tag": ["x"]} Who?', '/filter{"date_filter": {"range": {"start": "2024"}}} Who?'):
        answer = await chat(filled, content, stream=stream)
        assert answer.status_code == 422, answer.text
        assert answer.json()["code"] == "invalid_filter"
        assert answer.json()["error"] == answer.json()["detail"]


async def test_last_message_is_the_users(server: Server) -> None:
    body = {"model": "x", "messages": [{"role": "assistant", "content": "Hello"}]}
    answer = await server.client.post("/api/chat", json=body)
    assert answer.status_code == 400
    assert "must be 'user'" in answer.json()["error"]
    assert (await server.client.post("/api/chat", json={"model": "x", "messages": []})).status_code == 422
    assert (await chat(server, "/naive ")).status_code == 400


async def test_history_and_instructions_reach_the_model(filled: Server) -> None:
    body = {
        "model": "x", "stream": False, "system": "Answer briefly.",
        "messages": [
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "Hi"},
            {"role": "user", "content": "/naive[in French] Where was the Engine shown?"},
        ],
    }  # fmt: skip
    assert (await filled.client.post("/api/chat", json=body)).status_code == 200
    _, prompt, system = filled.model.calls[-1]
    assert prompt == "Where was the Engine shown?"
    assert "Answer briefly." in system
    assert "in French" in system


async def test_titles_asked_for_by_chat_pages_bypass_the_corpus(filled: Server) -> None:
    content = "Make a title.\n<chat_history>\nUSER: /naive hello"
    told = (await chat(filled, content, stream=False)).json()
    assert told["message"]["content"] == f"answer to {content}"
    assert filled.model.calls[-1][2] == ""


async def test_generate_goes_to_the_model(filled: Server) -> None:
    body = {"model": "x", "prompt": "Say hello", "system": "Be kind"}
    told = (await filled.client.post("/api/generate", json=body)).json()
    assert told["response"] == "answer to Say hello"
    assert told["context"] == []
    assert told["done"] is True
    assert filled.model.calls[-1][1:] == ("Say hello", "Be kind")
    streamed = lines((await filled.client.post("/api/generate", json={**body, "stream": True})).text)
    assert [line["response"] for line in streamed] == ["word0 ", "word1 ", "word2 ", ""]


async def test_body_of_any_content_type(filled: Server) -> None:
    body = json.dumps({"model": "x", "prompt": "Say hello", "keep_alive": "5m", "format": "json"})
    for kind in ("application/octet-stream", "text/plain", "application/json"):
        answer = await filled.client.post("/api/generate", content=body, headers={"Content-Type": kind})
        assert answer.status_code == 200
    assert (await filled.client.post("/api/generate", content=b"{")).status_code == 422


async def test_broken_stream_is_an_error_line(filled: Server) -> None:
    filled.model.failure = RuntimeError("broken")
    found = lines((await chat(filled, "/naive Where was the Engine shown?")).text)
    assert "the llm failed" in found[-1]["error"]


async def test_the_name_of_the_model_may_be_given_to_the_engine(serve: Serve) -> None:
    server = await serve({"ollama_server_infos": OllamaServerInfos("archive")})
    for path in ("/api/tags", "/api/ps"):
        (model,) = (await server.client.get(path)).json()["models"]
        assert model["name"] == "archive:latest"
