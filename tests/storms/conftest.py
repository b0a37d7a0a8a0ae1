"""A provider per test, and no client left open after it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from lightrag.runtime.clients import close_idle_clients
from tests.storms.provider import Provider, running_provider


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with running_provider() as server:
        yield server
        await close_idle_clients()
