"""Measure our engine beside the peer, and say which targets of the ground are met.

How to run, from the root of the repository:

    bash scripts/bench/setup_peer.sh                       # once: the peer in an environment of its own
    python scripts/bench/ground.py --quick                 # half a minute: does everything run?
    python scripts/bench/ground.py --json ground.json      # the figures; about ten minutes
    python scripts/bench/ground.py --only ours             # without the peer: no ratios

Ours is the engine of the interpreter that runs this file (`--ours` names another); the peer is that of the
environment which `setup_peer.sh` made. Both get the same workload from the same files: `workload.py` (corpus,
questions, models without latency), `measure.py` (one scenario, one process), `import_probe.py`. `targets.py`
holds the targets.

Every figure is the median of several processes, and the engines take turns, so that a neighbour on the
machine disturbs both alike. BLAS has one thread in both. CPU seconds and bytes repeat well; wall times do so
only on a quiet machine, so look at the load that is printed with the table before believing them. The sizes
of `--quick` are too small to judge a target by: they show that the harness works.

The Markdown goes to standard output, the progress to standard error. The exit status is 1 when a target is
missed; with `--quick` it says only whether everything ran.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from targets import FULL, MODES, OURS, PEER, QUICK, Runs, Sizes, build_table, ingest_key, markdown

BENCH = Path(__file__).resolve().parent
WORK = BENCH / ".work"
CHILD_TIMEOUT_S = 3600

# One thread each; and nothing of this shell's may configure an engine, so a child inherits these names alone.
_PINS = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")
_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "OPENBLAS_CORETYPE")


@dataclass(frozen=True)
class Engine:
    """An engine: its name in the table, the interpreter that has it, and the folder for its data."""

    name: str
    python: Path
    folder: Path


@dataclass(frozen=True)
class Step:
    """A scenario for some engines.

    Attributes:
        key: Name under which the figures are kept.
        arguments: Command line of the script; `{}` stands for the directory.
        directory: Name of the directory in the engine's folder.
        fresh: Whether the directory is emptied first.
        script: File beside this one that is run.
        flags: Options of the interpreter.
        engines: Names of the engines that run it.
    """

    key: str
    arguments: tuple[str, ...]
    directory: str = "base"
    fresh: bool = False
    script: str = "measure.py"
    flags: tuple[str, ...] = ()
    engines: tuple[str, ...] = (OURS, PEER)


def plan(sizes: Sizes) -> list[Step]:
    """Return the scenarios in order; those after the base corpus was inserted read it or work on a copy."""
    queries, rounds = ("--queries", str(sizes.queries)), ("--rounds", str(sizes.rounds))
    rows, base = ("--rows", str(sizes.rows)), ("--docs", str(sizes.base))

    def ingest(documents: int, directory: str, engines: tuple[str, ...]) -> Step:
        arguments = ("ingest", "{}", "--docs", str(documents))
        return Step(ingest_key(documents), arguments, directory, fresh=True, engines=engines)

    both = (OURS, PEER)
    return [
        Step("import cost", ("cost",), script="import_probe.py"),
        Step("import touched", ("touched",), script="import_probe.py", flags=("-B",)),
        ingest(sizes.small, "small", both),
        ingest(sizes.large, "large", (OURS,)),
        ingest(sizes.base, "base", both),
        Step("query", ("query", "{}", *queries)),
        Step("concurrency", ("concurrency", "{}", *queries, *rounds)),
        Step("delete", ("delete", "{}")),
        Step("reopen", ("reopen", "{}", *base)),
        Step("vectors", ("vectors", "{}", *rows, *rounds, *queries), "vectors", fresh=True),
        Step("vectors kept", ("vectors-kept", "{}", *rows, *rounds), "vectors"),
    ]


def child_environment() -> dict[str, str]:
    """Return the environment that every measured process gets."""
    return {name: os.environ[name] for name in _INHERITED if name in os.environ} | _PINS


def run_child(engine: Engine, script: str, arguments: tuple[str, ...], flags: tuple[str, ...] = ()) -> dict[str, Any]:
    """Run a script under an engine's interpreter and return the JSON of its last line.

    Raises:
        RuntimeError: The process failed; the message ends with its last lines.
    """
    # The folder is empty but for the engine's own data: neither a settings file nor a package is found in it.
    engine.folder.mkdir(parents=True, exist_ok=True)
    command = [str(engine.python), *flags, str(BENCH / script), *arguments]
    done = subprocess.run(
        command,
        env=child_environment(),
        cwd=engine.folder,
        capture_output=True,
        text=True,
        timeout=CHILD_TIMEOUT_S,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-3000:]}")
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def run_step(engine: Engine, step: Step) -> dict[str, Any]:
    """Run one scenario once for one engine."""
    directory = engine.folder / step.directory
    if step.fresh:
        shutil.rmtree(directory, ignore_errors=True)
    arguments = tuple(str(directory) if argument == "{}" else argument for argument in step.arguments)
    figures = run_child(engine, step.script, arguments, step.flags)
    figures.pop("engine", None)
    if step.key == "import touched":
        for kind in ("environment_read", "files_read"):
            figures[f"{kind}_list"], figures[kind] = figures[kind], len(figures[kind])
        figures["changes"] = len(figures["written"]) + len(figures["started"])
    return figures


def in_turn(engines: list[Engine], step: Step, repetitions: int) -> Iterator[Engine]:
    """Yield the engines of a step, the other one first each time."""
    wanted = [engine for engine in engines if engine.name in step.engines]
    for repetition in range(repetitions):
        yield from wanted if repetition % 2 == 0 else reversed(wanted)


def measure_all(engines: list[Engine], sizes: Sizes) -> Runs:
    """Run the whole plan and return the figures of every process."""
    runs: Runs = {engine.name: {} for engine in engines}
    start = time.monotonic()
    for step in plan(sizes):
        for engine in in_turn(engines, step, sizes.repetitions):
            elapsed = time.monotonic() - start
            print(f"{elapsed:6.0f} s  {engine.name:5} {step.key}", file=sys.stderr, flush=True)
            runs[engine.name].setdefault(step.key, []).append(run_step(engine, step))
    return runs


# --- what the figures stand on ------------------------------------------------------------------------------


def check_engines(engines: list[Engine]) -> dict[str, dict[str, str]]:
    """Return versions of what each interpreter has; the first import also fills Python's cache of modules.

    Raises:
        SystemExit: An interpreter is missing, or both have the same engine.
    """
    found = {}
    for engine in engines:
        if not engine.python.exists():
            missing = f"{str(engine.python)!r}, the interpreter of {engine.name!r}"
            raise SystemExit(f"there is no {missing}; setup_peer.sh makes the peer's")
        found[engine.name] = run_child(engine, "import_probe.py", ("versions",))
    files = [versions.pop("engine") for versions in found.values()]
    if len(set(files)) < len(files):
        raise SystemExit(f"both interpreters have the same engine, {files[0]!r}")
    return found


def same_work(runs: Runs, sizes: Sizes) -> list[str]:
    """Return what the engines did not do alike, which would make their figures hard to compare."""
    key = ingest_key(sizes.base)
    if not all(runs.get(name, {}).get(key) for name in (OURS, PEER)):
        return []
    ours, peer = (runs[name][key][-1] for name in (OURS, PEER))
    differences = []
    if ours["entities"] != peer["entities"]:
        differences.append(f"entities in the graph: ours {ours['entities']}, peer {peer['entities']}")
    for kind in ("extract", "glean", "summary", "texts"):
        if ours["calls"].get(kind) != peer["calls"].get(kind):
            differences.append(
                f"model calls ({kind}): ours {ours['calls'].get(kind, 0)}, peer {peer['calls'].get(kind, 0)}"
            )
    for mode in MODES:
        found = [runs[name]["query"][-1][mode]["found"] for name in (OURS, PEER)]
        counts = [", ".join(f"{count:.1f}" for count in counted) for counted in found]
        if counts[0] != counts[1]:
            differences.append(f"entities, relations, chunks of {mode}: ours {counts[0]}; peer {counts[1]}")
    return differences


def report(runs: Runs, sizes: Sizes, conditions: dict[str, Any], quick: bool) -> str:
    """Return the page: conditions, table, and where the engines did different work."""
    loads = [f"{load:.1f}" for load in (conditions["load_before"], conditions["load_after"])]
    versions = ", ".join(
        f"{name} {versions['lightrag-hku']} (Python {versions['python']}, NumPy {versions['numpy']})"
        for name, versions in conditions["engines"].items()
    )
    lines = [
        f"# The ground, {'quick sizes: no judgement' if quick else 'measured'}",
        "",
        f"{versions}; {conditions['cores']} cores, load {loads[0]} before and {loads[1]} after; "
        f"medians of {sizes.repetitions}; {sizes.queries} queries a mode.",
        "",
        markdown(build_table(runs, sizes)),
    ]
    differences = same_work(runs, sizes)
    if differences:
        lines += ["", "Not alike in what they did:", "", *(f"- {difference}" for difference in differences)]
    return "\n".join(lines)


def parse_arguments() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument("--only", choices=(OURS, PEER), help="measure one engine only")
    parser.add_argument("--ours", type=Path, default=Path(sys.executable), help="interpreter of our engine")
    parser.add_argument("--peer", type=Path, default=WORK / "peer-venv" / "bin" / "python")
    parser.add_argument("--repetitions", type=int, help="processes for each scenario and engine")
    parser.add_argument("--json", type=Path, help="file for the table and the figures of every process")
    parser.add_argument("--keep", action="store_true", help="keep the directories of the engines")
    return parser.parse_args()


def main() -> int:
    """Run the benchmark that the command line asks for."""
    options = parse_arguments()
    sizes = QUICK if options.quick else FULL
    if options.repetitions:
        sizes = replace(sizes, repetitions=options.repetitions)
    data = WORK / "runs"
    shutil.rmtree(data, ignore_errors=True)
    # Links are kept as they are: an interpreter finds its environment by the link that it was started by.
    engines = [
        Engine(name, python.absolute(), data / name)
        for name, python in ((OURS, options.ours), (PEER, options.peer))
        if options.only in (None, name)
    ]
    conditions: dict[str, Any] = {
        "engines": check_engines(engines),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "load_before": os.getloadavg()[0],
    }
    runs = measure_all(engines, sizes)
    conditions["load_after"] = os.getloadavg()[0]
    if not options.keep:
        shutil.rmtree(data)
    print(report(runs, sizes, conditions, options.quick))
    rows = build_table(runs, sizes)
    if options.json:
        content = {
            "conditions": conditions,
            "quick": options.quick,
            "sizes": asdict(sizes),
            "rows": [asdict(row) for row in rows],
            "not_alike": same_work(runs, sizes),
            "runs": runs,
        }
        options.json.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return int(not options.quick and any(row.met is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
