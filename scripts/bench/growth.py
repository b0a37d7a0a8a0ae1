"""Measure whether a document costs the same whether it is the first or the ten thousandth of one call.

How to run, from the root of the repository:

    python scripts/bench/growth.py --documents 600 --window 100     # does everything run?
    python scripts/bench/growth.py                                  # 10,000 documents into both embedded families
    python scripts/bench/growth.py --family sqlite --profile growth.prof

Ten thousand short documents (one chunk of some 90 words; five names, of which three are drawn by Zipf's law from 2000
and two are the document's own; four relations) are inserted by one call of `ainsert`, with the models of `workload.py`
that cost nothing, each family in a process of its own. Whenever the model has read another thousand, what the process
has used since is noted: CPU and wall time, bytes handed to the kernel, model calls, and its resident memory then.

Hubs pass the threshold of summaries in the first windows, and from then on each new mention of one costs a summary and
an embedding, as it does with any model; the columns of calls say how many. BLAS has one thread.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import workload
from meters import MB, cpu_seconds, disk_bytes, io_counters, peak_rss_mb, resident_mb

FAMILIES: dict[str, dict[str, str]] = {
    "sqlite": {},
    "files": {
        "kv_storage": "JsonKVStorage",
        "doc_status_storage": "JsonDocStatusStorage",
        "graph_storage": "NetworkXStorage",
        "vector_storage": "NanoVectorDBStorage",
    },
}
PER_DOCUMENT = ("cpu_ms", "wall_ms", "written_kb", "summaries", "embedded")
PINS = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_SHARED_NAMES, _OWN_NAMES, _WORDS_BETWEEN = 3, 2, 15

Figures = dict[str, Any]


def make_text(index: int) -> str:
    """Write a short document; it depends on nothing but its number."""
    rng = random.Random(index * 6271 + 5)
    names = [workload.draw_name(rng) for _ in range(_SHARED_NAMES)]
    names += [f"Own {index:05d} {letter}" for letter in "ABCD"[:_OWN_NAMES]]
    rng.shuffle(names)
    parts = [f"Note {index:05d}"]
    for name in names:
        parts += [*rng.choices(workload.WORDS, k=_WORDS_BETWEEN), f"[~{name}~]"]
    return " ".join(parts) + "."


@dataclass
class Curve:
    """What has been used when another window of documents has been read."""

    window: int
    calls: Callable[[], Mapping[str, int]]
    samples: list[Figures] = field(default_factory=list)

    def sample(self) -> None:
        """Note what has been used so far."""
        calls = self.calls()
        self.samples.append(
            {
                "documents": calls.get("extract", 0),
                "cpu_ms": cpu_seconds() * 1e3,
                "wall_ms": time.perf_counter() * 1e3,
                "written_kb": io_counters()["wchar"] / 1e3,
                "summaries": calls.get("summary", 0),
                "embedded": calls.get("texts", 0),
                "rss_mb": resident_mb(),
            }
        )

    def note(self) -> None:
        """Look whether another window is full; each document has one chunk, so its extraction stands for it."""
        if self.calls().get("extract", 0) >= self.samples[-1]["documents"] + self.window:
            self.sample()

    def windows(self) -> list[Figures]:
        """Return what a document cost, by window."""
        rows = []
        for before, after in itertools.pairwise(self.samples):
            count = after["documents"] - before["documents"]
            row = {name: (after[name] - before[name]) / count for name in PER_DOCUMENT}
            rows.append(row | {"documents": after["documents"], "rss_mb": after["rss_mb"]})
        return rows


async def ingest(folder: Path, family: str, documents: int, window: int) -> Figures:
    """Insert the documents in one call.

    Returns:
        The windows, and what the enqueueing before them and the closing after them took.
    """
    complete, language_calls = workload.make_language_model()
    curve = Curve(window, lambda: language_calls + bench.embedding_calls)

    async def counted(prompt: str, **given: Any) -> str:
        if not curve.samples:
            curve.sample()
        reply = await complete(prompt, **given)
        curve.note()
        return reply

    bench = workload.build_engine(folder, llm_model_func=counted, **FAMILIES[family])
    await bench.rag.initialize_storages()
    texts = [make_text(index) for index in range(documents)]
    begun, rss = cpu_seconds(), resident_mb()
    await bench.rag.ainsert(texts)
    done, peak = cpu_seconds(), peak_rss_mb()
    counts = await bench.rag.get_processing_status()
    if counts.get("processed") != documents:
        raise RuntimeError(f"{counts!r} of {documents} documents")
    await bench.rag.finalize_storages()
    return {
        "family": family,
        "windows": curve.windows(),
        "enqueue_s": curve.samples[0]["cpu_ms"] / 1e3 - begun,
        "close_s": cpu_seconds() - done,
        "rss_before_mb": rss,
        "peak_mb": peak,
        "disk_mb": disk_bytes(folder) / MB,
    }


def markdown(figures: Figures) -> str:
    """Return the table of one family."""
    lines = [
        f"{figures['family']}: {figures['enqueue_s']:.1f} s of CPU to enqueue, {figures['close_s']:.1f} s to close; "
        f"memory {figures['rss_before_mb']:.0f} MB before, {figures['peak_mb']:.0f} MB at its peak; "
        f"{figures['disk_mb']:.0f} MB on disk.",
        "",
        "| documents | CPU ms/doc | wall ms/doc | written KB/doc | summaries/doc | texts embedded/doc | resident MB |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row['documents']} | {row['cpu_ms']:.2f} | {row['wall_ms']:.1f} | {row['written_kb']:.1f} "
        f"| {row['summaries']:.2f} | {row['embedded']:.1f} | {row['rss_mb']:.0f} |"
        for row in figures["windows"]
    ]
    return "\n".join([*lines, ""])


def in_a_process(family: str, options: argparse.Namespace) -> Figures:
    """Measure a family in a process of its own."""
    sizes = ["--documents", str(options.documents), "--window", str(options.window)]
    command = [sys.executable, str(Path(__file__).resolve()), "--child", family, *sizes]
    command += ["--profile", str(options.profile)] if options.profile else []
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ | PINS)
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--window", type=int, default=1000)
    parser.add_argument("--family", choices=list(FAMILIES), help="only this one")
    parser.add_argument("--profile", type=Path, help="file for a profile of where the time goes")
    parser.add_argument("--child", choices=list(FAMILIES), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.child:
        for family in [options.family] if options.family else FAMILIES:
            print(markdown(in_a_process(family, options)), flush=True)
        return 0
    profile = cProfile.Profile()
    with tempfile.TemporaryDirectory() as folder:
        if options.profile:
            profile.enable()
        figures = asyncio.run(ingest(Path(folder), options.child, options.documents, options.window))
        if options.profile:
            profile.disable()
            profile.dump_stats(options.profile)
    print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
