from __future__ import annotations

import asyncio

import pytest

from lightrag.contracts.graph import BaseGraphStorage
from lightrag.exceptions import InputError
from tests.conformance.conftest import HOSTILE_IDS, IMPOSSIBLE_IDS
from tests.conformance.families import Workspace

PROPERTIES = {
    "description": "what <SEP> it is",
    "weight": 1.5,
    "count": 3,
    "flag": True,
    "list": ["a", "b"],
    "type_votes": {"person": 2},
    "empty": "",
}


async def build(graph: BaseGraphStorage, edges: str) -> None:
    """Write edges given as ``"ab bc"``, with their ends as nodes."""
    pairs = [(pair[0], pair[1]) for pair in edges.split()]
    await graph.upsert_nodes_batch([(end, {"name": end}) for pair in pairs for end in pair])
    await graph.upsert_edges_batch([(source, target, {"weight": 1.0}) for source, target in pairs])


async def test_nodes_come_back_as_written(workspace: Workspace) -> None:
    graph = await workspace.graph()
    await graph.upsert_node("a", dict(PROPERTIES))
    assert await graph.get_node("a") == PROPERTIES
    assert await graph.has_node("a")
    assert not await graph.has_node("b")
    assert await graph.get_node("b") is None
    assert await graph.get_nodes_batch(["a", "b"]) == {"a": PROPERTIES}
    assert await graph.has_nodes_batch(["a", "b"]) == {"a"}
    await graph.upsert_node("a", {"only": 1})
    assert await graph.get_node("a") == {"only": 1}
    assert await graph.count_nodes() == 1


async def test_edges_have_no_direction(workspace: Workspace) -> None:
    graph = await workspace.graph()
    await build(graph, "ba")
    await graph.upsert_edge("a", "b", dict(PROPERTIES))
    assert await graph.count_edges() == 1
    assert await graph.get_edge("a", "b") == await graph.get_edge("b", "a") == PROPERTIES
    assert await graph.has_edge("b", "a")
    assert not await graph.has_edge("a", "c")
    both = await graph.get_edges_batch([{"src": "b", "tgt": "a"}, {"src": "a", "tgt": "b"}, {"src": "a", "tgt": "z"}])
    assert both == {("b", "a"): PROPERTIES, ("a", "b"): PROPERTIES}
    both[("b", "a")]["list"].append("changed")
    assert both[("a", "b")]["list"] == ["a", "b"]


async def test_missing_ends_become_nodes(workspace: Workspace) -> None:
    graph = await workspace.graph()
    await graph.upsert_node("a", {"kept": 1})
    await graph.upsert_edge("a", "b", {})
    assert await graph.get_node("a") == {"kept": 1}
    assert await graph.get_node("b") == {}
    assert await graph.get_all_labels() == ["a", "b"]


async def test_filter_fields_come_back_only_if_given(workspace: Workspace) -> None:
    graph = await workspace.graph()
    given = {"filter_tags": ["t"], "filter_dated": False, "filter_start_ms": 0, "tenant_tag": "t:1", "x": 1}
    await graph.upsert_node("a", dict(given))
    await graph.upsert_edge("a", "b", dict(given))
    assert await graph.get_node("a") == given
    assert await graph.get_edge("a", "b") == given
    assert await graph.get_node("b") == {}


async def test_degrees(workspace: Workspace) -> None:
    graph = await workspace.graph()
    await build(graph, "ab ac ad bc")
    await graph.upsert_node("lonely", {})
    degrees = await graph.node_degrees_batch(["a", "b", "c", "d", "lonely", "nobody"])
    assert degrees == {"a": 3, "b": 2, "c": 2, "d": 1, "lonely": 0, "nobody": 0}
    assert await graph.node_degree("a") == 3
    assert await graph.node_degree("nobody") == 0
    assert await graph.edge_degree("a", "d") == 4
    assert await graph.edge_degrees_batch([("b", "c"), ("a", "nobody")]) == {("b", "c"): 4, ("a", "nobody"): 3}


async def test_degrees_follow_every_change(workspace: Workspace) -> None:
    graph = await workspace.graph()
    await build(graph, "ab ac")
    await build(graph, "ab ba ac ad")
    assert await graph.node_degree("a") == 3
    await graph.upsert_node("a", {"new": 1})
    assert await graph.node_degree("a") == 3
    await graph.remove_edges([("d", "a"), ("a", "d"), ("a", "nobody")])
    assert await graph.node_degrees_batch(["a", "d"]) == {"a": 2, "d": 0}
    await graph.delete_node("b")
    assert await graph.node_degrees_batch(["a", "b", "c"]) == {"a": 1, "b": 0, "c": 1}
    await build(graph, "ab")
    assert await graph.node_degrees_batch(["a", "b"]) == {"a": 2, "b": 1}


