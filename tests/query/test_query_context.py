"""Budgets, references and the text of the context."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from lightrag.contracts.query import QueryParam
from lightrag.graph.rendering import entity_line, relation_line
from lightrag.query.context import chunk_tokens, line_of_chunk, number_references
from lightrag.query.fuse import round_robin, within_budget
from lightrag.query.modes import run_query, to_data
from lightrag.query.retrieve_chunks import FoundChunk
from lightrag.runtime.tokens import count_tokens, default_tokenizer
from tests.fakes.models import WordTokenizer
from tests.query.corpus import Document, Writer, archive, make_engine

QUESTION = "Who levies harbour dues on coal?"
KEYS = {"hl_keywords": ["harbour dues"], "ll_keywords": ["dock board"]}


async def test_entities_and_relations_keep_to_their_budgets() -> None:
    engine = await archive()
    whole = await run_query(engine.context, QUESTION, QueryParam(mode="hybrid", **KEYS), data_only=True)
    for budget in (1, 20, 45, 80, 1000):
        param = QueryParam(mode="hybrid", max_entity_tokens=budget, max_relation_tokens=budget, **KEYS)
        result = await run_query(engine.context, QUESTION, param, data_only=True)
        entities = "\n".join(
            entity_line(row["entity_name"], row["entity_type"], row["description"]) for row in result.entities
        )
        relations = "\n".join(
            relation_line(row["src_id"], row["tgt_id"], row["description"]) for row in result.relations
        )
        assert count_tokens(engine.tokenizer, entities) <= budget
        assert count_tokens(engine.tokenizer, relations) <= budget
        assert result.entities == whole.entities[: len(result.entities)]
        assert result.relations == whole.relations[: len(result.relations)]
    assert result.entities == whole.entities


async def test_stored_token_counts_are_used() -> None:
    engine = await archive()
    node = await engine.context.stores.graph.get_node("Westhaven Dock Board")
    assert node is not None
    await engine.context.stores.graph.upsert_node("Westhaven Dock Board", {**node, "tokens": 500})
    param = QueryParam(mode="local", ll_keywords=["dock board"], max_entity_tokens=499)
    result = await run_query(engine.context, QUESTION, param, data_only=True)
    assert result.entities == []


async def test_nothing_is_counted_again_but_instructions_and_question() -> None:
    engine = await archive()
    engine.tokenizer.encoded = 0
    await run_query(engine.context, QUESTION, QueryParam(mode="mix", **KEYS), data_only=True)
    assert engine.tokenizer.encoded == 2


async def test_the_whole_prompt_keeps_to_the_budget() -> None:
    engine = make_engine(tokenizer=default_tokenizer())
    text = 'A "quoted" line\nwith\ttabs, a back\\slash and harbour dues on coal. ' * 12
    await Writer(engine).add(
        *(
            Document(
                f"folder/a rather long file name {number}.md",
                [f"{number}: {text}", f"{number} again: {text}"],
                [(0, f"Board {number}", "organization", "The dock board of a harbour.")],
                [(0, f"Board {number}", f"Board {number + 1}", "dues", "Both levy harbour dues.", 1.0)],
            )
            for number in range(12)
        )
    )
    frame = await run_query(
        engine.context, QUESTION, QueryParam(mode="naive", only_need_prompt=True, max_total_tokens=1)
    )
    assert frame.content is not None
    for budget in (1500, 2500, 4000, 8000):
        for mode in ("naive", "mix"):
            param = QueryParam(mode=mode, max_total_tokens=budget, only_need_prompt=True, **KEYS)
            result = await run_query(engine.context, QUESTION, param)
            assert result.content is not None
            assert count_tokens(engine.tokenizer, result.content) <= budget
    assert len(result.chunks) > 10


async def test_a_long_conversation_leaves_less_room() -> None:
    engine = await archive()
    room = {"mode": "naive", "max_total_tokens": 800, "enable_rerank": False}
    short = await run_query(engine.context, QUESTION, QueryParam(**room), data_only=True)
    history = [{"role": "user", "content": "word " * 300}]
    long = await run_query(engine.context, QUESTION, QueryParam(conversation_history=history, **room), data_only=True)
    assert short.chunks
    assert len(long.chunks) < len(short.chunks)


async def test_context_text() -> None:
    engine = await archive()
    param = QueryParam(mode="mix", only_need_context=True, **KEYS)
    result = await run_query(engine.context, QUESTION, param)
    assert result.content is not None
    lines = [json.loads(line) for line in result.content.splitlines() if line.startswith("{")]
    entities = [line for line in lines if "entity" in line]
    relations = [line for line in lines if "entity1" in line]
    chunks = [line for line in lines if "reference_id" in line]
    assert all(set(line) == {"entity", "type", "description"} for line in entities)
    assert all(set(line) == {"entity1", "entity2", "description"} for line in relations)
    assert all(set(line) == {"reference_id", "content"} for line in chunks)
    assert [line["entity"] for line in entities] == [row["entity_name"] for row in result.entities]
    assert [line["content"] for line in chunks] == [row["content"] for row in result.chunks]
    assert "[1] acts/harbour.md" in result.content
    assert "unknown_source" not in result.content
    assert not result.llm_generated
    assert not engine.llm.calls


async def test_context_of_naive_has_passages_only() -> None:
    engine = await archive()
    result = await run_query(engine.context, QUESTION, QueryParam(mode="naive", only_need_context=True))
    assert result.content is not None
    lines = [json.loads(line) for line in result.content.splitlines() if line.startswith("{")]
    assert lines
    assert all(set(line) == {"reference_id", "content"} for line in lines)


async def test_headings_are_shown_where_known() -> None:
    engine = await archive()
    stores = engine.context.stores
    row = await stores.text_chunks.get_by_id("doc-1-chunk-001")
    assert row is not None
    await stores.text_chunks.upsert({"doc-1-chunk-001": {**row, "heading": ["Part I", "Dues"]}})
    param = QueryParam(mode="naive", only_need_context=True, chunk_top_k=1)
    result = await run_query(engine.context, QUESTION, param)
    assert result.content is not None
    assert '"content_headings": "Part I > Dues"' in result.content
    engine.context.settings = engine.context.settings.model_copy(update={"enable_content_headings": False})
    result = await run_query(engine.context, QUESTION, param)
    assert result.content is not None
    assert "content_headings" not in result.content


def chunk(number: int, path: str) -> FoundChunk:
    return FoundChunk(f"chunk-{number}", "text", path)


def test_references_by_frequency_then_first_appearance() -> None:
    paths = ["b.md", "unknown_source", "a.md", "c.md", "a.md", "unknown_source", "c.md", "d.md"]
    chunks = [chunk(number, path) for number, path in enumerate(paths)]
    assert number_references(chunks) == [
        {"reference_id": "1", "file_path": "a.md"},
        {"reference_id": "2", "file_path": "c.md"},
        {"reference_id": "3", "file_path": "b.md"},
        {"reference_id": "4", "file_path": "d.md"},
    ]
    assert [item.reference_id for item in chunks] == ["3", "", "1", "2", "1", "", "2", "4"]


async def test_references_belong_to_the_chunks_that_stayed() -> None:
    engine = await archive()
    result = to_data(await run_query(engine.context, QUESTION, QueryParam(mode="naive", chunk_top_k=1), data_only=True))
    assert result["data"]["references"] == [{"reference_id": "1", "file_path": "acts/harbour.md"}]
    everything = to_data(await run_query(engine.context, QUESTION, QueryParam(mode="naive"), data_only=True))
    by_id = {item["reference_id"]: item["file_path"] for item in everything["data"]["references"]}
    assert by_id == {"1": "acts/harbour.md", "2": "letters/ana.md"}
    for row in everything["data"]["chunks"]:
        assert row["file_path"] == by_id.get(row["reference_id"], "unknown_source")


TEXT = st.text(alphabet=st.sampled_from(list('ab \n\t"\\é日.,;:-{}')), max_size=200)


@given(TEXT)
def test_a_chunk_never_has_more_tokens_than_reckoned(text: str) -> None:
    tokenizer = default_tokenizer()
    found = FoundChunk("chunk", text, "a.md", tokens=count_tokens(tokenizer, text) or None, reference_id="12")
    line = line_of_chunk(found, headings=True) + "\n"
    assert count_tokens(tokenizer, line) <= chunk_tokens(found, tokenizer, headings=True)


@given(st.lists(st.integers(1, 50)), st.integers(0, 200))
def test_within_budget_is_the_longest_start_that_fits(sizes: list[int], budget: int) -> None:
    count = within_budget(sizes, budget)
    assert sum(sizes[:count]) <= budget
    assert count == len(sizes) or sum(sizes[: count + 1]) > budget


@given(st.lists(st.lists(st.integers(0, 20))))
def test_round_robin_loses_and_repeats_nothing(lists: list[list[int]]) -> None:
    merged = round_robin(lists, key=lambda item: item)
    assert len(merged) == len(set(merged))
    assert set(merged) == {item for ranked in lists for item in ranked}


def test_round_robin_takes_turns() -> None:
    assert round_robin([["a", "b"], ["x", "a", "y", "z"], []], key=str) == ["a", "x", "b", "y", "z"]


def test_word_tokenizer_round_trips() -> None:
    tokenizer = WordTokenizer()
    text = '{"entity": "A b", "type": 1}\n'
    assert tokenizer.decode(tokenizer.encode(text)) == text
