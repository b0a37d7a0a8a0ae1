"""Faults that users of other tools have reported about cached answers: here the right behaviour, through the engine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from lightrag import LightRAG, QueryParam
from lightrag.prompts import PROMPTS
from tests.fakes.filtering import MODES, Reciting
from tests.flow.conftest import EngineFactory

QUESTION = "What did the Hub do in Velmouth?"
THIRTIES = {"range": {"start": "1930-01-01T00:00:00Z", "end": "1939-12-31T23:59:59Z"}}


def about_hub(word: str) -> str:
    return f"A page of {word}.\nHub -> Velmouth: {word} tells what the Hub did in Velmouth\n"


async def text_of(answer: str | AsyncIterator[str]) -> str:
    return answer if isinstance(answer, str) else "".join([piece async for piece in answer])


async def open_filled(make_engine: EngineFactory, model: Any, **fields: Any) -> LightRAG:
    engine = await make_engine(model, vector_db_storage_cls_kwargs={"cosine_better_than_threshold": -1.0}, **fields)
    metadata = {"start_date": "1928-04-01T00:00:00Z", "tags": ["act", "lang:en", "tenant:a", "tenant:b"]}
    await engine.ainsert(about_hub("alpha"), ids="alpha", file_paths="alpha", metadata=metadata)
    return engine


@pytest.mark.parametrize("mode", ["naive", "mix"])
async def test_numbers_side_by_side_are_not_run_together(make_engine: EngineFactory, mode: str) -> None:
    model = Reciting()
    engine = await open_filled(make_engine, model)
    numbers = [(1, 11), (11, 1), (1, 1), (11, 11), (111, 1)]
    for asked, (top_k, chunk_top_k) in enumerate(numbers, start=1):
        for _ in range(2):
            await engine.aquery(QUESTION, QueryParam(mode=mode, top_k=top_k, chunk_top_k=chunk_top_k))
        assert model.count("answer") == asked


async def test_lists_are_not_run_together(make_engine: EngineFactory) -> None:
    model = Reciting()
    engine = await open_filled(make_engine, model)
    variants: list[dict[str, Any]] = [
        {"hl_keywords": ["a", "b"]},
        {"hl_keywords": ["a,b"]},
        {"hl_keywords": ["ab"]},
        {"hl_keywords": ["a"], "ll_keywords": ["b"]},
        {"ll_keywords": ["a", "b"]},
    ]
    for asked, fields in enumerate(variants, start=1):
        for _ in range(2):
            await engine.aquery(QUESTION, QueryParam(mode="mix", **fields))
        assert model.count("answer") == asked, fields


@pytest.mark.parametrize("fields", [{}, {"required_tags": ["act"]}], ids=["unfiltered", "filtered"])
@pytest.mark.parametrize("mode", MODES)
async def test_what_was_not_known_before_an_upload_is_known_after_it(
    make_engine: EngineFactory, mode: str, fields: dict[str, Any]
) -> None:
    model = Reciting()
    engine = await make_engine(model, vector_db_storage_cls_kwargs={"cosine_better_than_threshold": -1.0})
    param = QueryParam(mode=mode, **fields)
    assert await engine.aquery(QUESTION, param) == PROMPTS["fail_response"]
    await engine.ainsert(about_hub("alpha"), ids="alpha", file_paths="alpha", metadata={"tags": ["act"]})
    assert "alpha" in str(await engine.aquery(QUESTION, param))
    await engine.ainsert(about_hub("beta"), ids="beta", file_paths="beta", metadata={"tags": ["act"]})
    assert "beta" in str(await engine.aquery(QUESTION, param))
    await engine.adelete_by_doc_id("beta")
    answer = str(await engine.aquery(QUESTION, param))
    assert "alpha" in answer
    assert "beta" not in answer


async def test_any_change_of_the_corpus_makes_answers_unreachable(make_engine: EngineFactory) -> None:
    """Also one that the filter leaves out, so that nothing in the context tells of it."""
    model = Reciting()
    engine = await open_filled(make_engine, model)
    param = QueryParam(mode="mix", required_tags=["act"])
    changes: list[Callable[[], Awaitable[Any]]] = [
        lambda: engine.ainsert(about_hub("beta"), ids="beta", metadata={"tags": ["letter"]}),
        lambda: engine.aupdate_document_metadata("beta", {"tags": ["note"]}),
        lambda: engine.adelete_by_doc_id("beta"),
    ]
    answers = {await engine.aquery(QUESTION, param) for _ in range(2)}
    for asked, change in enumerate(changes, start=2):
        await change()
        answers |= {await engine.aquery(QUESTION, param) for _ in range(2)}
        assert model.count("answer") == asked
    assert len(answers) == 1


async def test_everything_that_shapes_an_answer_makes_another_entry(make_engine: EngineFactory) -> None:
    model = Reciting()
    engine = await open_filled(make_engine, model, scope_tag_prefixes=["tenant:"], enable_kg_scope_materialization=True)
    variants: list[tuple[dict[str, Any], str | None]] = [
        ({}, None),
        ({"required_tags": ["act"]}, None),
        ({"date_filter": THIRTIES}, None),
        ({"date_filter": {**THIRTIES, "range_mode": "contains"}}, None),
        ({"required_tags": ["tenant:a"]}, None),
        ({"required_tags": ["tenant:b"]}, None),
        ({"required_tags": ["tenant:a", "act"]}, None),
        ({"kg_evidence_policy": "strict_drop", "required_tags": ["act"]}, None),
        ({"user_prompt": "Be brief."}, None),
        ({"response_type": "One word"}, None),
        ({"include_document_metadata": True}, None),
        ({"enable_rerank": False}, None),
        ({}, "Say it in rhyme. {context_data}"),
        ({}, "Say it in prose. {context_data}"),
    ]
    for asked, (fields, system_prompt) in enumerate(variants, start=1):
        for _ in range(2):
            await engine.aquery(QUESTION, QueryParam(mode="mix", **fields), system_prompt=system_prompt)
        assert model.count("answer") == asked, fields


async def test_another_model_and_a_conversation_share_nothing(make_engine: EngineFactory) -> None:
    model = Reciting()
    engine = await open_filled(make_engine, model, llm_model_name="one")
    await engine.aquery(QUESTION, QueryParam(mode="mix"))
    history = [{"role": "user", "content": "We speak of the Hub."}]
    for _ in range(2):
        await engine.aquery(QUESTION, QueryParam(mode="mix", conversation_history=history))
    assert model.count("answer") == 3
    await engine.finalize_storages()
    other = Reciting()
    engine = await make_engine(
        other, llm_model_name="two", vector_db_storage_cls_kwargs={"cosine_better_than_threshold": -1.0}
    )
    await engine.aquery(QUESTION, QueryParam(mode="mix"))
    assert other.count("answer") == 1


@pytest.mark.parametrize("mode", MODES)
async def test_the_same_filter_in_other_words_is_the_same_entry(make_engine: EngineFactory, mode: str) -> None:
    model = Reciting()
    engine = await open_filled(make_engine, model)
    spellings: list[dict[str, Any]] = [
        {
            "required_tags": ["act", "lang:en"],
            "forbidden_tags": ["draft", "old"],
            "date_filter": THIRTIES,
            "search_filters": {"document_ids": ["alpha", "x"]},
        },
        {
            "required_tags": [" LANG:EN", "Act", "act"],
            "forbidden_tags": ["old", "Draft"],
            "date_filter": {"range": {"start": "1930-01-01T02:00:00+02:00", "end": "1939-12-31T18:59:59-05:00"}},
            "search_filters": {"document_ids": ["x", "alpha", "x"]},
        },
    ]
    for fields in spellings * 2:
        await engine.aquery(QUESTION, QueryParam(mode=mode, **fields))
    assert model.count("answer") == 1


@pytest.mark.parametrize("fields", [{}, {"required_tags": ["act"]}], ids=["unfiltered", "filtered"])
async def test_a_cached_answer_comes_back_in_the_form_that_is_asked_for(
    make_engine: EngineFactory, fields: dict[str, Any]
) -> None:
    model = Reciting()
    engine = await open_filled(make_engine, model)
    streamed = await engine.aquery(QUESTION, QueryParam(mode="mix", stream=True, **fields))
    assert not isinstance(streamed, str)
    text = await text_of(streamed)
    assert "alpha" in text
    again = await engine.aquery(QUESTION, QueryParam(mode="mix", stream=True, **fields))
    assert not isinstance(again, str)
    assert await text_of(again) == text
    plain = await engine.aquery(QUESTION, QueryParam(mode="mix", **fields))
    assert plain == text
    assert model.count("answer") == 1
    result = await engine.aquery_llm(QUESTION, QueryParam(mode="mix", stream=True, **fields))
    assert result["llm_response"]["is_streaming"]
    assert await text_of(result["llm_response"]["response_iterator"]) == text
