"""Scans of the input folder."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any, ClassVar

from lightrag.api.files import FoundFile
from lightrag.api.scan import described_by_sidecar
from tests.api.conftest import FACTS, Serve, Server

MODIFIED = 1_700_000_000


def put(server: Server, name: str, text: str = FACTS) -> None:
    path = server.state.inputs.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (MODIFIED, MODIFIED))


async def scan(server: Server) -> dict[str, Any]:
    told = (await server.client.post("/documents/scan")).json()
    assert told["status"] == "scanning_started"
    assert told["track_id"].startswith("scan_")
    await server.settle()
    status = await server.client.get(f"/documents/scan/status/{told['track_id']}")
    assert status.status_code == 200
    found: dict[str, Any] = status.json()
    return found


async def listed(server: Server) -> dict[str, dict[str, Any]]:
    rows = (await server.client.post("/documents/paginated", json={})).json()["documents"]
    return {row["file_path"]: row for row in rows}


async def test_files_bring_folder_time_and_metadata(server: Server) -> None:
    put(server, "acts/1931/a.md")
    put(server, "acts/1931/a.md.meta.json", json.dumps({"tags": ["Act"], "start_date": "1931-01-01T00:00:00Z"}))
    put(server, "b.exe")
    status = await scan(server)
    assert status["status"] == "completed"
    assert status["counts"] == {"claimed_new": 1, "unsafe_source": 1}
    assert status["samples"]["claimed_new"]["items"] == ["acts/1931/a.md"]
    assert set(status) >= {"counters_dropped", "created_at", "updated_at", "version", "message"}
    document = (await listed(server))["acts/1931/a.md"]
    assert document["status"] == "processed"
    assert document["tags"] == ["act"]
    assert document["start_date"] == "1931-01-01T00:00:00Z"
    assert document["source_path"] == "acts/1931/a.md"
    assert document["modified_at"] == "2023-11-14T22:13:20+00:00"
    root = server.state.inputs.root
    assert not (root / "acts/1931/a.md").exists()
    assert (root / "__parsed__/acts/1931/a.md").exists()
    assert (root / "__parsed__/acts/1931/a.md.meta.json").exists()
    body = {"path_prefixes": ["acts"], "modified_before": MODIFIED, "modified_after": "2023-11-14T22:13:20Z"}
    assert (await server.client.post("/documents/paginated", json=body)).json()["pagination"]["total_count"] == 1


async def test_second_scan_takes_nothing_twice(server: Server) -> None:
    put(server, "a.md")
    await scan(server)
    put(server, "a.md")
    status = await scan(server)
    assert status["counts"] == {"processed": 1}
    assert len(await listed(server)) == 1


async def test_malformed_metadata_keeps_its_file_out_and_is_told(server: Server) -> None:
    put(server, "a.md")
    put(server, "a.md.meta.json", '{"tag": ["x"]}')
    put(server, "b.md", "B -> C: text.")
    status = await scan(server)
    assert status["counts"] == {"metadata_invalid": 1, "claimed_new": 1}
    assert set(await listed(server)) == {"b.md"}
    assert (server.state.inputs.root / "a.md").exists()
    put(server, "a.md.meta.json", '{"tags": ["x"]}')
    await scan(server)
    assert (await listed(server))["a.md"]["tags"] == ["x"]


async def test_failed_documents_are_tried_again(server: Server) -> None:
    broken = True

    def fail(task: str, _prompt: str) -> str | None:
        if task == "extract" and broken:
            raise ValueError("out")
        return None

    server.model.intercept = fail
    put(server, "a.md")
    await scan(server)
    await server.settle()
    assert (await listed(server))["a.md"]["status"] == "failed"
    broken = False
    status = await scan(server)
    assert status["counts"] == {"resume_same_physical_source": 1}
    await server.settle()
    assert (await listed(server))["a.md"]["status"] == "processed"


async def test_a_scan_leaves_what_is_being_uploaded_to_the_upload(server: Server) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    class SlowFile:
        filename = "a.md"
        rest: ClassVar = [FACTS.encode(), b""]

        async def read(self, size: int = -1) -> bytes:
            if not self.rest[0]:
                begun.set()
                await go_on.wait()
            return self.rest.pop(0)

    upload = asyncio.create_task(server.state.intake.add_file(SlowFile(), None, "upload_1"))
    await begun.wait()
    assert (server.state.inputs.root / "a.md").exists()
    status = await scan(server)
    go_on.set()
    assert (await upload).error is None
    assert status["counts"] == {}
    await server.settle()
    assert {name: row["status"] for name, row in (await listed(server)).items()} == {"a.md": "processed"}


async def test_unknown_scan(server: Server) -> None:
    answer = await server.client.get("/documents/scan/status/scan_nothing")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


async def test_workspaces_below_one_folder_keep_apart(serve: Serve) -> None:
    named = await serve({"workspace": "red"})
    whole = await serve()
    put(named, "a.md")
    put(whole, "b.md", "B -> C: text.")
    status = await scan(whole)
    assert (status["counts"], set(await listed(whole))) == ({"claimed_new": 1}, {"b.md"})
    into = await whole.client.post("/documents/upload", files={"file": ("red/c.md", b"C -> D: text.")})
    assert (into.status_code, into.json()["code"]) == (400, "invalid_input")
    assert "belongs to another workspace" in into.json()["detail"]
    # A document of a path there must not take the file with it.
    doc_id = await whole.add("D -> E: text.", "red/a.md")
    await whole.client.request("DELETE", "/documents/delete_document", json={"doc_ids": [doc_id], "delete_file": True})
    await whole.settle()
    await whole.client.delete("/documents")
    assert (await scan(named))["counts"] == {"claimed_new": 1}
    assert set(await listed(named)) == {"a.md"}


async def test_names_and_times_that_nothing_can_hold(server: Server) -> None:
    put(server, "good.md")
    put(server, "far.md", "F -> G: far.")
    root = server.state.inputs.root
    os.utime(root / "far.md", (4e11, 4e11))
    nameless = os.fsencode(root) + b"/bad\xff.md"
    with open(nameless, "wb") as file:  # noqa: PTH123 - a name that is no text
        file.write(b"X -> Y: z.")
    os.mkfifo(root / "pipe.md")
    status = await scan(server)
    assert status["status"] == "completed", status
    assert status["counts"] == {"claimed_new": 2, "unsafe_source": 1}
    assert status["samples"]["unsafe_source"]["items"] == ["bad\ufffd.md"]
    found = await listed(server)
    assert {name: row["status"] for name, row in found.items()} == {"good.md": "processed", "far.md": "processed"}
    assert os.path.exists(nameless)  # noqa: PTH110 - as above


async def test_a_field_said_twice_in_a_metadata_file_is_refused(server: Server) -> None:
    put(server, "a.md")
    put(server, "a.md.meta.json", '{"tags": ["team:red"], "tags": ["team:blue"]}')
    status = await scan(server)
    assert status["counts"] == {"metadata_invalid": 1}
    assert "'tags' twice" in status["message"]


def test_a_time_beyond_the_calendar_is_none(tmp_path: Path) -> None:
    assert described_by_sidecar(FoundFile(tmp_path / "a.md", "a.md", 1e15)).modified_at is None
