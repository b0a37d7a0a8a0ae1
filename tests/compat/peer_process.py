"""Runs in the environment of the published package: does what it is told in a folder and says what it sees.

``python peer_process.py FOLDER MODELS`` reads a list of steps, each a name of ``STEPS`` and its arguments, from its
input as JSON, and writes the outcomes as JSON.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import logging
import sys
from importlib.metadata import version
from typing import Any

from lightrag import LightRAG, QueryParam
from lightrag.utils import EmbeddingFunc, Tokenizer

# Both engines may be said to be "lightrag"; only the published one must answer here.
PUBLISHED = "1.5.7"


def load_models(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("marked_models", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Broken:
    """The model of the test, which can be out of order."""

    down = False

    def __init__(self, complete: Any) -> None:
        self.complete = complete

    async def __call__(self, *arguments: Any, **named: Any) -> str:
        if self.down:
            raise RuntimeError("model down")
        return str(await self.complete(*arguments, **named))


async def run(folder: str, models: Any, steps: list[list[Any]]) -> list[Any]:
    rag = LightRAG(
        working_dir=folder,
        llm_model_func=Broken(models.complete),
        embedding_func=EmbeddingFunc(embedding_dim=models.DIMENSION, max_token_size=8192, func=models.embed),
        tokenizer=Tokenizer("bytes", models.ByteTokenizer()),
        enable_llm_cache=False,
    )
    await rag.initialize_storages()
    try:
        return [await STEPS[name](rag, *arguments) for name, *arguments in steps]
    finally:
        await rag.finalize_storages()


def documents(texts: dict[str, str]) -> dict[str, list[str]]:
    return {"input": list(texts.values()), "ids": list(texts), "file_paths": [f"{key}.txt" for key in texts]}


async def insert(rag: LightRAG, texts: dict[str, str]) -> None:
    await rag.ainsert(**documents(texts))


async def enqueue(rag: LightRAG, texts: dict[str, str], options: dict[str, Any] | None = None) -> None:
    await rag.apipeline_enqueue_documents(**documents(texts), **(options or {}))


async def process(rag: LightRAG) -> None:
    await rag.apipeline_process_enqueue_documents()


async def delete(rag: LightRAG, doc_id: str) -> str:
    return (await rag.adelete_by_doc_id(doc_id)).status


async def edit(rag: LightRAG, name: str, fields: dict[str, str]) -> None:
    await rag.aedit_entity(name, fields)


async def custom(rag: LightRAG, graph: dict[str, Any]) -> None:
    await rag.ainsert_custom_kg(graph)


async def broken_chunks(rag: LightRAG, text: str, pieces: list[str], doc_id: str) -> str:
    Broken.down = True
    try:
        await rag.ainsert_custom_chunks(text, pieces, doc_id)
    except RuntimeError:
        return "model down"
    finally:
        Broken.down = False
    return "the model answered"


async def unreadable(rag: LightRAG, path: str) -> None:
    await rag.apipeline_enqueue_error_documents([{"file_path": path}])


async def source(rag: LightRAG, path: str) -> list[str]:
    found = await rag.doc_status.resolve_doc_source_strict(path)
    return [type(found).__name__, getattr(found, "doc_id", "")]


async def pieces(rag: LightRAG, doc_id: str) -> int:
    return len((await rag.doc_status.get_by_id(doc_id))["chunks_list"])


async def labels(rag: LightRAG) -> list[str]:
    return sorted(await rag.get_graph_labels())


async def chunks(rag: LightRAG, question: str) -> list[str]:
    found = await rag.aquery_data(question, QueryParam(mode="naive", enable_rerank=False))
    return sorted(chunk["content"] for chunk in found["data"].get("chunks", []))


async def legs(rag: LightRAG, question: str, keywords: list[str]) -> dict[str, int]:
    param = QueryParam(mode="mix", enable_rerank=False, ll_keywords=keywords, hl_keywords=keywords)
    found = await rag.aquery_data(question, param)
    return {name: len(found["data"].get(name, [])) for name in ("entities", "relationships", "chunks")}


async def entity(rag: LightRAG, name: str) -> Any:
    return (await rag.get_entity_info(name))["graph_data"]


async def relation(rag: LightRAG, source: str, target: str) -> Any:
    return (await rag.get_relation_info(source, target))["graph_data"]


async def status(rag: LightRAG) -> dict[str, int]:
    return await rag.get_processing_status()


STEPS = {
    step.__name__: step
    for step in (
        *(insert, enqueue, process, delete, edit, custom, labels, chunks, legs, entity, relation, status),
        *(broken_chunks, unreadable, source, pieces),
    )
}


if __name__ == "__main__":
    assert version("lightrag-hku") == PUBLISHED, version("lightrag-hku")
    for logger in ("lightrag", "nano-vectordb", "root"):
        logging.getLogger(logger).setLevel(logging.ERROR)
    outcomes = asyncio.run(run(sys.argv[1], load_models(sys.argv[2]), json.load(sys.stdin)))
    print("\nOUTCOMES " + json.dumps(outcomes))
