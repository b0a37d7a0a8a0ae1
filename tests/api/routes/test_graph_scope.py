"""The graph routes show one scope or the whole, by canonical names, with the scope beside them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.api.conftest import Serve, Server
from tests.api.routes.test_query_scope_from_required_tags import SCOPED, fill


@pytest.fixture
async def scoped(serve: Serve) -> Server:
    return await fill(await serve(SCOPED))


async def graph(server: Server, label: str, *tags: str) -> dict[str, Any]:
    answer = await server.client.get("/graphs", params={"label": label, "required_tags": list(tags)})
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


@pytest.mark.parametrize("label", ["IKEA", "*"])
async def test_a_scope_is_a_graph_of_its_own(scoped: Server, label: str) -> None:
    told = await graph(scoped, label, "tenant:1")
    assert {node["id"] for node in told["nodes"]} == {"IKEA", "Sweden"}
    assert {node["properties"]["tenant_tag"] for node in told["nodes"]} == {"tenant:1"}
    assert [(edge["source"], edge["target"]) for edge in told["edges"]] == [("IKEA", "Sweden")]
    assert not any(word in json.dumps(told) for word in ("two tells", "nobody tells", "\\u001f"))
    assert {node["id"] for node in (await graph(scoped, label, "tenant:2"))["nodes"]} == {"IKEA", "Delft"}
    assert await graph(scoped, label, "tenant:3") == {"nodes": [], "edges": [], "is_truncated": False}


@pytest.mark.parametrize("label", ["IKEA", "*"])
async def test_without_a_scope_it_is_the_whole(scoped: Server, label: str) -> None:
    told = await graph(scoped, label)
    assert {node["id"] for node in told["nodes"]} == {"IKEA", "Sweden", "Delft", "Moon"}
    assert not any(node["properties"].get("tenant_tag") for node in told["nodes"])


async def test_scopes_and_names(scoped: Server) -> None:
    assert (await scoped.client.get("/graph/scope/list")).json() == ["tenant:1", "tenant:2"]
    params = {"required_tags": "tenant:2"}
    assert (await scoped.client.get("/graph/label/list", params=params)).json() == ["Delft", "IKEA"]
    found = await scoped.client.get("/graph/label/search", params={"q": "swed", **params})
    assert found.json() == []


async def test_two_scopes_are_refused(scoped: Server) -> None:
    params = {"label": "IKEA", "required_tags": ["tenant:1", "tenant:2"]}
    answer = await scoped.client.get("/graphs", params=params)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_scope")
    assert "At most one scope tag" in answer.text


async def test_edits_name_their_scope(scoped: Server) -> None:
    body = {"entity_name": "IKEA", "updated_data": {"description": "only for one"}, "tenant_tag": "tenant:1"}
    answer = await scoped.client.post("/graph/entity/edit", json=body)
    assert answer.status_code == 200, answer.text
    assert "only for one" in json.dumps(
        (await scoped.client.get("/graphs", params={"label": "IKEA", "required_tags": "tenant:1"})).json()
    )
    assert "only for one" not in json.dumps([await graph(scoped, "IKEA"), await graph(scoped, "IKEA", "tenant:2")])
    forged = {"entities_to_change": ["IKEA\x1ftenant:2"], "entity_to_change_into": "Sweden", "tenant_tag": "tenant:1"}
    answer = await scoped.client.post("/graph/entities/merge", json=forged)
    assert answer.status_code == 422, answer.text
    assert {node["id"] for node in (await graph(scoped, "*", "tenant:2"))["nodes"]} == {"IKEA", "Delft"}


async def test_after_the_last_document_a_scope_is_gone(scoped: Server) -> None:
    (document,) = (await scoped.client.post("/documents/paginated", json={"required_tags": ["tenant:2"]})).json()[
        "documents"
    ]
    await scoped.client.request(
        "DELETE", "/documents/delete_document", json={"doc_ids": [document["id"]], "delete_file": False}
    )
    await scoped.settle()
    assert (await scoped.client.get("/graph/scope/list")).json() == ["tenant:1"]
    assert "two tells" not in json.dumps(await graph(scoped, "IKEA"))
