"""The targets of the ground, and the table that says which are met."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

OURS, PEER = "ours", "peer"
MODES = ("mix", "naive", "local", "global", "hybrid")

Runs = dict[str, dict[str, list[dict[str, Any]]]]


@dataclass(frozen=True)
class Sizes:
    """How much is done in one run of the benchmark.

    Attributes:
        small: Documents of the small corpus.
        base: Documents of the corpus that both engines are compared on.
        large: Documents of the corpus that only our engine takes in; the peer would need an hour.
        queries: Questions for each mode.
        rows: Vectors in the store.
        rounds: Repetitions within a process.
        repetitions: Processes for each scenario and engine.
    """

    small: int
    base: int
    large: int
    queries: int
    rows: int
    rounds: int
    repetitions: int


FULL = Sizes(small=50, base=200, large=800, queries=100, rows=20_000, rounds=5, repetitions=3)
QUICK = Sizes(small=15, base=40, large=120, queries=20, rows=4000, rounds=3, repetitions=1)


@dataclass(frozen=True)
class Row:
    """One line of the table; what was not measured is `None`."""

    title: str
    unit: str
    ours: float | None
    peer: float | None
    ratio: float | None
    target: str = ""
    met: bool | None = None


@dataclass(frozen=True)
class Limit:
    """What a figure must be to meet its target."""

    text: str
    holds: Callable[[float], bool]


def at_most(limit: float, text: str) -> Limit:
    """Return the limit of figures up to and including a number."""
    return Limit(text, lambda figure: figure <= limit)


def under(limit: float, text: str) -> Limit:
    """Return the limit of figures below a number."""
    return Limit(text, lambda figure: figure < limit)


def at_least(limit: float, text: str) -> Limit:
    """Return the limit of figures from a number upwards."""
    return Limit(text, lambda figure: figure >= limit)


class Table:
    """Collects the rows from the runs of both engines."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self.rows: list[Row] = []

    def median(self, engine: str, scenario: str, *path: str) -> float | None:
        """Return the median of one figure over the repetitions, `None` when the scenario was not run."""
        values = []
        for run in self._runs.get(engine, {}).get(scenario, []):
            figure: Any = run
            for name in path:
                figure = figure[name]
            values.append(float(figure))
        return statistics.median(values) if values else None

    def against_peer(self, title: str, unit: str, scenario: str, *path: str, limit: Limit | None = None) -> None:
        """Add a row whose target, if it has one, is about our figure divided by the peer's."""
        ours, peer = self.median(OURS, scenario, *path), self.median(PEER, scenario, *path)
        ratio = ours / peer if ours is not None and peer else None
        self._add(Row(title, unit, ours, peer, ratio), limit, ratio)

    def alone(self, title: str, unit: str, scenario: str, *path: str, limit: Limit) -> None:
        """Add a row whose target is about our figure itself."""
        ours, peer = self.median(OURS, scenario, *path), self.median(PEER, scenario, *path)
        ratio = ours / peer if ours is not None and peer else None
        self._add(Row(title, unit, ours, peer, ratio), limit, ours)

    def growth(self, title: str, scenario: str, base: str, *path: str, limit: Limit | None = None) -> None:
        """Add a row whose target is about our figure of one scenario divided by that of another."""

        def quotient(engine: str) -> float | None:
            larger, smaller = self.median(engine, scenario, *path), self.median(engine, base, *path)
            return larger / smaller if larger is not None and smaller else None

        ours = quotient(OURS)
        self._add(Row(title, "×", ours, quotient(PEER), None), limit, ours)

    def _add(self, row: Row, limit: Limit | None, figure: float | None) -> None:
        if limit is not None:
            met = None if figure is None else limit.holds(figure)
            row = Row(row.title, row.unit, row.ours, row.peer, row.ratio, limit.text, met)
        self.rows.append(row)


def ingest_key(documents: int) -> str:
    """Return the name under which the runs of inserting so many documents are kept."""
    return f"ingest {documents}"


