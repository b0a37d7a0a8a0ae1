"""Entities that are one thing become one, with all that was said of them."""

from __future__ import annotations

from typing import Any

import pytest

from lightrag.contracts.evidence import ObjectKind, relation_key
from lightrag.exceptions import InputError, NotFoundError, PipelineBusyError, ScopeError
from lightrag.graph.create import create_entity, create_relation
from lightrag.graph.edit_entity import edit_entity
from lightrag.graph.edit_relation import edit_relation
from lightrag.graph.info import entity_info, relation_info
from lightrag.graph.merge_entities import STRATEGIES, MergeOptions, MergeStrategy, merge_entities
from tests.graph.workspace import Fact, Workspace


async def two_documents(workspace: Workspace) -> None:
    await workspace.add(
        "d1", [Fact("AI", "Lab", "built", weight=1.0, keywords="a"), Fact("AI", "Art Int", "same", type="concept")]
    )
    await workspace.add(
        "d2",
        [Fact("Art Int", "Lab", "tested", weight=2.0, keywords="b"), Fact("Art Int", "Prize", "won", type="field")],
    )


async def test_evidence_and_relations_move(workspace: Workspace) -> None:
    context, state = workspace.context, workspace.state
    await two_documents(workspace)
    info = await merge_entities(context, state, ["AI", "Art Int"], "Artificial Intelligence")
    assert info["entity_name"] == "Artificial Intelligence"
    assert info["source_id"] == "d1-chunk-000<SEP>d1-chunk-001<SEP>d2-chunk-000<SEP>d2-chunk-001"
    assert info["graph_data"]["file_path"] == "d1.md<SEP>d2.md"
    assert info["graph_data"]["description"] == (
        "AI: built<SEP>AI: same\nArt Int: same<SEP>Art Int: tested<SEP>Art Int: won"
    )
    assert await workspace.names() == ["Artificial Intelligence", "Lab", "Prize"]
    assert await workspace.pairs() == {("Artificial Intelligence", "Lab"), ("Artificial Intelligence", "Prize")}
    joined = (await relation_info(context, "Lab", "Artificial Intelligence"))["graph_data"]
    assert (joined["description"], joined["weight"], joined["keywords"]) == ("built<SEP>tested", 3.0, "a,b")
    await workspace.delete("d2")
    assert await workspace.pairs() == {("Artificial Intelligence", "Lab")}
    left = (await relation_info(context, "Lab", "Artificial Intelligence"))["graph_data"]
    assert (left["description"], left["weight"]) == ("built", 1.0)
    await workspace.delete("d1")
    assert await workspace.names() == []


async def test_an_existing_target_keeps_its_words_in_front(workspace: Workspace) -> None:
    await two_documents(workspace)
    info = await merge_entities(workspace.context, workspace.state, ["AI"], "Art Int")
    assert info["graph_data"]["description"] == (
        "Art Int: same\nAI: same<SEP>Art Int: tested<SEP>Art Int: won<SEP>AI: built"
    )
    assert await workspace.pairs() == {("Art Int", "Lab"), ("Art Int", "Prize")}


async def test_the_target_may_be_listed_among_the_sources(workspace: Workspace) -> None:
    await two_documents(workspace)
    await merge_entities(workspace.context, workspace.state, ["AI", "Art Int"], "Art Int")
    assert await workspace.names() == ["Art Int", "Lab", "Prize"]


async def test_words_of_people_survive_a_merge(workspace: Workspace) -> None:
    context, state = workspace.context, workspace.state
    await two_documents(workspace)
    await create_entity(context, state, "Mind", {"description": "by hand", "entity_type": "idea"})
    await create_entity(context, state, "Soul", {"description": "by hand too"})
    await create_relation(context, state, ("Mind", "Lab"), {"description": "haunts"})
    await edit_entity(context, state, "AI", {"description": "corrected", "entity_type": "machine"})
    await edit_relation(context, state, ("Art Int", "Lab"), {"description": "said anew", "weight": 5.0})
    await merge_entities(context, state, ["Mind", "Soul", "AI"], "Art Int")
    data = (await entity_info(context, "Art Int"))["graph_data"]
    for words in ("by hand", "by hand too", "corrected", "Art Int: won"):
        assert words in data["description"]
    assert data["entity_type"] == "machine"
    edge = (await relation_info(context, "Art Int", "Lab"))["graph_data"]
    assert edge["description"] == "said anew<SEP>built<SEP>haunts"
    assert edge["weight"] == 7.0
    await workspace.delete("d1")
    await workspace.delete("d2")
    assert await workspace.names() == ["Art Int"]
    assert "by hand" in (await entity_info(context, "Art Int"))["graph_data"]["description"]


@pytest.mark.parametrize(
    ("strategy", "description", "entity_type"),
    [
        (None, "S1: a<SEP>S2: b<SEP>T: c", "two"),
        ("join_unique", "S1: a<SEP>S2: b<SEP>T: c", "two"),
        ({"description": "concatenate", "source_id": "join_unique"}, "S1: a<SEP>S2: b<SEP>T: c", "two"),
        ({"description": "keep_first"}, "S1: a", "two"),
        ({"description": "keep_last", "entity_type": "keep_first"}, "T: c", "one"),
        ({"entity_type": "keep_last"}, "S1: a<SEP>S2: b<SEP>T: c", "two"),
        ("keep_first", "S1: a", "one"),
    ],
)
async def test_strategies(
    workspace: Workspace, strategy: MergeStrategy | None, description: str, entity_type: str
) -> None:
    await workspace.add("d1", [Fact("S1", text="a", type="one")])
    await workspace.add("d2", [Fact("S2", text="b", type="two")])
    await workspace.add("d3", [Fact("T", text="c", type="two")])
    info = await merge_entities(workspace.context, workspace.state, ["S1", "S2"], "T", MergeOptions(strategy))
    data = info["graph_data"]
    assert set(data["description"].split("<SEP>")) == set(description.split("<SEP>"))
    assert data["entity_type"] == entity_type
    # Whatever is shown, all evidence is kept.
    assert set(info["source_id"].split("<SEP>")) == {"d1-chunk-000", "d2-chunk-000", "d3-chunk-000"}


