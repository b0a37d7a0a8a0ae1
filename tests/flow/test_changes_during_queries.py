"""A document is changed between any two looks of a query into the stores: what was never to be seen is not."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lightrag import LightRAG, QueryParam
from tests.fakes.filtering import leave_filtering_to_the_gate
from tests.flow.conftest import EngineFactory

MARK = "Zerzura"
READS = (
    "query", "get_by_id", "get_by_ids", "get_facts", "similarities", "get_nodes_batch", "get_nodes_edges_batch",
    "get_edges_batch", "node_degrees_batch", "of_objects", "sources_of_objects", "eligible_objects",
    "eligible_of_objects", "eligible_sources", "excluded_objects", "count_eligible", "get_popular_labels",
)  # fmt: skip
FILES = {
    "kv_storage": "JsonKVStorage",
    "graph_storage": "NetworkXStorage",
    "doc_status_storage": "JsonDocStatusStorage",
}
WAYS: dict[str, dict[str, Any]] = {
    "stores": {},
    "gate": {},
    "files": {**FILES, "vector_storage": "NanoVectorDBStorage"},
    "faiss": {**FILES, "vector_storage": "FaissVectorDBStorage"},
}
# Not to be seen by who may see no secrets, wherever in this the change happens.
OPEN = "Hub -> Leaf: the hub holds a leaf of the park"
SECRET = f"Hub -> Leaf: the hub holds a leaf of {MARK}\nHub -> {MARK}: the hub leads to {MARK}"


async def delete(engine: LightRAG) -> None:
    assert (await engine.adelete_by_doc_id("d")).status == "success"


async def replace(engine: LightRAG) -> None:
    await delete(engine)
    await engine.ainsert(SECRET, ids="d", file_paths="d.md", metadata={"tags": ["secret"]})


async def add_a_secret(engine: LightRAG) -> None:
    await engine.aupdate_document_metadata("d", {"tags": ["secret"]})
    await engine.ainsert_custom_chunks(SECRET, [SECRET], doc_id="d")


# what happens -> the document before it, and what is done
CHANGES: dict[str, tuple[str, list[str], Callable[[LightRAG], Awaitable[None]]]] = {
    "a secret is deleted": (SECRET, ["secret"], delete),
    "a document becomes a secret": (OPEN, [], replace),
    "a document is given a secret": (OPEN, [], add_a_secret),
}


class At:
    """Does something once, after so many looks into the stores."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, engine: LightRAG, act: Callable[[], Awaitable[None]]) -> None:
        self._act = act
        self.left: int | None = None
        for store in engine.context.stores.all():
            for name in READS:
                if hasattr(store, name):
                    monkeypatch.setattr(store, name, self._counted(getattr(store, name)))

    def _counted(self, read: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def counted(*args: Any, **kwargs: Any) -> Any:
            found = await read(*args, **kwargs)
            if self.left is not None:
                self.left -= 1
                if self.left == 0:
                    self.left = None
                    await self._act()
            return found

        return counted


async def looks(engine: LightRAG, mode: str) -> str:
    view = engine.restricted(forbidden_tags=["secret"])
    if mode == "graph":
        return repr(await view.get_knowledge_graph("Hub"))
    param = QueryParam(mode=mode, hl_keywords=["hub leaf"], ll_keywords=["Hub"], include_document_metadata=True)  # type: ignore[arg-type]
    return json.dumps(await view.aquery_data("Where does the hub lead?", param))


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("way", WAYS)
async def test_no_secret_is_seen_whenever_it_comes_or_goes(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, way: str, change: str
) -> None:
    if way == "faiss":
        pytest.importorskip("faiss", reason="faiss-cpu is not installed; extra faiss")
    engine = await make_engine(vector_db_storage_cls_kwargs={"cosine_better_than_threshold": -1.0}, **WAYS[way])
    if way == "gate":
        leave_filtering_to_the_gate(engine, monkeypatch)
    before, tags, act = CHANGES[change]
    await engine.ainsert("Hub -> Gate: the hub has a gate", ids="other", file_paths="other.md")
    at = At(monkeypatch, engine, lambda: act(engine))
    tried = 0
    for mode in ("mix", "naive", "graph"):
        for count in range(1, 60):
            await engine.adelete_by_doc_id("d")
            await engine.ainsert(before, ids="d", file_paths="d.md", metadata={"tags": tags})
            at.left = count
            seen = await looks(engine, mode)
            if at.left is not None:
                at.left = None
                break
            tried += 1
            assert MARK not in seen, (mode, count, seen)
            # What nobody hides is there all the time.
            assert "gate" in seen, (mode, count, seen)
    assert tried > 20
