"""Copy a workspace from one storage family to another.

Nothing is recomputed and no model is asked: rows, vectors, graph and evidence are copied through the contracts, so any
family can be copied to any other. The source is only read. How far a copy has come stands in the target, which refuses
to be used before the copy is complete; run again, it goes on from there. At the end everything is counted on both
sides.

Times at which key-value and vector rows were stored are those of the copy.
"""

from __future__ import annotations

import heapq
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from lightrag import constants
from lightrag.constants import MIGRATION_ROW
from lightrag.contracts.evidence import Evidence, ObjectKind
from lightrag.contracts.kv import BaseKVStorage
from lightrag.contracts.models import EmbeddingFunc
from lightrag.contracts.vector import BaseVectorStorage
from lightrag.exceptions import StorageError
from lightrag.kg.vector_spaces import stored_space, uncallable
from lightrag.settings import Settings
from lightrag.stores import Stores, open_stores

_ROWS = 500


@dataclass(frozen=True, slots=True)
class MigrationProgress:
    """How far a copy has come.

    Attributes:
        step: What is being copied.
        done: Rows of it copied so far.
        total: Rows of it in all; ``None`` when the source cannot tell without reading them.
    """

    step: str
    done: int
    total: int | None


Report = Callable[[MigrationProgress], None]


@dataclass(frozen=True)
class MigrationReport:
    """What was copied.

    Attributes:
        counts: Rows by step, the same on both sides.
        resumed: Whether an earlier, unfinished copy was continued.
    """

    counts: dict[str, int]
    resumed: bool


@dataclass
class _Migration:
    source: Stores
    target: Stores
    report: Report
    state: dict[str, Any]
    counts: dict[str, int] = field(default_factory=dict)

    @asynccontextmanager
    async def saving(self, step: str, after: str) -> AsyncIterator[None]:
        """Write a page and note that the step has come so far, together."""
        async with self.target.unit_of_work() as unit:
            yield
            row = {**self.state, "step": step, "after": after}
            unit.last(self.target.workspace_state.upsert, {MIGRATION_ROW: row})


Step = Callable[[_Migration, str], Awaitable[None]]


async def migrate_workspace(
    source: Settings, target: Settings, *, embedding_func: EmbeddingFunc | None = None, progress: Report | None = None
) -> MigrationReport:
    """Copy the workspace that one set of settings names to the one that another names.

    Args:
        source: Names storages, working directory and workspace to read.
        target: Likewise, to write. Other settings do not matter.
        embedding_func: Tells dimension and model of the vectors, and is never called; ``None`` reads both from the
            source, where its storages tell them.
        progress: Told of every page that was copied.

    Raises:
        InputError: The storages of the source do not tell the dimension of their vectors.
        StorageError: The target holds other data, a store failed, or the counts differ at the end.
        EmbeddingMismatchError: The source holds vectors of another model.
    """
    func = embedding_func or uncallable(
        stored_space(source.vector_storage, source.working_dir, source.workspace),
        "a row without a vector was met while copying",
    )
    async with (
        _opened(source, func, read_only=True) as stores_read,
        _opened(target, func, read_only=False) as stores_written,
    ):
        return await migrate(stores_read, stores_written, progress=progress)


async def migrate(source: Stores, target: Stores, *, progress: Report | None = None) -> MigrationReport:
    """Copy everything from opened stores to others.

    Args:
        source: Read only.
        target: Empty, or left unfinished by an earlier call with the same source.
        progress: Told of every page that was copied.

    Raises:
        StorageError: As :func:`migrate_workspace`.
    """
    version = await source.corpus_version()
    state = await _state_of_earlier(target)
    resumed = state is not None and state.get("source_version") == version
    if not resumed:
        if state is not None:
            failures = await target.drop_all()
            if failures:
                raise StorageError(f"the unfinished copy could not be removed: {failures}")
        elif not await _is_empty(target):
            raise StorageError(
                f"workspace {target.doc_status.workspace!r} of the target holds data already; "
                "choose another working_dir or workspace, or empty it first"
            )
        state = {"source_version": version, "step": "", "after": ""}
    state = dict(state or {})
    migration = _Migration(source, target, progress or _say_nothing, state)
    began, cursor = str(state["step"]), str(state["after"])
    async with migration.saving(began, cursor):
        pass
    names = list(_STEPS)
    for name in names[names.index(began) if began else 0 :]:
        await _STEPS[name](migration, cursor if name == began else "")
    await _verify(migration)
    await target.workspace_state.delete([MIGRATION_ROW])
    await target.workspace_state.index_done_callback()
    return MigrationReport(migration.counts, resumed)