async def test_strategies_for_own_properties(workspace: Workspace) -> None:
    context, state = workspace.context, workspace.state
    for name, colour in (("A", "red"), ("B", "blue"), ("T", "red")):
        await create_entity(context, state, name, {"colour": colour})
    options = MergeOptions({"colour": "join_unique"}, {"shape": "round"})
    data = (await merge_entities(context, state, ["A", "B"], "T", options))["graph_data"]
    assert (data["colour"], data["shape"]) == ("red\nblue", "round")


async def test_the_data_of_the_target_have_the_last_word(workspace: Workspace) -> None:
    await two_documents(workspace)
    data = {"description": "decided", "entity_type": "Science", "colour": "red"}
    options = MergeOptions("keep_first", data)
    info = await merge_entities(workspace.context, workspace.state, ["AI"], "Art Int", options)
    shown = info["graph_data"]
    assert (shown["description"], shown["entity_type"], shown["colour"]) == ("decided", "science", "red")


@pytest.mark.parametrize(
    ("sources", "target", "options", "error", "message"),
    [
        (["AI", "Nobody", "No one"], "T", None, NotFoundError, "'Nobody', 'No one'"),
        (["AI"], "AI", None, InputError, "nothing to merge"),
        ([], "AI", None, InputError, "nothing to merge"),
        ("AI", "Lab", None, InputError, "list of names"),
        (["AI"], " ", None, InputError, "target_entity"),
        (["AI"], "Lab", MergeOptions("append"), InputError, "'append'"),
        (["AI"], "Lab", MergeOptions({"description": "newest"}), InputError, ", ".join(STRATEGIES)),
        (["AI"], "Lab", MergeOptions({"source_id": "keep_first"}), InputError, "'source_id'"),
        (["AI"], "Lab", MergeOptions(None, {"entity_name": "Other"}), InputError, "'Other'"),
        (["AI"], "Lab", MergeOptions(None, {"file_path": "x"}), InputError, "'file_path'"),
    ],
)
async def test_refusals_change_nothing(
    workspace: Workspace,
    sources: Any,
    target: str,
    options: MergeOptions | None,
    error: type[Exception],
    message: str,
) -> None:
    await two_documents(workspace)
    before = await workspace.context.stores.graph.get_all_nodes()
    with pytest.raises(error, match=message):
        await merge_entities(workspace.context, workspace.state, sources, target, options)
    assert await workspace.context.stores.graph.get_all_nodes() == before


async def test_nothing_is_merged_while_the_pipeline_runs(workspace: Workspace) -> None:
    await two_documents(workspace)
    workspace.state.begin("processing documents")
    with pytest.raises(PipelineBusyError):
        await merge_entities(workspace.context, workspace.state, ["AI"], "Lab")
    workspace.state.end()


async def test_entities_of_two_scopes_are_never_merged(scoped_workspace: Workspace) -> None:
    context, state = scoped_workspace.context, scoped_workspace.state
    await scoped_workspace.add("d1", [Fact("A", "B", "one")], tags=["tenant:1"])
    await scoped_workspace.add("d2", [Fact("C", "B", "two")], tags=["tenant:2"])
    one = MergeOptions(tenant_tag="tenant:1")
    with pytest.raises(NotFoundError, match="'C'"):
        await merge_entities(context, state, ["C"], "A", one)
    for names, target in ((["C\x1ftenant:2"], "A"), (["A"], "C\x1ftenant:2")):
        with pytest.raises(ScopeError, match="inside a scope"):
            await merge_entities(context, state, names, target, one)
    crossing = MergeOptions(None, {"tenant_tag": "tenant:2"}, "tenant:1")
    with pytest.raises(ScopeError, match="cannot be merged into scope 'tenant:2'"):
        await merge_entities(context, state, ["A"], "B", crossing)
    info = await merge_entities(context, state, ["A"], "B", one)
    assert info["graph_data"]["tenant_tag"] == "tenant:1"
    assert await scoped_workspace.names() == ["A", "B", "B\x1ftenant:1", "B\x1ftenant:2", "C", "C\x1ftenant:2"]
    assert await scoped_workspace.evidence(ObjectKind.RELATION, relation_key("A", "B"))


async def test_a_correction_of_the_target_hides_nothing_of_the_others(workspace: Workspace) -> None:
    context, state = workspace.context, workspace.state
    await create_entity(context, state, "A", {"description": "said of A"})
    await create_entity(context, state, "B", {"description": "said of B"})
    await workspace.add("d1", [Fact("A", "B", "same chunk"), Fact("A", "X", "a"), Fact("B", "X", "b", weight=2.0)])
    await edit_entity(context, state, "A", {"description": "corrected"})
    await edit_relation(context, state, ("A", "X"), {"description": "corrected link", "weight": 5.0})
    data = (await merge_entities(context, state, ["B"], "A"))["graph_data"]
    assert data["description"] == "corrected\nsaid of B\nB: same chunk\nB: b"
    edge = (await relation_info(context, "A", "X"))["graph_data"]
    assert (edge["description"], edge["weight"]) == ("corrected link<SEP>b", 7.0)
