"""Edits by hand: they hold against later documents, deletions, rebuilds and summaries; names change everywhere."""

from __future__ import annotations

from typing import Any

import pytest

from lightrag.contracts.evidence import ObjectKind, relation_key
from lightrag.exceptions import DuplicateError, InputError, NotFoundError, PipelineBusyError, ScopeError
from lightrag.graph.create import create_entity, create_relation
from lightrag.graph.edit_entity import EditOptions, edit_entity
from lightrag.graph.edit_relation import edit_relation
from lightrag.graph.editing import commit
from lightrag.graph.info import entity_info, relation_info
from lightrag.graph.manual import is_correction
from lightrag.graph.rebuild import from_evidence
from tests.fakes.models import ScriptedLLM
from tests.graph.workspace import Fact, Workspace, open_workspace


async def properties(workspace: Workspace, name: str) -> dict[str, Any]:
    node = await workspace.node(name)
    assert node is not None
    return node


async def rebuild(workspace: Workspace, kind: ObjectKind, object_id: str) -> None:
    context = workspace.context
    async with context.graph_lock:
        await commit(context, await from_evidence(context, kind, [object_id]))


async def test_an_edit_replaces_what_documents_said_and_later_ones_add_to_it(workspace: Workspace) -> None:
    await workspace.add("d1", [Fact("A", "B", "wrong")])
    info = await edit_entity(workspace.context, workspace.state, "A", {"description": "right"})
    assert info["graph_data"]["description"] == "right"
    await workspace.add("d2", [Fact("A", "B", "more")])
    await workspace.add("d3", [Fact("A", "B", "wrong")])
    expected = "right<SEP>A: more<SEP>A: wrong"
    assert (await properties(workspace, "A"))["description"] == expected
    await rebuild(workspace, ObjectKind.ENTITY, "A")
    assert (await properties(workspace, "A"))["description"] == expected
    await workspace.delete("d1")
    assert (await properties(workspace, "A"))["description"] == expected
    await workspace.delete("d2")
    await workspace.delete("d3")
    assert await workspace.names() == []
    await workspace.add("d1", [Fact("A", "B", "wrong")])
    assert (await properties(workspace, "A"))["description"] == "A: wrong"


async def test_an_edit_says_nothing_about_sources(workspace: Workspace) -> None:
    await workspace.add("d1", [Fact("A", "B", "x")])
    before = await entity_info(workspace.context, "A")
    info = await edit_entity(workspace.context, workspace.state, "A", {"entity_type": "Person"})
    assert info["source_id"] == before["source_id"] == "d1-chunk-000"
    assert info["graph_data"]["file_path"] == "d1.md"
    assert (await properties(workspace, "A"))["evidence_count"] == 1


async def test_a_chosen_type_outweighs_all_documents(workspace: Workspace) -> None:
    await workspace.add("d1", [Fact("A", text="x", type="thing")])
    await edit_entity(workspace.context, workspace.state, "A", {"entity_type": "Person"})
    for number in range(2, 6):
        await workspace.add(f"d{number}", [Fact("A", text=f"y{number}", type="place")])
    assert (await properties(workspace, "A"))["entity_type"] == "person"
    await workspace.delete("d1")
    assert (await properties(workspace, "A"))["entity_type"] == "person"


async def test_edits_in_a_row_do_not_pile_up(workspace: Workspace) -> None:
    await workspace.add("d1", [Fact("A", text="x")])
    for number in range(5):
        await edit_entity(workspace.context, workspace.state, "A", {"description": f"edit {number}"})
    await edit_entity(workspace.context, workspace.state, "A", {"entity_type": "person"})
    rows = await workspace.evidence(ObjectKind.ENTITY, "A")
    assert [(is_correction(row), row.description) for row in rows] == [(False, "A: x"), (True, "edit 4")]
    await workspace.add("d2", [Fact("A", text="y")])
    await edit_entity(workspace.context, workspace.state, "A", {"description": "last"})
    assert len(await workspace.evidence(ObjectKind.ENTITY, "A")) == 4
    node = await properties(workspace, "A")
    assert (node["description"], node["entity_type"]) == ("last", "person")


