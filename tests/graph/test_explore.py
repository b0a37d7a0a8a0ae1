"""The graph as people look at it."""

from __future__ import annotations

import pytest

from lightrag.exceptions import InputError, ScopeError
from lightrag.graph.create import create_entity
from lightrag.graph.edit_entity import edit_entity
from lightrag.graph.explore import (
    entity_exists,
    entity_labels,
    knowledge_graph,
    popular_labels,
    scope_counts,
    search_labels,
)
from tests.graph.workspace import NO_SUMMARIES, SCOPES, Fact, Workspace, open_workspace

INTERNAL = {"type_votes", "evidence_count", "tokens", "graph_node_id", "corrected", "chosen_type", "filter_tags"}


async def test_the_part_around_an_entity(workspace: Workspace) -> None:
    await workspace.add("d1", [Fact("A", "B", "one"), Fact("B", "C", "two"), Fact("X", "Y", "apart")])
    near = await knowledge_graph(workspace.context, " A ", max_depth=1)
    assert {node.id for node in near.nodes} == {"A", "B"}
    assert [(edge.id, edge.source, edge.target, edge.type) for edge in near.edges] == [("A-B", "A", "B", "DIRECTED")]
    assert not near.is_truncated
    node = next(node for node in near.nodes if node.id == "B")
    assert node.labels == ["B"]
    assert node.properties["source_id"] == "d1-chunk-000<SEP>d1-chunk-001"
    assert node.properties["file_path"] == "d1.md"
    for shown in (*near.nodes, *near.edges):
        assert not INTERNAL & set(shown.properties)
        assert "tenant_tag" not in shown.properties
    far = await knowledge_graph(workspace.context, "A", max_depth=3)
    assert {node.id for node in far.nodes} == {"A", "B", "C"}
    assert (await knowledge_graph(workspace.context, "A", max_depth=0)).edges == []
    assert (await knowledge_graph(workspace.context, "Nobody")).nodes == []
    assert (await knowledge_graph(workspace.context, "\x00")).nodes == []


async def test_everything_best_connected_first(workspace: Workspace) -> None:
    await workspace.add("d1", [Fact("Hub", name, "x") for name in ("A", "B", "C")] + [Fact("A", "B", "y")])
    graph = await knowledge_graph(workspace.context, "*", max_nodes=3)
    assert [node.id for node in graph.nodes] == ["Hub", "A", "B"]
    assert {edge.id for edge in graph.edges} == {"A-Hub", "B-Hub", "A-B"}
    assert graph.is_truncated
    whole = await knowledge_graph(workspace.context, "*", max_nodes=4)
    assert len(whole.nodes) == 4
    assert not whole.is_truncated


@pytest.mark.parametrize("limits", [{"max_depth": -1}, {"max_nodes": 0}])
async def test_numbers_out_of_range_are_refused(workspace: Workspace, limits: dict[str, int]) -> None:
    with pytest.raises(InputError, match="max_nodes"):
        await knowledge_graph(workspace.context, "*", **limits)  # type: ignore[arg-type]


async def test_the_setting_limits_the_view() -> None:
    workspace = await open_workspace(**NO_SUMMARIES, max_graph_nodes=2)
    await workspace.add("d1", [Fact("A", "B", "x"), Fact("A", "C", "y")])
    graph = await knowledge_graph(workspace.context, "*", max_nodes=1000)
    assert len(graph.nodes) == 2
    assert graph.is_truncated


@pytest.mark.parametrize(
    ("method", "sources", "paths"),
    [
        ("KEEP", "d0-chunk-000<SEP>d1-chunk-000<SEP>d2-chunk-000", "d0.md<SEP>d1.md<SEP>and more"),
        ("FIFO", "d2-chunk-000<SEP>d3-chunk-000<SEP>d4-chunk-000", "d2.md<SEP>d3.md<SEP>and more"),
    ],
)
async def test_sources_are_limited_and_corrections_are_none(method: str, sources: str, paths: str) -> None:
    workspace = await open_workspace(
        **NO_SUMMARIES,
        max_source_ids_per_entity=3,
        max_file_paths=2,
        file_path_more_placeholder="and more",
        source_ids_limit_method=method,
    )
    for number in range(5):
        await workspace.add(f"d{number}", [Fact("A", text=f"t{number}")])
    await edit_entity(workspace.context, workspace.state, "A", {"description": "corrected"})
    properties = (await knowledge_graph(workspace.context, "A")).nodes[0].properties
    assert (properties["source_id"], properties["file_path"]) == (sources, paths)


