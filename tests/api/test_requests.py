"""What surrounds every request: errors, ids, headers, ceilings, logs."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest

from lightrag import exceptions
from lightrag.api.errors import ERRORS, status_and_code
from lightrag.api.logs import JsonFormatter, RequestIdFilter, TextFormatter
from lightrag.api.middleware import request_id
from tests.api.conftest import Serve, Server


def all_errors(kind: type[Exception] = exceptions.LightRAGError) -> list[type[Exception]]:
    return [kind, *(below for one in kind.__subclasses__() for below in all_errors(one))]


def test_every_error_has_a_status() -> None:
    for kind in all_errors():
        if kind.__module__ != "lightrag.exceptions":
            continue
        error = kind.__new__(kind)
        status, code = status_and_code(error)
        assert 400 <= status < 600
        assert code
        if kind is not exceptions.LightRAGError:
            assert code != "internal_error", f"{kind.__name__} has no place in the table"
    assert status_and_code(KeyError("x")) == (500, "internal_error")
    assert len(ERRORS) == len(set(ERRORS.values()))


async def test_unforeseen_error_tells_an_id_and_nothing_else(
    server: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(*_args: Any) -> None:
        raise ZeroDivisionError("a secret of the inside")

    monkeypatch.setattr(type(server.engine.doc_status), "get_status_counts", fail)
    with caplog.at_level(logging.ERROR, "lightrag.api"):
        answer = await server.client.get("/documents/status_counts")
    assert answer.status_code == 500
    told = answer.json()
    assert told["code"] == "internal_error"
    assert told["detail"].startswith("Internal server error (error_id: ")
    assert "secret" not in answer.text
    error_id = told["detail"].removesuffix(")").rpartition(" ")[2]
    assert len(error_id) == 12
    assert error_id in caplog.text
    assert "a secret of the inside" in caplog.text
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (exceptions.StorageFullError("no room"), 507, "storage_full"),
        (exceptions.StorageError("lost"), 503, "storage_error"),
        (exceptions.EmbeddingMismatchError("other model"), 503, "storage_error"),
        (exceptions.NotFoundError("gone"), 404, "not_found"),
        (exceptions.LightRAGError("odd"), 500, "internal_error"),
    ],
)
async def test_errors_of_the_engine(
    server: Server, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, code: str
) -> None:
    async def fail(*_args: Any) -> None:
        raise error

    monkeypatch.setattr(type(server.engine.doc_status), "get_status_counts", fail)
    answer = await server.client.get("/documents/status_counts")
    assert (answer.status_code, answer.json()) == (status, {"detail": str(error), "code": code})


async def test_paths_and_methods_that_do_not_exist(server: Server) -> None:
    answer = await server.client.get("/nothing")
    assert (answer.status_code, answer.json()) == (404, {"detail": "Not Found", "code": "not_found"})
    answer = await server.client.get("/query")
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")


async def test_request_ids(server: Server) -> None:
    answer = await server.client.get("/health", headers={"X-Request-ID": "client-7"})
    assert answer.headers["X-Request-ID"] == "client-7"
    for unusable in ("a b", "x" * 65, "é", ""):
        answer = await server.client.get("/health", headers={"X-Request-ID": unusable.encode()})
        made = answer.headers["X-Request-ID"]
        assert made != unusable
        assert len(made) == 16


async def test_security_headers(server: Server) -> None:
    for path in ("/health", "/nothing", "/documents/status_counts"):
        headers = (await server.client.get(path)).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert "object-src 'none'" in (await server.client.get("/docs")).headers["Content-Security-Policy"]


async def test_other_pages_may_call_as_configured(serve: Serve) -> None:
    server = await serve(cors_origins="https://a.example, https://b.example")
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-api-key"}
    good = await server.client.options("/query", headers={"Origin": "https://b.example", **asked})
    assert good.headers["Access-Control-Allow-Origin"] == "https://b.example"
    bad = await server.client.options("/query", headers={"Origin": "https://evil.example", **asked})
    assert "Access-Control-Allow-Origin" not in bad.headers
    answer = await server.client.get("/health", headers={"Origin": "https://a.example"})
    assert "X-New-Token" in answer.headers["Access-Control-Expose-Headers"]


async def test_bodies_have_a_ceiling(serve: Serve) -> None:
    server = await serve(max_request_body_bytes=2000)
    large = {"query": "x" * 3000}
    answer = await server.client.post("/query", json=large)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    text = await server.client.post("/documents/text", json={"text": "x" * 3000, "file_source": "a.md"})
    assert text.status_code == 200


async def test_bodies_that_hide_their_length_have_a_ceiling_too(serve: Serve) -> None:
    server = await serve(max_request_body_bytes=2000)
    sent = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(100):
            sent += 1000
            yield b"x" * 1000

    for path in ("/query", "/api/chat"):
        answer = await server.client.post(path, content=body(), headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large"), path


async def test_ceiling_can_be_lifted(serve: Serve) -> None:
    server = await serve(max_request_body_bytes=0)
    answer = await server.client.post("/api/chat", json={"messages": [], "pad": "x" * 2_000_000})
    assert answer.status_code == 422


async def test_no_secret_in_logs(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    secret = "hunter2-hunter2-hunter2"
    with caplog.at_level(logging.DEBUG):
        server = await serve(lightrag_api_key=secret, auth_accounts=[f"ada:{secret}"], token_secret=secret)
        await server.client.get("/documents/status_counts", headers={"X-API-Key": secret})
        token = (await server.client.post("/login", data={"username": "ada", "password": secret})).json()[
            "access_token"
        ]
        await server.client.get("/documents/status_counts", headers={"Authorization": f"Bearer {token}"})
        await server.client.get("/health", params={"key": secret})
    ours = "\n".join(
        f"{record.getMessage()} {vars(record)}" for record in caplog.records if record.name.startswith("lightrag")
    )
    assert "GET /documents/status_counts 200" in ours
    assert secret not in ours
    assert token not in ours


class Collected(logging.Handler):
    """Keeps lines as they would be written."""

    def __init__(self) -> None:
        super().__init__()
        self.addFilter(RequestIdFilter())
        self.setFormatter(JsonFormatter())
        self.lines: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(json.loads(self.format(record)))


async def test_lines_about_a_document_hold_the_request_that_brought_it(server: Server) -> None:
    collected = Collected()
    logger = logging.getLogger("lightrag")
    logger.addHandler(collected)
    logger.setLevel(logging.INFO)
    try:
        text = {"text": "A -> B: one.", "file_source": "a.md"}
        answer = await server.client.post("/documents/text", json=text, headers={"X-Request-ID": "request-1"})
        file = {"file": ("broken.pdf", b"no PDF")}
        await server.client.post("/documents/upload", files=file, headers={"X-Request-ID": "request-2"})
        await server.settle()
    finally:
        logger.removeHandler(collected)
    rows = (await server.client.post("/documents/paginated", json={})).json()["documents"]
    ids = {row["file_path"]: row["id"] for row in rows}
    of_text = [line for line in collected.lines if line.get("document_id") == ids["a.md"]]
    assert [line["message"] for line in of_text] == ["a.md: pending", "a.md: processed"]
    assert {(line["request_id"], line["track_id"]) for line in of_text} == {("request-1", answer.json()["track_id"])}
    of_file = [line for line in collected.lines if line.get("document_id") == ids["broken.pdf"]]
    assert "failed in step parse" in of_file[-1]["message"]
    assert {line["request_id"] for line in of_file} == {"request-2"}
    access = next(line for line in collected.lines if line["message"].startswith("POST /documents/text"))
    assert access["request_id"] == "request-1"


def test_lines_as_text() -> None:
    record = logging.LogRecord("lightrag.ingest", logging.INFO, "x", 1, "done", (), None)
    formatter = TextFormatter("[%(ids)s] %(message)s")
    RequestIdFilter().filter(record)
    assert formatter.format(record) == "[-] done"
    record.request_id, record.document_id = "abc", "doc-1"
    assert formatter.format(record) == "[abc doc-1] done"


def test_lines_as_json() -> None:
    record = logging.LogRecord("lightrag.access", logging.INFO, "x", 1, "%s %s", ("GET", "/health"), None)
    record.status = 200
    token = request_id.set("abc")
    try:
        RequestIdFilter().filter(record)
    finally:
        request_id.reset(token)
    told = json.loads(JsonFormatter().format(record))
    assert told["message"] == "GET /health"
    assert (told["level"], told["logger"], told["request_id"], told["status"]) == (
        "INFO",
        "lightrag.access",
        "abc",
        200,
    )
