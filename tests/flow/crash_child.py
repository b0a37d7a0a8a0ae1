"""Adds documents for ever and says which were acknowledged and which were seen as processed; meant to be killed."""

from __future__ import annotations

import asyncio
import sys

from lightrag.lightrag import LightRAG
from tests.fakes.facts import FactModel, make_embedding


async def main(directory: str, life: str) -> None:
    engine = LightRAG(
        working_dir=directory,
        llm_model_func=FactModel(),
        embedding_func=make_embedding(),
        entity_extract_max_gleaning=0,
        force_llm_summary_on_merge=3,
    )
    await engine.initialize_storages()
    print("open", flush=True)
    for number in range(10_000):
        texts = [f"{life} {number} {part}.\nHub -> Leaf {number % 7}: {life} {number} {part}\n" for part in range(3)]
        ids = [f"{life}-{number}-{part}" for part in range(3)]
        await engine.apipeline_enqueue_documents(texts, ids=ids, file_paths=[f"{name}.md" for name in ids])
        print("stored", *ids, flush=True)
        await engine.apipeline_process_enqueue_documents()
        print("processed", *ids, flush=True)
        if number % 3 == 2:
            await engine.adelete_by_doc_id(ids[0])
            print("deleted", ids[0], flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
