"""What every binding must do, whatever its protocol: stop with its caller, in time, and with its reader."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lightrag.exceptions import ModelTimeoutError
from lightrag.runtime.calls import BoundedCalls
from lightrag.runtime.retries import NO_RETRIES
from tests.llm.stub_server import StubServer

Ask = Callable[..., Awaitable[Any]]


async def stops_with_its_caller(stub: StubServer, ask: Ask) -> None:
    """A cancelled caller closes the connection."""
    stub.hangs()
    stub.asked.clear()
    stub.hung_up.clear()
    task = asyncio.create_task(BoundedCalls(ask, 1)())  # type: ignore[arg-type]
    await asyncio.wait_for(stub.asked.wait(), 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(stub.hung_up.wait(), 2)


async def stops_in_time(stub: StubServer, ask: Ask) -> None:
    """A time limit, the engine's or the request's own, closes the connection."""
    stub.hangs()
    stub.hung_up.clear()
    with pytest.raises(ModelTimeoutError):
        await BoundedCalls(ask, 1, timeout=0.3, retry=NO_RETRIES)()
    await asyncio.wait_for(stub.hung_up.wait(), 2)
    stub.hung_up.clear()
    with pytest.raises(ModelTimeoutError):
        await ask(timeout=0.3)
    await asyncio.wait_for(stub.hung_up.wait(), 2)


async def stops_with_its_reader(stub: StubServer, ask: Ask) -> None:
    """A stream that is closed early closes the connection; the handler of the stub hangs after its first piece."""
    stub.hung_up.clear()
    stream = await ask(stream=True)
    assert await anext(stream) == "One"
    await stream.aclose()
    await asyncio.wait_for(stub.hung_up.wait(), 2)