async def test_edges_at_nodes(workspace: Workspace) -> None:
    graph = await workspace.graph()
    await build(graph, "ab ca bc")
    await graph.upsert_node("lonely", {})
    assert sorted(await graph.get_node_edges("a") or []) == [("a", "b"), ("a", "c")]
    assert await graph.get_node_edges("lonely") == []
    assert await graph.get_node_edges("nobody") is None
    found = await graph.get_nodes_edges_batch(["b", "nobody", "c"])
    assert {node: sorted(edges) for node, edges in found.items()} == {
        "b": [("b", "a"), ("b", "c")],
        "nobody": [],
        "c": [("c", "a"), ("c", "b")],
    }


async def test_removing_nodes_removes_their_edges(workspace: Workspace) -> None:
    graph = await workspace.graph()
    await build(graph, "ab bc cd da")
    await graph.remove_nodes(["a", "b", "nobody"])
    assert await graph.get_all_labels() == ["c", "d"]
    assert [(edge["source"], edge["target"]) for edge in await graph.get_all_edges()] == [("c", "d")]
    assert await graph.get_edge("a", "b") is None
    await graph.delete_node("nobody")
    await graph.upsert_node("a", {})
    assert await graph.get_node_edges("a") == []


async def test_everything_at_once(workspace: Workspace) -> None:
    graph = await workspace.graph()
    await build(graph, "ba cb")
    nodes = {node["id"]: node for node in await graph.get_all_nodes()}
    assert nodes == {end: {"name": end, "id": end} for end in "abc"}
    edges = {frozenset((edge["source"], edge["target"])): edge["weight"] for edge in await graph.get_all_edges()}
    assert edges == {frozenset("ab"): 1.0, frozenset("bc"): 1.0}
    assert (await graph.count_nodes(), await graph.count_edges()) == (3, 2)


async def test_empty_arguments(workspace: Workspace) -> None:
    graph = await workspace.graph()
    await graph.upsert_nodes_batch([])
    await graph.upsert_edges_batch([])
    await graph.remove_nodes([])
    await graph.remove_edges([])
    assert await graph.get_nodes_batch([]) == {}
    assert await graph.has_nodes_batch([]) == set()
    assert await graph.node_degrees_batch([]) == {}
    assert await graph.edge_degrees_batch([]) == {}
    assert await graph.get_edges_batch([]) == {}
    assert await graph.get_nodes_edges_batch([]) == {}
    assert await graph.get_all_labels() == []
    assert await graph.get_all_nodes() == []
    assert await graph.get_all_edges() == []


async def test_popular_labels(workspace: Workspace) -> None:
    graph = await workspace.graph()
    await build(graph, "ab ac ad bc")
    assert await graph.get_popular_labels() == ["a", "b", "c", "d"]
    assert await graph.get_popular_labels(2) == ["a", "b"]


async def test_searching_labels(workspace: Workspace) -> None:
    graph = await workspace.graph()
    names = ["Ada", "ADA LOVELACE", "Countess Ada", "Canada", "Alan", "50% off", "Straße", "日本銀行"]
    await graph.upsert_nodes_batch([(name, {}) for name in names])
    assert await graph.search_labels("ada") == ["Ada", "ADA LOVELACE", "Countess Ada", "Canada"]
    assert await graph.search_labels("ada", 2) == ["Ada", "ADA LOVELACE"]
    assert await graph.search_labels("%") == ["50% off"]
    assert await graph.search_labels("_") == []
    assert await graph.search_labels("STRASSE") in (["Straße"], [])
    assert await graph.search_labels("straß") == ["Straße"]
    assert await graph.search_labels("銀行") == ["日本銀行"]
    assert await graph.search_labels("") == []


async def test_the_surroundings_of_a_node(workspace: Workspace) -> None:
    graph = await workspace.graph()
    await build(graph, "ab ac cd de ef ce")
    near = await graph.get_knowledge_graph("a", max_depth=1)
    assert [node.id for node in near.nodes] == ["a", "c", "b"]
    assert not near.is_truncated
    wide = await graph.get_knowledge_graph("a", max_depth=2)
    assert [node.id for node in wide.nodes] == ["a", "c", "b", "e", "d"]
    assert {frozenset((edge.source, edge.target)) for edge in wide.edges} == {
        frozenset(pair) for pair in ("ab", "ac", "cd", "ce", "de")
    }
    alone = await graph.get_knowledge_graph("a", max_depth=0)
    assert [node.id for node in alone.nodes] == ["a"]
    assert alone.edges == []


async def test_a_view_that_is_cut_says_so(workspace: Workspace) -> None:
    graph = await workspace.graph()
    await build(graph, "ab ac cd de ef ce")
    cut = await graph.get_knowledge_graph("a", max_depth=5, max_nodes=3)
    assert [node.id for node in cut.nodes] == ["a", "c", "b"]
    assert cut.is_truncated
    exact = await graph.get_knowledge_graph("a", max_depth=5, max_nodes=6)
    assert len(exact.nodes) == 6
    assert not exact.is_truncated


