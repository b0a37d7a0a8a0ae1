"""Measure what filters cost: naive and mix queries, the index, and the facets.

How to run, from the root of the repository:

    python scripts/bench/filters.py --quick       # half a minute: does everything run?
    python scripts/bench/filters.py               # the figures; some six minutes, most of them for inserting documents
    python scripts/bench/filters.py --keep        # keep the corpora, and use them again the next time

Three parts, each against its targets:

* *Naive*: 100,000 chunks of 384 numbers from 20,000 documents with 200 tags and dates over a century, in the default
  store. Filters that accept from all documents down to one in ten thousand; each question has a filter of its own, so
  that nothing is remembered from one to the next. Answers are compared with brute force.
* *Load*: a process of its own starts, answers a first question without a filter, then one with a filter, which reads
  the index. What the second costs over a later one like it is the price of the index.
* *Mix*: 5,000 documents of the corpus in `workload.py` with its models that cost nothing; and `afacets`.

Filtered and unfiltered questions take turns, so that a neighbour on the machine disturbs both alike; BLAS has one
thread; figures are medians. Ratios are those of CPU time, of the whole process, which repeats well; wall times stand
beside it in brackets and do so only on a quiet machine. The exit status is 1 when a target is missed; with `--quick` it
says only whether everything ran.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import workload
from filter_corpus import DIMENSION, TOP_K, Json, Truth, filter_for, insert_mix, open_engine, store_chunks
from meters import resident_mb

BENCH = Path(__file__).resolve().parent
WORK = BENCH / ".work" / "filters"


@dataclass(frozen=True)
class Sizes:
    """How much is done: documents of both corpora, questions for each filter, processes that load."""

    documents: int
    mix_documents: int
    questions: int
    loads: int


FULL = Sizes(documents=20_000, mix_documents=5000, questions=60, loads=5)
QUICK = Sizes(documents=2000, mix_documents=60, questions=8, loads=1)

# --- naive -----------------------------------------------------------------------------------------------------------


@dataclass
class Times:
    """Milliseconds of several calls, by CPU and by wall clock."""

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    async def of(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Await a call and note what it took."""
        cpu, wall = time.process_time(), time.perf_counter()
        result = await function(*arguments)
        self.cpu.append((time.process_time() - cpu) * 1e3)
        self.wall.append((time.perf_counter() - wall) * 1e3)
        return result

    def medians(self) -> Json:
        """Return both medians."""
        return {"cpu": statistics.median(self.cpu), "wall": statistics.median(self.wall)}


@dataclass
class Turns:
    """Filtered and unfiltered questions that take turns."""

    ask: Callable[[str, Json], Any]
    plain: Times = field(default_factory=Times)
    filtered: Times = field(default_factory=Times)

    async def one(self, number: int, question: str, given: Json) -> tuple[Json, Json]:
        """Ask a question without and with a filter, in an order that changes; return both results."""
        results: dict[bool, Json] = {}
        for filtered in (False, True) if number % 2 else (True, False):
            times = self.filtered if filtered else self.plain
            results[filtered] = await times.of(self.ask, question, given if filtered else {})
        return results[False], results[True]

    def figures(self) -> Json:
        """Return the medians and their ratio."""
        plain, filtered = self.plain.medians(), self.filtered.medians()
        return {"unfiltered": plain, "filtered": filtered, "ratio": filtered["cpu"] / plain["cpu"]}


async def measure_naive(rag: Any, sizes: Sizes) -> list[Json]:
    """Ask filtered and unfiltered questions in turns, for every share of documents."""
    from lightrag import QueryParam

    async def ask(question: str, given: Json) -> Json:
        data: Json = await rag.aquery_data(question, QueryParam(mode="naive", chunk_top_k=TOP_K, **given))
        return data

    truth, rows = Truth(sizes.documents), []
    for share in (1.0, 0.5, 0.1, 0.01, 0.001, 0.0001):
        await ask("warm up", filter_for(share, -1))
        turns = Turns(ask)
        found, wanted, full, accepted = 0, 0, 0, 0
        for number in range(sizes.questions):
            question, given = f"question {number} at {share}", filter_for(share, number)
            _, data = await turns.one(number, question, given)
            ids = [chunk["chunk_id"] for chunk in data["data"].get("chunks", [])]
            expected, documents = truth.best(question, given)
            found += len(set(ids) & set(expected))
            wanted, full, accepted = wanted + len(expected), full + (len(ids) == len(expected)), accepted + documents
        rows.append(
            turns.figures()
            | {
                "share": share,
                "accepted": accepted / sizes.questions / sizes.documents,
                "recall": found / wanted if wanted else 1.0,
                "full": full / sizes.questions,
            }
        )
    return rows


