"""Engines whose models are served by a provider that misbehaves."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from lightrag import LightRAG
from lightrag.embedding.registry import EmbeddingAttributes, create_embedding
from lightrag.ingest.retry import retry_failed
from lightrag.llm.registry import create_llm
from lightrag.runtime.endpoints import ModelEndpoint
from tests.fakes.facts import DIMENSION
from tests.storms.provider import KEY, Provider

NUMBER = 30


def engine_at(provider: Provider, binding: str, folder: Path, **fields: Any) -> LightRAG:
    """Return an engine, not yet opened, that asks the provider through a binding."""
    endpoint = ModelEndpoint("m", provider.openai if binding == "openai" else provider.ollama, KEY)
    given: dict[str, Any] = {
        "working_dir": str(folder / "store"),
        "llm_model_func": create_llm(binding, endpoint),
        "embedding_func": create_embedding(binding, endpoint, EmbeddingAttributes(embedding_dim=DIMENSION)),
        "entity_extract_max_gleaning": 0,
        "default_llm_timeout": 20,
        "default_embedding_timeout": 20,
        **fields,
    }
    return LightRAG(**given)


def texts(number: int = NUMBER) -> list[str]:
    return [
        f"Ada{n} -> Engine{n % 5}: Ada{n} wrote program {n}.\nEngine{n % 5} -> Babbage: built." for n in range(number)
    ]


async def insert(engine: LightRAG, number: int = NUMBER) -> None:
    await engine.ainsert(texts(number), file_paths=[f"{n}.md" for n in range(number)])


async def states(engine: LightRAG) -> dict[str, int]:
    return {state: count for state, count in (await engine.get_processing_status()).items() if count}


async def reasons(engine: LightRAG) -> dict[str, str]:
    """Return why documents failed, by their path."""
    rows = await engine.context.stores.doc_status.get_docs_by_statuses(["failed"])  # type: ignore[list-item]
    return {row.file_path: row.error_msg or "" for row in rows.values()}


async def retry(engine: LightRAG, provider: Provider) -> Counter[str]:
    """Process failed documents once more with a provider in good health, and return what that asked it."""
    provider.faults = lambda good: None
    provider.tasks.clear()
    await retry_failed(engine.context, engine._state)
    await engine.apipeline_process_enqueue_documents()
    return Counter(provider.tasks)


def running(engine: LightRAG) -> int:
    """Return how many calls of models hold a slot."""
    models = engine.context.models
    return sum(calls.status().running for calls in (models.extract.calls, models.query.calls, models.embedder.calls))
