"""Filters by tags while documents change in every way there is: here, by failing writes, and in another process."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lightrag.contracts.evidence import statement_document
from lightrag.kg.sqlite.connection import connect_writer
from lightrag.kg.sqlite.database import Database
from lightrag.kg.sqlite.doc_status import SQLiteDocStatusStorage, _Stored
from lightrag.kg.sqlite.filter_memory import FilterMemory
from lightrag.kg.sqlite.filter_writes import documents_written
from lightrag.query_filters import as_filter
from tests.conformance.families import Workspace, family_named
from tests.conformance.test_filters import QUESTION, Corpus, entity, status_row

DOCUMENTS = [f"doc-{number}" for number in range(4)]
TAGS = ["a", "b", "c", "scope:x"]

tags = st.lists(st.sampled_from([*TAGS, "A", " b "]), max_size=3)
named = st.lists(st.sampled_from([*TAGS, "B", "nobody"]), min_size=1, max_size=3)
tag_filters = st.fixed_dictionaries(
    {},
    optional={
        "required_tags": named,
        "required_tags_mode": st.sampled_from(["and", "or"]),
        "forbidden_tags": named,
        "date_filter": st.just({"undated": "only"}),
        "doc_types": st.just(["pdf"]),
    },
).filter(lambda one: bool(one.keys() - {"required_tags_mode"}))
documents = st.sampled_from(DOCUMENTS)
steps = st.lists(
    st.tuples(st.sampled_from(["put", "patch", "fails", "elsewhere"]), documents, tags)
    | st.tuples(st.sampled_from(["forget", "delete"]), documents, st.none())
    | st.tuples(st.just("ask"), st.just(""), tag_filters),
    max_size=10,
)


def metadata_of(tags: list[str]) -> dict[str, Any]:
    kind = {"user_doc_type": "pdf"} if len(tags) == 1 else {}
    return {"user_tags": tags, **kind}


def stored(corpus: Corpus, rows: Mapping[str, Any]) -> tuple[SQLiteDocStatusStorage, list[_Stored]]:
    assert isinstance(corpus.status, SQLiteDocStatusStorage)
    return corpus.status, [_Stored.of(doc_id, status_row(doc_id, metadata)) for doc_id, metadata in rows.items()]


def elsewhere(corpus: Corpus, rows: Mapping[str, Any]) -> None:
    """Write status rows through connections that this process knows nothing of, as another process does."""
    store, prepared = stored(corpus, rows)
    with closing(connect_writer(store.database.path)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        store._store(connection, prepared)
        connection.execute("COMMIT")


async def fails(corpus: Corpus, rows: Mapping[str, Any]) -> None:
    """Write status rows in a transaction that is rolled back afterwards."""
    store, prepared = stored(corpus, rows)

    def write(connection: sqlite3.Connection) -> None:
        store._store(connection, prepared)
        documents_written(store._memory, [row.seen for row in prepared])
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.database.write(write)


async def change(corpus: Corpus, action: str, doc_id: str, given: Any) -> None:
    if action == "put":
        await corpus.put(doc_id, metadata_of(given))
    elif action == "patch":
        await corpus.status.update_doc_status_fields({doc_id: {"metadata": metadata_of(given)}})
        if doc_id in corpus.documents:
            corpus.documents[doc_id] = metadata_of(given)
    elif action == "fails":
        await fails(corpus, {doc_id: metadata_of(given)})
    elif action == "elsewhere":
        elsewhere(corpus, {doc_id: metadata_of(given)})
        corpus.documents[doc_id] = metadata_of(given)
    elif action == "forget":
        await corpus.forget(doc_id)
    else:
        await corpus.delete(doc_id)


async def small(workspace: Workspace) -> Corpus:
    corpus = await Corpus.open(workspace)
    for number, doc_id in enumerate([*DOCUMENTS, statement_document("scope:x")]):
        await corpus.add_chunks(doc_id, [number, number + 10])
        await corpus.say(entity("Hub", doc_id, 0), entity(f"own {number}", doc_id, 0))
    await corpus.add_object_vectors(["Hub", "own 1"])
    await corpus.put("doc-0", metadata_of(["a"]))
    await corpus.put("doc-1", metadata_of(["a", "b"]))
    await corpus.put("doc-3", metadata_of(["c"]))
    return corpus


@settings(deadline=None, max_examples=30)
@given(steps, st.lists(tag_filters, min_size=1, max_size=2))
def test_any_sequence_of_changes(sequence: list[tuple[str, str, Any]], last: list[dict[str, Any]]) -> None:
    async def run(folder: str) -> None:
        workspace = Workspace(family_named("sqlite"), Path(folder))
        try:
            corpus = await small(workspace)
            for action, doc_id, given in [*sequence, *(("ask", "", one) for one in last)]:
                if action == "ask":
                    await corpus.check(given, counts=(1000,))
                else:
                    await change(corpus, action, doc_id, given)
        finally:
            await workspace.close()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(folder))


ASKED = ({"required_tags": ["c"]}, {"forbidden_tags": ["c"]}, {"required_tags": ["c", "a"], "required_tags_mode": "or"})


@pytest.mark.parametrize("action", ["put", "patch", "fails", "elsewhere", "forget", "delete"])
@pytest.mark.parametrize("asked", ASKED, ids=repr)
async def test_a_change_between_the_filling_and_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, action: str, asked: dict[str, Any]
) -> None:
    """Everything that an answer takes has been read, and then a document gets or loses the tag before it is given."""
    workspace = Workspace(family_named("sqlite"), tmp_path)
    corpus = await small(workspace)
    await corpus.check({"required_tags": ["b"]})
    filtered, waiting = Database.filtered, [lambda: change(corpus, action, "doc-1", ["c"])]

    async def then_change(self: Database, wanted: Any) -> FilterMemory:
        memory = await filtered(self, wanted)
        while waiting:
            await waiting.pop()()
        return memory

    monkeypatch.setattr(Database, "filtered", then_change)
    found = await corpus.chunks.query("", 1000, QUESTION, metadata_filter=as_filter(asked))
    assert not waiting
    if action != "elsewhere":
        accepted = [doc_id for doc_id, _ in corpus.chunk_rows.values() if corpus.accepts(doc_id, as_filter(asked))]
        assert sorted(row["full_doc_id"] for row in found) == sorted(accepted)
    await corpus.check(asked)
    await workspace.close()


async def test_another_process_writes_while_documents_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer mixes what was read before with what was written since: the document matches in neither state."""
    workspace = Workspace(family_named("sqlite"), tmp_path)
    corpus = await small(workspace)
    await corpus.check({"required_tags": ["b"]})
    load = FilterMemory.load
    asked = {"required_tags": ["b"], "doc_types": ["pdf"]}

    def interrupted(self: FilterMemory, *arguments: Any) -> None:
        monkeypatch.setattr(FilterMemory, "load", load)
        elsewhere(corpus, {"doc-1": metadata_of(["a"])})
        load(self, *arguments)

    monkeypatch.setattr(FilterMemory, "load", interrupted)
    assert await corpus.chunks.query("", 1000, QUESTION, metadata_filter=as_filter(asked)) == []
    corpus.documents["doc-1"] = metadata_of(["a"])
    for filter_ in (asked, *ASKED):
        await corpus.check(filter_)
    await workspace.close()


async def test_a_tag_that_a_document_gets_before_anybody_asked_for_it(tmp_path: Path) -> None:
    """Those that had it before documents were read count as well."""
    workspace = Workspace(family_named("sqlite"), tmp_path)
    corpus = await small(workspace)
    await corpus.check({"required_tags": ["b"]})
    await corpus.put("doc-2", metadata_of(["c"]))
    for asked in ASKED:
        await corpus.check(asked)
    await workspace.close()


async def test_a_tag_gets_its_first_document_and_loses_its_last(tmp_path: Path) -> None:
    workspace = Workspace(family_named("sqlite"), tmp_path)
    corpus = await small(workspace)
    await corpus.forget("doc-3")
    for asked in ASKED:
        await corpus.check(asked)
    for own in (["c"], ["C ", "a"], [], ["b"], ["c", "c"]):
        await corpus.put("doc-2", metadata_of(own))
        for asked in ASKED:
            await corpus.check(asked)
    await corpus.forget("doc-2")
    for asked in ASKED:
        await corpus.check(asked)
    await workspace.close()
