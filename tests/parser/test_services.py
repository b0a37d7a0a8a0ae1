"""docling and MinerU as services, against a local stub of their interfaces."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from lightrag.exceptions import InputError, ModelReplyError, ModelTimeoutError
from lightrag.parser.docling import parse_with_docling
from lightrag.parser.mineru import parse_with_mineru, parse_with_mineru_jobs
from lightrag.parser.result import ParsedText
from lightrag.parser.service import ServiceOptions
from lightrag.runtime.model_errors import ProviderError
from tests.parser.stub_service import Answer, Asked, StubService, running_service
from tests.parser.waiting import eventually

DATA = b"%PDF-1.4 pretended"
KEY = "secret-key-of-the-service"


@pytest.fixture
def stub() -> Iterator[StubService]:
    with running_service() as service:
        yield service


def options(stub: StubService, timeout: float = 20.0, api_key: str = KEY) -> ServiceOptions:
    return ServiceOptions(stub.url, api_key, timeout, poll_interval=0.01)


def docling_answers(stub: StubService, result: Answer, *states: str) -> None:
    stub.answers(
        {
            "POST /v1/convert/file/async": Answer({"task_id": "t1", "task_status": "pending"}),
            "GET /v1/status/poll/t1": [Answer({"task_id": "t1", "task_status": state}) for state in states],
            "GET /v1/result/t1": result,
        }
    )


def converted(text: str, status: str = "success", *errors: str) -> Answer:
    return Answer(
        {
            "document": {"filename": "a.pdf", "md_content": text},
            "status": status,
            "errors": [{"component_type": "pipeline", "module_name": "m", "error_message": error} for error in errors],
            "processing_time": 0.1,
        }
    )


async def test_docling_is_asked_until_it_is_done(stub: StubService, tmp_path: Path) -> None:
    docling_answers(stub, converted("# Report\r\n\r\nText"), "pending", "started", "success")
    path = tmp_path / "stored"
    path.write_bytes(DATA)
    parsed = await parse_with_docling("folder/a.pdf", path, options(stub))
    assert parsed == ParsedText("# Report\n\nText", (), "docling")
    assert stub.paths == [
        "POST /v1/convert/file/async",
        *["GET /v1/status/poll/t1?wait=5"] * 3,
        "GET /v1/result/t1",
    ]
    assert all(asked.headers["x-api-key"] == KEY for asked in stub.asked)
    form = stub.asked[0].body
    assert b'name="files"; filename="a.pdf"' in form
    assert DATA in form
    for name, value in (("to_formats", "md"), ("image_export_mode", "placeholder")):
        assert f'name="{name}"\r\n\r\n{value}\r\n'.encode() in form


async def test_docling_that_converts_a_part(stub: StubService) -> None:
    docling_answers(stub, converted("Text", "partial_success", "page 3 is broken"), "success")
    parsed = await parse_with_docling("a.pdf", DATA, options(stub))
    assert parsed.warnings == ("docling converted only a part: page 3 is broken",)


@pytest.mark.parametrize(
    ("state", "result", "message"),
    [
        ("failure", converted("", "failure", "no such format"), "cannot convert 'a.pdf': no such format"),
        ("failure", Answer({"detail": "Task result not found"}, 404), "cannot convert 'a.pdf': docling answered 404"),
        ("success", converted("", "failure", "broken file"), r"cannot convert 'a.pdf' \(failure\): broken file"),
        ("success", converted(" \n"), "'a.pdf' holds no text that docling recognises"),
    ],
)
async def test_files_that_docling_cannot_convert(stub: StubService, state: str, result: Answer, message: str) -> None:
    docling_answers(stub, result, state)
    with pytest.raises(InputError, match=message):
        await parse_with_docling("a.pdf", DATA, options(stub))


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (Answer({"detail": f"key {KEY} is wrong"}, 401), ProviderError, r"docling answered 401: .*\*\*\* is wrong"),
        (Answer({"detail": "broken"}, 500), ProviderError, "docling answered 500"),
        (Answer({"detail": "too large"}, 413), InputError, "docling refuses 'a.pdf' .413.: .*too large"),
        (Answer(b"<html>"), ModelReplyError, "sent no JSON object"),
        (Answer({"task_status": "pending"}), ModelReplyError, "without naming a task"),
    ],
)
async def test_docling_refuses(stub: StubService, answer: Answer, error: type[Exception], message: str) -> None:
    stub.answers({"POST /v1/convert/file/async": answer})
    with pytest.raises(error, match=message) as caught:
        await parse_with_docling("a.pdf", DATA, options(stub))
    assert KEY not in str(caught.value)


async def test_a_service_that_restarts_meanwhile_is_asked_again(stub: StubService) -> None:
    docling_answers(stub, converted("Text"), "pending", "success")
    inner, seen = stub.handle, 0

    def handle(asked: Asked) -> Answer:
        nonlocal seen
        if "poll" in asked.path:
            seen += 1
            if seen in (1, 2):
                return Answer({}, 503)
        return inner(asked)

    stub.handle = handle
    assert (await parse_with_docling("a.pdf", DATA, options(stub))).text == "Text"


async def test_a_service_that_stays_away_is_given_up(stub: StubService) -> None:
    stub.answers(
        {
            "POST /v1/convert/file/async": Answer({"task_id": "t1"}),
            "GET /v1/status/poll/t1": Answer({}, 503),
        }
    )
    with pytest.raises(ProviderError, match="docling answered 503"):
        await parse_with_docling("a.pdf", DATA, options(stub))
    assert len(stub.asked) == 4


async def test_time_is_up(stub: StubService) -> None:
    docling_answers(stub, converted("Text"), "pending")
    with pytest.raises(ModelTimeoutError, match=r"docling took longer than the 0\.3 seconds allowed for 'a\.pdf'"):
        await parse_with_docling("a.pdf", DATA, options(stub, timeout=0.3))


async def test_cancelling_stops_the_questions(stub: StubService) -> None:
    docling_answers(stub, converted("Text"), "pending")
    task = asyncio.create_task(parse_with_docling("a.pdf", DATA, options(stub)))
    await eventually(lambda: len(stub.asked) >= 3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    asked = len(stub.asked)
    await asyncio.sleep(0.1)
    assert len(stub.asked) == asked


async def test_nobody_is_there() -> None:
    with running_service() as gone:
        pass
    with pytest.raises(ProviderError, match=f"docling at {gone.url} cannot be reached"):
        await parse_with_docling("a.pdf", DATA, options(gone))


async def test_mineru_answers_when_it_is_done(stub: StubService) -> None:
    stub.answers(
        {"POST /file_parse": Answer({"backend": "pipeline", "version": "3.0", "results": {"a": {"md_content": "# A"}}})}
    )
    parsed = await parse_with_mineru("folder/a.pdf", DATA, options(stub))
    assert parsed == ParsedText("# A", (), "mineru")
    (asked,) = stub.asked
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert b'name="files"; filename="a.pdf"' in asked.body
    assert b'name="return_md"\r\n\r\ntrue\r\n' in asked.body


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (Answer({"results": {}}), ModelReplyError, "sent no result for 'a.pdf': 0 results"),
        (Answer({"error": "no GPU"}), ModelReplyError, "no GPU"),
        (Answer({"results": {"a": {"md_content": ""}}}), InputError, "holds no text that mineru recognises"),
        (Answer({"results": {"a": {"md_content": 5}}}), ModelReplyError, "sent no text for 'a.pdf', but int"),
        (Answer({"error": "unsupported file type"}, 400), InputError, "mineru refuses 'a.pdf' .400."),
        (Answer({"error": "failed"}, 500), ProviderError, "mineru answered 500"),
    ],
)
async def test_mineru_refuses(stub: StubService, answer: Answer, error: type[Exception], message: str) -> None:
    stub.answers({"POST /file_parse": answer})
    with pytest.raises(error, match=message):
        await parse_with_mineru("a.pdf", DATA, options(stub))


def job(job_status: str, /, **file: object) -> Answer:
    return Answer({"job_id": "j1", "status": job_status, "files": [{"name": "a.pdf", **file}]})


async def test_mineru_jobs(stub: StubService) -> None:
    done = job("completed", status="completed", output_files={"markdown": {"file_id": "out1"}})
    stub.answers(
        {
            "POST /v1/uploads": Answer(
                {
                    "id": "u1",
                    "status": "pending",
                    "upload_url": "/bytes/u1?signature=x",
                    "upload_method": "PUT",
                    "upload_headers": {"x-signed": "yes"},
                }
            ),
            "PUT /bytes/u1": Answer(b""),
            "POST /v1/uploads/u1/complete": Answer({"status": "completed", "file": {"id": "f1"}}),
            "POST /v1/parse/jobs": job("queued"),
            "GET /v1/parse/jobs/j1": [job("queued"), job("running"), done],
            "GET /v1/files/out1/content": Answer("# Größe".encode()),
        }
    )
    parsed = await parse_with_mineru_jobs("folder/a.pdf", DATA, options(stub))
    assert parsed == ParsedText("# Größe", (), "mineru")
    asked = {one.path.partition("?")[0]: one for one in stub.asked}
    assert asked["/v1/uploads"].json == {
        "filename": "a.pdf",
        "bytes": len(DATA),
        "mime_type": "application/pdf",
        "purpose": "parse",
        "sha256sum": hashlib.sha256(DATA).hexdigest(),
    }
    upload = asked["/bytes/u1"]
    assert (upload.body, upload.headers["x-signed"]) == (DATA, "yes")
    # The storage may be another party's.
    assert "authorization" not in upload.headers
    assert asked["/v1/parse/jobs"].json == {
        "files": [{"source": {"type": "file_id", "file_id": "f1"}}],
        "output_formats": ["markdown"],
    }
    assert asked["/v1/files/out1/content"].headers["authorization"] == f"Bearer {KEY}"


async def test_mineru_knows_the_file_already(stub: StubService) -> None:
    done = job("completed", status="completed", output_files={"markdown": {"file_id": "out1"}})
    stub.answers(
        {
            "POST /v1/uploads": Answer({"status": "completed", "file": {"id": "f1"}}),
            "POST /v1/parse/jobs": done,
            "GET /v1/parse/jobs/j1": done,
            "GET /v1/files/out1/content": Answer(b"text"),
        }
    )
    assert (await parse_with_mineru_jobs("a.pdf", DATA, options(stub))).text == "text"
    assert not any(path.startswith("PUT") for path in stub.paths)


@pytest.mark.parametrize("status", ["failed", "partial", "canceled"])
async def test_mineru_jobs_that_fail(stub: StubService, status: str) -> None:
    failed = job(status, status="failed", error={"code": "bad", "message": "the pages are unreadable"})
    stub.answers(
        {
            "POST /v1/uploads": Answer({"status": "completed", "file": {"id": "f1"}}),
            "POST /v1/parse/jobs": job("queued"),
            "GET /v1/parse/jobs/j1": failed,
        }
    )
    with pytest.raises(InputError, match=rf"mineru cannot parse 'a\.pdf' \({status}\): the pages are unreadable"):
        await parse_with_mineru_jobs("a.pdf", DATA, options(stub))


@pytest.mark.parametrize("parse", [parse_with_docling, parse_with_mineru, parse_with_mineru_jobs])
async def test_a_file_that_is_not_there(stub: StubService, tmp_path: Path, parse: object) -> None:
    assert callable(parse)
    with pytest.raises(InputError, match=r"file 'a\.pdf' cannot be read: No such file"):
        await parse("a.pdf", tmp_path / "missing", options(stub))
    assert stub.asked == []


def test_options_that_cannot_be_used() -> None:
    with pytest.raises(InputError, match="must begin with http"):
        ServiceOptions("localhost:5001")
    with pytest.raises(InputError, match="more than 0"):
        ServiceOptions("http://localhost", timeout=0)
    assert KEY not in repr(ServiceOptions("http://localhost", KEY))
