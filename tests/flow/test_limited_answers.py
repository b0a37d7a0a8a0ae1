"""Whoever sees some documents only gets answers from those, by every way of asking."""

from __future__ import annotations

from typing import Any

from lightrag import QueryParam
from tests.flow.conftest import EngineFactory


async def test_every_way_of_asking_is_limited(make_engine: EngineFactory) -> None:
    rag = await make_engine(cosine_better_than_threshold=-1.0)
    await rag.ainsert("Ann -> Oslo: lives in", file_paths="a.md", metadata={"tags": ["open"]})
    await rag.ainsert("Ann -> Rome: was secretly seen in", file_paths="b.md", metadata={"tags": ["secret"]})
    view = rag.restricted(["open"])
    question = "Where was Ann seen, in Oslo or in Rome?"

    async def shown(mode: Any) -> list[str]:
        param = QueryParam(mode=mode, only_need_context=True)
        return [
            str(await view.aquery(question, param)),
            str(await view.aquery_data(question, param)),
            str(await view.aquery_llm(question, param)),
        ]

    for mode in ("naive", "local", "global", "hybrid", "mix"):
        for text in await shown(mode):
            assert "Oslo" in text, mode
            assert "secretly" not in text, mode
            assert "b.md" not in text, mode
    assert "b.md" in str(await rag.aquery_llm(question, QueryParam(only_need_context=True)))
