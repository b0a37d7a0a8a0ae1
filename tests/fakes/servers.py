"""Stores that lie elsewhere: each keeps its rows in a database of its own, and no two of them can commit together.

They are the stores of the embedded default without its transactions, so a set of them behaves as rows on servers do: a
write is done when its call returns, whatever becomes of the unit of work it belongs to.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Hashable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

from lightrag.contracts.doc_status import BaseDocStatusStorage
from lightrag.kg.registry import BACKENDS, Backend
from lightrag.kg.sqlite.doc_status import SQLiteDocStatusStorage
from lightrag.kg.sqlite.evidence import SQLiteEvidenceStorage
from lightrag.kg.sqlite.graph import SQLiteGraphStorage
from lightrag.kg.sqlite.kv import SQLiteKVStorage
from lightrag.kg.sqlite.store import SQLiteStore
from lightrag.kg.sqlite.vector import SQLiteVectorDBStorage
from lightrag.kg.writer import Writer
from lightrag.query_filters import DocumentFacts, VectorQueryFilter


class _Elsewhere(SQLiteStore):
    server = ""

    async def initialize(self) -> None:
        home = Path(self.global_config["working_dir"], self.server)
        self.global_config = {**self.global_config, "working_dir": str(home)}
        await super().initialize()

    @property
    def transaction_group(self) -> Hashable | None:
        return None

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        yield


@dataclass(kw_only=True, eq=False)
class ElsewhereKVStorage(_Elsewhere, SQLiteKVStorage):
    server = "server-of-rows"


@dataclass(kw_only=True, eq=False)
class ElsewhereDocStatusStorage(_Elsewhere, SQLiteDocStatusStorage):
    """Without the indexes of the database, as a server of keys and values is."""

    server = "server-of-rows"
    counts_by_index: ClassVar[bool] = False

    async def count_eligible(self, metadata_filter: VectorQueryFilter) -> int:
        """Return how many processed documents a filter accepts."""
        return await BaseDocStatusStorage.count_eligible(self, metadata_filter)

    async def all_facts(self, metadata_filter: VectorQueryFilter | None = None) -> dict[str, DocumentFacts]:
        """Return what filters see of documents."""
        return await BaseDocStatusStorage.all_facts(self, metadata_filter)


@dataclass(kw_only=True, eq=False)
class ElsewhereVectorDBStorage(_Elsewhere, SQLiteVectorDBStorage):
    server = "server-of-vectors"


@dataclass(kw_only=True, eq=False)
class ElsewhereGraphStorage(_Elsewhere, SQLiteGraphStorage):
    server = "server-of-graphs"


@dataclass(kw_only=True, eq=False)
class ElsewhereEvidenceStorage(_Elsewhere, SQLiteEvidenceStorage):
    server = "server-of-evidence"


KINDS = {"KV": "kv", "DocStatus": "doc_status", "VectorDB": "vector", "Graph": "graph", "Evidence": "evidence"}


@contextmanager
def registered() -> Iterator[None]:
    """Let engines find the stores by their class names."""
    entries = {f"Elsewhere{name}Storage": Backend(kind, __name__) for name, kind in KINDS.items()}
    with mock.patch.dict(BACKENDS, entries):
        yield


class KilledError(BaseException):
    """The process is no more. Nothing but the boundary of a test may catch it."""


class Steps:
    """Counts durable steps of embedded stores, and lets one of them be the last.

    Attributes:
        done: Steps so far.
        last: Number of steps after which nothing is stored any more; ``None`` for no end.
        error: What a step raises that comes too late.
        only: Only steps that write to a database or folder with this in its path are counted and fail.
    """

    def __init__(self, last: int | None = None, error: type[BaseException] = KilledError, only: str = "") -> None:
        self.done = 0
        self.last = last
        self.error = error
        self.only = only

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count, and fail, inside the block."""
        submit = Writer.submit

        def counting(writer: Writer[Any], write: Any) -> Any:
            if self.only in writer.name:
                if self.last is not None and self.done >= self.last:
                    raise self.error("too late")
                self.done += 1
            return submit(writer, write)

        with mock.patch.object(Writer, "submit", counting):
            yield