async def test_an_edit_of_what_only_people_said_changes_what_they_said(workspace: Workspace) -> None:
    await create_entity(workspace.context, workspace.state, "A", {"description": "one", "entity_type": "person"})
    await edit_entity(workspace.context, workspace.state, "A", {"description": "two", "colour": "red"})
    rows = await workspace.evidence(ObjectKind.ENTITY, "A")
    assert [(row.description, row.entity_type, row.chunk_id) for row in rows] == [("two", "person", "manual_creation")]
    info = await edit_entity(workspace.context, workspace.state, "A", {"colour": None})
    assert "colour" not in info["graph_data"]


async def test_own_properties_stay_through_documents_and_deletions(workspace: Workspace) -> None:
    await workspace.add("d1", [Fact("A", text="x")])
    await edit_entity(workspace.context, workspace.state, "A", {"colour": "red", "ranks": ["a", "b"], "checked": True})
    await workspace.add("d2", [Fact("A", text="y")])
    await workspace.delete("d1")
    node = await properties(workspace, "A")
    assert (node["colour"], node["ranks"], node["checked"]) == ("red", ["a", "b"], True)


async def test_a_summary_never_rewrites_what_a_person_said() -> None:
    model = ScriptedLLM(default="A summary.")
    workspace = await open_workspace(extract=model, force_llm_summary_on_merge=3)
    await workspace.add("d0", [Fact("A", text="zero")])
    await edit_entity(workspace.context, workspace.state, "A", {"description": "Said by a person."})
    for number in range(1, 4):
        await workspace.add(f"d{number}", [Fact("A", text=f"text {number}")])
    assert (await properties(workspace, "A"))["description"] == "Said by a person.<SEP>A summary."
    assert model.calls
    assert all("Said by a person." not in call.prompt for call in model.calls)
    await rebuild(workspace, ObjectKind.ENTITY, "A")
    assert (await properties(workspace, "A"))["description"] == "Said by a person.<SEP>A summary."


async def test_a_form_may_send_back_what_it_was_given(workspace: Workspace) -> None:
    await workspace.add("d1", [Fact("A", "B", "x")])
    shown = (await entity_info(workspace.context, "A"))["graph_data"]
    info = await edit_entity(workspace.context, workspace.state, "A", {**shown, "description": "new"})
    assert info["graph_data"]["description"] == "new"
    with pytest.raises(InputError, match="'source_id' follows from the evidence"):
        await edit_entity(workspace.context, workspace.state, "A", {**shown, "source_id": "other"})
    with pytest.raises(InputError, match="'created_at'"):
        await edit_entity(workspace.context, workspace.state, "A", {"created_at": 1})


async def test_joined_fragments_sent_back_become_one_text(workspace: Workspace) -> None:
    await workspace.add("d1", [Fact("A", text="x"), Fact("A", text="y")])
    await edit_entity(workspace.context, workspace.state, "A", {"description": "A: x<SEP>A: z"})
    assert (await properties(workspace, "A"))["description"] == "A: x\nA: z"


