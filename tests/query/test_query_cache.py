"""The answer cache: hit when everything is the same, never stale, never crossing."""

from __future__ import annotations

from typing import Any

import pytest

from lightrag.contracts.query import QueryParam
from lightrag.exceptions import StorageFullError
from lightrag.query.modes import run_query, to_answer
from tests.fakes.models import ScriptedReranker
from tests.query.corpus import Document, Engine, Writer, archive, make_engine

QUESTION = "Who levies harbour dues on coal?"
KEYS = {"hl_keywords": ["harbour dues"], "ll_keywords": ["dock board"]}


def numbered(engine: Engine) -> None:
    """Let every call of the model give another answer."""
    engine.llm.default = lambda _: f"answer {len(engine.llm.calls)}"


async def ask(engine: Engine, *, system_prompt: str | None = None, query: str = QUESTION, **options: Any) -> Any:
    param = QueryParam(**{"mode": "mix", **KEYS, **options})
    return to_answer(await run_query(engine.context, query, param, system_prompt=system_prompt))


async def test_the_same_question_is_answered_from_the_cache() -> None:
    engine = await archive()
    numbered(engine)
    assert await ask(engine) == "answer 1"
    steps: list[str] = []
    param = QueryParam(mode="mix", **KEYS)
    result = await run_query(engine.context, f"  {QUESTION}\n", param, progress=steps.append)
    assert result.content == "answer 1"
    assert result.llm_generated
    assert result.references
    assert "generating_response" not in steps
    assert len(engine.llm.calls) == 1


VARIANTS: list[dict[str, Any]] = [
    {"mode": "hybrid"},
    {"mode": "local"},
    {"mode": "naive"},
    {"query": "Who levies harbour dues on fish?"},
    {"response_type": "Single Paragraph"},
    {"top_k": 1, "chunk_top_k": 11},
    {"top_k": 11, "chunk_top_k": 1},
    {"max_entity_tokens": 5999},
    {"max_relation_tokens": 5999},
    {"max_total_tokens": 29_999},
    {"hl_keywords": ["harbour", "dues"]},
    {"hl_keywords": ["harbour dues", "dock board"], "ll_keywords": []},
    {"hl_keywords": [], "ll_keywords": ["harbour dues", "dock board"]},
    {"user_prompt": "In verse."},
    {"system_prompt": "Answer from {context_data}"},
    {"system_prompt": "Answer only from {context_data}"},
    {"enable_rerank": False},
]


async def test_every_difference_is_another_entry() -> None:
    engine = await archive()
    numbered(engine)
    asked = [{}, *VARIANTS]
    answers = [await ask(engine, **variant) for variant in asked]
    assert len(set(answers)) == len(asked)
    assert [await ask(engine, **variant) for variant in asked] == answers
    assert len(engine.llm.calls) == len(asked)


async def test_another_model_is_another_entry() -> None:
    engine = await archive()
    numbered(engine)
    await ask(engine)
    engine.context.models.query.identity = "another"
    assert await ask(engine) == "answer 2"


async def test_a_change_of_the_corpus_makes_answers_unreachable() -> None:
    engine = make_engine()
    numbered(engine)
    assert str(await ask(engine)).endswith("[no-context]")
    await Writer(engine).add(Document("a.md", ["The mayor levies harbour dues on coal."]))
    assert await ask(engine) == "answer 1"
    assert await ask(engine) == "answer 1"
    await engine.context.stores.mark_corpus_changed()
    assert await ask(engine) == "answer 2"


async def test_the_version_is_read_before_the_first_search() -> None:
    engine = await archive()
    await ask(engine)
    version, search = engine.reads.index("workspace_state.get_by_id"), engine.reads.index("entities.query")
    assert version < search


async def test_a_change_during_the_query_leaves_no_stale_answer() -> None:
    engine = await archive()
    numbered(engine)

    async def progress(step: str) -> None:
        if step == "generating_response" and len(engine.llm.calls) == 0:
            await engine.context.stores.mark_corpus_changed()

    await run_query(engine.context, QUESTION, QueryParam(mode="mix", **KEYS), progress=progress)
    assert await ask(engine) == "answer 2"


async def test_other_retrieved_text_is_another_entry_even_if_nobody_marked_the_change() -> None:
    engine = await archive()
    numbered(engine)
    await ask(engine, mode="naive")
    stores = engine.context.stores
    row = await stores.text_chunks.get_by_id("doc-1-chunk-001")
    assert row is not None
    await stores.text_chunks.upsert({"doc-1-chunk-001": {**row, "content": "The mayor levies them."}})
    assert await ask(engine, mode="naive") == "answer 2"


async def test_an_answer_over_a_failed_rerank_is_not_served_later() -> None:
    rerank = ScriptedReranker(RuntimeError("busy"))
    engine = await archive(rerank=rerank)
    numbered(engine)
    await ask(engine, mode="naive")
    rerank.score = lambda document: float(len(document))
    assert await ask(engine, mode="naive") == "answer 2"


async def test_a_conversation_bypasses_the_cache() -> None:
    engine = await archive()
    numbered(engine)
    history = [{"role": "user", "content": "Hello"}]
    assert await ask(engine) == "answer 1"
    assert await ask(engine, conversation_history=history) == "answer 2"
    assert await ask(engine, conversation_history=history) == "answer 3"
    assert await ask(engine) == "answer 1"


async def test_switched_off() -> None:
    engine = await archive(enable_llm_cache=False)
    numbered(engine)
    assert [await ask(engine), await ask(engine)] == ["answer 1", "answer 2"]
    assert not engine.context.stores.llm_response_cache.rows


async def test_context_and_prompt_are_never_answers() -> None:
    engine = await archive()
    numbered(engine)
    await ask(engine, only_need_context=True)
    await ask(engine, only_need_prompt=True)
    assert await ask(engine) == "answer 1"


async def test_a_cached_answer_streams_when_a_stream_is_asked_for() -> None:
    engine = await archive()
    numbered(engine)
    assert await ask(engine) == "answer 1"
    stream = await ask(engine, stream=True)
    assert not isinstance(stream, str)
    assert "".join([piece async for piece in stream]) == "answer 1"


async def test_a_stream_is_remembered_once_it_was_read_to_its_end() -> None:
    engine = await archive()
    numbered(engine)
    stream = await ask(engine, stream=True)
    await anext(stream)
    assert await ask(engine) == "answer 2"
    engine = await archive()
    numbered(engine)
    stream = await ask(engine, stream=True)
    assert "".join([piece async for piece in stream]) == "answer 1"
    assert await ask(engine) == "answer 1"
    again = await ask(engine, stream=True)
    assert "".join([piece async for piece in again]) == "answer 1"
    assert len(engine.llm.calls) == 1


async def test_an_empty_answer_is_not_remembered() -> None:
    engine = await archive()
    engine.llm.replies = ["  "]
    await ask(engine)
    assert await ask(engine) == "An answer [1]."


async def test_a_full_disk_does_not_cost_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = await archive()

    async def full(_data: Any) -> None:
        raise StorageFullError("no room left")

    monkeypatch.setattr(engine.context.stores.llm_response_cache, "upsert", full)
    assert await ask(engine) == "An answer [1]."


async def test_engines_share_nothing() -> None:
    first, second = await archive(), await archive()
    numbered(first)
    second.llm.default = "the other engine"
    assert await ask(first) == "answer 1"
    assert await ask(second) == "the other engine"
