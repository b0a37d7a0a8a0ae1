"""Uploads: stored durably and safely, several at once, with metadata; refused with a reason."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import FACTS, Serve, Server
from tests.parser.stub_service import Answer, running_service

METADATA = {
    "start_date": "2030-03-30T00:00:00+01:00",
    "tags": ["Patent", "channel/ENG"],
    "meta": {"number": 7, "nested": {"a": [1, 2]}},
    "doc_type": "PDF",
}


def part(name: str, text: str = FACTS, kind: str = "text/markdown", field: str = "file") -> tuple[str, Any]:
    return (field, (name, text.encode(), kind))


async def documents(server: Server) -> list[dict[str, Any]]:
    answer = await server.client.post("/documents/paginated", json={"sort_field": "file_path", "sort_direction": "asc"})
    found: list[dict[str, Any]] = answer.json()["documents"]
    return found


def inputs(server: Server) -> Path:
    return server.state.inputs.root


async def test_upload_is_stored_processed_and_put_away(server: Server) -> None:
    answer = await server.client.post("/documents/upload", files=[part("notes.md")])
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert told["status"] == "success"
    assert told["track_id"].startswith("upload_")
    assert [(one["file_name"], one["file_path"], one["status"]) for one in told["files"]] == [
        ("notes.md", "notes.md", "success")
    ]
    await server.settle()
    (document,) = await documents(server)
    assert document["status"] == "processed"
    assert document["file_path"] == "notes.md"
    assert document["source_path"] == "notes.md"
    assert document["track_id"] == told["track_id"]
    assert not (inputs(server) / "notes.md").exists()
    assert (inputs(server) / "__parsed__" / "notes.md").read_text() == FACTS


async def test_metadata_comes_back_as_it_was_sent(server: Server) -> None:
    answer = await server.client.post(
        "/documents/upload", files=[part("a.md")], data={"metadata": json.dumps(METADATA)}
    )
    assert answer.status_code == 200, answer.text
    await server.settle()
    (document,) = await documents(server)
    assert document["start_date"] == "2030-03-30T00:00:00+01:00"
    assert document["end_date"] is None
    assert document["tags"] == ["patent", "channel_eng"]
    assert document["meta"] == METADATA["meta"]
    assert document["doc_type"] == "pdf"
    assert document["status"] == "processed"


async def test_several_files_share_metadata_and_have_results_of_their_own(server: Server) -> None:
    answer = await server.client.post(
        "/documents/upload",
        files=[part("a.md", "A -> B: one."), part("b.exe"), part("c.md", "C -> D: two.", field="files")],
        data={"metadata": '{"tags": ["shared"]}'},
    )
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert told["status"] == "partial_success"
    assert [(one["file_path"], one["code"]) for one in told["files"]] == [
        ("a.md", None), (None, "invalid_input"), ("c.md", None)
    ]  # fmt: skip
    assert "'b.exe' is of a type that cannot be read" in told["files"][1]["message"]
    await server.settle()
    found = await documents(server)
    assert [(one["file_path"], one["tags"], one["status"]) for one in found] == [
        ("a.md", ["shared"], "processed"), ("c.md", ["shared"], "processed")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("raw", "stored"),
    [
        ("../../x.md", "x.md"),
        ("/etc/x.md", "x.md"),
        ("C:\\x.md", "x.md"),
        ("\u202ex.md", "x.md"),
        ("Re\u0301sume\u0301.md", "R\u00e9sum\u00e9.md"),
        ("\U0001f600.md", "\U0001f600.md"),
        ("a&amp;b.md", "a&amp;b.md"),
    ],
)
async def test_hostile_names_do_no_harm(server: Server, raw: str, stored: str, tmp_path: Path) -> None:
    before = {path for path in tmp_path.parent.rglob("*") if tmp_path not in path.parents}
    answer = await server.client.post("/documents/upload", files=[part(raw)])
    assert answer.status_code == 200, answer.text
    assert answer.json()["files"][0]["file_path"] == stored
    await server.settle()
    (document,) = await documents(server)
    assert document["status"] == "processed", document
    assert (inputs(server) / "__parsed__" / stored).is_file()
    assert before == {path for path in tmp_path.parent.rglob("*") if tmp_path not in path.parents}


async def test_files_of_one_name_in_several_folders_are_several_documents(server: Server) -> None:
    files = [part("1926/index.md", "A -> B: one."), part("1927/index.md", "C -> D: two."), part("index.md")]
    answer = await server.client.post("/documents/upload", files=files)
    assert [one["file_path"] for one in answer.json()["files"]] == ["1926/index.md", "1927/index.md", "index.md"]
    assert (await server.client.post("/documents/upload", files=[part("1927/index.md", "other")])).status_code == 409
    await server.settle()
    found = await documents(server)
    assert [(one["file_path"], one["source_path"], one["status"]) for one in found] == [
        (path, path, "processed") for path in ("1926/index.md", "1927/index.md", "index.md")
    ]
    assert len({one["id"] for one in found}) == 3
    for path in ("1926/index.md", "1927/index.md", "index.md"):
        assert (inputs(server) / "__parsed__" / path).is_file()
    limited = await server.client.post("/documents/paginated", json={"path_prefixes": ["1926"]})
    assert [one["file_path"] for one in limited.json()["documents"]] == ["1926/index.md"]


async def test_a_document_named_like_the_folder_of_another_does_not_stop_the_pipeline(server: Server) -> None:
    await server.client.post("/documents/upload", files=[part("a.md")])
    await server.settle()
    # The folder is free again once the first file is put away, where its name is taken for ever.
    answer = await server.client.post("/documents/upload", files=[part("a.md/b.md", "A -> B: two.")])
    assert answer.status_code == 200
    await server.settle()
    await server.client.post("/documents/upload", files=[part("c.md", "C -> D: three.")])
    await server.settle()
    assert [one["status"] for one in await documents(server)] == ["processed"] * 3


async def test_clearing_deletes_the_files_of_documents_in_folders_too(server: Server) -> None:
    await server.client.post(
        "/documents/upload", files=[part("f/broken.pdf", "no PDF"), part("broken.pdf", "nor this")]
    )
    await server.settle()
    assert [one["status"] for one in await documents(server)] == ["failed"] * 2
    (inputs(server) / "f" / "mine.md").write_text("not uploaded")
    assert (await server.client.delete("/documents")).json()["status"] == "success"
    assert [path.name for path in inputs(server).rglob("*.*")] == ["mine.md"]


@pytest.mark.parametrize(
    ("name", "body", "kind", "status"),
    [
        ("a.md", FACTS.encode(), "application/pdf", "processed"),
        ("a.md", FACTS.encode(), "text/html; charset=no-such", "processed"),
        ("a.md", FACTS.encode(), "\x00/..", "processed"),
        ("a.pdf", FACTS.encode(), "application/pdf", "failed"),
        ("a.docx", b"PK\x03\x04 no archive", "text/plain", "failed"),
        ("a.md", b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 8, "text/markdown", "failed"),
    ],
)
async def test_what_a_file_claims_to_be_does_no_harm(
    server: Server, name: str, body: bytes, kind: str, status: str
) -> None:
    answer = await server.client.post("/documents/upload", files={"file": (name, body, kind)})
    assert answer.status_code == 200, answer.text
    await server.settle()
    (document,) = await documents(server)
    assert document["status"] == status, document
    assert bool(document["error_msg"]) is (status == "failed")


async def test_long_name_is_cut(server: Server) -> None:
    answer = await server.client.post("/documents/upload", files=[part("x" * 300 + ".md")])
    assert answer.status_code == 200
    await server.settle()
    (document,) = await documents(server)
    assert document["status"] == "processed"
    assert document["file_path"].endswith(".md")
    assert len(document["file_path"]) <= 200


@pytest.mark.parametrize(
    ("files", "data", "status", "code", "words"),
    [
        ([part("x.exe")], {}, 400, "invalid_input", "supported are"),
        ([part("x")], {}, 400, "invalid_input", "supported are"),
        ([part("x.md.meta.json")], {}, 400, "invalid_input", "metadata file"),
        ([part("..")], {}, 400, "invalid_input", "nothing is left"),
        ([part("a.md")], {"metadata": "{"}, 422, "invalid_filter", "not JSON"),
        ([part("a.md")], {"metadata": "[]"}, 422, "invalid_filter", "JSON object"),
        ([part("a.md")], {"metadata": '{"tag": ["x"]}'}, 422, "invalid_filter", "did you mean 'tags'"),
        ([part("a.md")], {"metadata": '{"start_date": "2024-01-01"}'}, 422, "invalid_filter", "offset or Z"),
        ([part("a.md")], {"metadate": "{}"}, 422, "validation_error", "did you mean 'metadata'"),
        ([], {}, 422, "validation_error", "no file was sent"),
    ],
)
async def test_refusals(
    server: Server, files: list[Any], data: dict[str, str], status: int, code: str, words: str
) -> None:
    answer = await server.client.post("/documents/upload", files=files or [("metadata", (None, "{}"))], data=data)
    assert answer.status_code == status, answer.text
    assert answer.json()["code"] == code
    assert words in str(answer.json()["detail"])
    assert await documents(server) == []
    assert not list(inputs(server).rglob("*.*"))


async def test_a_name_is_taken_once(server: Server) -> None:
    await server.client.post("/documents/upload", files=[part("a.md")])
    again = await server.client.post("/documents/upload", files=[part("a.md", "Other -> Thing: text.")])
    assert again.status_code == 409
    await server.settle()
    again = await server.client.post("/documents/upload", files=[part("a.md", "Other -> Thing: text.")])
    assert again.status_code == 409
    assert again.json()["code"] == "duplicate"
    assert "(status processed)" in again.json()["detail"]
    assert len(await documents(server)) == 1


async def test_a_file_that_lies_there_is_not_overwritten(server: Server) -> None:
    inputs(server).mkdir(parents=True)
    (inputs(server) / "a.md").write_text("mine")
    answer = await server.client.post("/documents/upload", files=[part("a.md")])
    assert (answer.status_code, answer.json()["code"]) == (409, "duplicate")
    assert (inputs(server) / "a.md").read_text() == "mine"


async def test_same_name_at_the_same_time_is_stored_once(server: Server) -> None:
    answers = await asyncio.gather(
        *(server.client.post("/documents/upload", files=[part("a.md", f"N{i} -> B: text.")]) for i in range(8))
    )
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 7
    await server.settle()
    assert [one["status"] for one in await documents(server)] == ["processed"]


async def test_repeated_content_is_told_on_its_own_row(server: Server) -> None:
    await server.client.post("/documents/upload", files=[part("a.md")])
    await server.settle()
    answer = await server.client.post("/documents/upload", files=[part("b.md")])
    assert answer.status_code == 200
    await server.settle()
    first, second = await documents(server)
    assert first["status"] == "processed"
    assert second["status"] == "failed"
    assert second["content_summary"].startswith("[DUPLICATE:content_hash]")
    assert not (inputs(server) / "b.md").exists()
    assert (inputs(server) / "__parsed__" / "b.md").exists()


async def test_content_type_that_lies_only_fails_the_document(server: Server) -> None:
    binary = bytes(range(256)) * 20
    answer = await server.client.post("/documents/upload", files=[("file", ("a.md", binary, "text/markdown"))])
    assert answer.status_code == 200
    await server.settle()
    (document,) = await documents(server)
    assert document["status"] == "failed"
    assert document["error_msg"]
    assert (inputs(server) / "a.md").exists()


async def test_failed_upload_keeps_its_metadata_when_tried_again(server: Server) -> None:
    calls = {"left": 1}

    def fail_once(task: str, _prompt: str) -> str | None:
        if task == "extract" and calls["left"]:
            calls["left"] -= 1
            raise ValueError("the model is out")
        return None

    server.model.intercept = fail_once
    await server.client.post("/documents/upload", files=[part("a.md")], data={"metadata": json.dumps(METADATA)})
    await server.settle()
    (failed,) = await documents(server)
    assert failed["status"] == "failed"
    assert "the model is out" in failed["error_msg"]
    again = await server.client.post("/documents/reprocess_failed")
    assert again.json()["status"] == "reprocessing_started"
    assert again.json()["track_id"] == ""
    await asyncio.sleep(0)
    await server.settle()
    (document,) = await documents(server)
    assert document["status"] == "processed"
    assert document["tags"] == ["patent", "channel_eng"]
    assert document["start_date"] == METADATA["start_date"]
    assert document["meta"] == METADATA["meta"]


async def test_one_failed_document_is_tried_again_and_the_others_are_not(server: Server) -> None:
    broken = True

    def fail_while_broken(task: str, _prompt: str) -> str | None:
        if task == "extract" and broken:
            raise ValueError("the model is out")
        return None

    server.model.intercept = fail_while_broken
    await server.client.post("/documents/upload", files=[part("a.md")], data={"metadata": json.dumps(METADATA)})
    await server.client.post("/documents/upload", files=[part("b.md", "# B\n\nCrane -> Quay: it stands there.")])
    await server.settle()
    failed = {row["file_path"]: row for row in await documents(server)}
    assert {row["status"] for row in failed.values()} == {"failed"}
    broken = False
    answer = await server.client.post(f"/documents/{failed['a.md']['id']}/retry")
    assert answer.status_code == 200, answer.text
    assert (answer.json()["id"], answer.json()["status"]) == (failed["a.md"]["id"], "pending")
    assert (answer.json()["error_msg"], answer.json()["tags"]) == (None, ["patent", "channel_eng"])
    await server.settle()
    rows = {row["file_path"]: row for row in await documents(server)}
    assert {path: row["status"] for path, row in rows.items()} == {"a.md": "processed", "b.md": "failed"}
    assert rows["a.md"]["start_date"] == METADATA["start_date"]
    refused = await server.client.post(f"/documents/{failed['a.md']['id']}/retry")
    assert refused.status_code == 400
    assert "is processed; only one that failed" in refused.json()["detail"]
    assert (await server.client.post("/documents/doc-none/retry")).status_code == 404


async def test_files_that_are_too_large(serve: Serve) -> None:
    server = await serve(max_upload_size=1000)
    answer = await server.client.post("/documents/upload", files=[part("a.md", "x" * 2000)])
    assert answer.status_code == 400
    assert "too large" in answer.json()["detail"]
    answer = await server.client.post("/documents/upload", files=[part("a.md", "x" * (1024 * 1024 + 2000))])
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert not list(inputs(server).rglob("*.md"))


async def test_back_pressure(serve: Serve) -> None:
    server = await serve(max_pending_documents=2)
    gate = asyncio.Event()
    original = server.engine.apipeline_process_enqueue_documents

    async def held() -> None:
        await gate.wait()
        await original()

    server.engine.apipeline_process_enqueue_documents = held  # type: ignore[method-assign]
    for name in ("a", "b"):
        sent = await server.client.post("/documents/upload", files=[part(f"{name}.md", f"{name} -> B: text.")])
        assert sent.status_code == 200
    answer = await server.client.post("/documents/upload", files=[part("c.md")])
    assert (answer.status_code, answer.json()["code"]) == (429, "queue_full")
    assert answer.headers["Retry-After"] == "30"
    text = await server.client.post("/documents/text", json={"text": FACTS, "file_source": "d.md"})
    assert text.status_code == 429
    gate.set()
    await server.settle()
    assert (await server.client.post("/documents/upload", files=[part("c.md")])).status_code == 200


async def test_scope_tags_that_lose_letters_are_refused(serve: Serve) -> None:
    server = await serve({"scope_tag_prefixes": ["tenant:"], "enable_kg_scope_materialization": True})
    for tag in ("tenant:日本", "tenant:"):
        answer = await server.client.post(
            "/documents/upload", files=[part("a.md")], data={"metadata": json.dumps({"tags": [tag]})}
        )
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_scope"), tag
    assert await documents(server) == []


async def test_a_picture_is_read_by_a_service_where_there_is_one(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    picture = {"file": ("map.png", b"\x89PNG\r\n\x1a\n" + bytes(20), "image/png")}
    alone = await serve()
    answer = await alone.client.post("/documents/upload", files=picture)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input")
    with running_service() as docling:
        docling.answers(
            {
                "POST /v1/convert/file/async": Answer({"task_id": "t"}),
                "GET /v1/status/poll/t": Answer({"task_status": "success"}),
                "GET /v1/result/t": Answer({"status": "success", "document": {"md_content": FACTS}}),
            }
        )
        monkeypatch.setenv("DOCLING_ENDPOINT", docling.url)
        server = await serve({"workspace": "other"}, input_dir=str(tmp_path / "other"))
        told = (await server.client.get("/documents/supported_file_types")).json()
        assert ".png" in told["supported_extensions"]
        assert ".png" in told["engines"]["docling"]
        assert (await server.client.post("/documents/upload", files=picture)).status_code == 200
        await server.settle()
        (document,) = await documents(server)
        assert (document["file_path"], document["status"]) == ("map.png", "processed")
        assert document["metadata"]["parse_engine"] == "docling"


async def test_metadata_said_twice_are_refused(server: Server) -> None:
    file = ("file", ("a.md", FACTS.encode()))
    twice = [("metadata", (None, '{"tags": ["a"]}')), ("metadata", (None, '{"tags": ["b"]}'))]
    answer = await server.client.post("/documents/upload", files=[file, *twice])
    assert answer.status_code == 422
    assert "more than once" in answer.json()["detail"]
    data = {"metadata": '{"tags": ["team:red"], "tags": ["team:blue"]}'}
    answer = await server.client.post("/documents/upload", files=[file], data=data)
    assert answer.status_code == 422
    assert "'tags' twice" in answer.json()["detail"]
