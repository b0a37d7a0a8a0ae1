"""A scope tag among the required tags of a question chooses the graph, by every route and in every mode."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.api.conftest import Serve, Server

SCOPED: dict[str, Any] = {"scope_tag_prefixes": ["tenant:"], "enable_kg_scope_materialization": True}
QUESTION = "IKEA Sweden Delft Moon"
MODES = ("local", "global", "hybrid", "naive", "mix")


async def fill(server: Server) -> Server:
    await server.add("IKEA -> Sweden: one tells of Sweden", "1.md", metadata={"tags": ["tenant:1", "patent"]})
    await server.add("IKEA -> Sweden: more of one", "1b.md", metadata={"tags": ["tenant:1"]})
    await server.add("IKEA -> Delft: two tells of Delft", "2.md", metadata={"tags": ["tenant:2", "patent"]})
    await server.add("IKEA -> Moon: nobody tells of the Moon", "0.md", metadata={"tags": ["patent"]})
    return server


@pytest.fixture
async def scoped(serve: Serve) -> Server:
    return await fill(await serve(SCOPED))


async def ask(server: Server, mode: str, *tags: str, **fields: Any) -> dict[str, Any]:
    body = {"query": QUESTION, "mode": mode, "required_tags": list(tags), **fields}
    answer = await server.client.post("/query/data", json=body)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


@pytest.mark.parametrize("mode", MODES)
async def test_each_tenant_sees_its_own(scoped: Server, mode: str) -> None:
    one = await ask(scoped, mode, "tenant:1")
    assert "one tells" in json.dumps(one["data"])
    hidden = ("two tells", "nobody tells", "Delft", "Moon", "\\u001f")
    assert not any(word in json.dumps(one["data"]) for word in hidden)
    assert one["metadata"]["filter"]["scope"] == "tenant:1"
    assert one["metadata"]["filter"]["eligible_documents"] == 2
    two = await ask(scoped, mode, "tenant:2")
    assert "two tells" in json.dumps(two["data"])
    assert not any(word in json.dumps(two) for word in ("one tells", "nobody tells", "more of one"))


@pytest.mark.parametrize("mode", MODES)
async def test_the_other_tags_limit_the_documents_of_the_scope(scoped: Server, mode: str) -> None:
    told = await ask(scoped, mode, "tenant:1", "patent")
    assert "one tells" in json.dumps(told["data"])
    assert not any(word in json.dumps(told) for word in ("more of one", "two tells", "nobody tells"))
    either = await ask(scoped, mode, "tenant:1", "patent", "x", required_tags_mode="or")
    assert either["data"] == told["data"]


@pytest.mark.parametrize("mode", MODES)
async def test_without_a_scope_tag_all_is_asked(scoped: Server, mode: str) -> None:
    whole = json.dumps((await ask(scoped, mode))["data"])
    assert all(word in whole for word in ("one tells", "two tells", "nobody tells"))
    patents = await ask(scoped, mode, "patent")
    assert "more of one" not in json.dumps(patents)
    assert patents["metadata"]["filter"]["scope"] is None


@pytest.mark.parametrize("path", ["/query", "/query/stream", "/query/data", "/query/preview"])
@pytest.mark.parametrize(
    "tags", [["tenant:1", "tenant:2"], ["tenant:"], ["tenant:日本"], ["tenant:a/b"]], ids=lambda tags: ",".join(tags)
)
async def test_what_is_not_one_scope_is_refused(scoped: Server, path: str, tags: list[str]) -> None:
    question = {} if path == "/query/preview" else {"query": QUESTION}
    answer = await scoped.client.post(path, json={**question, "required_tags": tags})
    # Clients of the published server read failures of this route from a 400.
    assert answer.status_code == (400 if path == "/query/data" else 422), answer.text
    assert "scope tag" in answer.text


async def test_switched_off_they_are_ordinary_tags(serve: Serve) -> None:
    server = await fill(await serve({"scope_tag_prefixes": ["tenant:"]}))
    told = await ask(server, "mix", "tenant:1", "tenant:2", required_tags_mode="or")
    assert told["metadata"]["filter"]["scope"] is None
    assert told["metadata"]["filter"]["eligible_documents"] == 3
    assert "nobody tells" not in json.dumps(told)
