"""Waiting for something that happens elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


async def eventually(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    """Return when a condition holds; fail when it never does."""
    for _ in range(int(seconds / 0.005)):
        if condition():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not happen")
