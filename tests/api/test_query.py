"""Questions: shapes, parameters, refusals, references, what stops when nobody waits."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest

from lightrag.exceptions import ModelError, ModelTimeoutError
from tests.api.conftest import Serve, Server

QUESTION = "Who wrote the program for the Engine?"


@pytest.fixture
async def filled(server: Server) -> Server:
    """A server with two documents that share an entity."""
    await server.add()
    await server.add("Engine -> London: The Engine was shown in London.", "london.md", metadata={"tags": ["city"]})
    return server


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


async def test_answer(filled: Server) -> None:
    told = (await filled.client.post("/query", json={"query": QUESTION})).json()
    assert set(told) == {"response", "references", "response_time", "llm_generated"}
    assert told["response"] == f"answer to {QUESTION}"
    assert told["llm_generated"] is True
    assert {reference["file_path"] for reference in told["references"]} == {"facts.md", "london.md"}
    assert all(reference["content"] is None for reference in told["references"])
    assert told["response_time"] == round(told["response_time"], 3)


async def test_references_can_be_left_out_or_carry_their_text(filled: Server) -> None:
    without = (await filled.client.post("/query", json={"query": QUESTION, "include_references": False})).json()
    assert without["references"] is None
    body = {"query": QUESTION, "include_chunk_content": True, "mode": "naive"}
    found = {one["file_path"]: one for one in (await filled.client.post("/query", json=body)).json()["references"]}
    assert found["london.md"]["content"] == ["Engine -> London: The Engine was shown in London."]


async def test_nothing_found(server: Server) -> None:
    told = (await server.client.post("/query", json={"query": QUESTION})).json()
    assert told["response"].endswith("[no-context]")
    assert told["references"] == []
    assert told["llm_generated"] is False
    data = await server.client.post("/query/data", json={"query": QUESTION})
    assert data.status_code == 200
    assert data.json() == {
        "status": "failure",
        "message": "Query returned no results",
        "data": {},
        "metadata": {"failure_reason": "no_results", "mode": "mix"},
    }


@pytest.mark.parametrize("mode", ["local", "global", "hybrid", "naive", "mix"])
async def test_filter_reaches_every_mode(filled: Server, mode: str) -> None:
    body = {
        "query": QUESTION,
        "mode": mode,
        "required_tags": ["city"],
        "hl_keywords": ["Engine"],
        "ll_keywords": ["Engine"],
    }
    told = (await filled.client.post("/query/data", json=body)).json()
    assert told["status"] == "success"
    assert {chunk["file_path"] for chunk in told["data"]["chunks"]} == {"london.md"}
    assert "Ada" not in json.dumps(told["data"])
    nothing = (await filled.client.post("/query/data", json={**body, "required_tags": ["no-such-tag"]})).json()
    assert nothing["metadata"]["failure_reason"] == "no_results"


async def test_null_is_the_default(filled: Server) -> None:
    names = [
        name for name in filled.app.openapi()["components"]["schemas"]["QueryRequest"]["properties"] if name != "query"
    ]
    plain = (await filled.client.post("/query/data", json={"query": QUESTION})).json()
    nulls = await filled.client.post("/query/data", json={"query": QUESTION, **dict.fromkeys(names)})
    assert nulls.status_code == 200, nulls.text
    assert nulls.json() == plain


@pytest.mark.parametrize(
    ("change", "where", "words"),
    [
        ({"query": ""}, "query", "at least 1"),
        ({"query": "   "}, "query", "blank"),
        ({"query": "ab"}, "query", "too short"),
        ({"query": "x" * 65_537}, "query", "at most 65536"),
        ({"query": None}, "query", "required"),
        ({"query": 5}, "query", "string"),
        ({"mode": "magic"}, "mode", "'local', 'global'"),
        ({"top_k": 0}, "top_k", "greater than or equal to 1"),
        ({"top_k": 1001}, "top_k", "less than or equal to 1000"),
        ({"max_total_tokens": 2_000_000}, "max_total_tokens", "1000000"),
        ({"hl_keywords": ["x"] * 65}, "hl_keywords", "at most 64"),
        ({"ll_keywords": ["x" * 513]}, "ll_keywords", "512"),
        ({"conversation_history": [{"role": "user"}]}, "conversation_history.0.content", "required"),
        ({"conversation_history": [{"role": "user", "content": "x" * 32_768}] * 5}, "", "all texts together"),
        ({"required_tag": ["x"]}, "", "did you mean 'required_tags'"),
        ({"Required_Tags": ["x"]}, "", "did you mean 'required_tags'"),
        ({"required_tags": ["", " "]}, "required_tags", "required_tags"),
        ({"required_tags": [f"t{i}" for i in range(33)]}, "required_tags", "32"),
        ({"required_tags": ["!!!"]}, "required_tags", "!!!"),
        ({"date_filter": {"range": {"start": "2024-01-01"}}}, "date_filter.range.start", "offset or Z"),
        ({"date_filter": {"rang": {}}}, "date_filter", "did you mean 'range'"),
        ({"date_filter": {"undated": "maybe"}}, "date_filter.undated", "include_or"),
        (
            {"date_filter": {"range": {"start": "2024-01-02T00:00:00Z", "end": "2024-01-01T00:00:00Z"}}},
            "date_filter.range",
            "after",
        ),
        ({"kg_evidence_policy": "all"}, "kg_evidence_policy", "prune_evidence"),
        ({"search_filters": {"properties": {"a` b": 1}}}, "search_filters.properties", "a` b"),
    ],
)
async def test_refusals(server: Server, change: dict[str, Any], where: str, words: str) -> None:
    for path in ("/query", "/query/stream", "/query/data"):
        await refused(server, path, {"query": QUESTION, **change}, where, words)


async def refused(server: Server, path: str, body: dict[str, Any], where: str, words: str) -> None:
    answer = await server.client.post(path, json=body)
    told = answer.json()
    assert answer.status_code == (400 if path == "/query/data" else 422), answer.text
    assert told["code"] == "validation_error"
    places = [".".join(map(str, fault["loc"][1:])) for fault in told["detail"]]
    assert where in places
    assert words in json.dumps(told["detail"], ensure_ascii=False)
    if path == "/query/data":
        assert told["status"] == "failure"
        assert told["message"].startswith("Validation error: ")
        assert told["data"] == {}
        assert told["metadata"] == {}


async def test_refusal_shows_a_right_example(server: Server) -> None:
    answer = await server.client.post("/query", json={"query": QUESTION, "top_k": -1, "mode": "x"})
    faults = {fault["loc"][-1]: fault for fault in answer.json()["detail"]}
    assert faults["top_k"]["example"] == 40
    assert faults["top_k"]["input"] == -1
    assert faults["mode"]["example"] == "mix"


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'"x"', b"null", b'{"query": "\\ud800\\ud800\\ud800"}', b"\xff\xfe"]
)
async def test_bodies_that_are_no_question(server: Server, body: bytes) -> None:
    answer = await server.client.post("/query", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422), answer.text
    assert answer.json()["code"]


async def test_fields_of_older_clients_do_no_harm(filled: Server) -> None:
    old = {"max_token_for_text_unit": 4096, "history_turns": 10, "ids": None}
    assert (await filled.client.post("/query", json={"query": QUESTION, **old})).status_code == 200
    answer = await filled.client.post("/query", json={"query": QUESTION, "ids": ["doc-1"]})
    assert answer.status_code == 422
    assert "document_ids" in answer.text


async def test_two_chinese_letters_are_enough(server: Server) -> None:
    assert (await server.client.post("/query", json={"query": "日本"})).status_code == 200
    assert (await server.client.post("/query", json={"query": "hi", "mode": "bypass"})).status_code == 200


async def test_scope_errors_are_told(serve: Serve) -> None:
    server = await serve({"scope_tag_prefixes": ["tenant:"], "enable_kg_scope_materialization": True})
    body = {"query": QUESTION, "required_tags": ["tenant:1", "tenant:2"]}
    for path in ("/query", "/query/stream"):
        answer = await server.client.post(path, json=body)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_scope"), answer.text
    answer = await server.client.post("/query/data", json=body)
    assert (answer.status_code, answer.json()["status"]) == (400, "failure")


async def test_stream(filled: Server) -> None:
    answer = await filled.client.post("/query/stream", json={"query": QUESTION})
    assert answer.headers["content-type"] == "application/x-ndjson"
    first, *rest = lines(answer.text)
    assert {reference["file_path"] for reference in first["references"]} == {"facts.md", "london.md"}
    assert rest == [{"response": f"word{i} "} for i in range(3)]


async def test_stream_without_references(filled: Server) -> None:
    answer = await filled.client.post("/query/stream", json={"query": QUESTION, "include_references": False})
    assert lines(answer.text) == [{"response": f"word{i} "} for i in range(3)]


async def test_stream_with_progress(filled: Server) -> None:
    answer = await filled.client.post("/query/stream", json={"query": QUESTION, "include_progress": True})
    found = lines(answer.text)
    steps = [line["progress"] for line in found if "progress" in line]
    assert steps == [
        "extracting_keywords", "retrieving_entities", "retrieving_relations", "retrieving_chunks", "generating_response"
    ]  # fmt: skip
    assert list(found[len(steps)]) == ["references"]
    assert list(found[-1]) == ["response_time"]


@pytest.mark.parametrize("change", [{"stream": False}, {"only_need_context": True}, {"only_need_prompt": True}])
async def test_stream_that_does_not_stream_is_one_line(filled: Server, change: dict[str, Any]) -> None:
    answer = await filled.client.post("/query/stream", json={"query": QUESTION, **change})
    (line,) = lines(answer.text)
    assert set(line) == {"response", "llm_generated", "references"}


async def test_stream_without_context_is_one_line(server: Server) -> None:
    (line,) = lines((await server.client.post("/query/stream", json={"query": QUESTION})).text)
    assert line["response"].endswith("[no-context]")
    assert line["llm_generated"] is False
    assert line["references"] == []


@pytest.mark.parametrize(
    ("failure", "words"),
    [(ModelError("the model is out"), "the model is out"), (RuntimeError("broken"), "the llm failed")],
)
async def test_stream_that_breaks_off_says_so(filled: Server, failure: Exception, words: str) -> None:
    filled.model.failure = failure
    found = lines((await filled.client.post("/query/stream", json={"query": QUESTION})).text)
    assert found[1] == {"response": "word0 "}
    assert words in found[-1]["error"]
    assert found[-1]["code"] == "model_error"


async def test_model_that_fails(filled: Server) -> None:
    def fail(task: str, _prompt: str) -> str | None:
        if task == "answer":
            raise ModelTimeoutError("no reply in time")
        return None

    filled.model.intercept = fail
    answer = await filled.client.post("/query", json={"query": QUESTION})
    assert (answer.status_code, answer.json()["code"]) == (502, "query_failed")
    (line,) = lines((await filled.client.post("/query/stream", json={"query": QUESTION})).text)
    assert "no reply in time" in line["error"]


async def test_failing_embedding_on_data_has_its_own_status(filled: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_args: Any, **_kwargs: Any) -> Any:
        raise ModelTimeoutError("no vector in time")

    monkeypatch.setattr(type(filled.engine), "aquery_data", fail)
    answer = await filled.client.post("/query/data", json={"query": QUESTION})
    assert (answer.status_code, answer.json()) == (504, {"detail": "no vector in time", "code": "model_timeout"})


class LeavingClient:
    """Speaks ASGI to the application, and goes away when it has read enough."""

    def __init__(self, app: Any, path: str, body: dict[str, Any], leave_after: int) -> None:
        self.app = app
        self.leave_after = leave_after
        self.read: list[bytes] = []
        self.gone = asyncio.Event()
        self._body = json.dumps(body).encode()
        self._sent = False
        self._scope = {
            "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "method": "POST",
            "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "", "scheme": "http",
            "headers": [(b"content-type", b"application/json")], "client": ("test", 1), "server": ("test", 80),
        }  # fmt: skip

    async def receive(self) -> dict[str, Any]:
        if not self._sent:
            self._sent = True
            return {"type": "http.request", "body": self._body, "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.body" and message["body"]:
            self.read.append(message["body"])
            if len(self.read) >= self.leave_after:
                self.gone.set()

    async def run(self) -> None:
        async with asyncio.timeout(10):
            await self.app(self._scope, self.receive, self.send)


async def test_stream_stops_when_the_client_goes_away(filled: Server) -> None:
    filled.model.words = 1000
    filled.model.pause = 0.01
    client = LeavingClient(filled.app, "/query/stream", {"query": QUESTION}, leave_after=4)
    await client.run()
    given = filled.model.pieces_given
    assert given < 50
    assert filled.model.closed_early == 1
    await asyncio.sleep(0.1)
    assert filled.model.pieces_given == given


@pytest.mark.parametrize("path", ["/query", "/query/stream"])
async def test_waiting_question_is_dropped_when_the_client_goes_away(filled: Server, path: str) -> None:
    started, cancelled = asyncio.Event(), asyncio.Event()

    async def wait_for_ever(*_args: Any, **_kwargs: Any) -> Any:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    filled.engine.aquery_llm = wait_for_ever  # type: ignore[method-assign]
    client = LeavingClient(filled.app, path, {"query": QUESTION}, leave_after=1)
    running = asyncio.create_task(client.run())
    await asyncio.wait_for(started.wait(), 5)
    client.gone.set()
    await asyncio.wait_for(cancelled.wait(), 5)
    await running


async def test_fifty_streams_lose_no_line(filled: Server) -> None:
    filled.model.words = 40
    answers = await asyncio.gather(
        *(filled.client.post("/query/stream", json={"query": f"{QUESTION} {i}"}) for i in range(50))
    )
    for answer in answers:
        assert [line["response"] for line in lines(answer.text)[1:]] == [f"word{i} " for i in range(40)]


@pytest.mark.parametrize(
    ("field", "value"),
    [("required_tags", [" "]), ("doc_types", [""]), ("path_prefixes", [".."]), ("apply_forbidden_tags_to_kg", "true")],
)
async def test_a_fault_has_the_path_of_its_field_and_an_example(server: Server, field: str, value: Any) -> None:
    answer = await server.client.post("/query/preview", json={field: value})
    assert answer.status_code == 422, answer.text
    (fault,) = answer.json()["detail"]
    assert fault["loc"] == ["body", field]
    assert fault["example"] is not None


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999"])
async def test_an_error_about_what_is_no_number_is_json(server: Server, word: str) -> None:
    content = f'{{"query": "Who wrote it?", "top_k": {word}}}'
    headers = {"Content-Type": "application/json"}
    answer = await server.client.post("/query", content=content, headers=headers)
    assert answer.status_code == 422
    assert not {"NaN", "Infinity"} & set(re.findall(r"\w+", answer.text))
