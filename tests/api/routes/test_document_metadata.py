"""Metadata by every way in: refused when naive, kept letter for letter, brought to normal form, told on its own row."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.api.conftest import FACTS, Server

GIVEN: dict[str, Any] = {
    "start_date": "2030-03-30T00:00:00+01:00",
    "end_date": "2031-03-30T00:00:00-05:00",
    "tags": ["Patent", "Årsrapport", "channel/ENG", "patent", "  "],
    "meta": {"href": "https://example.org/1", "participants": [{"id": "U01ADA"}]},
}
STORED = {**GIVEN, "tags": ["patent", "arsrapport", "channel_eng"]}
WAYS = ("text", "texts", "upload")


async def send(server: Server, way: str, metadata: dict[str, Any], text: str = FACTS, name: str = "a.md") -> Any:
    """Send a text by one of the three ways in, and return the answer."""
    if way == "upload":
        files = [("file", (name, text.encode(), "text/markdown"))]
        return await server.client.post(
            "/documents/upload", files=files, data={"metadata": json.dumps(metadata)} if metadata else {}
        )
    body = (
        {"text": text, "file_source": name, "metadata": metadata}
        if way == "text"
        else {"texts": [text], "file_sources": [name], "metadata": metadata}
    )
    return await server.client.post(f"/documents/{way}", json=body)


async def documents(server: Server) -> list[dict[str, Any]]:
    answer = await server.client.post("/documents/paginated", json={})
    found: list[dict[str, Any]] = answer.json()["documents"]
    return found


def public(document: dict[str, Any]) -> dict[str, Any]:
    return {name: document[name] for name in ("start_date", "end_date", "tags", "meta")}


@pytest.mark.parametrize("way", WAYS)
async def test_it_comes_back_in_normal_form_with_its_offsets(server: Server, way: str) -> None:
    answer = await send(server, way, GIVEN)
    assert answer.status_code == 200, answer.text
    await server.settle()
    (document,) = await documents(server)
    assert document["status"] == "processed"
    assert public(document) == STORED
    stored = await server.engine.context.stores.doc_status.get_by_id(document["id"])
    assert stored is not None
    assert {f"user_{name}": value for name, value in STORED.items()}.items() <= stored["metadata"].items()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"start_date": "2030-03-30T00:00:00"}, "Date must include a timezone offset or Z"),
        ({"end_date": "2030-03-30"}, "Date must include a timezone offset or Z"),
        ({"start_date": "2032-01-01T00:00:00Z"}, "lies after the end"),
        ({"tags": ["!!!"]}, "!!!"),
        ({"tags": [f"t{number}" for number in range(65)]}, "allowed are 64"),
        ({"tag": ["x"]}, "did you mean 'tags'"),
    ],
)
async def test_what_is_not_valid_is_refused_and_not_stored(
    server: Server, way: str, change: dict[str, Any], words: str
) -> None:
    answer = await send(server, way, {**GIVEN, **change})
    assert answer.status_code == 422, answer.text
    assert words in answer.text
    await server.settle()
    assert await documents(server) == []


@pytest.mark.parametrize("way", WAYS)
async def test_nothing_given_is_nothing_told(server: Server, way: str) -> None:
    assert (await send(server, way, {})).status_code == 200
    await server.settle()
    (document,) = await documents(server)
    assert public(document) == {"start_date": None, "end_date": None, "tags": [], "meta": {}}


@pytest.mark.parametrize("way", WAYS)
async def test_failing_and_trying_again_keeps_it(server: Server, way: str) -> None:
    def fail(task: str, _prompt: str) -> str | None:
        if task == "extract":
            raise ValueError("out of order")
        return None

    server.model.intercept = fail
    await send(server, way, GIVEN)
    await server.settle()
    (failed,) = await documents(server)
    assert (failed["status"], public(failed)) == ("failed", STORED)
    server.model.intercept = None
    assert (await server.client.post("/documents/reprocess_failed")).status_code == 200
    # The job begins after the answer.
    await asyncio.sleep(0)
    await server.settle()
    (document,) = await documents(server)
    assert (document["status"], public(document)) == ("processed", STORED)


async def test_a_duplicate_shows_its_own_and_the_canonical_row_is_untouched(server: Server) -> None:
    canonical = await server.add(FACTS, "a.md", metadata={"tags": ["kept"]})
    again = await send(server, "text", GIVEN, name="b.md")
    assert again.status_code == 409, again.text
    await server.settle()
    rows = {row["id"]: row for row in await documents(server)}
    (stub_id,) = set(rows) - {canonical}
    assert stub_id.startswith("dup-")
    assert (rows[stub_id]["status"], public(rows[stub_id])) == ("failed", STORED)
    assert rows[canonical]["tags"] == ["kept"]
    for tag, found in (("kept", 1), ("patent", 0)):
        preview = await server.client.post("/query/preview", json={"required_tags": [tag]})
        assert preview.json()["eligible_documents"] == found
