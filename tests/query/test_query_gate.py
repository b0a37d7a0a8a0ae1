"""Every leg passes the gate, and an inactive gate does nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import pytest

from lightrag.contracts.evidence import BaseEvidenceStorage, EvidenceSource, ObjectKind
from lightrag.contracts.graph import NodePair, Properties
from lightrag.contracts.query import QueryParam
from lightrag.contracts.vector import Row
from lightrag.query import modes
from lightrag.query.gate import Gate, Page
from lightrag.query.modes import run_query
from tests.query.corpus import archive

T = TypeVar("T")
QUESTION = "Who levies harbour dues on coal?"
KEYS = {"hl_keywords": ["harbour dues"], "ll_keywords": ["dock board"]}


class RefusingGate(Gate):
    """Refuses one document and one entity, and fetches until its pages are full."""

    active = True

    def __init__(self, evidence: BaseEvidenceStorage, document: str, entity: str) -> None:
        super().__init__(evidence)
        self.document = document
        self.entity = entity
        self.fetched: list[int] = []

    async def _fill(self, candidates: list[T], page: Page[T] | None, admits: Callable[[T], bool]) -> list[T]:
        admitted = [item for item in candidates if admits(item)]
        while page is not None and len(admitted) < page.wanted and len(candidates) >= page.wanted:
            asked = len(candidates) * 2
            self.fetched.append(asked)
            more = await page.fetch(asked)
            if len(more) <= len(candidates):
                break
            candidates, admitted = more, [item for item in more if admits(item)]
        return admitted if page is None else admitted[: page.wanted]

    async def admit_chunks(self, candidates: list[Row], page: Page[Row] | None = None) -> list[Row]:
        return await self._fill(candidates, page, lambda row: row["full_doc_id"] != self.document)

    async def admit_entities(self, candidates: list[str], page: Page[str] | None = None) -> list[str]:
        return await self._fill(candidates, page, lambda graph_id: graph_id != self.entity)

    async def admit_relations(self, candidates: list[NodePair], page: Page[NodePair] | None = None) -> list[NodePair]:
        return await self._fill(candidates, page, lambda pair: self.entity not in pair)

    async def sources_of_objects(
        self, kind: ObjectKind, object_ids: Sequence[str], limit: int | None
    ) -> dict[str, list[EvidenceSource]]:
        sources = await super().sources_of_objects(kind, object_ids, None)
        return {key: [row for row in rows if row.document_id != self.document] for key, rows in sources.items()}

    async def describe(
        self, kind: ObjectKind, objects: Sequence[tuple[str, Properties]], budget: int | None = None
    ) -> Sequence[tuple[str, Properties]]:
        return [(key, {**properties, "description": f"eligible {kind}"}) for key, properties in objects]


@pytest.mark.parametrize("mode", ["local", "global", "hybrid", "mix", "naive"])
async def test_what_the_gate_refuses_is_nowhere(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = await archive()
    gate = RefusingGate(engine.context.stores.evidence, "doc-1", "Coal")
    monkeypatch.setattr(modes, "open_gate", lambda context, plan: gate)
    result = await run_query(engine.context, QUESTION, QueryParam(mode=mode, only_need_context=True, **KEYS))
    assert result.chunks
    assert {row["file_path"] for row in result.chunks} <= {"letters/ana.md", "unknown_source"}
    assert all("Coal" not in (row["src_id"], row["tgt_id"]) for row in result.relations)
    assert "Coal" not in [row["entity_name"] for row in result.entities]
    for row in (*result.entities, *result.relations):
        assert row["description"].startswith("eligible ")
        assert "doc-1" not in row["source_id"]
    assert "acts/harbour.md" not in str(result.content)


async def test_a_page_is_filled_from_further_down(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = await archive(floor=-1.0)
    gate = RefusingGate(engine.context.stores.evidence, "doc-1", "")
    monkeypatch.setattr(modes, "open_gate", lambda context, plan: gate)
    result = await run_query(engine.context, QUESTION, QueryParam(mode="naive", chunk_top_k=2), data_only=True)
    assert len(result.chunks) == 2
    assert gate.fetched


async def test_the_store_hears_what_the_gate_says(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = await archive()
    gate = RefusingGate(engine.context.stores.evidence, "doc-1", "")
    gate.search_options = lambda store: {"metadata_filter": "the filter"}
    monkeypatch.setattr(modes, "open_gate", lambda context, plan: gate)
    heard: list[Any] = []

    def spy(original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def query(*args: Any, metadata_filter: Any = None, **options: Any) -> Any:
            heard.append(metadata_filter)
            return await original(*args, **options)

        return query

    stores = engine.context.stores
    for store in (stores.entities, stores.relationships, stores.chunks):
        monkeypatch.setattr(store, "query", spy(store.query))
    await run_query(engine.context, QUESTION, QueryParam(mode="mix", top_k=1, chunk_top_k=1, **KEYS), data_only=True)
    assert len(heard) >= 3
    assert set(heard) == {"the filter"}


async def test_the_open_gate_returns_the_very_same_objects() -> None:
    engine = await archive()
    stores = engine.context.stores
    gate = Gate(stores.evidence)
    rows: list[Row] = [{"id": "a"}]
    ids, pairs = ["a"], [("a", "b")]
    objects: list[tuple[str, Properties]] = [("a", {})]
    assert await gate.admit_chunks(rows) is rows
    assert await gate.admit_entities(ids) is ids
    assert await gate.admit_relations(pairs) is pairs
    assert await gate.describe(ObjectKind.ENTITY, objects) is objects
    assert gate.search_options(stores.chunks) == {}
    assert await gate.report() is None
    assert not gate.active
