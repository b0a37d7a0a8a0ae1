"""What the SQLite stores cost by themselves, with a corpus of the shape that the benchmarks of the engine use.

Run as ``python -m tests.kg.sqlite_impl.measure [DOCUMENTS] [DOCUMENTS PER MERGE]``. Every document has 600 words in 3
chunks, 30 entities (Zipf over 2000 names), 27 relations, and vectors of 256 numbers.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lightrag.contracts.evidence import Evidence, ObjectKind, relation_key
from tests.conformance.families import Workspace, embedding, family_named

DIMENSION = 256
NAMES = 2000
FRAGMENTS = 8


def md5(text: str) -> str:
    return hashlib.md5(text.encode()).hexdigest()


def bytes_written() -> int:
    """Bytes that this process has handed to ``write``."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("wchar")))


@dataclass
class Document:
    doc_id: str
    path: str
    text: str
    chunks: list[str]
    names: list[str]
    pairs: list[tuple[str, str]]
    fragments: list[str]
    vectors: np.ndarray


def corpus(count: int) -> Iterator[Document]:
    rng, numbers = random.Random(1), np.random.default_rng(1)
    weights = 1 / np.arange(1, NAMES + 1)
    words = [f"w{rng.getrandbits(24):x}" for _ in range(3000)]
    names = [f"Entity {words[number]} {number}" for number in range(NAMES)]
    for number in range(count):
        chosen = numbers.choice(NAMES, 30, replace=False, p=weights / weights.sum()).tolist()
        pairs: set[tuple[str, str]] = set()
        while len(pairs) < 27:
            first, second = sorted(rng.sample([names[index] for index in chosen], 2))
            pairs.add((first, second))
        yield Document(
            doc_id=f"doc-{md5(str(number))}",
            path=f"folder/{number}.md",
            text=" ".join(rng.choices(words, k=600)),
            chunks=[" ".join(rng.choices(words, k=200)) for _ in range(3)],
            names=[names[index] for index in chosen],
            pairs=sorted(pairs),
            fragments=[" ".join(rng.choices(words, k=8)) for _ in range(57)],
            vectors=numbers.standard_normal((60, DIMENSION)).astype(np.float32),
        )


class Engine:
    """Writes what the pipeline writes."""

    def __init__(self, folder: Path) -> None:
        self.workspace = Workspace(family_named("sqlite"), folder)
        self.said: dict[Any, list[str]] = defaultdict(list)

    async def open(self) -> None:
        func = embedding(DIMENSION)
        self.full = await self.workspace.kv("full_docs")
        self.chunks = await self.workspace.kv("text_chunks")
        self.replies = await self.workspace.kv("llm_response_cache")
        self.status = await self.workspace.doc_status()
        self.evidence = await self.workspace.evidence()
        self.graph = await self.workspace.graph()
        self.entities = await self.workspace.vectors("entities", func=func)
        self.relations = await self.workspace.vectors("relationships", func=func)
        self.vectors = await self.workspace.vectors("chunks", func=func)

    def status_row(self, document: Document, status: str) -> dict[str, Any]:
        return {
            "status": status,
            "content_summary": document.text[:250],
            "content_length": len(document.text),
            "created_at": f"2024-01-01T00:00:00.{int(document.path[7:-3]):06}+00:00",
            "updated_at": "2024-01-02T00:00:00.000000+00:00",
            "file_path": document.path,
            "track_id": "insert-1",
            "content_hash": md5(document.text),
            "metadata": {"kg_write_state": "pre_graph"},
        }

    async def enqueue(self, documents: list[Document]) -> None:
        async with self.full.transaction():
            await self.full.upsert({d.doc_id: {"content": d.text, "file_path": d.path} for d in documents})
            await self.status.upsert({d.doc_id: self.status_row(d, "pending") for d in documents})

    def describe(self, key: Any, fragment: str) -> str:
        parts = self.said[key]
        parts.append(fragment)
        if len(parts) > FRAGMENTS:
            parts[:] = [" ".join(parts)[:300]]
        return "<SEP>".join(parts)

    async def merge(self, documents: list[Document]) -> None:
        await asyncio.gather(*(self.status.upsert({d.doc_id: self.status_row(d, "processing")}) for d in documents))
        await self.graph.get_nodes_batch([name for d in documents for name in d.names])
        await self.graph.get_edges_batch([{"src": a, "tgt": b} for d in documents for a, b in d.pairs])
        nodes: dict[str, Any] = {}
        edges: dict[tuple[str, str], Any] = {}
        entity_rows: dict[str, Any] = {}
        relation_rows: dict[str, Any] = {}
        rows: list[Evidence] = []
        for d in documents:
            said = iter(zip(d.fragments, d.vectors[3:], strict=True))
            common = {"document_id": d.doc_id, "file_path": d.path, "created_at": 1_700_000_000}
            for index, name in enumerate(d.names):
                fragment, vector = next(said)
                text = self.describe(name, fragment)
                nodes[name] = {"entity_type": "person", "description": text, "tokens": 50, "tenant_tag": ""}
                content = f"{name}\n{text}"
                entity_rows[f"ent-{md5(name)}"] = {"content": content, "vector": vector, "entity_name": name}
                chunk = f"{d.doc_id}-chunk-{index % 3:03}"
                rows.append(Evidence(ObjectKind.ENTITY, name, chunk, description=fragment, **common))
            for index, (first, second) in enumerate(d.pairs):
                fragment, vector = next(said)
                text = self.describe((first, second), fragment)
                edges[first, second] = {"description": text, "keywords": "alpha,beta", "weight": 1.0, "tokens": 40}
                row = {
                    "content": f"alpha\t{first}\n{second}\n{text}",
                    "vector": vector,
                    "src_id": first,
                    "tgt_id": second,
                }
                relation_rows[f"rel-{md5(first + second)}"] = row
                chunk = f"{d.doc_id}-chunk-{index % 3:03}"
                key = relation_key(first, second)
                rows.append(Evidence(ObjectKind.RELATION, key, chunk, description=fragment, weight=1.0, **common))
        async with self.graph.transaction():
            await self._write_texts(documents)
            await self.evidence.add(rows)
            await self.graph.upsert_nodes_batch(nodes.items())
            await self.graph.upsert_edges_batch([(first, second, edge) for (first, second), edge in edges.items()])
            await self.entities.upsert(entity_rows)
            await self.relations.upsert(relation_rows)
            await self.status.upsert({d.doc_id: self.status_row(d, "processed") for d in documents})

    async def _write_texts(self, documents: list[Document]) -> None:
        for d in documents:
            ids = [f"{d.doc_id}-chunk-{number:03}" for number in range(3)]
            texts = dict(zip(ids, d.chunks, strict=True))
            common = {"full_doc_id": d.doc_id, "file_path": d.path}
            await self.chunks.upsert({key: {"content": text, "tokens": 300, **common} for key, text in texts.items()})
            await self.vectors.upsert(
                {
                    key: {"content": text, "vector": vector, **common}
                    for (key, text), vector in zip(texts.items(), d.vectors, strict=False)
                }
            )
            replies = {f"default:extract:{md5(key + kind)}": text[:900] for key, text in texts.items() for kind in "ab"}
            await self.replies.upsert({key: {"return": text, "chunk_id": d.doc_id} for key, text in replies.items()})


