"""Runs in the environment of the published package: does what it is told in a folder and says what it sees.

``python peer_process.py FOLDER MODELS`` reads a list of steps from its input as JSON and writes the outcomes as JSON:
``["insert", {id: text}]``, ``["delete", id]``, ``["edit", name, {…}]``, ``["custom", {…}]``, ``["labels"]``,
``["chunks", question]``, ``["entity", name]``, ``["relation", source, target]``, ``["status"]``.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import logging
import sys
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


async def run(folder: str, models: Any, steps: list[list[Any]]) -> list[Any]:
    rag = LightRAG(
        working_dir=folder,
        llm_model_func=models.complete,
        embedding_func=EmbeddingFunc(embedding_dim=models.DIMENSION, max_token_size=8192, func=models.embed),
        tokenizer=Tokenizer("bytes", models.ByteTokenizer()),
        enable_llm_cache=False,
    )
    await rag.initialize_storages()
    try:
        return [await step_of(rag, *step) for step in steps]
    finally:
        await rag.finalize_storages()


async def step_of(rag: LightRAG, action: str, *arguments: Any) -> Any:
    if action == "insert":
        await rag.ainsert(
            list(arguments[0].values()), ids=list(arguments[0]), file_paths=[f"{key}.txt" for key in arguments[0]]
        )
        return None
    if action == "delete":
        return (await rag.adelete_by_doc_id(arguments[0])).status
    if action == "edit":
        await rag.aedit_entity(arguments[0], arguments[1])
        return None
    if action == "custom":
        await rag.ainsert_custom_kg(arguments[0])
        return None
    if action == "labels":
        return sorted(await rag.get_graph_labels())
    if action == "chunks":
        found = await rag.aquery_data(arguments[0], QueryParam(mode="naive", enable_rerank=False))
        return sorted(chunk["content"] for chunk in found["data"].get("chunks", []))
    if action == "local":
        found = await rag.aquery_data(
            arguments[0],
            QueryParam(mode="mix", enable_rerank=False, ll_keywords=arguments[1], hl_keywords=arguments[1]),
        )
        return {name: len(found["data"].get(name, [])) for name in ("entities", "relationships", "chunks")}
    if action == "entity":
        return (await rag.get_entity_info(arguments[0]))["graph_data"]
    if action == "relation":
        return (await rag.get_relation_info(arguments[0], arguments[1]))["graph_data"]
    if action == "status":
        return await rag.get_processing_status()
    raise ValueError(action)


if __name__ == "__main__":
    from importlib.metadata import version

    assert version("lightrag-hku") == PUBLISHED, version("lightrag-hku")
    for name in ("lightrag", "nano-vectordb", "root"):
        logging.getLogger(name).setLevel(logging.ERROR)
    outcomes = asyncio.run(run(sys.argv[1], load_models(sys.argv[2]), json.load(sys.stdin)))
    print("\nOUTCOMES " + json.dumps(outcomes))
