"""What scopes cost: ingest with 0, 1 and 10 scope tags per document, in one run.

    python scripts/bench/scopes.py --docs 100

Each document carries k scope tags out of ten (ten tenants in turn), so it is merged into the aggregate and k variants.
Extraction is the same for all; the table shows CPU per document, model calls, texts embedded and disk.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import workload
from meters import MB, Meter, disk_bytes

SCOPES = 10


async def ingest(directory: Path, docs: int, scopes: int) -> dict[str, Any]:
    """Ingest and return the figures."""
    from lightrag import LightRAG
    from lightrag.utils import EmbeddingFunc, Tokenizer

    logging.getLogger("lightrag").setLevel(logging.ERROR)
    complete, calls = workload.make_language_model()
    embed, embedded = workload.make_embedder()
    rag = LightRAG(
        working_dir=str(directory),
        llm_model_func=complete,
        embedding_func=EmbeddingFunc(embedding_dim=workload.EMBEDDING_DIM, max_token_size=8192, func=embed),
        tokenizer=Tokenizer("block", workload.BlockTokenizer()),
        chunk_token_size=workload.CHUNK_TOKENS,
        chunk_overlap_token_size=workload.CHUNK_OVERLAP_TOKENS,
        enable_llm_cache=False,
        scope_tag_prefixes=["tenant:"],
        enable_kg_scope_materialization=True,
    )
    await rag.initialize_storages()
    corpus = workload.make_corpus(docs)
    meter = Meter()
    with meter.running():
        for number, document in enumerate(corpus):
            tags = [f"tenant:{(number + offset) % SCOPES}" for offset in range(scopes)]
            await rag.apipeline_enqueue_documents(
                document.text, ids=workload.document_id(number), document_metadata={"tags": tags}
            )
        await rag.apipeline_process_enqueue_documents()
        await rag.finalize_storages()
    figures = meter.figures()
    return {
        "scopes": scopes,
        "docs": docs,
        "cpu_ms_per_doc": figures["cpu_s"] / docs * 1000,
        "extract_calls": calls["extract"] + calls["glean"],
        "summary_calls": calls["summary"],
        "texts": embedded["texts"],
        "disk_mb": disk_bytes(directory) / MB,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=int, default=100)
    parser.add_argument("--scopes", type=int, help="measure this number only, in this process, and print JSON")
    arguments = parser.parse_args()
    if arguments.scopes is not None:
        with tempfile.TemporaryDirectory() as directory:
            print(json.dumps(asyncio.run(ingest(Path(directory), arguments.docs, arguments.scopes))))
        return
    rows = []
    for scopes in (0, 1, SCOPES):
        command = [sys.executable, __file__, "--docs", str(arguments.docs), "--scopes", str(scopes)]
        rows.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    base = rows[0]["cpu_ms_per_doc"]
    print("| Scope tags | CPU ms/doc | ÷ none | extraction calls | summary calls | texts embedded | disk MB |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for row in rows:
        print(
            f"| {row['scopes']} | {row['cpu_ms_per_doc']:.1f} | {row['cpu_ms_per_doc'] / base:.2f} | "
            f"{row['extract_calls']} | {row['summary_calls']} | {row['texts']} | {row['disk_mb']:.1f} |"
        )


if __name__ == "__main__":
    main()