async def measure_facets(rag: Any) -> Json:
    """Count facets, the first time and again."""
    first, again = Times(), Times()
    await first.of(rag.afacets)
    for _ in range(15):
        await again.of(rag.afacets)
    return {"first": first.medians(), "warm": again.medians()}


# --- load ------------------------------------------------------------------------------------------------------------


def _settled_mb() -> float:
    gc.collect()
    return resident_mb()


async def load_once(directory: Path) -> Json:
    """In a fresh process: the first answer, then the first filtered one, then further filtered ones."""
    from lightrag import QueryParam

    rag = open_engine(directory)
    await rag.initialize_storages()

    async def ask(number: int, given: Json) -> None:
        await rag.aquery_data(f"question {number}", QueryParam(mode="naive", chunk_top_k=TOP_K, **given))

    await ask(0, {})
    loaded_ms = time.process_time() * 1e3
    vectors, modules, first, later = Times(), Times(), Times(), Times()
    await vectors.of(_load_vectors, rag.context.stores.chunks)
    await modules.of(_import_modules)
    before = _settled_mb()
    await first.of(ask, 1, filter_for(0.01, 1))
    after = _settled_mb()
    for number in range(2, 9):
        await later.of(ask, number, filter_for(0.01, number))
    await rag.finalize_storages()
    build_ms = first.cpu[0] - later.medians()["cpu"]
    return {
        "loaded_ms": loaded_ms,
        "vectors_ms": vectors.cpu[0],
        "modules_ms": modules.cpu[0],
        "build_ms": build_ms,
        "time_share": build_ms / loaded_ms,
        "resident_mb": before,
        "index_mb": after - before,
        "memory_share": (after - before) / before,
    }


async def _import_modules() -> None:
    """Import what only filtered questions need."""
    importlib.import_module("lightrag.query.filter_gate")
    importlib.import_module("lightrag.kg.sqlite.filter_memory")


async def _load_vectors(store: Any) -> None:
    """Load the vectors once more, alone."""
    store.database.forget()
    await store.query("", 1, np.ones(DIMENSION, dtype=np.float32))


