"""The storage families that run the suite. A new family is one more entry of ``FAMILIES``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from lightrag.contracts.doc_status import BaseDocStatusStorage
from lightrag.contracts.evidence import BaseEvidenceStorage
from lightrag.contracts.graph import BaseGraphStorage
from lightrag.contracts.kv import BaseKVStorage
from lightrag.contracts.models import EmbeddingFunc
from lightrag.contracts.storage import StorageNameSpace
from lightrag.contracts.vector import FILTER_FIELD_DEFAULTS, BaseVectorStorage
from lightrag.kg.registry import storage_class

DIMENSION = 8


def in_folder(folder: Path) -> Mapping[str, Any]:
    """The place of a family that keeps its data in files."""
    return {"working_dir": str(folder)}


@dataclass(frozen=True)
class Family:
    """Storage classes that are used together.

    Attributes:
        name: Of the family.
        classes: Class name by kind.
        transactional: Whether a unit of work is all or nothing.
        durable_at_once: Whether a write survives a killed process without ``index_done_callback``.
        survives_reopening: Whether data outlives the process.
        place: Settings that name a place of its own for every folder; two paths of one folder name one place. A family
            on a server, for which working directories mean nothing, names a database or schema, and finds the server
            in the environment, as a process that a test starts does.
        unavailable: Why the family cannot be tested here; the text of the README's table.
    """

    name: str
    classes: Mapping[str, str]
    transactional: bool = True
    durable_at_once: bool = True
    survives_reopening: bool = True
    place: Callable[[Path], Mapping[str, Any]] = in_folder
    unavailable: str = ""


FAMILIES: tuple[Family, ...] = (
    Family(
        "sqlite",
        {
            "kv": "SQLiteKVStorage",
            "doc_status": "SQLiteDocStatusStorage",
            "vector": "SQLiteVectorDBStorage",
            "graph": "SQLiteGraphStorage",
            "evidence": "SQLiteEvidenceStorage",
        },
    ),
    Family(
        "files",
        {
            "kv": "JsonKVStorage",
            "doc_status": "JsonDocStatusStorage",
            "vector": "NanoVectorDBStorage",
            "graph": "NetworkXStorage",
            "evidence": "JsonEvidenceStorage",
        },
    ),
    Family(
        "faiss",
        {
            "kv": "JsonKVStorage",
            "doc_status": "JsonDocStatusStorage",
            "vector": "FaissVectorDBStorage",
            "graph": "NetworkXStorage",
            "evidence": "JsonEvidenceStorage",
        },
        unavailable="" if find_spec("faiss") else "faiss-cpu is not installed; extra faiss",
    ),
)


def family_named(name: str) -> Family:
    return next(family for family in FAMILIES if family.name == name)


def embedding(dimension: int = DIMENSION, model: str | None = "model-a") -> EmbeddingFunc:
    """An embedding that depends on nothing but the text."""

    async def embed(texts: Sequence[str], **_: Any) -> np.ndarray:
        return np.stack([text_vector(text, dimension) for text in texts]) if texts else np.empty((0, dimension))

    return EmbeddingFunc(dimension, embed, model_name=model)


def text_vector(text: str, dimension: int = DIMENSION) -> np.ndarray:
    seed = int.from_bytes(text.encode("utf-8", "replace")[:32].ljust(4, b"\0"), "big") % 2**32
    return np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)


@dataclass
class Workspace:
    """Opens stores of one workspace, and closes what it opened."""

    family: Family
    working_dir: Path
    name: str = ""
    opened: list[StorageNameSpace] = field(default_factory=list)

    async def open(self, kind: str, namespace: str, **options: Any) -> Any:
        store = self.build(kind, namespace, **options)
        await store.initialize()
        self.opened.append(store)
        return store

    def build(self, kind: str, namespace: str, **options: Any) -> Any:
        config = {
            **self.family.place(self.working_dir),
            "embedding_batch_num": 3,
            "vector_db_storage_cls_kwargs": {},
        }
        return storage_class(self.family.classes[kind], kind)(
            namespace=namespace, workspace=self.name, global_config=config, **options
        )

    async def kv(self, namespace: str = "full_docs") -> BaseKVStorage:
        return await self.open("kv", namespace)

    async def doc_status(self) -> BaseDocStatusStorage:
        return await self.open("doc_status", "doc_status")

    async def graph(self) -> BaseGraphStorage:
        return await self.open("graph", "chunk_entity_relation")

    async def evidence(self) -> BaseEvidenceStorage:
        return await self.open("evidence", "evidence")

    async def vectors(
        self,
        namespace: str = "chunks",
        *,
        floor: float = -1.0,
        func: EmbeddingFunc | None = None,
        fields: Sequence[str] = ("entity_name", "src_id", "tgt_id", "file_path", *FILTER_FIELD_DEFAULTS),
    ) -> BaseVectorStorage:
        return await self.open(
            "vector",
            namespace,
            embedding_func=func or embedding(),
            cosine_better_than_threshold=floor,
            meta_fields=set(fields),
        )

    async def close(self) -> None:
        while self.opened:
            store = self.opened.pop()
            await store.index_done_callback()
            await store.finalize()
