from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from lightrag.contracts.evidence import Evidence, ObjectKind, relation_key
from lightrag.exceptions import EmbeddingMismatchError
from tests.conformance.conftest import HOSTILE_IDS
from tests.conformance.families import DIMENSION, Family, Workspace, embedding, text_vector

KEY = relation_key("a", "b")


async def fill(workspace: Workspace) -> None:
    kv, status, vectors = await workspace.kv(), await workspace.doc_status(), await workspace.vectors()
    graph, evidence = await workspace.graph(), await workspace.evidence()
    for number in range(50):
        name = f"n{number}"
        await kv.upsert({name: {"n": number}})
        await status.upsert({name: {"status": "processed", "created_at": f"{number:03}", "metadata": {"n": number}}})
        await vectors.upsert({name: {"content": name, "vector": text_vector(name), "filter_tags": [name]}})
        await graph.upsert_edge(name, f"n{number // 2}", {"n": number})
        await evidence.add([Evidence(ObjectKind.ENTITY, name, f"c{number}", f"d{number}", "text", sequence=0)])
    await evidence.add([Evidence(ObjectKind.RELATION, KEY, "c", "d", "text")])
    for number in range(0, 50, 3):
        name = f"n{number}"
        await kv.delete([name])
        await vectors.delete([name])
        await graph.delete_node(name)
        await evidence.drop_documents([f"d{number}"])
    await vectors.upsert({"n1": {"content": "changed", "vector": text_vector("changed")}})


async def state(workspace: Workspace) -> dict[str, Any]:
    kv, status, vectors = await workspace.kv(), await workspace.doc_status(), await workspace.vectors()
    graph, evidence = await workspace.graph(), await workspace.evidence()
    labels = await graph.get_all_labels()
    return {
        "kv": await kv.scan(),
        "status": await status.scan(),
        "vectors": await vectors.get_by_ids(await vectors.scan_ids()),
        # A server may compute a similarity anew, in another order.
        "nearest": [
            {**row, "distance": pytest.approx(row["distance"], abs=1e-6)}
            for row in await vectors.query("", 20, text_vector("q"))
        ],
        "nodes": await graph.get_nodes_batch(labels),
        "edges": await graph.get_all_edges(),
        "degrees": await graph.node_degrees_batch(labels),
        "evidence": await evidence.of_documents([f"d{number}" for number in range(50)]),
        "relations": await evidence.scan_objects(ObjectKind.RELATION),
    }


async def test_everything_is_there_again(family: Family, open_workspace: Callable[..., Workspace]) -> None:
    if not family.survives_reopening:
        pytest.skip("keeps nothing")
    first = open_workspace()
    await fill(first)
    before = await state(first)
    await first.close()
    second = open_workspace()
    assert await state(second) == before
    await second.close()
    # Once more, now that closing has folded away whatever the first life left.
    assert await state(open_workspace()) == before


async def test_hostile_ids_are_there_again(family: Family, open_workspace: Callable[..., Workspace]) -> None:
    if not family.survives_reopening:
        pytest.skip("keeps nothing")
    first = open_workspace()
    await (await first.kv()).upsert({key: {"key": key} for key in HOSTILE_IDS})
    await (await first.graph()).upsert_edges_batch([(key, "hub", {"key": key}) for key in HOSTILE_IDS])
    await first.close()
    second = open_workspace()
    rows = await (await second.kv()).get_by_ids(HOSTILE_IDS)
    assert [row and row["key"] for row in rows] == list(HOSTILE_IDS)
    edges = await (await second.graph()).get_all_edges()
    assert {edge["key"]: {edge["source"], edge["target"]} for edge in edges} == {
        key: {key, "hub"} for key in HOSTILE_IDS
    }


async def test_another_model_is_refused_after_reopening(
    family: Family, open_workspace: Callable[..., Workspace]
) -> None:
    if not family.survives_reopening:
        pytest.skip("keeps nothing")
    first = open_workspace()
    await (await first.vectors()).upsert({"a": {"content": "a"}})
    await first.close()
    second = open_workspace()
    for func in (embedding(DIMENSION * 2), embedding(model="model-b")):
        with pytest.raises(EmbeddingMismatchError):
            await second.vectors(func=func)
    assert await (await second.vectors()).count() == 1


async def test_opening_and_closing_again_and_again(open_workspace: Callable[..., Workspace]) -> None:
    for number in range(15):
        workspace = open_workspace()
        store = await workspace.kv()
        await store.upsert({f"n{number}": {}})
        assert len(await store.scan()) == number + 1
        await workspace.close()


async def test_opening_at_the_same_time(open_workspace: Callable[..., Workspace]) -> None:
    workspaces = [open_workspace() for _ in range(8)]
    stores = await asyncio.gather(*(workspace.kv() for workspace in workspaces))
    await asyncio.gather(*(store.upsert({f"n{number}": {}}) for number, store in enumerate(stores)))
    assert len(await stores[0].scan()) == 8
    await asyncio.gather(*(workspace.close() for workspace in workspaces))
    assert len(await (await open_workspace().kv()).scan()) == 8
