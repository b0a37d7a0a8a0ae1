"""Clients are shared, replaced and closed at the right moment."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from lightrag.runtime.clients import ClientPool, close_idle_clients


@dataclass(eq=False)
class FakeClient:
    settings: str
    closed: bool = False


async def close(client: FakeClient) -> None:
    client.closed = True


async def test_equal_settings_share_a_client() -> None:
    pool = ClientPool(FakeClient, close)
    async with pool.lease("a") as first, pool.lease("a") as second, pool.lease("b") as other:
        assert first is second
        assert other is not first
    async with pool.lease("a") as again:
        assert again is first
    assert not first.closed


async def test_a_client_in_use_is_closed_by_its_last_user() -> None:
    pool = ClientPool(FakeClient, close)
    async with pool.lease("a") as client:
        async with pool.lease("a"):
            async with pool.lease("idle") as idle:
                pass
            await close_idle_clients()
            assert idle.closed
            async with pool.lease("a") as replaced:
                assert replaced is not client
        assert not client.closed
    assert client.closed
    assert not replaced.closed


def test_every_event_loop_has_its_own() -> None:
    pool = ClientPool(FakeClient, close)
    seen = []

    async def use() -> None:
        async with pool.lease("a") as client:
            seen.append(client)

    asyncio.run(use())
    asyncio.run(use())
    assert seen[0] is not seen[1]


async def test_the_import_of_a_slow_package_stops_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_provider_package.py").write_text("import time\ntime.sleep(0.5)\nREADY = True\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    def build(settings: str) -> FakeClient:
        import slow_provider_package  # type: ignore[import-not-found]

        return FakeClient(settings, closed=not slow_provider_package.READY)

    pool = ClientPool(build, close, "slow_provider_package")

    async def use() -> bool:
        async with pool.lease("x") as client:
            return not client.closed

    using = [asyncio.create_task(use()) for _ in range(3)]
    longest, last = 0.0, time.monotonic()
    while not all(task.done() for task in using):
        await asyncio.sleep(0.01)
        longest, last = max(longest, time.monotonic() - last), time.monotonic()
    assert await asyncio.gather(*using) == [True] * 3
    assert longest < 0.4
