"""What a lane promises and bounded calls cannot show."""

from __future__ import annotations

import asyncio

from lightrag.runtime.lanes import Lane


async def test_nobody_overtakes_while_a_new_limit_has_not_been_told_yet() -> None:
    lane = Lane("llm", 1, lambda change: None)
    await lane.enter(10)
    waiting = asyncio.create_task(lane.enter(10))
    await asyncio.sleep(0)
    lane.limit = 2
    newcomer = asyncio.create_task(lane.enter(10))
    await asyncio.sleep(0)
    assert not waiting.done()
    assert not newcomer.done()
    lane.wake()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert waiting.done()
    assert not newcomer.done()
    lane.leave()
    await newcomer


async def test_those_who_gave_up_leave_nothing_behind() -> None:
    lane = Lane("llm", 1, lambda change: None)
    await lane.enter(10)
    waiting = [asyncio.create_task(lane.enter(10)) for _ in range(100)]
    await asyncio.sleep(0)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert lane._waiting == []
    assert lane.running == 1