def measure_load(directory: Path, sizes: Sizes) -> Json:
    """Return the medians over several processes."""
    runs = []
    for _ in range(sizes.loads):
        command = [sys.executable, str(Path(__file__).resolve()), "--load", str(directory)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
        if done.returncode:
            raise RuntimeError(f"loading ended with {done.returncode}:\n{done.stderr[-2000:]}")
        runs.append(json.loads(done.stdout.splitlines()[-1]))
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


# --- mix -------------------------------------------------------------------------------------------------------------


# Ways to filter that look at all evidence of an object, and have no target.
POLICIES: tuple[Json, ...] = (
    {"kg_evidence_policy": "strict_drop"},
    {"forbidden_tags": ["tag-3"], "apply_forbidden_tags_to_kg": True},
)


async def measure_mix(directory: Path, sizes: Sizes) -> list[Json]:
    """Ask questions in mix mode, filtered and unfiltered in turns."""
    from lightrag import QueryParam

    rag = workload.build_engine(directory).rag
    await rag.initialize_storages()

    async def ask(question: str, given: Json) -> Json:
        data: Json = await rag.aquery_data(question, QueryParam(mode="mix", **given))
        return data

    rows = []
    for share, more in ((0.5, {}), (0.1, {}), (0.01, {}), *((0.5, policy) for policy in POLICIES)):
        questions = workload.make_queries(sizes.questions, seed=round(1 / share))
        await ask(questions[0], filter_for(share, -1) | more)
        turns = Turns(ask)
        counts: list[tuple[int, int]] = []
        for number, question in enumerate(questions):
            both = await turns.one(number, question, filter_for(share, number) | more)
            counts.append((_found(both[0]), _found(both[1])))
        plain, filtered = zip(*counts, strict=True)
        rows.append(
            turns.figures()
            | {
                "share": share,
                "more": more,
                "found": statistics.mean(filtered),
                "found_unfiltered": statistics.mean(plain),
            }
        )
    await rag.finalize_storages()
    return rows


def _found(data: Json) -> int:
    """Return how many entities, relations and chunks came back."""
    return sum(len(data["data"].get(name, ())) for name in ("entities", "relationships", "chunks"))


# --- the page --------------------------------------------------------------------------------------------------------


def _ms(times: Json) -> str:
    return f"{times['cpu']:.1f} ms ({times['wall']:.1f})"


def report(figures: Json) -> tuple[str, bool]:
    """Return the Markdown, and whether every target is met."""
    lines = ["| what | unfiltered | filtered | ratio | target | met |", "|---|---|---|---|---|---|"]
    met: list[bool] = []

    def row(title: str, cells: Sequence[str], target: str, holds: bool) -> None:
        met.append(holds)
        lines.append(f"| {title} | {' | '.join(cells)} | {target} | {'yes' if holds else '**no**'} |")

    def compared(title: str, item: Json, limit: float) -> None:
        cells = [_ms(item["unfiltered"]), _ms(item["filtered"]), f"{item['ratio']:.2f}"]
        row(title, cells, f"≤ {limit}", item["ratio"] <= limit)

    for item in figures["naive"]:
        compared(f"naive, filter accepts {item['share']:.4g} (in fact {item['accepted']:.2g})", item, 1.3)
    recall, full = (min(item[name] for item in figures["naive"]) for name in ("recall", "full"))
    row("recall against brute force, lowest", ["", "", f"{recall:.3f}"], "1.0", recall == 1.0)
    row("pages full, lowest share", ["", "", f"{full:.3f}"], "1.0", full == 1.0)
    load = figures["load"]
    until = f"{load['loaded_ms']:.0f} ms to the first answer ({load['vectors_ms']:.0f} for the vectors)"
    added = f"+ {load['build_ms']:.0f} ms (and {load['modules_ms']:.0f} to import modules)"
    row("reading the index", [until, added, f"{load['time_share']:.1%}"], "≤ 5 %", load["time_share"] <= 0.05)
    sizes = [f"{load['resident_mb']:.0f} MB", f"+ {load['index_mb']:.1f} MB", f"{load['memory_share']:.1%}"]
    row("memory of the index", sizes, "≤ 10 %", load["memory_share"] <= 0.10)
    for item in figures["mix"]:
        title = f"mix, filter accepts {item['share']:.4g} ({item['found']:.0f} of {item['found_unfiltered']:.0f} found)"
        compared(f"{title} {', '.join(item['more'])}".strip(), item, float("inf") if item["more"] else 1.5)
    facets = figures["facets"]
    warm = f"{_ms(facets['first'])} the first time, then {_ms(facets['warm'])}"
    row("afacets", ["", warm, ""], "< 50 ms", facets["warm"]["cpu"] < 50)
    return "\n".join(lines), all(met)


async def run(sizes: Sizes, data: Path) -> Json:
    """Make what is missing of the corpora, and measure."""
    chunks, mix = data / f"chunks-{sizes.documents}", data / f"mix-{sizes.mix_documents}"
    for directory, make, count in (
        (chunks, store_chunks, sizes.documents),
        (mix, insert_mix, sizes.mix_documents),
    ):
        if not directory.exists():
            unfinished = directory.with_suffix(".part")
            shutil.rmtree(unfinished, ignore_errors=True)
            await make(unfinished, count)
            unfinished.rename(directory)
    figures: Json = {"load": measure_load(chunks, sizes)}
    rag = open_engine(chunks)
    await rag.initialize_storages()
    figures["naive"] = await measure_naive(rag, sizes)
    figures["facets"] = await measure_facets(rag)
    await rag.finalize_storages()
    figures["mix"] = await measure_mix(mix, sizes)
    return figures


def main() -> int:
    """Run the benchmark that the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument("--keep", action="store_true", help="keep the corpora for the next run")
    parser.add_argument("--json", type=Path, help="file for the figures")
    parser.add_argument("--load", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        # Too late for this process, in which NumPy has started its threads.
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | {"OPENBLAS_NUM_THREADS": "1"})
    if options.load:
        print(json.dumps(asyncio.run(load_once(options.load))))
        return 0
    sizes, before = (QUICK if options.quick else FULL), os.getloadavg()[0]
    WORK.mkdir(parents=True, exist_ok=True)
    figures = asyncio.run(run(sizes, WORK))
    if not options.keep:
        shutil.rmtree(WORK)
    page, met = report(figures)
    print(f"# Filters, {'quick sizes: no judgement' if options.quick else 'measured'}\n")
    print(f"{os.cpu_count()} cores, load {before:.1f} before and {os.getloadavg()[0]:.1f} after.\n")
    print(page)
    if options.json:
        options.json.write_text(json.dumps(figures | {"sizes": sizes.__dict__}, indent=1) + "\n")
    return int(not options.quick and not met)


if __name__ == "__main__":
    sys.exit(main())
