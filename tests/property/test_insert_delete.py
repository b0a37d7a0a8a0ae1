"""After any sequence of inserts, deletes and reopenings the engine equals one that only ever held what is left."""

from __future__ import annotations

import asyncio
import tempfile
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lightrag import LightRAG
from tests.fakes.audit import disagreements, snapshot
from tests.fakes.facts import FactModel, make_embedding

NAMES = st.sampled_from(["Ada", "Bo", "Cy", "Dee", "the Hub"])
FACTS = st.lists(st.tuples(NAMES, NAMES, st.sampled_from(["pays", "owns", "knows", "built"])), max_size=5)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), st.integers(0, 5), FACTS),
        st.tuples(st.just("insert many"), st.just(0), st.lists(FACTS, min_size=2, max_size=4)),
        st.tuples(st.just("delete"), st.integers(0, 5), st.none()),
        st.tuples(st.just("reopen"), st.just(0), st.none()),
    ),
    max_size=10,
)

FAMILIES: dict[str, dict[str, str]] = {
    "sqlite": {},
    "files": {
        "kv_storage": "JsonKVStorage",
        "doc_status_storage": "JsonDocStatusStorage",
        "graph_storage": "NetworkXStorage",
        "vector_storage": "NanoVectorDBStorage",
    },
}

# More fragments than any entity gets here.
NEVER = 1000


def text_of(number: int, facts: list[tuple[str, str, str]]) -> str:
    lines = [f"{source} -> {target}: {source} {verb} {target}" for source, target, verb in facts if source != target]
    return "\n".join([f"Document {number}.", *lines])


async def open_engine(directory: str, **fields: Any) -> LightRAG:
    engine = LightRAG(
        working_dir=directory,
        llm_model_func=FactModel(),
        embedding_func=make_embedding(),
        entity_extract_max_gleaning=0,
        **fields,
    )
    await engine.initialize_storages()
    return engine


async def run(steps: list[tuple[str, int, Any]], storages: dict[str, str], *, summary_from: int) -> None:
    fields = {**storages, "force_llm_summary_on_merge": summary_from}
    with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryDirectory() as other:
        engine = await open_engine(directory, **fields)
        alive: dict[str, str] = {}
        try:
            for position, (action, number, content) in enumerate(steps):
                if action == "insert":
                    await add(engine, alive, {f"doc-{number}": f"{text_of(number, content)}\nLife {position}."})
                elif action == "insert many":
                    batch = {
                        f"doc-m{position}-{index}": f"{text_of(index, facts)}\nLife {position}."
                        for index, facts in enumerate(content)
                    }
                    await add(engine, alive, batch)
                elif action == "delete":
                    outcome = await engine.adelete_by_doc_id(f"doc-{number}")
                    assert (outcome.status == "success") == (f"doc-{number}" in alive)
                    alive.pop(f"doc-{number}", None)
                else:
                    await engine.finalize_storages()
                    engine = await open_engine(directory, **fields)
                assert await disagreements(engine) == []
            fresh = await open_engine(other, **fields)
            try:
                for doc_id in await order_of_arrival(engine, alive):
                    await fresh.ainsert(alive[doc_id], ids=doc_id)
                left, never_held = await snapshot(engine), await snapshot(fresh)
            finally:
                await fresh.finalize_storages()
            if summary_from != NEVER:
                left, never_held = without_summaries(left), without_summaries(never_held)
            assert left == never_held
        finally:
            await engine.finalize_storages()


async def order_of_arrival(engine: LightRAG, alive: dict[str, str]) -> list[str]:
    """Documents that are worked on at the same time arrive in the order in which they get ready."""
    rows = await engine.context.stores.evidence.of_documents(list(alive))
    return list(dict.fromkeys([*(row.document_id for row in rows), *alive]))


async def add(engine: LightRAG, alive: dict[str, str], batch: dict[str, str]) -> None:
    new = {doc_id: text for doc_id, text in batch.items() if doc_id not in alive}
    await engine.ainsert(list(batch.values()), ids=list(batch))
    alive.update(new)


def without_summaries(state: dict[str, Any]) -> dict[str, Any]:
    """Descriptions that the model shortened depend on when it was asked."""

    def strip(objects: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        hidden = {"description", "tokens"}
        return {key: {name: value for name, value in row.items() if name not in hidden} for key, row in objects.items()}

    return {**state, "nodes": strip(state["nodes"]), "edges": strip(state["edges"])}


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS)
def test_what_is_left_is_as_if_the_rest_had_never_been(family: str, steps: list[tuple[str, int, Any]]) -> None:
    asyncio.run(run(steps, FAMILIES[family], summary_from=NEVER))


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS)
def test_the_same_with_descriptions_that_are_summarised(family: str, steps: list[tuple[str, int, Any]]) -> None:
    asyncio.run(run(steps, FAMILIES[family], summary_from=2))