async def _state_of_earlier(target: Stores) -> dict[str, Any] | None:
    row = await target.workspace_state.get_by_id(MIGRATION_ROW)
    return None if row is None else {name: row[name] for name in ("source_version", "step", "after")}


async def _is_empty(stores: Stores) -> bool:
    rows = (stores.full_docs, stores.text_chunks, stores.doc_status)
    if not all([await store.is_empty() for store in rows]):
        return False
    return not await stores.graph.count_nodes() and not await stores.chunks.count()


# --- steps ---------------------------------------------------------------------------------------------------------


def _key_values(name: str) -> Step:
    async def copy(migration: _Migration, after: str) -> None:
        read, written = _store(migration.source, name), _store(migration.target, name)
        done = 0
        while page := await read.scan(after=after, limit=_ROWS):
            rows = {key: row for key, row in page if key != MIGRATION_ROW}
            done, after = done + len(rows), page[-1][0]
            async with migration.saving(name, after):
                await written.upsert(rows)
            migration.report(MigrationProgress(name, done, None))

    return copy


def _store(stores: Stores, name: str) -> BaseKVStorage:
    store: BaseKVStorage = getattr(stores, name)
    return store


def _vectors(name: str) -> Step:
    async def copy(migration: _Migration, after: str) -> None:
        read: BaseVectorStorage = getattr(migration.source, name)
        written: BaseVectorStorage = getattr(migration.target, name)
        done, total = 0, await read.count()
        while page := await read.scan_ids(after=after, limit=_ROWS):
            stored, vectors = await read.get_by_ids(page), await read.get_vectors_by_ids(page)
            rows = {
                row_id: {**row, "vector": vectors[row_id]}
                for row_id, row in zip(page, stored, strict=True)
                if row is not None and row_id in vectors
            }
            done, after = done + len(rows), page[-1]
            async with migration.saving(f"vectors of {name}", after):
                await written.upsert(rows)
            migration.report(MigrationProgress(f"vectors of {name}", done, total))

    return copy


async def _entities(migration: _Migration, after: str) -> None:
    graph = migration.source.graph
    labels = await graph.get_all_labels()
    done = 0
    for page in _pages([label for label in labels if label > after]):
        nodes = await graph.get_nodes_batch(page)
        done += len(nodes)
        async with migration.saving("entities of the graph", page[-1]):
            await migration.target.graph.upsert_nodes_batch(nodes.items())
        migration.report(MigrationProgress("entities of the graph", done, len(labels)))


async def _relations(migration: _Migration, after: str) -> None:
    graph = migration.source.graph
    done, total = 0, await graph.count_edges()
    for page in _pages([label for label in await graph.get_all_labels() if label > after]):
        found = await graph.get_nodes_edges_batch(page)
        # Every edge is found from both ends; it is copied from the one that sorts first.
        pairs = [pair for ends in found.values() for pair in ends if pair[0] <= pair[1]]
        edges = await graph.get_edges_batch([{"src": source, "tgt": target} for source, target in pairs])
        done += len(edges)
        async with migration.saving("relations of the graph", page[-1]):
            await migration.target.graph.upsert_edges_batch((*pair, properties) for pair, properties in edges.items())
        migration.report(MigrationProgress("relations of the graph", done, total))


async def _evidence(migration: _Migration, after: str) -> None:
    """Copy evidence in its order of arrival, which decides what an object says; begun again, nothing is doubled."""
    done, total = 0, await migration.source.evidence.count()
    batch: list[Evidence] = []
    async for row in _in_order_of_arrival(migration.source):
        batch.append(row)
        if len(batch) == _ROWS:
            await migration.target.evidence.add(batch)
            done, batch = done + len(batch), []
            migration.report(MigrationProgress("evidence", done, total))
    async with migration.saving("evidence", ""):
        await migration.target.evidence.add(batch)
    migration.report(MigrationProgress("evidence", done + len(batch), total))


async def _in_order_of_arrival(stores: Stores) -> AsyncIterator[Evidence]:
    """Yield all rows by sequence number, holding those of a few documents at a time.

    The rows of a document mostly arrived together; what people said by hand lies between, and waits in the heap.
    """
    firsts: list[tuple[int, str]] = []
    for document_id in sorted(await _documents_with_evidence(stores)):
        rows = await stores.evidence.of_documents([document_id])
        firsts.append((rows[0].sequence, document_id))
    firsts.sort()
    waiting: list[tuple[int, int, Evidence]] = []
    for number, (_, document_id) in enumerate(firsts):
        for position, row in enumerate(await stores.evidence.of_documents([document_id])):
            heapq.heappush(waiting, (row.sequence, position, row))
        following = firsts[number + 1][0] if number + 1 < len(firsts) else None
        while waiting and (following is None or waiting[0][0] < following):
            yield heapq.heappop(waiting)[2]


