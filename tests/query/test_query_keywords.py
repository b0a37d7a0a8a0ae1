"""Keywords: given, remembered, asked for, or replaced by the question."""

from __future__ import annotations

import json

import pytest

from lightrag.contracts.query import QueryParam
from lightrag.exceptions import ModelError
from lightrag.query.modes import run_query, to_answer, to_data
from tests.query.corpus import archive

QUESTION = "Who levies harbour dues on coal?"
LONG = "Please tell me all that you happen to know about it, whatever it may be."
REPLY = json.dumps({"high_level_keywords": ["harbour dues"], "low_level_keywords": ["dock board", "coal"]})


async def test_the_model_is_asked_once_per_question() -> None:
    engine = await archive()
    engine.keyword_llm.default = REPLY
    for mode in ("mix", "local", "global"):
        result = to_data(await run_query(engine.context, QUESTION, QueryParam(mode=mode), data_only=True))
        assert result["metadata"]["keywords"] == {
            "high_level": ["harbour dues"],
            "low_level": ["dock board", "coal"],
        }
    assert len(engine.keyword_llm.calls) == 1
    call = engine.keyword_llm.calls[0]
    assert QUESTION in call.prompt
    assert call.options["response_format"] == {"type": "json_object"}
    assert engine.embedder.calls[0] == [QUESTION, "dock board, coal", "harbour dues"]


async def test_given_keywords_spare_the_model() -> None:
    engine = await archive()
    for given in ({"hl_keywords": ["harbour dues"]}, {"ll_keywords": ["dock board"]}):
        steps: list[str] = []
        await run_query(
            engine.context, QUESTION, QueryParam(mode="mix", **given), data_only=True, progress=steps.append
        )
        assert steps[0] != "extracting_keywords"
    assert not engine.keyword_llm.calls


async def test_the_corpus_does_not_matter_to_remembered_keywords() -> None:
    engine = await archive()
    engine.keyword_llm.default = REPLY
    await run_query(engine.context, QUESTION, QueryParam(), data_only=True)
    await engine.context.stores.mark_corpus_changed()
    await run_query(engine.context, QUESTION, QueryParam(top_k=3, user_prompt="In verse."), data_only=True)
    assert len(engine.keyword_llm.calls) == 1


async def test_another_language_is_another_question() -> None:
    engine = await archive()
    engine.keyword_llm.default = REPLY
    await run_query(engine.context, QUESTION, QueryParam(), data_only=True)
    engine.context.addon["language"] = "French"
    await run_query(engine.context, QUESTION, QueryParam(), data_only=True)
    assert len(engine.keyword_llm.calls) == 2
    assert "French" in engine.keyword_llm.calls[1].prompt


async def test_without_the_cache_the_model_is_asked_every_time() -> None:
    engine = await archive(enable_llm_cache=False)
    engine.keyword_llm.default = REPLY
    for _ in range(2):
        await run_query(engine.context, QUESTION, QueryParam(), data_only=True)
    assert len(engine.keyword_llm.calls) == 2


@pytest.mark.parametrize("reply", ["", "no idea", "[]", '{"high_level_keywords": [], "low_level_keywords": []}'])
async def test_a_short_question_without_keywords_is_searched_for_as_it_is(reply: str) -> None:
    engine = await archive()
    engine.keyword_llm.default = reply
    data = to_data(await run_query(engine.context, "dock board", QueryParam(mode="local"), data_only=True))
    assert data["metadata"]["keywords"] == {"high_level": [], "low_level": ["dock board"]}
    assert data["data"]["entities"]
    # Nothing was learnt, so nothing is remembered.
    await run_query(engine.context, "dock board", QueryParam(mode="local"), data_only=True)
    assert len(engine.keyword_llm.calls) == 2


async def test_a_long_question_without_keywords_fails_with_words() -> None:
    engine = await archive()
    engine.keyword_llm.default = "nothing"
    result = await run_query(engine.context, LONG, QueryParam(mode="mix"))
    assert to_data(result)["metadata"] == {"failure_reason": "no_results", "mode": "mix"}
    assert str(to_answer(result)).endswith("[no-context]")
    assert not engine.embedder.calls


async def test_naive_needs_no_keywords() -> None:
    engine = await archive()
    await run_query(engine.context, LONG + " coal", QueryParam(mode="naive"), data_only=True)
    assert not engine.keyword_llm.calls


async def test_a_failing_keyword_model_is_an_error() -> None:
    engine = await archive()
    engine.keyword_llm.default = ModelError("out of order")
    with pytest.raises(ModelError, match="out of order"):
        await run_query(engine.context, QUESTION, QueryParam())
