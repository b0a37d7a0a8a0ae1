"""The documents and filters of `filters.py`, and brute force over them.

Everything is a function of small integers; two runs see the same bytes.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import workload

DIMENSION = 384
CHUNKS_EACH = 5
TAGS = 200
TAGS_EACH = 4
TOP_K = 20

Json = dict[str, Any]


# --- documents and filters -------------------------------------------------------------------------------------------


def metadata_of(index: int) -> Json:
    """Dates and tags of a document; they depend on nothing but its number."""
    rng = random.Random(index * 31 + 7)
    year = rng.randrange(1900, 2000)
    start = f"{year}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}T00:00:00+00:00"
    end = f"{year + rng.randrange(0, 3)}-12-31T00:00:00+00:00"
    return {"start_date": start, "end_date": end, "tags": [f"tag-{tag}" for tag in rng.sample(range(TAGS), TAGS_EACH)]}


def _years(first: int, count: int) -> Json:
    window = {"start": f"{first}-01-01T00:00:00+00:00", "end": f"{first + count + 2}-12-31T23:59:59+00:00"}
    return {"range": window, "range_mode": "contained_by"}


def filter_for(share: float, question: int) -> Json:
    """Return a filter that accepts about a share of the documents, another one for every question."""
    rng = random.Random(question * 977 + round(1 / share))
    tags = [f"tag-{tag}" for tag in rng.sample(range(TAGS), 5)]
    if share == 1.0:
        return {"date_filter": {"range": {"start": f"18{rng.randrange(10, 99)}-01-01T00:00:00Z"}}}
    if share == 0.5:
        return {"date_filter": _years(rng.randrange(1900, 1948), 50)}
    if share == 0.1:
        return {"required_tags": tags, "required_tags_mode": "or"}
    if share == 0.01:
        return {"required_tags": tags[:1], "date_filter": _years(rng.randrange(1900, 1948), 50)}
    if share == 0.001:
        return {"required_tags": tags[:1], "date_filter": _years(rng.randrange(1900, 1990), 5)}
    return {"required_tags": tags[:2], "date_filter": _years(rng.randrange(1900, 1970), 25)}


# --- the corpus of chunks --------------------------------------------------------------------------------------------


def _unit(rows: np.ndarray) -> np.ndarray:
    """Return vectors of length 1 whose cosines lie near 0.4, so that every search could fill its page."""
    shifted = rows + 0.8
    unit: np.ndarray = (shifted / np.linalg.norm(shifted, axis=1, keepdims=True)).astype(np.float32)
    return unit


def chunk_vectors(documents: int) -> np.ndarray:
    """Return the vectors of all chunks, those of a document next to each other."""
    return _unit(np.random.default_rng(5).standard_normal((documents * CHUNKS_EACH, DIMENSION), dtype=np.float32))


def question_vector(text: str) -> np.ndarray:
    """Return the vector of a question, decided by its text."""
    return _unit(np.random.default_rng(list(text.encode())).standard_normal((1, DIMENSION), dtype=np.float32))[0]


def document_id(index: int) -> str:
    """Return the id of a document of the corpus of chunks."""
    return f"doc-{index:032x}"


def open_engine(directory: Path) -> Any:
    """Return an engine over the corpus of chunks, with its defaults for everything but the models."""
    from lightrag import LightRAG
    from lightrag.utils import EmbeddingFunc

    async def embed(texts: Sequence[str], **_: Any) -> np.ndarray:
        return np.stack([question_vector(text) for text in texts])

    async def complete(prompt: str, **_: Any) -> str:
        return "{}"

    return LightRAG(
        working_dir=str(directory),
        llm_model_func=complete,
        embedding_func=EmbeddingFunc(DIMENSION, embed, model_name="bench"),
        enable_llm_cache=False,
    )


async def store_chunks(directory: Path, documents: int) -> None:
    """Write documents, chunks and vectors straight into the stores of a workspace."""
    from lightrag.query_filters import DocumentMetadata

    rag = open_engine(directory)
    await rag.initialize_storages()
    stores, vectors = rag.context.stores, chunk_vectors(documents)
    for start in range(0, documents, 500):
        status, chunks = {}, {}
        for index in range(start, min(start + 500, documents)):
            doc_id, path = document_id(index), f"archive/{index % 40}/{index}.txt"
            ids = [f"{doc_id}-chunk-{place:03}" for place in range(CHUNKS_EACH)]
            status[doc_id] = {
                **{"content_summary": "s" * 100, "content_length": 1500, "file_path": path, "status": "processed"},
                **{"created_at": f"2024-01-01T00:00:{index:08}", "updated_at": "2024", "chunks_list": ids},
                "chunks_count": CHUNKS_EACH,
                "metadata": DocumentMetadata.coerce(metadata_of(index)).to_storage(),
            }
            for place, chunk_id in enumerate(ids):
                row = {"content": f"Record {index}, part {place}. " + "word " * 50, "file_path": path, "tokens": 60}
                chunks[chunk_id] = {**row, "full_doc_id": doc_id, "chunk_order_index": place}
        async with stores.unit_of_work():
            await stores.text_chunks.upsert(chunks)
            rows = zip(chunks.items(), vectors[start * CHUNKS_EACH :], strict=False)
            await stores.chunks.upsert({key: {**row, "vector": vector} for (key, row), vector in rows})
            await stores.doc_status.upsert(status)
    await rag.finalize_storages()


async def insert_mix(directory: Path, documents: int) -> None:
    """Insert the corpus of `workload.py`, each document with dates and tags of its own."""
    rag = workload.build_engine(directory).rag
    await rag.initialize_storages()
    for start in range(0, documents, 250):
        for index in range(start, min(start + 250, documents)):
            document = workload.make_document(index)
            await rag.apipeline_enqueue_documents(
                document.text, ids=document.id, file_paths=document.path, document_metadata=metadata_of(index)
            )
        await rag.apipeline_process_enqueue_documents()
        print(f"  {min(start + 250, documents)} of {documents} documents inserted", file=sys.stderr, flush=True)
    await rag.finalize_storages()


# --- brute force -----------------------------------------------------------------------------------------------------


@dataclass
class Truth:
    """Brute force over everything that was stored."""

    documents: int

    def __post_init__(self) -> None:
        from lightrag.query_filters import DocumentMetadata, document_facts

        self.vectors = chunk_vectors(self.documents).astype(np.float64)
        stored = [DocumentMetadata.coerce(metadata_of(index)).to_storage() for index in range(self.documents)]
        self.facts = [document_facts(metadata) for metadata in stored]

    def best(self, question: str, given: Json) -> tuple[list[str], int]:
        """Return the ids of the most similar chunks that a filter accepts, and how many documents it accepts."""
        from lightrag.query_filters import as_filter, facts_match_filter

        wanted = as_filter(given)
        accepted = [i for i, facts in enumerate(self.facts) if facts_match_filter(facts, wanted, doc_id=document_id(i))]
        rows = (np.array(accepted, dtype=int)[:, None] * CHUNKS_EACH + np.arange(CHUNKS_EACH)).ravel()
        similar = self.vectors[rows] @ question_vector(question).astype(np.float64)
        best = rows[np.argsort(-similar, kind="stable")[:TOP_K]].tolist()
        ids = [f"{document_id(row // CHUNKS_EACH)}-chunk-{row % CHUNKS_EACH:03}" for row in best]
        return ids, len(accepted)
