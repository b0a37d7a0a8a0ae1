"""Changing the graph by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import Server


@pytest.fixture
async def filled(server: Server) -> Server:
    await server.add()
    return server


async def post(server: Server, path: str, **body: Any) -> Any:
    return await server.client.post(f"/graph/{path}", json=body)


async def delete(server: Server, path: str, **body: Any) -> Any:
    return await server.client.request("DELETE", f"/graph/{path}", json=body)


async def labels(server: Server) -> list[str]:
    found: list[str] = (await server.client.get("/graph/label/list")).json()
    return found


async def test_entity_is_created(filled: Server) -> None:
    answer = await post(
        filled, "entity/create", entity_name="Lovelace", entity_data={"description": "A house.", "entity_type": "House"}
    )
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert told["status"] == "success"
    assert told["data"]["entity_name"] == "Lovelace"
    assert told["data"]["source_id"] == "manual_creation"
    assert told["data"]["graph_data"]["description"] == "A house."
    assert "Lovelace" in await labels(filled)
    again = await post(filled, "entity/create", entity_name="Lovelace", entity_data={})
    assert (again.status_code, again.json()["code"]) == (400, "duplicate")


async def test_entity_is_changed_and_renamed(filled: Server) -> None:
    answer = await post(filled, "entity/edit", entity_name="Ada", updated_data={"description": "A countess."})
    assert answer.status_code == 200, answer.text
    assert answer.json()["data"]["graph_data"]["description"] == "A countess."
    assert answer.json()["operation_summary"]["renamed"] is False
    refused = await post(filled, "entity/edit", entity_name="Ada", updated_data={"entity_name": "Ada Lovelace"})
    assert refused.status_code == 400
    renamed = await post(
        filled, "entity/edit", entity_name="Ada", updated_data={"entity_name": "Ada Lovelace"}, allow_rename=True
    )
    assert renamed.status_code == 200, renamed.text
    summary = renamed.json()["operation_summary"]
    assert set(summary) == {
        "merged", "merge_status", "merge_error", "operation_status", "target_entity", "final_entity", "renamed"
    }  # fmt: skip
    assert (summary["renamed"], summary["final_entity"]) == (True, "Ada Lovelace")
    assert await labels(filled) == ["Ada Lovelace", "Babbage", "Engine"]
    assert (
        await post(filled, "entity/edit", entity_name="Nobody", updated_data={"description": "x"})
    ).status_code == 400


async def test_relation_is_created_and_changed(filled: Server) -> None:
    ends = {"source_entity": "Babbage", "target_entity": "Ada"}
    answer = await post(
        filled, "relation/create", **ends, relation_data={"description": "They met.", "keywords": "met"}
    )
    assert answer.status_code == 200, answer.text
    data = answer.json()["data"]
    assert (data["src_entity"], data["tgt_entity"]) == ("Ada", "Babbage")
    for bad in (
        {**ends, "relation_data": {"description": "again"}},
        {**ends, "target_entity": "Nobody", "relation_data": {"description": "x"}},
        {"source_entity": "Ada", "target_entity": "Engine", "relation_data": {"description": ""}},
    ):
        assert (await post(filled, "relation/create", **bad)).status_code == 400, bad
    changed = await post(
        filled,
        "relation/edit",
        source_id="Ada",
        target_id="Babbage",
        updated_data={"description": "They wrote letters."},
    )
    assert changed.json()["data"]["graph_data"]["description"] == "They wrote letters."


async def test_entities_are_merged(filled: Server) -> None:
    answer = await post(filled, "entities/merge", entities_to_change=["Babbage"], entity_to_change_into="Ada")
    assert answer.status_code == 200, answer.text
    assert answer.json()["data"]["entity_name"] == "Ada"
    assert await labels(filled) == ["Ada", "Engine"]


async def test_deletions(filled: Server) -> None:
    answer = await delete(filled, "relation/delete", source_entity="Engine", target_entity="Ada")
    assert answer.status_code == 200
    assert answer.json() | {"message": ""} == {
        "status": "success", "doc_id": "", "message": "", "status_code": 200, "file_path": None
    }  # fmt: skip
    assert (await delete(filled, "relation/delete", source_entity="Engine", target_entity="Ada")).status_code == 404
    assert (await delete(filled, "entity/delete", entity_name="Engine")).status_code == 200
    assert await labels(filled) == ["Ada", "Babbage"]
    missing = await delete(filled, "entity/delete", entity_name="Engine")
    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")


async def test_changes_wait_for_nobody(filled: Server) -> None:
    filled.engine._state.begin("processing documents")
    try:
        answer = await post(filled, "entity/create", entity_name="X", entity_data={})
        assert (answer.status_code, answer.json()["code"]) == (409, "pipeline_busy")
        assert (await delete(filled, "entity/delete", entity_name="Ada")).status_code == 409
    finally:
        filled.engine._state.end()


async def test_unknown_scope_and_field(filled: Server) -> None:
    answer = await post(filled, "entity/create", entity_name="X", entity_data={}, tenant_tag="tenant:1")
    assert answer.status_code == 422
    answer = await post(filled, "entity/create", entity_name="X", entity_date={})
    assert answer.status_code == 422
    assert "did you mean 'entity_data'" in answer.text
