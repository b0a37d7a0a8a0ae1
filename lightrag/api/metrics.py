"""Figures of one server in the Prometheus text format: requests, documents, queries, filters, models, cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from lightrag.runtime.calls import BoundedCalls
from lightrag.runtime.model_set import ModelSet
from lightrag.runtime.usage import RoleUsage

if TYPE_CHECKING:
    from lightrag.lightrag import LightRAG

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)


@dataclass(frozen=True)
class EngineFigures:
    """What an engine can tell at once, without asking a store.

    Attributes:
        calls: The bounded models by name.
        usage: What each role has used.
        cache_hits: Replies found in the cache since the stores were opened.
        cache_misses: Replies looked for in vain.
    """

    calls: Mapping[str, BoundedCalls]
    usage: Mapping[str, RoleUsage]
    cache_hits: int
    cache_misses: int

    @classmethod
    def of(cls, engine: LightRAG) -> EngineFigures:
        """Read an open engine."""
        cache = engine.context.cache
        return cls(model_calls(engine.context.models), engine.usage(), cache.hits, cache.misses)


class EngineCollector(Collector):
    """Reads the figures of the engine when somebody looks."""

    def __init__(self) -> None:
        # Asked each time, since the models of a running engine can be replaced; None before it is open.
        self.read: Callable[[], EngineFigures | None] = lambda: None

    def collect(self) -> Iterator[Metric]:
        """Yield calls of every model, what each role has used, and look-ups in the cache of replies."""
        figures = self.read()
        if figures is not None:
            yield from _calls(figures.calls)
            yield from _usage(figures.usage)
            lookups = CounterMetricFamily(
                "lightrag_cache_lookups", "Look-ups in the cache of model replies, by outcome.", labels=["outcome"]
            )
            lookups.add_metric(["hit"], figures.cache_hits)
            lookups.add_metric(["miss"], figures.cache_misses)
            yield lookups


def _calls(models: Mapping[str, BoundedCalls]) -> Iterator[Metric]:
    running = GaugeMetricFamily("lightrag_model_calls_running", "Calls of a model that run now.", labels=["model"])
    waiting = GaugeMetricFamily("lightrag_model_calls_waiting", "Calls that wait for a slot.", labels=["model"])
    done = CounterMetricFamily(
        "lightrag_model_calls", "Calls that ended, by outcome: done or failed.", labels=["model", "outcome"]
    )
    for name, calls in models.items():
        status = calls.status()
        running.add_metric([name], status.running)
        waiting.add_metric([name], status.queued)
        done.add_metric([name, "done"], status.done)
        done.add_metric([name, "failed"], status.failed)
    yield from (running, waiting, done)


def _usage(roles: Mapping[str, RoleUsage]) -> Iterator[Metric]:
    tokens = CounterMetricFamily(
        "lightrag_model_tokens", "Tokens by role and kind: prompt or completion.", labels=["role", "kind"]
    )
    seconds = CounterMetricFamily(
        "lightrag_model_seconds", "Time in calls of a role, waiting for slots included, seconds.", labels=["role"]
    )
    cost = CounterMetricFamily("lightrag_model_cost", "Sum of the prices that are known, by role.", labels=["role"])
    for role, usage in roles.items():
        tokens.add_metric([role, "prompt"], usage.prompt_tokens)
        tokens.add_metric([role, "completion"], usage.completion_tokens)
        seconds.add_metric([role], usage.seconds)
        if usage.cost is not None:
            cost.add_metric([role], usage.cost)
    yield from (tokens, seconds, cost)


class Metrics:
    """The figures of one server; two servers in one process share nothing."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.engine = EngineCollector()
        self.registry.register(self.engine)
        self.requests = Counter(
            "lightrag_http_requests", "Requests, by route and status.", ["method", "route", "status"],
            registry=self.registry,
        )  # fmt: skip
        self.request_seconds = Histogram(
            "lightrag_http_request_seconds", "Time until a response was complete, seconds.", ["method", "route"],
            registry=self.registry, buckets=_SECONDS,
        )  # fmt: skip
        self.query_seconds = Histogram(
            "lightrag_query_seconds", "Time until the context or the whole answer was there, seconds.",
            ["mode", "filtered", "outcome"], registry=self.registry, buckets=_SECONDS,
        )  # fmt: skip
        self.documents = Gauge("lightrag_documents", "Documents stored, by state.", ["status"], registry=self.registry)
        self.pipeline_busy = Gauge(
            "lightrag_pipeline_busy", "Whether documents are being processed.", registry=self.registry
        )
        self.uploads = Counter(
            "lightrag_documents_accepted", "Documents accepted, by way in: upload, text, scan.", ["way"],
            registry=self.registry,
        )  # fmt: skip
        self.refused = Counter(
            "lightrag_documents_refused", "Documents refused, by code of the error.", ["code"], registry=self.registry
        )

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request. Paths that lead nowhere count as one route, so that nobody can grow the list."""
        name = route or "(none)"
        self.requests.labels(method, name, str(status)).inc()
        self.request_seconds.labels(method, name).observe(seconds)

    def query(self, mode: str, *, filtered: bool, outcome: str, seconds: float) -> None:
        """Count a query.

        Args:
            mode: Its mode.
            filtered: Whether a filter was active.
            outcome: ``success``, ``no_results`` or ``failed``.
            seconds: How long it took.
        """
        self.query_seconds.labels(mode, str(filtered).lower(), outcome).observe(seconds)

    def corpus(self, counts: Mapping[str, int], *, busy: bool) -> None:
        """Note the documents of each state, and whether the pipeline runs."""
        for status, count in counts.items():
            if status != "all":
                self.documents.labels(status).set(count)
        self.pipeline_busy.set(busy)

    def text(self) -> bytes:
        """Return all figures in the text format."""
        return generate_latest(self.registry)

    def accepted(self, way: str, count: int = 1) -> None:
        """Count accepted documents."""
        self.uploads.labels(way).inc(count)


def model_calls(models: ModelSet) -> dict[str, BoundedCalls]:
    """Return the bounded models by name: ``llm`` when all roles share one, the names of the roles when they do not."""
    roles = {name: getattr(models, name).calls for name in ("extract", "keyword", "query")}
    texts = {"llm": models.query.calls} if len(set(map(id, roles.values()))) == 1 else roles
    rerank = {} if models.rerank is None else {"rerank": models.rerank}
    return {**texts, "embedding": models.embedder.calls, **rerank}
