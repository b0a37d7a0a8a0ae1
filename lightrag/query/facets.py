"""What a corpus can be filtered by: tags, types, folders and dates, with counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain

from lightrag.context import EngineContext
from lightrag.query_filters import DocumentFacts, VectorQueryFilter

# Bars of the histogram at the most; beyond it years become decades, decades centuries.
MAX_BARS = 60


@dataclass(frozen=True)
class Bar:
    """A bar of the histogram.

    Attributes:
        start_year: First year.
        years: Width.
        documents: Documents whose period touches it.
    """

    start_year: int
    years: int
    documents: int


@dataclass(frozen=True)
class Facets:
    """Counts over processed documents.

    Attributes:
        documents: How many there are.
        tags: ``facet -> value -> count`` for tags ``facet:value``; tags without a colon stand under ``""``. The whole
            tag is ``facet + ":" + value``.
        doc_types: Documents by type, the most frequent first; ``""`` is unknown.
        folders: Documents by folder of their source path, everything below it included.
        histogram: Documents by years, oldest first; a document counts in each bar that its period touches, and an open
            bound counts at the bound that is known.
        undated: Documents without any date.
    """

    documents: int
    tags: dict[str, dict[str, int]] = field(default_factory=dict)
    doc_types: dict[str, int] = field(default_factory=dict)
    folders: dict[str, int] = field(default_factory=dict)
    histogram: list[Bar] = field(default_factory=list)
    undated: int = 0


async def facets(context: EngineContext, filter: VectorQueryFilter | None = None) -> Facets:
    """Count what there is, over all processed documents or over those that a filter accepts."""
    facts = await context.stores.doc_status.all_facts(filter)
    return count_facets(list(facts.values()))


def count_facets(documents: list[DocumentFacts]) -> Facets:
    """Count tags, types, folders and dates of documents."""
    tag_counts = Counter(chain.from_iterable(item.tags for item in documents))
    grouped: dict[str, dict[str, int]] = {}
    for tag, count in _by_count(tag_counts):
        facet, colon, value = tag.partition(":")
        group, name = (facet, value) if colon else ("", tag)
        grouped.setdefault(group, {})[name] = count
    return Facets(
        documents=len(documents),
        tags=grouped,
        doc_types=dict(_by_count(Counter(item.doc_type for item in documents))),
        folders=dict(_by_count(_folders(item.source_path for item in documents))),
        histogram=_histogram(documents),
        undated=sum(not item.is_dated for item in documents),
    )


def _by_count(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _folders(paths: Iterable[str]) -> Counter[str]:
    """Count the paths in each folder, those further below included."""
    counts: Counter[str] = Counter()
    # There are far fewer folders than paths.
    for folder, count in Counter(path.rpartition("/")[0] for path in paths).items():
        while folder:
            counts[folder] += count
            folder = folder.rpartition("/")[0]
    return counts


def _years(microseconds: list[int]) -> list[int]:
    """Return the years, in UTC, of instants in microseconds since 1970."""
    import numpy as np

    instants = np.array(microseconds, dtype="datetime64[us]")
    years: list[int] = (instants.astype("datetime64[Y]").astype(np.int64) + 1970).tolist()
    return years


def _histogram(documents: list[DocumentFacts]) -> list[Bar]:
    """Return bars of one, ten or a hundred years, whichever is the finest with few enough of them."""
    firsts, lasts = [], []
    for item in documents:
        first = item.start_us if item.start_us is not None else item.end_us
        last = item.end_us if item.end_us is not None else item.start_us
        if first is not None and last is not None:
            firsts.append(first)
            lasts.append(last)
    spans = list(zip(_years(firsts), _years(lasts), strict=True))
    if not spans:
        return []
    oldest, newest = min(first for first, _ in spans), max(last for _, last in spans)
    width = next((years for years in (1, 10, 100) if newest // years - oldest // years < MAX_BARS), 1000)
    base = oldest // width
    # Differences at both ends of each span, summed up: a long span costs no more than a short one.
    steps = [0] * (newest // width - base + 2)
    for first, last in spans:
        steps[first // width - base] += 1
        steps[last // width - base + 1] -= 1
    bars: list[Bar] = []
    running = 0
    for offset, step in enumerate(steps[:-1]):
        running += step
        bars.append(Bar((base + offset) * width, width, running))
    return bars
