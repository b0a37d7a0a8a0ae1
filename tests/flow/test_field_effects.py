"""What the fields of an engine do, for those that no other test gives."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from lightrag import QueryParam
from lightrag.exceptions import InputError
from lightrag.runtime.events import MergeEvent
from tests.fakes.facts import FactModel, make_embedding
from tests.flow.conftest import EngineFactory

LINES = [f"Ann -> Oslo: lives in house {number} of the old town" for number in range(6)]


async def test_the_most_that_an_extraction_may_find_is_told_to_the_model(make_engine: EngineFactory) -> None:
    model = FactModel()
    engine = await make_engine(model, entity_extract_max_records=73, entity_extract_max_entities=57)
    await engine.ainsert(LINES[0])
    system = next(system for task, _, system in model.calls if task == "extract")
    assert "57 entities" in system
    assert "73 records" in system


async def test_extraction_in_json(make_engine: EngineFactory) -> None:
    formats: list[Any] = []

    async def model(prompt: str, system_prompt: str | None = None, **kwargs: Any) -> str:
        formats.append(kwargs.get("response_format"))
        entity = {"entity_name": "Ann", "entity_type": "person", "entity_description": "Ann lives."}
        other = {"entity_name": "Oslo", "entity_type": "place", "entity_description": "Oslo is a town."}
        relation = {
            "source_entity": "Ann",
            "target_entity": "Oslo",
            "relationship_keywords": "home",
            "relationship_description": "Ann lives in Oslo.",
        }
        return json.dumps({"entities": [entity, other], "relationships": [relation]})

    engine = await make_engine(model, entity_extraction_use_json=True)
    await engine.ainsert("Ann lives in Oslo.")
    assert formats == [{"type": "json_object"}]
    assert await engine.get_graph_labels() == ["Ann", "Oslo"]


@pytest.mark.parametrize(("context_size", "calls"), [(12000, 3), (20, 9)])
async def test_summaries_have_a_length_and_a_context(make_engine: EngineFactory, context_size: int, calls: int) -> None:
    model = FactModel()
    engine = await make_engine(
        model, force_llm_summary_on_merge=6, summary_length_recommended=321, summary_context_size=context_size
    )
    await engine.ainsert(LINES)
    prompts = [prompt for task, prompt, _ in model.calls if task == "summary"]
    assert all("321" in prompt for prompt in prompts)
    # Two entities and a relation, each at once; or in parts that are then put together.
    assert len(prompts) == 3 if calls == 3 else len(prompts) >= calls


def test_the_tokenizer_is_that_of_the_named_model(tmp_path: Path) -> None:
    from lightrag.engine.build_models import tokenizer_of
    from lightrag.lightrag import LightRAG

    def tokens(name: str) -> list[int]:
        engine = LightRAG(
            working_dir=str(tmp_path),
            llm_model_func=FactModel(),
            embedding_func=make_embedding(),
            tiktoken_model_name=name,
        )
        return tokenizer_of(engine, engine._settings).encode("Straßenbahn 日本語")

    assert tokens("gpt-4") != tokens("gpt-4o")
    with pytest.raises(InputError, match="no-such-model"):
        tokens("no-such-model")


class Hanging:
    """A function that never ends by itself, and counts how often it was stopped."""

    def __init__(self) -> None:
        self.stopped = 0

    async def hang(self) -> None:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            self.stopped += 1
            raise


async def test_a_time_limit_stops_the_reranker(make_engine: EngineFactory) -> None:
    hanging = Hanging()

    async def rerank(query: str, documents: list[str], top_n: int | None = None) -> Any:
        await hanging.hang()

    engine = await make_engine(rerank_model_func=rerank, default_rerank_timeout=1)
    await engine.ainsert(LINES[0], file_paths="a.md")
    found = await engine.aquery_data("Ann lives in the old town", QueryParam(mode="naive"))
    assert [chunk["file_path"] for chunk in found["data"]["chunks"]] == ["a.md"]
    assert hanging.stopped >= 1


async def test_a_time_limit_stops_the_embedding(make_engine: EngineFactory) -> None:
    hanging, embedding = Hanging(), make_embedding()

    async def embed(texts: list[str]) -> Any:
        await hanging.hang()

    embedding.func = embed
    engine = await make_engine(embedding_func=embedding, default_embedding_timeout=1)
    await engine.ainsert(LINES[0], ids="a")
    row = (await engine.aget_docs_by_ids("a"))["a"]
    assert row.status == "failed"
    assert "1 s" in (row.error_msg or "")
    assert hanging.stopped >= 1


@pytest.mark.parametrize(("cached", "calls"), [(True, 1), (False, 2)])
async def test_replies_about_chunks_are_kept_or_not(make_engine: EngineFactory, cached: bool, calls: int) -> None:
    model = FactModel()
    engine = await make_engine(model, enable_llm_cache_for_entity_extract=cached)
    for _ in range(2):
        await engine.ainsert(LINES[0], ids="a")
        assert (await engine.adelete_by_doc_id("a")).status == "success"
    assert model.count("extract") == calls


@pytest.mark.parametrize("most", [1, 3])
async def test_so_many_documents_are_extracted_at_a_time(make_engine: EngineFactory, most: int) -> None:
    now = 0
    highest = 0

    class Counting(FactModel):
        async def __call__(self, prompt: str, *args: Any, **kwargs: Any) -> str:
            nonlocal now, highest
            now += 1
            highest = max(highest, now)
            await asyncio.sleep(0.02)
            now -= 1
            return await super().__call__(prompt, *args, **kwargs)

    engine = await make_engine(Counting(), max_parallel_insert=most, llm_model_max_async=9)
    await engine.ainsert(LINES)
    assert highest == most


async def test_rows_are_read_a_page_at_a_time(make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = await make_engine(pipeline_scheduling_page_size=2)
    store = engine.context.stores.doc_status
    limits: list[int] = []
    real = store.get_docs_by_statuses_page

    async def noting(statuses: Any, *, limit: int = 500, after: Any = None) -> Any:
        limits.append(limit)
        return await real(statuses, limit=limit, after=after)

    monkeypatch.setattr(store, "get_docs_by_statuses_page", noting)
    await engine.ainsert(LINES)
    assert set(limits) == {2}
    assert len(limits) >= 4
    assert await engine.get_processing_status() == {"processed": 6}


async def test_so_many_documents_are_merged_at_once(make_engine: EngineFactory) -> None:
    groups: list[int] = []
    engine = await make_engine(queue_size_insert=2)
    engine.on("merge", lambda event: groups.append(len(event.document_ids)) if isinstance(event, MergeEvent) else None)
    await engine.ainsert(LINES)
    assert sum(groups) == 6
    assert max(groups) <= 2


async def test_relations_name_so_many_sources(make_engine: EngineFactory) -> None:
    engine = await make_engine(max_source_ids_per_relation=2, max_source_ids_per_entity=3)
    await engine.ainsert(LINES, ids=[f"d{number}" for number in range(6)])
    relation = await engine.get_relation_info("Ann", "Oslo")
    entity = await engine.get_entity_info("Ann")
    assert relation["source_id"].split("<SEP>") == ["d0-chunk-000", "d1-chunk-000"]
    assert len(entity["source_id"].split("<SEP>")) == 3


async def test_external_parsers_have_so_many_files_at_a_time(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCLING_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("MINERU_LOCAL_ENDPOINT", "http://127.0.0.1:9")
    engine = await make_engine(max_parallel_parse_docling=3, max_parallel_parse_mineru=2)
    limits = {name: calls.status().max_async for name, calls in engine.context.parsers._services.items()}
    assert limits == {"docling": 3, "mineru": 2}


async def test_so_many_texts_are_embedded_in_one_call_and_questions_are_told_from_them(
    make_engine: EngineFactory,
) -> None:
    embedding = make_embedding()
    inner = embedding.func
    sizes: dict[str, list[int]] = {"query": [], "document": []}

    async def embed(texts: list[str], context: str = "") -> Any:
        sizes[context].append(len(texts))
        return await inner(texts)

    embedding.func, embedding.supports_asymmetric = embed, True
    engine = await make_engine(
        embedding_func=embedding, embedding_batch_num=4, chunk_token_size=14, chunk_overlap_token_size=0
    )
    await engine.ainsert("\n".join(LINES * 2))
    assert max(sizes["document"]) == 4
    assert sizes["query"] == []
    await engine.aquery_data("Where does Ann live?", QueryParam(mode="naive"))
    assert sizes["query"] == [1]