async def test_a_rename_goes_everywhere(workspace: Workspace) -> None:
    context, state = workspace.context, workspace.state
    await workspace.add("d1", [Fact("Ada", "Bea", "met"), Fact("Ada", "Cid", "paid")])
    await edit_relation(context, state, ("Ada", "Bea"), {"keywords": "own word", "colour": "red"})
    info = await edit_entity(context, state, "Ada", {"entity_name": " Zoe ", "description": "renamed"})
    assert info["entity_name"] == "Zoe"
    assert info["operation_summary"] == {
        "merged": False,
        "merge_status": "not_attempted",
        "merge_error": None,
        "operation_status": "success",
        "target_entity": None,
        "final_entity": "Zoe",
        "renamed": True,
    }
    assert await workspace.names() == ["Bea", "Cid", "Zoe"]
    assert await workspace.pairs() == {("Bea", "Zoe"), ("Cid", "Zoe")}
    relation = (await relation_info(context, "Zoe", "Bea"))["graph_data"]
    assert (relation["keywords"], relation["colour"]) == ("own word", "red")
    assert {row["entity_name"] for row in await context.stores.entities.query("Zoe renamed", 5)} >= {"Zoe"}
    assert not await workspace.evidence(ObjectKind.ENTITY, "Ada")
    assert not await workspace.evidence(ObjectKind.RELATION, relation_key("Ada", "Bea"))
    # A later document that uses the old name makes an entity of that name anew.
    await workspace.add("d2", [Fact("Ada", "Bea", "again")])
    assert (await properties(workspace, "Ada"))["description"] == "Ada: again"
    await workspace.delete("d1")
    assert await workspace.names() == ["Ada", "Bea"]


async def test_a_rename_onto_itself_is_no_rename(workspace: Workspace) -> None:
    await workspace.add("d1", [Fact("A", text="x")])
    info = await edit_entity(workspace.context, workspace.state, "A", {"entity_name": "A", "description": "y"})
    assert info["operation_summary"]["renamed"] is False


async def test_rename_onto_another_merges_only_when_allowed(workspace: Workspace) -> None:
    context, state = workspace.context, workspace.state
    await workspace.add("d1", [Fact("A", "X", "one"), Fact("B", "X", "two"), Fact("A", "B", "three")])
    with pytest.raises(DuplicateError, match="'B' exists already"):
        await edit_entity(context, state, "A", {"entity_name": "B", "description": "changed"})
    assert (await properties(workspace, "A"))["description"] == "A: one<SEP>A: three"
    info = await edit_entity(
        context, state, "A", {"entity_name": "B", "description": "changed"}, EditOptions(allow_merge=True)
    )
    assert info["entity_name"] == "B"
    assert info["operation_summary"] == {
        "merged": True,
        "merge_status": "success",
        "merge_error": None,
        "operation_status": "success",
        "target_entity": "B",
        "final_entity": "B",
        "renamed": True,
    }
    assert info["graph_data"]["description"] == "B: two\nB: three\nchanged"
    assert await workspace.pairs() == {("B", "X")}


@pytest.mark.parametrize(
    ("name", "data", "options", "error", "message"),
    [
        ("N", {"description": "x"}, EditOptions(), NotFoundError, "'N' does not exist"),
        ("A", {"entity_name": "Z"}, EditOptions(allow_rename=False), InputError, "allow_rename is off"),
        ("A", {"entity_name": ""}, EditOptions(), InputError, "entity_name"),
        ("A", {"entity_name": "A\x1ftenant:1"}, EditOptions(), ScopeError, "inside a scope"),
        ("A", {}, EditOptions(), InputError, "nothing to change"),
        ("A", {"description": ""}, EditOptions(), InputError, "description"),
        ("A", {"description": 5}, EditOptions(), InputError, "description is 5"),
        ("A", {"chosen_type": "x"}, EditOptions(), InputError, "'chosen_type'"),
        ("A", {"has_open_end": True}, EditOptions(), InputError, "'has_open_end'"),
        ("A", {"tenant_tag": "tenant:1"}, EditOptions(), InputError, "'tenant_tag'"),
        ("A", {"description": "x"}, EditOptions(tenant_tag="tenant:1"), ScopeError, "scopes are off"),
    ],
)
async def test_edits_that_are_refused_change_nothing(
    workspace: Workspace, name: str, data: dict[str, Any], options: EditOptions, error: type[Exception], message: str
) -> None:
    await workspace.add("d1", [Fact("A", "B", "met")])
    version = await workspace.context.stores.corpus_version()
    before = await workspace.node("A")
    with pytest.raises(error, match=message):
        await edit_entity(workspace.context, workspace.state, name, data, options)
    assert await workspace.node("A") == before
    assert await workspace.context.stores.corpus_version() == version


