"""Run one scenario on the engine of the interpreter that runs this file, and print one line of JSON.

    python scripts/bench/measure.py ingest DIRECTORY --docs 50

A scenario has a process of its own, so that its CPU seconds, bytes and memory are its own. Times are in
seconds unless the name says otherwise; CPU seconds are user and system time of the process and its children;
`written_mb` is what the process handed to the kernel (`wchar`), `flushed_mb` what it caused to be sent to the
disk (`write_bytes`). Importing is measured by `import_probe.py`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import shutil
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import workload
from meters import MB, Meter, disk_bytes, peak_rss_mb

MODES = ("naive", "local", "global", "hybrid", "mix")
TOP_K = 20
CONCURRENT = 8

Figures = dict[str, Any]


def percentile(values: list[float], share: float) -> float:
    """Return the value below which a share of the values lies."""
    return float(np.quantile(values, share))


# --- the engine ---------------------------------------------------------------------------------------------


@contextlib.contextmanager
def scratch_copy(directory: Path) -> Iterator[Path]:
    """Give a copy of an ingested directory, so that a scenario that writes leaves the original as it was."""
    with tempfile.TemporaryDirectory(dir=directory.parent) as name:
        copy = Path(name) / "copy"
        shutil.copytree(directory, copy)
        yield copy


@contextlib.asynccontextmanager
async def opened(directory: Path) -> AsyncIterator[workload.Bench]:
    """Open the engine over a directory, and close it."""
    bench = workload.build_engine(directory)
    await bench.rag.initialize_storages()
    yield bench
    await bench.rag.finalize_storages()


async def processed_documents(rag: Any) -> int:
    """Return how many documents the engine says are processed; raise when it says that any failed."""
    counts = {str(name): int(count) for name, count in (await rag.get_processing_status()).items()}
    if counts.get("failed"):
        raise RuntimeError(f"documents failed: {counts!r}")
    return counts.get("processed", 0)


async def ask(rag: Any, mode: str, question: str) -> list[int]:
    """Ask one question for its data and return how many entities, relations and chunks came back.

    Raises:
        RuntimeError: The engine found nothing, which no question of the workload deserves.
    """
    from lightrag import QueryParam

    answer = await rag.aquery_data(question, QueryParam(mode=mode))
    data = answer["data"]
    if answer["status"] != "success" or not data["chunks"]:
        raise RuntimeError(f"mode {mode!r} found nothing for {question!r}: {answer['message']!r}")
    return [len(data["entities"]), len(data["relationships"]), len(data["chunks"])]


# --- scenarios ----------------------------------------------------------------------------------------------


async def ingest(options: argparse.Namespace) -> Figures:
    """Insert documents in one call, and close; the bytes and the time of closing belong to it."""
    corpus = workload.make_corpus(options.docs)
    bench = workload.build_engine(options.directory)
    await bench.rag.initialize_storages()
    meter = Meter()
    with meter.running():
        await bench.rag.ainsert(
            [document.text for document in corpus],
            ids=[document.id for document in corpus],
            file_paths=[document.path for document in corpus],
        )
    done = await processed_documents(bench.rag)
    if done != options.docs:
        raise RuntimeError(f"{done} of {options.docs} documents are processed")
    labels = await bench.rag.get_graph_labels()
    with meter.running():
        await bench.rag.finalize_storages()
    figures = meter.figures()
    on_disk = disk_bytes(options.directory) / MB
    return figures | {
        "docs": options.docs,
        "entities": len(labels),
        "calls": bench.calls(),
        "docs_per_cpu_s": options.docs / figures["cpu_s"],
        "cpu_ms_per_doc": figures["cpu_s"] / options.docs * 1e3,
        "docs_per_wall_s": options.docs / figures["wall_s"],
        "disk_mb": on_disk,
        "written_per_disk": figures["written_mb"] / on_disk,
        "peak_rss_mb": peak_rss_mb(),
    }


async def query(options: argparse.Namespace) -> Figures:
    """Ask warm questions one after another in each mode."""
    figures: Figures = {}
    async with opened(options.directory) as bench:
        for mode in MODES:
            for question in workload.make_queries(max(3, options.queries // 10), seed=1):
                await ask(bench.rag, mode, question)
            meter, found = Meter(), []
            for question in workload.make_queries(options.queries, seed=2):
                with meter.running():
                    found.append(await ask(bench.rag, mode, question))
            figures[mode] = {
                "p50_ms": percentile(meter.walls, 0.5) * 1e3,
                "p95_ms": percentile(meter.walls, 0.95) * 1e3,
                "cpu_ms": meter.cpu / options.queries * 1e3,
                "found": [statistics.fmean(counts) for counts in zip(*found, strict=True)],
            }
    return figures | {"peak_rss_mb": peak_rss_mb()}


async def concurrency(options: argparse.Namespace) -> Figures:
    """Ask mix questions one after another and eight at once, in turn, each question once in either way."""
    serial: list[float] = []
    concurrent: list[float] = []
    async with opened(options.directory) as bench:
        for question in workload.make_queries(max(3, options.queries // 10), seed=1):
            await ask(bench.rag, "mix", question)
        slots = asyncio.Semaphore(CONCURRENT)

        async def ask_in_slot(question: str) -> None:
            async with slots:
                await ask(bench.rag, "mix", question)

        async def one_after_another(questions: list[str]) -> None:
            for question in questions:
                await ask(bench.rag, "mix", question)

        async def eight_at_once(questions: list[str]) -> None:
            await asyncio.gather(*(ask_in_slot(question) for question in questions))

        for number in range(options.rounds):
            questions = workload.make_queries(max(2 * CONCURRENT, options.queries // 2), seed=10 + number)
            ways: list[tuple[list[float], Callable[[list[str]], Awaitable[None]]]] = [
                (serial, one_after_another),
                (concurrent, eight_at_once),
            ]
            # Whoever goes second finds the caches warm, so they take turns.
            for rates, run in ways if number % 2 == 0 else reversed(ways):
                start = time.perf_counter()
                await run(questions)
                rates.append(len(questions) / (time.perf_counter() - start))
    return {
        "serial_per_s": statistics.median(serial),
        "concurrent_per_s": statistics.median(concurrent),
        "ratio": statistics.median(b / a for a, b in zip(serial, concurrent, strict=True)),
    }


async def delete(options: argparse.Namespace) -> Figures:
    """Delete three documents of a copy, one at a time; then open it again and see that they stayed away."""
    meter = Meter()
    with scratch_copy(options.directory) as copy:
        async with opened(copy) as bench:
            total = await processed_documents(bench.rag)
            targets = [workload.document_id(total * quarter // 4) for quarter in (1, 2, 3)]
            for target in targets:
                with meter.running():
                    result = await bench.rag.adelete_by_doc_id(target)
                if result.status != "success":
                    raise RuntimeError(f"deleting {target!r} ended as {result.status!r}: {result.message!r}")
            calls = bench.calls()
        async with opened(copy) as bench:
            left = await processed_documents(bench.rag)
            if left != total - len(targets):
                raise RuntimeError(f"{left} documents are left of {total} after {len(targets)} deletions")
    figures = meter.figures()
    return {name: value / len(targets) for name, value in figures.items()} | {
        "p50_s": statistics.median(meter.walls),
        "calls": calls,
        "peak_rss_mb": peak_rss_mb(),
    }


async def reopen(options: argparse.Namespace) -> Figures:
    """Open an ingested directory; then answer one question, for an engine may put off loading until then."""
    from lightrag import LightRAG  # noqa: F401  (importing is measured by itself)

    opening, answering = Meter(), Meter()
    with opening.running():
        bench = workload.build_engine(options.directory)
        await bench.rag.initialize_storages()
    with answering.running():
        await ask(bench.rag, "mix", workload.make_queries(1, seed=3)[0])
    done = await processed_documents(bench.rag)
    if options.docs and done != options.docs:
        raise RuntimeError(f"{done} of {options.docs} documents are there after reopening")
    await bench.rag.finalize_storages()
    return opening.figures() | {
        "to_first_answer_s": opening.wall + answering.wall,
        "to_first_answer_cpu_s": opening.cpu + answering.cpu,
        "peak_rss_mb": peak_rss_mb(),
    }


def _vector_row(number: int) -> tuple[str, dict[str, str]]:
    key = f"chunk-bench-{number:06d}"
    owner = workload.document_id(number // workload.CHUNKS_PER_DOCUMENT)
    return key, {
        "content": f"Passage {number} of the store of vectors.",
        "full_doc_id": owner,
        "file_path": f"{owner}.txt",
    }


async def _search(store: Any, matrix: np.ndarray, keys: list[str], count: int) -> Figures:
    """Search by given vectors, through the store and by hand in turn, and compare what was found."""
    probes = workload.embed_texts([f"probe {number}" for number in range(count + 5)])
    engine, bare = [], []
    wrong = 0
    for number, probe in enumerate(probes):
        start = time.perf_counter()
        rows = await store.query("probe", top_k=TOP_K, query_embedding=probe)
        middle = time.perf_counter()
        scores = matrix @ probe
        best = np.argpartition(scores, -TOP_K)[-TOP_K:]
        end = time.perf_counter()
        if number >= 5:
            engine.append(middle - start)
            bare.append(end - middle)
        wrong += TOP_K - len({keys[i] for i in best} & {row["id"] for row in rows})
    # Vectors rounded by a store may swap the last places; more than that is not an exact search.
    if wrong > len(probes) * TOP_K * 0.01:
        raise RuntimeError(f"{wrong} of {len(probes) * TOP_K} neighbours are not the nearest")
    return {
        "search_p50_ms": percentile(engine, 0.5) * 1e3,
        "search_p95_ms": percentile(engine, 0.95) * 1e3,
        "numpy_p50_ms": percentile(bare, 0.5) * 1e3,
        "search_per_numpy": percentile(engine, 0.5) / percentile(bare, 0.5),
    }


async def vectors(options: argparse.Namespace) -> Figures:
    """Fill the store of chunk vectors, search it, then add single rows and save each."""
    filling, adding = Meter(), Meter()
    rows = dict(_vector_row(number) for number in range(options.rows))
    matrix = workload.embed_texts([row["content"] for row in rows.values()])
    keys = list(rows)
    async with opened(options.directory) as bench:
        store = bench.rag.chunks_vdb
        with filling.running():
            for start in range(0, options.rows, 1000):
                await store.upsert({key: rows[key] for key in keys[start : start + 1000]})
            await store.index_done_callback()
        found = await _search(store, matrix, keys, options.queries * 2)
        for number in range(options.rounds):
            key, row = _vector_row(options.rows + number)
            with adding.running():
                await store.upsert({key: row})
                await store.index_done_callback()
    return found | {
        "rows": options.rows,
        "fill_s": filling.wall,
        "fill_cpu_s": filling.cpu,
        "add_p50_s": statistics.median(adding.walls),
        "add_cpu_s": adding.cpu / options.rounds,
        "add_written_mb": adding.written / options.rounds / MB,
        "disk_mb": disk_bytes(options.directory) / MB,
        "peak_rss_mb": peak_rss_mb(),
    }


async def vectors_kept(options: argparse.Namespace) -> Figures:
    """Check in another process that the rows added by `vectors` were saved."""
    async with opened(options.directory) as bench:
        for number in (0, options.rows - 1, options.rows + options.rounds - 1):
            key, row = _vector_row(number)
            stored = await bench.rag.chunks_vdb.get_by_id(key)
            if stored is None or stored["content"] != row["content"]:
                raise RuntimeError(f"row {key!r} was not kept: {stored!r}")
    return {"kept": True}


SCENARIOS: dict[str, Callable[[argparse.Namespace], Coroutine[Any, Any, Figures]]] = {
    "ingest": ingest,
    "query": query,
    "concurrency": concurrency,
    "delete": delete,
    "reopen": reopen,
    "vectors": vectors,
    "vectors-kept": vectors_kept,
}


def main() -> None:
    """Run the scenario that the command line names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("scenario", choices=SCENARIOS)
    parser.add_argument("directory", type=Path, help="working directory of the engine")
    parser.add_argument("--docs", type=int, default=0, help="documents to insert, or to expect")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--rows", type=int, default=20_000, help="vectors in the store")
    parser.add_argument("--rounds", type=int, default=5, help="repetitions within the process")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    options.directory.mkdir(parents=True, exist_ok=True)
    figures = asyncio.run(SCENARIOS[options.scenario](options))
    print(json.dumps({"scenario": options.scenario, **figures}))


if __name__ == "__main__":
    main()