async def ingest(folder: Path, count: int, group: int) -> None:
    documents = list(corpus(count))
    engine = Engine(folder)
    await engine.open()
    written, busy, started = bytes_written(), time.process_time(), time.perf_counter()
    await engine.enqueue(documents)
    for start in range(0, count, group):
        await engine.merge(documents[start : start + group])
    busy, waited = time.process_time() - busy, time.perf_counter() - started
    await engine.workspace.close()
    written, size = bytes_written() - written, sum(path.stat().st_size for path in folder.iterdir())
    print(f"{count} documents, {group} per merge: CPU {busy / count * 1e3:.2f} ms, {waited / count * 1e3:.2f} ms each")
    print(f"  written {written / 1e6:.1f} MB, on disk {size / 1e6:.2f} MB, {written / size:.2f} times as much")
    started = time.perf_counter()
    engine = Engine(folder)
    await engine.open()
    opened = time.perf_counter() - started
    for store in (engine.entities, engine.relations, engine.vectors):
        await store.query("", 20, documents[0].vectors[0])
    print(f"  opened in {opened * 1e3:.0f} ms, first searches {(time.perf_counter() - started - opened) * 1e3:.0f} ms")
    await engine.workspace.close()


async def median(call: Callable[[], Awaitable[object]], times: int = 60) -> float:
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        await call()
        taken.append(time.perf_counter() - started)
    return float(np.median(taken)) * 1e3


async def twenty_thousand(folder: Path) -> None:
    rows = np.random.default_rng(2).standard_normal((20_000, DIMENSION)).astype(np.float32)
    workspace = Workspace(family_named("sqlite"), folder)
    store = await workspace.vectors(func=embedding(DIMENSION), floor=0.2)
    started = time.perf_counter()
    await store.upsert({f"row-{number}": {"content": "text", "vector": row} for number, row in enumerate(rows)})
    print(f"20,000 vectors: inserted in {time.perf_counter() - started:.2f} s")
    await store.query("", 20, rows[0])
    numbers = iter(range(10**6))

    async def add() -> None:
        await store.upsert({f"new-{next(numbers)}": {"content": "text", "vector": rows[0]}})

    async def floor() -> None:
        scores = rows @ rows[1]
        best = np.argpartition(scores, -20)[-20:]
        best[np.argsort(-scores[best])]

    print(f"  one row more: {await median(add):.2f} ms")
    print(f"  search, top 20: {await median(lambda: store.query('', 20, rows[1])):.2f} ms", end="; ")
    print(f"matmul and partition alone: {await median(floor):.2f} ms")
    await workspace.close()
    started = time.perf_counter()
    store = await workspace.vectors(func=embedding(DIMENSION), floor=0.2)
    await store.query("", 20, rows[1])
    print(f"  opened and searched in {(time.perf_counter() - started) * 1e3:.0f} ms")
    await workspace.close()


async def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    group = int(sys.argv[2]) if len(sys.argv) > 2 else 16
    for measure in (lambda folder: ingest(folder, count, group), twenty_thousand):
        with tempfile.TemporaryDirectory() as folder:
            await measure(Path(folder))


if __name__ == "__main__":
    asyncio.run(main())
