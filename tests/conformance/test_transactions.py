from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import numpy as np
import pytest
import pytest_asyncio

from lightrag.contracts.doc_status import BaseDocStatusStorage
from lightrag.contracts.evidence import BaseEvidenceStorage, Evidence, ObjectKind
from lightrag.contracts.graph import BaseGraphStorage
from lightrag.contracts.kv import BaseKVStorage
from lightrag.contracts.storage import StorageNameSpace
from lightrag.contracts.vector import BaseVectorStorage
from lightrag.exceptions import InputError
from tests.conformance.families import DIMENSION, Family, Workspace

ONES = np.ones(DIMENSION, dtype=np.float32)


@dataclass
class All:
    kv: BaseKVStorage
    status: BaseDocStatusStorage
    vectors: BaseVectorStorage
    graph: BaseGraphStorage
    evidence: BaseEvidenceStorage

    async def write(self, name: str) -> None:
        await self.kv.upsert({name: {}})
        await self.vectors.upsert({name: {"content": name, "vector": ONES}})
        await self.graph.upsert_edge(name, "hub", {})
        await self.evidence.add([Evidence(ObjectKind.ENTITY, name, f"{name}-1", name)])
        await self.status.upsert({name: {"status": "processed", "created_at": "2024"}})

    async def seen(self, name: str) -> list[bool]:
        """Whether each store has what ``write`` writes."""
        return [
            await self.kv.get_by_id(name) is not None,
            name in {row["id"] for row in await self.vectors.query("", 1000, ONES)},
            await self.graph.has_edge("hub", name),
            bool(await self.evidence.of_documents([name])),
            await self.status.get_by_id(name) is not None,
        ]


async def in_block(store: StorageNameSpace, *writes: Callable[[], Awaitable[object]], failing: bool = True) -> None:
    """Write in one unit of work, which fails at its end."""
    async with store.transaction():
        for write in writes:
            await write()
        if failing:
            raise KeyError


@pytest_asyncio.fixture
async def stores(family: Family, workspace: Workspace) -> All:
    if not family.transactional:
        pytest.skip("has no transactions: writes happen at once and in order")
    return All(
        await workspace.kv(),
        await workspace.doc_status(),
        await workspace.vectors(),
        await workspace.graph(),
        await workspace.evidence(),
    )


async def test_all_stores_of_a_workspace_are_one_group(stores: All) -> None:
    groups = {
        store.transaction_group for store in (stores.kv, stores.status, stores.vectors, stores.graph, stores.evidence)
    }
    assert len(groups) == 1
    assert None not in groups


async def test_nothing_is_visible_before_the_end(stores: All) -> None:
    async with stores.kv.transaction():
        await stores.write("a")
        assert await stores.seen("a") == [False] * 5
    assert await stores.seen("a") == [True] * 5


async def test_an_exception_discards_everything(stores: All) -> None:
    with pytest.raises(KeyError):
        await in_block(stores.graph, lambda: stores.write("a"))
    assert await stores.seen("a") == [False] * 5
    await stores.write("b")
    assert await stores.seen("b") == [True] * 5


async def test_a_write_that_cannot_be_stored_takes_the_others_with_it(stores: All) -> None:
    writes = (lambda: stores.write("a"), lambda: stores.kv.upsert({"bad\0": {}}))
    with pytest.raises(InputError):
        await in_block(stores.evidence, *writes, failing=False)
    assert await stores.seen("a") == [False] * 5


async def test_writes_of_tasks_started_in_the_block_belong_to_it(stores: All) -> None:
    async with stores.kv.transaction():
        await asyncio.gather(*(stores.write(f"n{number}") for number in range(5)))
        assert not any(await stores.seen("n3"))
    assert all(await stores.seen("n3"))


async def test_writes_of_others_are_not_held_up(stores: All) -> None:
    inside, done = asyncio.Event(), asyncio.Event()

    async def slow() -> None:
        async with stores.kv.transaction():
            await stores.write("slow")
            inside.set()
            await done.wait()

    task = asyncio.create_task(slow())
    await inside.wait()
    await stores.write("quick")
    assert all(await stores.seen("quick"))
    assert not any(await stores.seen("slow"))
    done.set()
    await task
    assert all(await stores.seen("slow"))


async def test_a_block_inside_another_commits_with_it(stores: All) -> None:
    async with stores.kv.transaction():
        async with stores.status.transaction():
            await stores.write("inner")
        assert not any(await stores.seen("inner"))
        with pytest.raises(KeyError):
            await in_block(stores.status, lambda: stores.write("failed"))
        await stores.write("outer")
    assert [all(await stores.seen(name)) for name in ("inner", "failed", "outer")] == [True, False, True]
    assert not any(await stores.seen("failed"))


async def test_a_task_that_outlives_its_block_writes_at_once(stores: All) -> None:
    ended = asyncio.Event()

    async def late() -> None:
        await ended.wait()
        await stores.write("late")

    async with stores.kv.transaction():
        task = asyncio.create_task(late())
    ended.set()
    await task
    assert all(await stores.seen("late"))


async def test_later_writes_of_a_block_win(stores: All) -> None:
    await stores.write("a")
    async with stores.kv.transaction():
        await stores.kv.upsert({"a": {"n": 1}})
        await stores.kv.upsert({"a": {"n": 2}})
        await stores.vectors.delete(["a"])
        await stores.graph.remove_nodes(["a"])
        await stores.graph.upsert_edge("a", "hub", {"again": 1})
        await stores.evidence.drop_documents(["a"])
    row = await stores.kv.get_by_id("a")
    assert row is not None
    assert row["n"] == 2
    assert await stores.seen("a") == [True, False, True, False, True]
    assert await stores.graph.node_degree("hub") == 1


async def test_drop_takes_part(stores: All) -> None:
    await stores.write("a")
    with pytest.raises(KeyError):
        await in_block(stores.kv, stores.vectors.drop, stores.kv.drop)
    assert await stores.seen("a") == [True] * 5


async def test_an_empty_block(stores: All) -> None:
    async with stores.kv.transaction():
        pass


async def test_other_workspaces_do_not_take_part(stores: All, open_workspace: Callable[..., Workspace]) -> None:
    other = await open_workspace("other").kv()
    assert other.transaction_group != stores.kv.transaction_group
    with pytest.raises(KeyError):
        await in_block(stores.kv, lambda: stores.write("a"), lambda: other.upsert({"a": {}}))
    assert not any(await stores.seen("a"))
    assert await other.get_by_id("a") is not None