def build_table(runs: Runs, sizes: Sizes) -> list[Row]:
    """Return every target with what was measured, and the figures that explain them."""
    table = Table(runs)
    base, small, large = ingest_key(sizes.base), ingest_key(sizes.small), ingest_key(sizes.large)
    _add_ingest(table, base, small, large)
    _add_queries(table)
    table.against_peer(
        f"Delete one of {sizes.base} documents",
        "s",
        "delete",
        "p50_s",
        limit=under(0.05, "under 0.05 × peer"),
    )
    table.against_peer(f"Reopen {sizes.base} documents", "s", "reopen", "wall_s", limit=under(0.5, "under 0.5 × peer"))
    table.against_peer("Reopen to the first answer", "s", "reopen", "to_first_answer_s")
    table.against_peer(
        f"Add one vector to {sizes.rows} and save",
        "s",
        "vectors",
        "add_p50_s",
        limit=under(0.05, "under 0.05 × peer"),
    )
    table.alone(
        f"Exact search of {sizes.rows} ÷ bare NumPy",
        "×",
        "vectors",
        "search_per_numpy",
        limit=at_most(2, "at most 2 × NumPy"),
    )
    table.against_peer(f"Exact search of {sizes.rows}, p50", "ms", "vectors", "search_p50_ms")
    _add_import(table)
    return table.rows


def _add_ingest(table: Table, base: str, small: str, large: str) -> None:
    table.against_peer(
        f"{base.capitalize()}: documents per CPU second",
        "/s",
        base,
        "docs_per_cpu_s",
        limit=at_least(20, "at least 20 × peer"),
    )
    table.growth(
        f"CPU per document: {large} ÷ {small}",
        large,
        small,
        "cpu_ms_per_doc",
        limit=at_most(1.2, "at most 1.2"),
    )
    table.growth(f"CPU per document: {base} ÷ {small}", base, small, "cpu_ms_per_doc")
    table.alone(
        f"{base.capitalize()}: bytes written ÷ bytes on disk",
        "×",
        base,
        "written_per_disk",
        limit=at_most(3, "at most 3"),
    )
    table.against_peer(f"{base.capitalize()}: on disk", "MB", base, "disk_mb", limit=at_most(0.5, "at most 0.5 × peer"))
    table.against_peer(f"{base.capitalize()}: peak memory", "MB", base, "peak_rss_mb")
    table.against_peer(f"{base.capitalize()}: documents per second", "/s", base, "docs_per_wall_s")


def _add_queries(table: Table) -> None:
    limits = {"mix": at_most(0.25, "at most 0.25 × peer"), "naive": at_most(0.5, "at most 0.5 × peer")}
    for mode in MODES:
        table.against_peer(f"Query {mode}, p50", "ms", "query", mode, "p50_ms", limit=limits.get(mode))
    table.against_peer("Query mix, p95", "ms", "query", "mix", "p95_ms")
    table.alone(
        "Queries per second: eight at once ÷ one after another",
        "×",
        "concurrency",
        "ratio",
        limit=at_least(1, "at least 1"),
    )


def _add_import(table: Table) -> None:
    table.against_peer(
        "Import: `from lightrag import LightRAG`",
        "s",
        "import cost",
        "seconds",
        limit=under(0.4, "under 0.4 × peer"),
    )
    table.alone("Import: peak memory", "MB", "import cost", "peak_rss_mb", limit=under(60, "under 60 MB"))
    for title, name in (
        ("Import: environment variables read", "environment_read"),
        ("Import: files written, processes started", "changes"),
        ("Import: files read beside modules", "files_read"),
    ):
        table.alone(title, "", "import touched", name, limit=at_most(0, "none"))


# --- text ---------------------------------------------------------------------------------------------------


def _figure(value: float | None, unit: str = "") -> str:
    if value is None:
        return "–"
    if float(value).is_integer() and abs(value) < 1e6:
        text = f"{value:.0f}"
    else:
        digits = 3 if abs(value) < 100 else 4
        text = f"{float(f'{value:.{digits}g}'):g}"
    return f"{text} {unit}".rstrip() if unit not in ("×", "") else text


def markdown(rows: list[Row]) -> str:
    """Return the rows as a Markdown table; a target that could not be judged has `not measured`."""
    lines = [
        "| What | Ours | Peer | Ours ÷ peer | Target | Met |",
        "|---|---:|---:|---:|---|---|",
    ]
    words = {True: "yes", False: "**no**", None: "not measured"}
    for row in rows:
        met = words[row.met] if row.target else ""
        cells = (row.title, _figure(row.ours, row.unit), _figure(row.peer, row.unit), _figure(row.ratio))
        lines.append(f"| {' | '.join(cells)} | {row.target} | {met} |")
    return "\n".join(lines)
