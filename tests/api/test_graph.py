"""Looking at the graph."""

from __future__ import annotations

import json

import pytest

from tests.api.conftest import Serve, Server


@pytest.fixture
async def filled(server: Server) -> Server:
    await server.add()
    return server


async def test_labels(filled: Server) -> None:
    assert (await filled.client.get("/graph/label/list")).json() == ["Ada", "Babbage", "Engine"]
    assert (await filled.client.get("/graph/label/popular")).json() == ["Engine", "Ada", "Babbage"]
    assert (await filled.client.get("/graph/label/popular", params={"limit": 1})).json() == ["Engine"]
    assert (await filled.client.get("/graph/label/search", params={"q": "AB"})).json() == ["Babbage"]
    for bad in ({"limit": 0}, {"limit": 1001}):
        assert (await filled.client.get("/graph/label/popular", params=bad)).status_code == 422


async def test_part_of_the_graph(filled: Server) -> None:
    told = (await filled.client.get("/graphs", params={"label": "Ada", "max_depth": 1})).json()
    assert {node["id"] for node in told["nodes"]} == {"Ada", "Engine"}
    (edge,) = told["edges"]
    assert (edge["id"], edge["type"]) == ("Ada-Engine", "DIRECTED")
    assert {edge["source"], edge["target"]} == {"Ada", "Engine"}
    assert edge["properties"]["description"] == "Ada wrote the first program for the Engine."
    node = next(node for node in told["nodes"] if node["id"] == "Ada")
    assert node["labels"] == ["Ada"]
    assert {"entity_type", "description", "source_id", "file_path"} <= set(node["properties"])
    assert told["is_truncated"] is False
    everything = (await filled.client.get("/graphs", params={"label": "*", "max_nodes": 2})).json()
    assert len(everything["nodes"]) == 2
    assert everything["is_truncated"] is True
    nothing = (await filled.client.get("/graphs", params={"label": "Nobody"})).json()
    assert nothing == {"nodes": [], "edges": [], "is_truncated": False}


async def test_existence(filled: Server) -> None:
    assert (await filled.client.get("/graph/entity/exists", params={"name": "Ada"})).json() == {"exists": True}
    assert (await filled.client.get("/graph/entity/exists", params={"name": "Nobody"})).json() == {"exists": False}
    assert (await filled.client.get("/graph/entity/exists", params={"name": " "})).status_code == 400


@pytest.fixture
async def tagged(server: Server) -> Server:
    """Two documents about one entity, told apart by a tag and a date."""
    await server.add(metadata={"tags": ["old"], "start_date": "1843-01-01T00:00:00Z"})
    await server.add("Engine -> London: The Engine was shown there.", "london.md", metadata={"tags": ["city"]})
    return server


async def test_graph_through_tags(tagged: Server) -> None:
    told = (await tagged.client.get("/graphs", params={"label": "*", "required_tags": "city"})).json()
    assert {node["id"] for node in told["nodes"]} == {"Engine", "London"}
    assert "Ada" not in json.dumps(told)
    assert (await tagged.client.get("/graph/label/list", params={"required_tags": "city"})).json() == [
        "Engine",
        "London",
    ]
    popular = await tagged.client.get("/graph/label/popular", params={"required_tags": "old"})
    assert popular.json() == ["Engine", "Ada", "Babbage"]
    found = await tagged.client.get("/graph/label/search", params={"q": "ada", "required_tags": "city"})
    assert found.json() == []
    nothing = (await tagged.client.get("/graphs", params={"label": "*", "required_tags": "none-such"})).json()
    assert nothing == {"nodes": [], "edges": [], "is_truncated": False}
    blank = await tagged.client.get("/graphs", params={"label": "*", "required_tags": " "})
    assert (blank.status_code, blank.json()["code"]) == (422, "invalid_filter")
    unknown = await tagged.client.get("/graphs", params={"label": "*", "required_tag": "city"})
    assert unknown.status_code == 422


async def test_graph_through_a_whole_filter(tagged: Server) -> None:
    body = {"label": "Engine", "max_depth": 2, "date_filter": {"undated": "only"}, "forbidden_tags": ["old"]}
    told = (await tagged.client.post("/graphs", json=body)).json()
    assert {node["id"] for node in told["nodes"]} == {"Engine", "London"}
    assert "first program" not in json.dumps(told)
    engine = next(node for node in told["nodes"] if node["id"] == "Engine")
    assert engine["properties"]["file_path"] == "london.md"
    assert (await tagged.client.post("/graphs", json={"label": "*", "required_tag": []})).status_code == 422
    everything = (await tagged.client.post("/graphs", json={"label": "*"})).json()
    assert {node["id"] for node in everything["nodes"]} == {"Ada", "Babbage", "Engine", "London"}


async def test_scopes(serve: Serve) -> None:
    server = await serve({"scope_tag_prefixes": ["tenant:"], "enable_kg_scope_materialization": True})
    await server.add(metadata={"tags": ["tenant:1"]})
    await server.add("Engine -> London: shown there.", "b.md", metadata={"tags": ["tenant:2"]})
    assert (await server.client.get("/graph/scope/list")).json() == ["tenant:1", "tenant:2"]
    one = (await server.client.get("/graphs", params={"label": "Engine", "required_tags": "tenant:1"})).json()
    assert {node["id"] for node in one["nodes"]} == {"Ada", "Babbage", "Engine"}
    assert all(node["properties"]["tenant_tag"] == "tenant:1" for node in one["nodes"])
    whole = (await server.client.get("/graphs", params={"label": "Engine"})).json()
    assert {node["id"] for node in whole["nodes"]} == {"Ada", "Babbage", "Engine", "London"}
    assert (await server.client.get("/graph/label/list")).json() == ["Ada", "Babbage", "Engine", "London"]
    params = {"required_tags": "tenant:2"}
    assert (await server.client.get("/graph/label/list", params=params)).json() == ["Engine", "London"]
    both = [("label", "*"), ("required_tags", "tenant:1"), ("required_tags", "tenant:2")]
    answer = await server.client.get("/graphs", params=both)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_scope")