async def test_sources_of_graphs_without_evidence_are_what_they_say() -> None:
    workspace = await open_workspace()
    node = {"entity_id": "A", "source_id": "chunk-1", "file_path": "a.md", "description": "x"}
    await workspace.context.stores.graph.upsert_node("A", node)
    properties = (await knowledge_graph(workspace.context, "A")).nodes[0].properties
    assert properties == node


async def tenants() -> Workspace:
    workspace = await open_workspace(**NO_SUMMARIES, **SCOPES)
    await workspace.add("d1", [Fact("Hub", "One", "secret of one")], tags=["tenant:1"])
    await workspace.add("d2", [Fact("Hub", "Two", "secret of two"), Fact("Hub", "Twin", "x")], tags=["tenant:2"])
    await workspace.add("d3", [Fact("Hub", "Free", "for all")])
    return workspace


async def test_a_scope_shows_nothing_of_another() -> None:
    workspace = await tenants()
    for label in ("*", "Hub"):
        graph = await knowledge_graph(workspace.context, label, tenant_tag="tenant:1")
        assert {node.id for node in graph.nodes} == {"Hub", "One"}
        assert [edge.id for edge in graph.edges] == ["Hub-One"]
        text = repr(graph)
        assert "\\x1f" not in text
        assert "two" not in text
        assert "for all" not in text
        assert {node.properties["tenant_tag"] for node in graph.nodes} == {"tenant:1"}
        assert {node.properties["file_path"] for node in graph.nodes} == {"d1.md"}
    assert (await knowledge_graph(workspace.context, "Two", tenant_tag="tenant:1")).nodes == []
    assert (await knowledge_graph(workspace.context, "*", tenant_tag="tenant:3")).nodes == []


async def test_the_aggregate_shows_each_entity_once() -> None:
    workspace = await tenants()
    for limit in (2, 5, 50):
        graph = await knowledge_graph(workspace.context, "*", max_nodes=limit)
        assert [node.id for node in graph.nodes] == ["Hub", "Free", "One", "Twin", "Two"][:limit]
        assert graph.is_truncated == (limit < 5)
    assert {node.id for node in (await knowledge_graph(workspace.context, "Hub")).nodes} == {
        "Hub",
        "Free",
        "One",
        "Twin",
        "Two",
    }


async def test_names_by_partition() -> None:
    workspace = await tenants()
    context = workspace.context
    assert await entity_labels(context) == ["Free", "Hub", "One", "Twin", "Two"]
    assert await entity_labels(context, tenant_tag="tenant:2") == ["Hub", "Twin", "Two"]
    assert await popular_labels(context, 2) == ["Hub", "Free"]
    assert await popular_labels(context, 2, tenant_tag="tenant:1") == ["Hub", "One"]
    assert await search_labels(context, " TW ") == ["Twin", "Two"]
    assert await search_labels(context, "two", tenant_tag="tenant:1") == []
    assert await search_labels(context, "tenant") == []
    assert await search_labels(context, "tenant", tenant_tag="tenant:1") == []
    assert await search_labels(context, "") == []
    assert await entity_exists(context, "One", tenant_tag="tenant:1")
    assert not await entity_exists(context, "One", tenant_tag="tenant:2")
    assert await scope_counts(context) == {"tenant:1": 2, "tenant:2": 3}
    with pytest.raises(ScopeError):
        await entity_labels(context, tenant_tag="Tenant 1")


async def test_search_ranks_by_how_well_a_name_matches(scoped_workspace: Workspace) -> None:
    context, state = scoped_workspace.context, scoped_workspace.state
    for name in ("Quay", "Quayside", "Ada Quay", "Ada McQuay", "QUAY Street Old"):
        await create_entity(context, state, name, {})
        await create_entity(context, state, name, {}, tenant_tag="tenant:1")
    expected = ["Quay", "QUAY Street Old", "Quayside", "Ada Quay", "Ada McQuay"]
    assert await search_labels(context, "quay") == expected
    assert await search_labels(context, "quay", tenant_tag="tenant:1") == expected
    assert await search_labels(context, "quay", 2, tenant_tag="tenant:1") == expected[:2]
    assert await search_labels(context, "quay", 0) == []
