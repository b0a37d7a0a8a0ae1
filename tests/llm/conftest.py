"""A stub server per test, and no client left open after it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from lightrag.runtime.clients import close_idle_clients
from tests.llm.stub_server import StubServer, running_stub


@pytest.fixture
async def stub() -> AsyncIterator[StubServer]:
    async with running_stub() as server:
        yield server
        await close_idle_clients()
