"""Without an active filter nothing about filters happens (I6): no argument, no status row, no key, no other result."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from lightrag import LightRAG, QueryParam
from lightrag.query import cache
from lightrag.runtime.llm_cache import QUERY, AnswerIdentity
from tests.fakes.facts import FactModel
from tests.fakes.filtering import FILES, MODES, timeless
from tests.flow.conftest import EngineFactory

QUESTION = "What did the Hub do with Ada in Velmouth?"
# Says something about filters, and filters nothing.
INACTIVE: dict[str, Any] = {
    "date_filter": {"range": None, "range_mode": "contains", "shape": "any", "undated": "exclude"},
    "required_tags": [],
    "required_tags_mode": "or",
    "forbidden_tags": [],
    "apply_forbidden_tags_to_kg": True,
    "search_filters": {"labels": [], "properties": {}},
    "doc_types": [],
    "path_prefixes": [],
    "modified_after": None,
    "kg_evidence_policy": "strict_drop",
}
TEXTS = [
    f"Page {number}.\nthe Hub -> Ada: page {number} tells how the Hub paid Ada\n"
    f"the Hub -> Velmouth: page {number} tells of Velmouth\n"
    f"Ada -> Place {number % 2}: page {number} tells of the place\n"
    for number in range(5)
]
METADATA: list[dict[str, Any] | None] = [
    {"start_date": "1903-04-01T00:00:00Z", "end_date": "1928-03-31T00:00:00Z", "tags": ["act", "draft"]},
    {"start_date": "1928-04-01T00:00:00+01:00", "tags": ["act"], "doc_type": "pdf", "source_path": "acts/1.pdf"},
    {"tags": ["letter"]},
    {},
    None,
]


@pytest.fixture
def open_engine(make_engine: EngineFactory) -> EngineFactory:
    """Return a function that opens engines to which nothing is too dissimilar to be found."""

    async def open_one(model: Any = None, **fields: Any) -> LightRAG:
        return await make_engine(model, vector_db_storage_cls_kwargs={"cosine_better_than_threshold": -1.0}, **fields)

    return open_one


async def fill(engine: LightRAG, *, tagged: bool = True) -> None:
    for number, (text, metadata) in enumerate(zip(TEXTS, METADATA, strict=True)):
        await engine.ainsert(text, ids=f"d{number}", file_paths=f"{number}.md", metadata=metadata if tagged else None)


@dataclass
class StoreCalls:
    """Every call of every store of an engine."""

    made: list[tuple[str, str, tuple[Any, ...], dict[str, Any]]] = field(default_factory=list)

    def watch(self, engine: LightRAG, monkeypatch: pytest.MonkeyPatch) -> None:
        for store in engine.context.stores.all():
            for name, member in inspect.getmembers_static(type(store), inspect.iscoroutinefunction):
                if not name.startswith("_"):
                    monkeypatch.setattr(store, name, self._noting(store.namespace, name, getattr(store, name)))
                    assert member is not None

    def _noting(
        self, namespace: str, name: str, method: Callable[..., Awaitable[Any]]
    ) -> Callable[..., Awaitable[Any]]:
        async def call(*args: Any, **options: Any) -> Any:
            self.made.append((namespace, name, args, options))
            return await method(*args, **options)

        return call

    def of(self, *namespaces: str) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
        return ((name, args, options) for space, name, args, options in self.made if space in namespaces)

    def tell_of_filters(self) -> list[str]:
        """Return the calls that only a filter can be the reason of."""
        return [
            f"{space}.{name}"
            for space, name, args, options in self.made
            if space == "doc_status"
            or name.startswith(("eligible", "count_eligible"))
            or any("filter" in option for option in options)
            or any("Filter" in type(value).__name__ for value in args)
        ]


PUSHDOWN = {"enable_vector_metadata_filters": True}


@pytest.mark.parametrize("fields_of_engine", [{}, PUSHDOWN, FILES], ids=["off", "on", "files"])
async def test_no_filter_reaches_a_store_and_no_status_row_is_read(
    open_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, fields_of_engine: dict[str, Any]
) -> None:
    engine = await open_engine(**fields_of_engine)
    await fill(engine)
    calls = StoreCalls()
    calls.watch(engine, monkeypatch)
    monkeypatch.setattr(
        "lightrag.kg.document_index.DocumentIndex.mask", lambda *_: pytest.fail("a filter was evaluated")
    )
    for mode in (*MODES, "bypass"):
        for fields in ({}, INACTIVE):
            calls.made.clear()
            await engine.aquery(QUESTION, QueryParam(mode=mode, **fields))
            await engine.aquery_data(QUESTION, QueryParam(mode=mode, **fields))
            assert bool(calls.made) is (mode != "bypass")
            assert any(name == "query" for name, _, _ in calls.of("chunks", "entities", "relationships")) is (
                mode != "bypass"
            )
            assert calls.tell_of_filters() == []
    monkeypatch.undo()


async def test_the_spies_see_an_active_filter(open_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = await open_engine()
    await fill(engine)
    calls = StoreCalls()
    calls.watch(engine, monkeypatch)
    for mode in MODES:
        calls.made.clear()
        await engine.aquery_data(QUESTION, QueryParam(mode=mode, required_tags=["act"]))
        assert calls.tell_of_filters()


@pytest.mark.parametrize("fields_of_engine", [{}, PUSHDOWN, FILES], ids=["off", "on", "files"])
async def test_nothing_more_is_fetched_than_asked_for(
    open_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, fields_of_engine: dict[str, Any]
) -> None:
    engine = await open_engine(**fields_of_engine)
    await fill(engine)
    calls = StoreCalls()
    calls.watch(engine, monkeypatch)
    await engine.aquery_data(QUESTION, QueryParam(mode="mix", top_k=2, chunk_top_k=3, **INACTIVE))
    vectors = ("entities", "relationships", "chunks")
    searches = {space: args[1] for space in vectors for name, args, _ in calls.of(space) if name == "query"}
    assert searches == {"entities": 2, "relationships": 2, "chunks": 3}
    assert sum(name == "query" for name, _, _ in calls.of(*vectors)) == 3


@pytest.mark.parametrize("mode", MODES)
async def test_no_field_of_filters_enters_a_key(
    open_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    identities: list[AnswerIdentity] = []

    def noting(**fields: Any) -> AnswerIdentity:
        identities.append(AnswerIdentity(**fields))
        return identities[-1]

    monkeypatch.setattr(cache, "AnswerIdentity", noting)
    model = FactModel()
    engine = await open_engine(model)
    await fill(engine)
    await engine.aquery(QUESTION, QueryParam(mode=mode))
    await engine.aquery(QUESTION, QueryParam(mode=mode, **INACTIVE))
    assert model.count("answer") == 1
    plain, spelled_out = identities
    assert plain == spelled_out
    assert (plain.filter_key, plain.scope) == ("", "")
    assert not [name for name in plain.parameters if any(part in name for part in ("filter", "tag", "date", "policy"))]
    await engine.aquery(QUESTION, QueryParam(mode=mode, required_tags=["act"]))
    assert identities[-1].filter_key


async def test_keys_are_the_same_whatever_pushdown_says(
    open_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    keys: list[list[str]] = []
    for pushdown in (False, True):
        versions = (f"version {number}" for number in count())
        monkeypatch.setattr("lightrag.stores.secrets.token_hex", lambda _, versions=versions: next(versions))
        engine = await open_engine(working_dir=str(tmp_path / str(pushdown)), enable_vector_metadata_filters=pushdown)
        await fill(engine)
        for mode in MODES:
            await engine.aquery(QUESTION, QueryParam(mode=mode))
        rows = await engine.llm_response_cache.scan(limit=10_000)
        keys.append([key for key, _ in rows])
        assert sum(f":{QUERY}:" in key for key in keys[-1]) == len(MODES)
    assert keys[0] == keys[1]


async def results(engine: LightRAG) -> list[Any]:
    """Return everything that unfiltered questions give, in order."""
    found: list[Any] = []
    for mode in MODES:
        for fields in ({}, {"top_k": 2, "chunk_top_k": 2}, INACTIVE):
            found.append(timeless(await engine.aquery_data(QUESTION, QueryParam(mode=mode, **fields))))
            found.append(await engine.aquery(QUESTION, QueryParam(mode=mode, only_need_prompt=True, **fields)))
    return found


async def test_results_are_the_same_with_and_without_pushdown_and_metadata(
    open_engine: EngineFactory, tmp_path: Path
) -> None:
    engines = {
        name: await open_engine(working_dir=str(tmp_path / name), enable_vector_metadata_filters=pushdown)
        for name, pushdown in (("off", False), ("on", True), ("untagged", False), ("untagged, on", True))
    }
    found = {}
    for name, engine in engines.items():
        await fill(engine, tagged=not name.startswith("untagged"))
        found[name] = await results(engine)
    for name in engines:
        assert found[name] == found["off"], name
    assert all(result["status"] == "success" for result in found["on"][::2])
    assert "filter" not in str(found["on"])
