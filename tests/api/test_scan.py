"""Scans of the input folder."""

from __future__ import annotations

import json
import os
from typing import Any

from tests.api.conftest import FACTS, Server

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


async def test_unknown_scan(server: Server) -> None:
    answer = await server.client.get("/documents/scan/status/scan_nothing")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
