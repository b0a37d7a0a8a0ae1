"""A process that writes documents until it is killed, and says on its output which of them were acknowledged.

Run as ``python -m tests.conformance.crash_child FAMILY FOLDER FIRST``.
"""

from __future__ import annotations

import asyncio
import os
import sys
from itertools import count
from pathlib import Path

import numpy as np

from lightrag.contracts.evidence import Evidence, ObjectKind, relation_key
from tests.conformance.families import DIMENSION, Workspace, family_named

WRITERS = 4
HUBS = 3
DELETED_AFTER = 5


def vector(number: int) -> np.ndarray:
    return np.random.default_rng(number).standard_normal(DIMENSION).astype(np.float32)


class Corpus:
    """Documents whose parts lie in all stores. Every document also changes what earlier ones wrote."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    async def open(self) -> None:
        self.kv = await self.workspace.kv("text_chunks")
        self.status = await self.workspace.doc_status()
        self.vectors = await self.workspace.vectors("entities")
        self.graph = await self.workspace.graph()
        self.evidence = await self.workspace.evidence()

    async def write(self, number: int) -> None:
        name, hub = f"n{number}", f"hub{number % HUBS}"
        async with self.kv.transaction():
            await self.kv.upsert({f"{name}-{part}": {"text": f"text {number} " * 50} for part in range(3)})
            await self.graph.upsert_nodes_batch([(name, {"n": number}), (hub, {"last": number})])
            await self.graph.upsert_edge(hub, name, {"n": number})
            rows = {
                key: {"content": f"{key} {number}", "vector": vector(number), "file_path": name} for key in (name, hub)
            }
            await self.vectors.upsert(rows)
            await self.evidence.add(
                [
                    Evidence(ObjectKind.ENTITY, name, f"{name}-0", name, "text"),
                    Evidence(ObjectKind.ENTITY, hub, f"{name}-0", name, "text"),
                    Evidence(ObjectKind.RELATION, relation_key(hub, name), f"{name}-1", name, "text"),
                ]
            )
            await self.status.upsert({name: {"status": "processed", "created_at": "2024"}})

    async def delete(self, number: int) -> None:
        name = f"n{number}"
        async with self.status.transaction():
            await self.kv.delete([f"{name}-{part}" for part in range(3)])
            await self.graph.remove_nodes([name])
            await self.vectors.delete([name])
            await self.evidence.drop_documents([name])
            await self.status.delete([name])


def say(word: str, number: int) -> None:
    # One write for one line: a killed process leaves no half of it in a buffer.
    os.write(1, f"{word} {number}\n".encode())


async def work(family: str, folder: str, first: int) -> None:
    corpus = Corpus(Workspace(family_named(family), Path(folder)))
    await corpus.open()
    numbers = count(first)

    async def writer() -> None:
        for number in numbers:
            await corpus.write(number)
            say("wrote", number)
            if number % DELETED_AFTER == 0:
                say("deleting", number)
                await corpus.delete(number)
                say("deleted", number)

    await asyncio.gather(*(writer() for _ in range(WRITERS)))


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1], sys.argv[2], int(sys.argv[3])))