async def test_the_view_of_all_nodes(workspace: Workspace) -> None:
    graph = await workspace.graph()
    assert (await graph.get_knowledge_graph("*")).nodes == []
    await build(graph, "ab ac ad bc xy")
    everything = await graph.get_knowledge_graph("*")
    assert [node.id for node in everything.nodes] == ["a", "b", "c", "d", "x", "y"]
    assert not everything.is_truncated
    top = await graph.get_knowledge_graph("*", max_nodes=3)
    assert [node.id for node in top.nodes] == ["a", "b", "c"]
    assert len(top.edges) == 3
    assert top.is_truncated
    unknown = await graph.get_knowledge_graph("nobody")
    assert (unknown.nodes, unknown.edges, unknown.is_truncated) == ([], [], False)


async def test_the_form_of_a_view(workspace: Workspace) -> None:
    graph = await workspace.graph()
    await graph.upsert_node("b", dict(PROPERTIES))
    await graph.upsert_edge("b", "a", {"weight": 2.0})
    view = await graph.get_knowledge_graph("b")
    assert [(node.id, node.labels, node.properties) for node in view.nodes] == [
        ("b", ["b"], PROPERTIES),
        ("a", ["a"], {}),
    ]
    edge = view.edges[0]
    assert (edge.type, {edge.source, edge.target}, edge.properties) == ("DIRECTED", {"a", "b"}, {"weight": 2.0})
    assert edge.id == f"{edge.source}-{edge.target}"


@pytest.mark.parametrize("key", HOSTILE_IDS)
async def test_hostile_ids_come_back_letter_for_letter(workspace: Workspace, key: str) -> None:
    graph = await workspace.graph()
    await graph.upsert_node(key, {"text": key, key: key})
    await graph.upsert_edge("other", key, {"text": key})
    assert await graph.get_node(key) == {"text": key, key: key}
    assert await graph.get_edge(key, "other") == {"text": key}
    assert sorted(await graph.get_all_labels()) == sorted([key, "other"])
    assert await graph.get_nodes_edges_batch([key]) == {key: [(key, "other")]}
    view = await graph.get_knowledge_graph(key)
    assert [node.id for node in view.nodes] == [key, "other"]
    await graph.delete_node(key)
    assert await graph.get_all_labels() == ["other"]
    assert await graph.get_all_edges() == []


@pytest.mark.parametrize("key", IMPOSSIBLE_IDS)
async def test_impossible_ids_are_refused_and_poison_nothing(workspace: Workspace, key: str) -> None:
    graph = await workspace.graph()
    with pytest.raises(InputError):
        await graph.upsert_nodes_batch([("good", {}), (key, {})])
    with pytest.raises(InputError):
        await graph.upsert_edge("good", key, {})
    with pytest.raises(InputError):
        await graph.upsert_node("good", {"text": "lone \ud800"})
    assert await graph.get_all_labels() == []
    assert not await graph.has_node(key)
    assert await graph.get_edges_batch([{"src": key, "tgt": "a"}]) == {}
    await graph.remove_nodes([key])
    await graph.remove_edges([(key, "a")])
    assert (await graph.get_knowledge_graph(key)).nodes == []
    await graph.upsert_node("good", {})
    assert await graph.get_all_labels() == ["good"]


async def test_fifty_thousand_ids(workspace: Workspace) -> None:
    graph = await workspace.graph()
    ids = [f"n{number}" for number in range(50_000)]
    await graph.upsert_nodes_batch([(node_id, {"n": node_id}) for node_id in ids])
    await graph.upsert_edges_batch([("hub", node_id, {}) for node_id in ids])
    assert len(await graph.get_nodes_batch([*ids, "missing"])) == 50_000
    assert (await graph.node_degrees_batch(["hub", *ids]))["hub"] == 50_000
    assert len((await graph.get_nodes_edges_batch(["hub"]))["hub"]) == 50_000
    assert len(await graph.get_edges_batch([{"src": node_id, "tgt": "hub"} for node_id in ids])) == 50_000
    cut = await graph.get_knowledge_graph("hub", max_nodes=10)
    assert len(cut.nodes) == 10
    assert cut.is_truncated
    await graph.remove_nodes(ids)
    assert await graph.node_degree("hub") == 0


async def test_many_writers_at_a_time(workspace: Workspace) -> None:
    graph = await workspace.graph()

    async def work(number: int) -> None:
        await graph.upsert_edge("hub", f"n{number}", {"n": number})
        await graph.upsert_edge(f"n{number}", "hub", {"n": number})
        if number % 2:
            await graph.remove_edges([("hub", f"n{number}")])

    await asyncio.gather(*(work(number) for number in range(60)))
    assert await graph.node_degree("hub") == 30
    assert await graph.count_edges() == 30


async def test_drop(workspace: Workspace) -> None:
    graph = await workspace.graph()
    await build(graph, "ab")
    assert (await graph.drop())["status"] == "success"
    assert (await graph.count_nodes(), await graph.count_edges()) == (0, 0)
    assert await graph.get_edge("a", "b") is None
    await build(graph, "ab")
    assert await graph.node_degree("a") == 1
