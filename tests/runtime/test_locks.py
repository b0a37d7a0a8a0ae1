from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from lightrag.exceptions import StorageError
from lightrag.runtime.locks import WorkspaceLock


class Machines:
    """What two locks of other folders share, as the stores of two machines do."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.lost = False

    async def acquire(self, *, wait: bool) -> bool:
        if not wait and self.lock.locked():
            return False
        return await self.lock.acquire()

    async def release(self) -> None:
        self.lock.release()
        if self.lost:
            raise StorageError("lost")


@pytest.fixture
def machines() -> Machines:
    return Machines()


@pytest.fixture
def locks(machines: Machines, tmp_path: Path) -> list[WorkspaceLock]:
    made = [WorkspaceLock(tmp_path / f"{number}.lock") for number in range(2)]
    for lock in made:
        lock.share(lambda: machines)
    return made


async def test_one_holder_between_machines(machines: Machines, locks: list[WorkspaceLock]) -> None:
    inside: list[int] = []

    async def work(lock: WorkspaceLock) -> None:
        async with lock:
            inside.append(1)
            await asyncio.sleep(0.01)
            assert len(inside) == 1
            inside.pop()

    await asyncio.gather(*(work(lock) for lock in locks * 3))
    assert not machines.lock.locked()


async def test_who_does_not_wait_does_not_wait_for_machines_either(locks: list[WorkspaceLock]) -> None:
    first, second = locks
    async with first:
        assert not await second.try_acquire()
        assert not await second.acquire_here()
        assert not second.locked()
    assert await second.try_acquire()
    await second.release()
    assert await second.acquire_here()
    await second.release()


async def test_a_waiter_that_is_cancelled_gives_everything_back(machines: Machines, locks: list[WorkspaceLock]) -> None:
    lock = locks[0]
    async with machines.lock:
        waiting = asyncio.create_task(lock.acquire())
        await asyncio.sleep(0.02)
        assert lock.locked()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert not lock.locked()
    async with lock:
        assert machines.lock.locked()


async def test_a_lock_that_was_lost_is_told_and_the_others_are_given_back(
    machines: Machines, locks: list[WorkspaceLock]
) -> None:
    lock = locks[0]
    machines.lost = True
    await lock.acquire()
    with pytest.raises(StorageError, match="lost"):
        await lock.release()
    assert not lock.locked()
    machines.lost = False
    async with lock:
        pass
