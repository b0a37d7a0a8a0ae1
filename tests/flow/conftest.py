"""An engine on the embedded default, with models whose behaviour a test can foresee."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from lightrag import LightRAG
from tests.fakes.facts import FactModel, make_embedding

EngineFactory = Callable[..., Awaitable[LightRAG]]


@pytest.fixture
async def make_engine(tmp_path: Path) -> AsyncIterator[EngineFactory]:
    """Return a function that opens engines; all are closed at the end of the test."""
    opened: list[LightRAG] = []

    async def make(model: Any = None, **fields: Any) -> LightRAG:
        fields.setdefault("working_dir", str(tmp_path / "store"))
        fields.setdefault("embedding_func", make_embedding())
        fields.setdefault("entity_extract_max_gleaning", 0)
        engine = LightRAG(llm_model_func=model or FactModel(), **fields)
        await engine.initialize_storages()
        opened.append(engine)
        return engine

    yield make
    for engine in opened:
        await engine.finalize_storages()
