"""Workspaces in memory; every test that uses one ends with a check that all its indexes agree."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from lightrag.graph.check import graph_consistency
from tests.graph.workspace import NO_SUMMARIES, SCOPES, Workspace, open_workspace


@pytest.fixture
async def workspace() -> AsyncIterator[Workspace]:
    """A workspace without scopes."""
    opened = await open_workspace(**NO_SUMMARIES)
    yield opened
    assert await graph_consistency(opened.context) == []


@pytest.fixture
async def scoped_workspace() -> AsyncIterator[Workspace]:
    """A workspace with a graph of its own for every ``tenant:`` tag."""
    opened = await open_workspace(**NO_SUMMARIES, **SCOPES)
    yield opened
    assert await graph_consistency(opened.context) == []
