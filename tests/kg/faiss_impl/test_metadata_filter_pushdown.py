"""Filtered searches through FAISS: recall 1.0 and full pages at every share, and always of what is stored now."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytest_asyncio

faiss = pytest.importorskip("faiss", reason="faiss-cpu is not installed; extra faiss")

from lightrag.exceptions import InputError, MissingDependencyError, SchemaVersionError, StorageError  # noqa: E402
from lightrag.kg.faiss import index as index_module  # noqa: E402
from lightrag.kg.faiss.index import FaissIndex, IndexOptions  # noqa: E402
from lightrag.kg.files.table import Change  # noqa: E402
from lightrag.kg.vector_spaces import stored_space  # noqa: E402
from tests.conformance.families import Workspace, embedding, family_named  # noqa: E402
from tests.kg.faiss_impl.workspace import Corpus, open_vectors, workspace_in  # noqa: E402

SHARES = (1.0, 0.5, 0.36, 0.34, 0.1, 0.01, 0.001, 0.0001)
DIMENSION = 32


@pytest_asyncio.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[Workspace]:
    made = workspace_in(tmp_path)
    yield made
    await made.close()


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int | None, bool]]:
    """Of every search of an index: how many rows were allowed, and whether it could tell."""
    seen: list[tuple[int | None, bool]] = []
    search = FaissIndex.search

    def spy(self: FaissIndex, target: Any, count: int, floor: float, allowed: Any = None) -> Any:
        hits = search(self, target, count, floor, allowed)
        seen.append((None if allowed is None else len(allowed), hits is not None))
        return hits

    monkeypatch.setattr(FaissIndex, "search", spy)
    return seen


def targets(count: int, dimension: int = DIMENSION) -> np.ndarray:
    return np.random.default_rng(3).standard_normal((count, dimension))


async def test_recall_and_full_pages_at_every_share(
    workspace: Workspace, searches: list[tuple[int | None, bool]]
) -> None:
    corpus = await Corpus.make(workspace, 10_000, DIMENSION, SHARES)
    assert corpus.store.filters_by_documents
    for target in targets(3):
        for share in (None, *SHARES):
            searches.clear()
            eligible = 20_000 if share is None else 2 * round(10_000 * share)
            for count in (1, 10, 60):
                found = await corpus.found(target, count, share)
                assert found == corpus.expected(target, count, share)
                assert len(found) == min(count, eligible)
            through_index = share is None or share > 0.35
            assert searches == ([(None if share is None else eligible, True)] * 3 if through_index else [])


async def test_hnsw_never_answers_a_filtered_search(
    workspace: Workspace, searches: list[tuple[int | None, bool]]
) -> None:
    corpus = await Corpus.make(workspace, 1_000, DIMENSION, SHARES, faiss_index="hnsw", faiss_hnsw_ef_search=32)
    recalls = []
    for target in targets(5):
        for share in SHARES:
            assert await corpus.found(target, 20, share) == corpus.expected(target, 20, share)
        assert searches == []
        found = await corpus.found(target, 20, None)
        assert len(found) == 20
        recalls.append(len(set(found).intersection(corpus.expected(target, 20, None))) / 20)
        assert len(searches) == 1
        searches.clear()
    assert np.mean(recalls) > 0.9


@pytest.mark.parametrize("kind", ["flat", "hnsw"])
async def test_the_index_follows_writes_and_reopening(workspace: Workspace, tmp_path: Path, kind: str) -> None:
    # So many candidates that HNSW sees every row.
    options = {"faiss_index": kind, "faiss_hnsw_ef_search": 5_000}
    corpus = await Corpus.make(workspace, 150, 8, (1.0, 0.5, 0.01), **options)
    generator = np.random.default_rng(1)

    async def check() -> None:
        for target in targets(2, 8):
            for share in (None, 1.0, 0.5, 0.01):
                for count in (1, 7, 1000):
                    assert await corpus.found(target, count, share) == corpus.expected(target, count, share)

    await check()
    for step in range(12):
        keys = generator.permutation(list(corpus.vectors)).tolist()
        await corpus.delete(keys[:9])
        replaced = {key: (int(generator.integers(150)), generator.standard_normal(8)) for key in keys[9:20]}
        same = {key: (int(generator.integers(150)), corpus.vectors[key]) for key in keys[20:30]}
        added = {f"n{step}-{place}": (place, generator.standard_normal(8)) for place in range(5)}
        await corpus.put(replaced | same | added)
        # Deleted and put again between two searches.
        await corpus.delete([keys[31]])
        await corpus.put({keys[31]: (3, generator.standard_normal(8))})
        await check()
    await workspace.close()
    await workspace.doc_status()
    corpus.store = await open_vectors(workspace, 8, **options)
    await check()
    await corpus.store.drop()
    corpus.vectors.clear()
    corpus.owners.clear()
    await check()
    await corpus.put({"first": (0, np.ones(8))})
    await check()


@pytest.mark.parametrize("kind", ["flat", "hnsw"])
async def test_a_failed_transaction_leaves_the_index_as_it_was(workspace: Workspace, kind: str) -> None:
    corpus = await Corpus.make(workspace, 20, 8, (1.0,), faiss_index=kind)
    before = [await corpus.found(target, 40, None) for target in targets(2, 8)]

    async def fail() -> None:
        async with corpus.store.transaction():
            await corpus.store.upsert({"new": {"content": "new", "vector": np.ones(8)}})
            await corpus.store.delete(list(corpus.vectors)[:5])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert [await corpus.found(target, 40, None) for target in targets(2, 8)] == before


async def test_a_change_that_is_taken_back_is_taken_back_in_the_index(workspace: Workspace) -> None:
    corpus = await Corpus.make(workspace, 20, 8, (1.0,))
    before = [await corpus.found(target, 40, None) for target in targets(2, 8)]
    store = corpus.store

    def fail(change: Change) -> None:
        change.apply(store.table, ["delete", list(corpus.vectors)[:5]])
        change.apply(store.table, store.table.put_operation([("new", "{}")], np.ones((1, 8), dtype=np.float32)))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.folder.write(fail)
    assert [await corpus.found(target, 40, None) for target in targets(2, 8)] == before


@pytest.mark.parametrize("kind", ["flat", "hnsw"])
async def test_more_equal_rows_than_the_index_is_asked_for_are_ordered_by_id(
    workspace: Workspace, searches: list[tuple[int | None, bool]], kind: str
) -> None:
    corpus = await Corpus.make(workspace, 10, 8, (1.0,), faiss_index=kind)
    target = np.ones(8)
    await corpus.put({f"same-{place:03}": (place % 10, target) for place in reversed(range(200))})
    names = [f"same-{place:03}" for place in range(5)]
    for share in (None, 1.0):
        assert await corpus.found(target, 5, share) == names
    assert searches
    assert not any(could_tell for _, could_tell in searches)


async def test_zero_vectors_and_the_floor(workspace: Workspace) -> None:
    store = await open_vectors(workspace, 2)
    rows = {"zero": (0.0, 0.0), "near": (1.0, 0.1), "far": (0.0, 1.0), "opposite": (-1.0, 0.0)}
    await store.upsert({key: {"content": key, "vector": np.array(vector)} for key, vector in rows.items()})
    assert [row["id"] for row in await store.query("", 10, [1.0, 0.0])] == ["near", "far", "opposite"]
    store.cosine_better_than_threshold = 0.5
    assert [row["id"] for row in await store.query("", 10, [1.0, 0.0])] == ["near"]
    assert await store.query("", 10, [0.0, 0.0]) == []


async def test_both_vector_stores_stand_in_one_folder(workspace: Workspace, tmp_path: Path) -> None:
    other = Workspace(family_named("files"), tmp_path)
    for round_ in range(2):
        for opened, text in ((workspace, "of faiss"), (other, "of nano")):
            store = await opened.vectors()
            if not round_:
                await store.upsert({"a": {"content": text}})
            row = await store.get_by_id("a")
            assert row is not None
            assert row["content"] == text
        await workspace.close()
        await other.close()
    assert (tmp_path / "faiss_chunks.jsonl").exists()
    assert (tmp_path / "vdb_chunks.json").exists()


async def test_dimension_and_model_are_told_without_reading_rows(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not tell the dimension"):
        stored_space("FaissVectorDBStorage", str(tmp_path), "")
    await (await workspace.vectors()).upsert({"a": {"content": "a"}})
    await workspace.close()
    assert stored_space("FaissVectorDBStorage", str(tmp_path), "") == (8, "model-a")


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ('{"format": 2, "dimension": 8, "model": ""}\n', SchemaVersionError),
        ('{"format": 1}\n', StorageError),
        ('{"format": 1, "dimension": 8, "model": ""}\n["a", {}, "AAAA"]\n', StorageError),
        ('{"format": 1, "dimension": 8, "model": ""}\n["a"]\n', StorageError),
    ],
)
async def test_a_file_that_cannot_be_understood_is_named(
    workspace: Workspace, tmp_path: Path, content: str, error: type[Exception]
) -> None:
    (tmp_path / "faiss_chunks.jsonl").write_text(content)
    with pytest.raises(error, match=r"faiss_chunks\.jsonl"):
        await workspace.vectors()


async def test_without_the_driver_the_extra_is_named(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(index_module, "import_module", missing)
    store = workspace.build("vector", "chunks", embedding_func=embedding())
    with pytest.raises(MissingDependencyError, match=r"'FaissVectorDBStorage'.*'lightrag-hku\[faiss\]'"):
        await store.initialize()


@pytest.mark.parametrize(
    "options", [{"faiss_index": "ivf"}, {"faiss_hnsw_m": 1}, {"faiss_hnsw_ef_search": 0}, {"faiss_hnsw_m": "many"}]
)
def test_options_without_meaning_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"{next(iter(options))} is .*allowed are"):
        IndexOptions.of({**options, "cosine_better_than_threshold": 0.1})
