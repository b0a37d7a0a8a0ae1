"""Workspaces whose vectors are searched by FAISS, and what they must answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lightrag.kg.faiss.vector import FaissVectorDBStorage
from lightrag.query_filters import as_filter
from tests.conformance.families import Workspace, embedding, family_named


def workspace_in(folder: Path) -> Workspace:
    return Workspace(family_named("faiss"), folder)


async def open_vectors(workspace: Workspace, dimension: int, **options: Any) -> FaissVectorDBStorage:
    """Open the chunks with options of the index."""
    store = FaissVectorDBStorage(
        namespace="chunks",
        workspace=workspace.name,
        global_config={"working_dir": str(workspace.working_dir), "vector_db_storage_cls_kwargs": options},
        embedding_func=embedding(dimension),
        cosine_better_than_threshold=-1.0,
        meta_fields={"full_doc_id"},
    )
    await store.initialize()
    workspace.opened.append(store)
    return store


def tag_of(share: float) -> str:
    return f"share-{round(share * 10_000)}"


@dataclass
class Corpus:
    """Chunks of documents, each of which carries the tag of every share that it belongs to."""

    store: FaissVectorDBStorage
    documents: int
    vectors: dict[str, np.ndarray] = field(default_factory=dict)
    owners: dict[str, int] = field(default_factory=dict)

    @classmethod
    async def make(
        cls, workspace: Workspace, documents: int, dimension: int, shares: tuple[float, ...], **options: Any
    ) -> Corpus:
        status = await workspace.doc_status()
        corpus = cls(await open_vectors(workspace, dimension, **options), documents)
        tags = {share: set(range(max(1, round(documents * share)))) for share in shares}
        rows = {
            f"doc-{number}": {
                "content_summary": "",
                "content_length": 0,
                "file_path": "p",
                "status": "processed",
                "created_at": "2024",
                "updated_at": "2024",
                "metadata": {"user_tags": [tag_of(share) for share in shares if number in tags[share]]},
            }
            for number in range(documents)
        }
        await status.upsert(rows)
        generator = np.random.default_rng(7)
        # Owners are shuffled, so that eligible rows do not lie together.
        order = generator.permutation(2 * documents)
        await corpus.put(
            {
                f"c{place:06}": (int(owner) // 2, vector)
                for place, (owner, vector) in enumerate(
                    zip(order, generator.standard_normal((2 * documents, dimension)), strict=True)
                )
            }
        )
        return corpus

    async def put(self, rows: dict[str, tuple[int, np.ndarray]]) -> None:
        await self.store.upsert(
            {
                key: {"content": key, "full_doc_id": f"doc-{owner}", "vector": vector}
                for key, (owner, vector) in rows.items()
            }
        )
        self.vectors |= {key: vector / np.linalg.norm(vector) for key, (_, vector) in rows.items()}
        self.owners |= {key: owner for key, (owner, _) in rows.items()}

    async def delete(self, keys: list[str]) -> None:
        await self.store.delete(keys)
        for key in keys:
            self.vectors.pop(key, None)
            self.owners.pop(key, None)

    def expected(self, target: np.ndarray, count: int, share: float | None) -> list[str]:
        """The page by brute force."""
        last = self.documents if share is None else max(1, round(self.documents * share))
        keys = sorted(key for key, owner in self.owners.items() if owner < last)
        if not keys:
            return []
        scores = np.stack([self.vectors[key] for key in keys]) @ (target / np.linalg.norm(target))
        return [keys[place] for place in np.argsort(-scores, kind="stable")[:count]]

    async def found(self, target: np.ndarray, count: int, share: float | None) -> list[str]:
        wanted = None if share is None else as_filter({"required_tags": [tag_of(share)]})
        return [row["id"] for row in await self.store.query("", count, target, metadata_filter=wanted)]
