from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest_asyncio

from tests.conformance.families import Workspace, family_named


@pytest_asyncio.fixture
async def open_workspace(tmp_path: Path) -> AsyncIterator[Callable[..., Workspace]]:
    made: list[Workspace] = []

    def make(name: str = "") -> Workspace:
        made.append(Workspace(family_named("sqlite"), tmp_path, name))
        return made[-1]

    yield make
    for workspace in made:
        await workspace.close()