async def test_nothing_is_edited_while_the_pipeline_runs(workspace: Workspace) -> None:
    await workspace.add("d1", [Fact("A", "B", "met")])
    workspace.state.begin("processing documents")
    with pytest.raises(PipelineBusyError):
        await edit_entity(workspace.context, workspace.state, "A", {"description": "x"})
    with pytest.raises(PipelineBusyError):
        await edit_relation(workspace.context, workspace.state, ("A", "B"), {"description": "x"})
    workspace.state.end()


async def test_an_edited_relation_holds_like_an_entity(workspace: Workspace) -> None:
    context, state = workspace.context, workspace.state
    await workspace.add("d1", [Fact("A", "B", "met", weight=4.0, keywords="meeting,old")])
    info = await edit_relation(context, state, ("B", "A"), {"keywords": "new", "weight": 1.5})
    assert (info["src_entity"], info["tgt_entity"], info["source_id"]) == ("A", "B", "d1-chunk-000")
    assert info["graph_data"]["description"] == "met"
    await workspace.add("d2", [Fact("A", "B", "paid", weight=1.0, keywords="money")])
    edge = await context.stores.graph.get_edge("A", "B")
    assert edge is not None
    assert (edge["keywords"], edge["weight"], edge["description"]) == ("new,money", 2.5, "met<SEP>paid")
    await rebuild(workspace, ObjectKind.RELATION, relation_key("A", "B"))
    assert await context.stores.graph.get_edge("A", "B") == edge
    with pytest.raises(NotFoundError, match="no relation of 'A' and 'C'"):
        await edit_relation(context, state, ("C", "A"), {"keywords": "x"})
    with pytest.raises(InputError, match="nothing to change"):
        await edit_relation(context, state, ("A", "B"), {})


async def test_only_what_changed_is_embedded(workspace: Workspace) -> None:
    await workspace.add("d1", [Fact("A", "B", "met"), Fact("A", "C", "paid")])
    workspace.embedder.calls.clear()
    await edit_entity(workspace.context, workspace.state, "A", {"entity_type": "person", "colour": "red"})
    assert workspace.embedder.calls == []
    await edit_entity(workspace.context, workspace.state, "A", {"description": "new"})
    assert workspace.embedder.calls == [["A\nnew"]]


async def test_an_edit_in_a_scope_stays_there(scoped_workspace: Workspace) -> None:
    context, state = scoped_workspace.context, scoped_workspace.state
    await scoped_workspace.add("d1", [Fact("A", "B", "met")], tags=["tenant:1"])
    data = {"description": "for one tenant", "entity_name": "Z"}
    info = await edit_entity(context, state, "A", data, EditOptions(tenant_tag="tenant:1"))
    assert info["graph_data"]["tenant_tag"] == "tenant:1"
    assert await scoped_workspace.names() == ["A", "B", "B\x1ftenant:1", "Z\x1ftenant:1"]
    assert (await entity_info(context, "A"))["graph_data"]["description"] == "A: met"
    await create_relation_in_scope(scoped_workspace)
    await scoped_workspace.delete("d1")
    assert await scoped_workspace.names() == ["H\x1ftenant:1"]


async def create_relation_in_scope(workspace: Workspace) -> None:
    context, state = workspace.context, workspace.state
    await create_entity(context, state, "H", {}, tenant_tag="tenant:1")
    await create_relation(context, state, ("H", "Z"), {"description": "x"}, tenant_tag="tenant:1")


async def test_an_object_without_evidence_can_be_edited() -> None:
    workspace = await open_workspace()
    graph = workspace.context.stores.graph
    await graph.upsert_node("A", {"entity_id": "A", "entity_type": "person", "description": "one<SEP>two"})
    info = await edit_entity(workspace.context, workspace.state, "A", {"entity_type": "place"})
    assert info["source_id"] == "manual_creation"
    assert (info["graph_data"]["description"], info["graph_data"]["entity_type"]) == ("one\ntwo", "place")