async def _documents_with_evidence(stores: Stores) -> set[str]:
    found: set[str] = set()
    for kind in ObjectKind:
        after = ""
        while page := await stores.evidence.scan_objects(kind, after=after, limit=_ROWS):
            after = page[-1]
            sources = await stores.evidence.sources_of_objects(kind, page)
            found.update(source.document_id for rows in sources.values() for source in rows)
    return found


async def _chunks_of_objects(migration: _Migration, after: str) -> None:
    """Copy which chunks speak of what, where the source keeps that instead of evidence: the target will need it."""
    if await migration.source.evidence.count():
        return
    for namespace in (constants.KV_ENTITY_CHUNKS, constants.KV_RELATION_CHUNKS):
        async with (
            _beside(migration.source.text_chunks, namespace) as read,
            _beside(migration.target.text_chunks, namespace) as written,
        ):
            position = ""
            while page := await read.scan(after=position, limit=_ROWS):
                await written.upsert(dict(page))
                position = page[-1][0]


_STEPS: dict[str, Step] = {
    "full_docs": _key_values("full_docs"),
    "text_chunks": _key_values("text_chunks"),
    "llm_response_cache": _key_values("llm_response_cache"),
    "vectors of chunks": _vectors("chunks"),
    "chunks of objects": _chunks_of_objects,
    "evidence": _evidence,
    "entities of the graph": _entities,
    "relations of the graph": _relations,
    "vectors of entities": _vectors("entities"),
    "vectors of relationships": _vectors("relationships"),
    "workspace_state": _key_values("workspace_state"),
    # Last, as in every unit of work: a document that is known is complete.
    "doc_status": _key_values("doc_status"),
}


# --- counting ------------------------------------------------------------------------------------------------------


async def _verify(migration: _Migration) -> None:
    """Count everything on both sides.

    Raises:
        StorageError: A count differs.
    """
    read, written = await _counts(migration.source), await _counts(migration.target)
    different = [f"{name}: {read[name]} and {written[name]}" for name in read if read[name] != written[name]]
    if different:
        raise StorageError(
            f"source and target differ after the copy, by rows: {'; '.join(different)}. "
            "If somebody wrote to the source meanwhile, run it again"
        )
    migration.counts = read


async def _counts(stores: Stores) -> dict[str, int]:
    rows = ("full_docs", "text_chunks", "llm_response_cache", "workspace_state", "doc_status")
    return {
        **{name: await _row_count(_store(stores, name)) for name in rows},
        "vectors of chunks": await stores.chunks.count(),
        "vectors of entities": await stores.entities.count(),
        "vectors of relationships": await stores.relationships.count(),
        "entities of the graph": await stores.graph.count_nodes(),
        "relations of the graph": await stores.graph.count_edges(),
        "evidence": await stores.evidence.count(),
    }


async def _row_count(store: BaseKVStorage) -> int:
    count, after = 0, ""
    while page := await store.scan(after=after, limit=_ROWS):
        count += sum(key != MIGRATION_ROW for key, _ in page)
        after = page[-1][0]
    return count


# --- opening -------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def _opened(settings: Settings, func: EmbeddingFunc, *, read_only: bool) -> AsyncIterator[Stores]:
    stores = open_stores(settings, func, vector_options={})
    if read_only:
        for store in stores.all():
            store.global_config = {**store.global_config, "read_only": True}
    await stores.initialize()
    try:
        yield stores
    finally:
        await stores.finalize()


@asynccontextmanager
async def _beside(store: BaseKVStorage, namespace: str) -> AsyncIterator[BaseKVStorage]:
    """Open another namespace of a store."""
    other = type(store)(namespace=namespace, workspace=store.workspace, global_config=store.global_config)
    await other.initialize()
    try:
        yield other
    finally:
        await other.index_done_callback()
        await other.finalize()


def _pages(items: Sequence[str]) -> Sequence[Sequence[str]]:
    return [items[start : start + _ROWS] for start in range(0, len(items), _ROWS)]


def _say_nothing(progress: MigrationProgress) -> None:
    """Report to nobody."""
