"""The rerank hook."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from lightrag.contracts.query import QueryParam
from lightrag.exceptions import ModelError, ModelReplyError
from lightrag.query.modes import run_query
from lightrag.query.rerank import read_ranking
from tests.fakes.models import ScriptedReranker
from tests.query.corpus import Engine, archive

QUESTION = "Who levies harbour dues on coal?"


async def ids_of(engine: Engine, **options: Any) -> list[str]:
    result = await run_query(engine.context, QUESTION, QueryParam(mode="naive", **options), data_only=True)
    return [row["chunk_id"] for row in result.chunks]


def by_pier(document: str) -> float:
    return 0.9 if "weighed" in document else 0.5 if "Board" in document else 0.1


async def test_the_model_decides_the_order_and_the_cut() -> None:
    rerank = ScriptedReranker(by_pier)
    engine = await archive(rerank=rerank)
    steps: list[str] = []
    param = QueryParam(mode="mix", hl_keywords=["harbour dues"], ll_keywords=["coal"], chunk_top_k=2)
    result = await run_query(engine.context, QUESTION, param, data_only=True, progress=steps.append)
    assert result.chunks[0]["chunk_id"] == "doc-1-chunk-002"
    assert len(result.chunks) == 2
    query, documents, top_n = rerank.calls[0]
    assert query == QUESTION
    assert len(documents) == 5
    assert top_n == 2
    assert "reranking" in steps


async def test_chunks_below_the_lowest_score_are_left_out() -> None:
    engine = await archive(rerank=ScriptedReranker(by_pier), min_rerank_score=0.5)
    assert await ids_of(engine) == ["doc-1-chunk-002", "doc-1-chunk-001", "doc-1-chunk-000"]


async def test_switched_off() -> None:
    rerank = ScriptedReranker(by_pier)
    engine = await archive(rerank=rerank)
    assert (await ids_of(engine, enable_rerank=False))[0] == "doc-1-chunk-001"
    assert not rerank.calls


@pytest.mark.parametrize("failure", [ModelError("busy"), RuntimeError("socket"), KeyError("results")])
async def test_a_failure_keeps_the_order_and_is_told_once(failure: Exception, caplog: pytest.LogCaptureFixture) -> None:
    rerank = ScriptedReranker(failure)
    engine = await archive(rerank=rerank)
    plain = await ids_of(await archive())
    caplog.clear()
    with caplog.at_level(logging.INFO):
        assert await ids_of(engine) == plain
        assert await ids_of(engine) == plain
    warnings = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(warnings) == 1
    # Working again and failing again is worth a second line.
    rerank.score = by_pier
    assert await ids_of(engine) != plain
    rerank.score = failure
    with caplog.at_level(logging.INFO):
        await ids_of(engine)
    assert len([record for record in caplog.records if record.levelno >= logging.WARNING]) == 2


async def test_a_missing_model_is_told_once_per_engine(caplog: pytest.LogCaptureFixture) -> None:
    first, second = await archive(), await archive()
    with caplog.at_level(logging.INFO):
        for engine in (first, first, second, second):
            await ids_of(engine)
    assert len([record for record in caplog.records if "no rerank model" in record.message]) == 2


@pytest.mark.parametrize(
    "reply",
    [
        None,
        "text",
        [],
        [{"index": 0}],
        [{"index": "x", "relevance_score": 1}],
        [{"index": 5, "relevance_score": 1.0}],
        [3],
    ],
)
def test_replies_that_cannot_be_used(reply: Any) -> None:
    with pytest.raises(ModelReplyError):
        read_ranking(reply, 2)


def test_a_ranking_names_each_document_once_best_first() -> None:
    reply = [
        {"index": 1, "relevance_score": 0.2},
        {"index": 0, "relevance_score": "0.7"},
        {"index": 1, "relevance_score": 0.9},
    ]
    assert read_ranking(reply, 2) == [(0, 0.7), (1, 0.2)]
