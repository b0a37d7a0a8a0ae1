"""Filters in SQLite: as conditions served by indexes, and as indexes in memory that follow every write."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import given, settings
from hypothesis import strategies as st

from lightrag.contracts.evidence import ObjectKind
from lightrag.exceptions import UnsupportedFilterError
from lightrag.kg.sqlite import bulk, filter_writes, schema, vector
from lightrag.kg.sqlite.bulk import Source, read_columns
from lightrag.kg.sqlite.database import FILE_NAME, Database
from lightrag.kg.sqlite.doc_status import _Stored
from lightrag.kg.sqlite.filter_columns import COLUMN_NAMES
from lightrag.kg.sqlite.filter_memory import FilterMemory
from lightrag.kg.sqlite.filters import SQLiteCompiler
from lightrag.predicates import Compare, In, Not, Operator, Predicate, Under, evaluate
from lightrag.query_filters import as_filter, document_predicate, normal_form
from tests.conformance.families import Workspace, family_named
from tests.conformance.test_filters import (
    CASES,
    NAMES,
    QUESTION,
    Corpus,
    entity,
    small_corpus,
    status_row,
)
from tests.kg.sqlite_impl.test_database import in_another_process
from tests.property.filter_strategies import filters, metadatas, predicates

TABLE = "status_doc_status"
TAGGED = as_filter({"required_tags": ["a"]})


@pytest_asyncio.fixture
async def open_workspace(tmp_path: Path) -> AsyncIterator[Callable[[], Workspace]]:
    made: list[Workspace] = []

    def make() -> Workspace:
        made.append(Workspace(family_named("sqlite"), tmp_path))
        return made[-1]

    yield make
    for workspace in made:
        await workspace.close()


# --- conditions ------------------------------------------------------------------------------------------------------


class StatusTable:
    """A status table in memory, written by the store's own statements."""

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:")
        for statement in schema.doc_status_tables(TABLE).values():
            self.connection.execute(statement)
        names = ("key", "status", "created_at", "updated_at", "file_path", "track_id", "content_hash", "refused")
        self.columns = (*names, *COLUMN_NAMES, "fields")

    def fill(self, documents: dict[str, Any]) -> None:
        self.connection.execute(f"DELETE FROM {TABLE}")
        for doc_id, metadata in documents.items():
            self.put(doc_id, metadata)

    def put(self, doc_id: str, metadata: Any) -> None:
        places = ", ".join("?" * len(self.columns))
        changed = ", ".join(f"{name} = excluded.{name}" for name in self.columns[1:])
        self.connection.execute(
            f"INSERT INTO {TABLE} ({', '.join(self.columns)}) VALUES ({places}) "
            f"ON CONFLICT (key) DO UPDATE SET {changed}",
            _Stored.of(doc_id, status_row(doc_id, metadata)).values,
        )

    def matching(self, predicate: Predicate) -> set[str]:
        condition = SQLiteCompiler(schema.tags_table(TABLE)).compile(predicate)
        rows = self.connection.execute(f"SELECT key FROM {TABLE} WHERE {condition.text}", condition.values).fetchall()
        # Two-valued: what is not accepted is refused, and nothing is neither.
        refused = self.connection.execute(
            f"SELECT key FROM {TABLE} WHERE NOT ({condition.text})", condition.values
        ).fetchall()
        every = {key for (key,) in self.connection.execute(f"SELECT key FROM {TABLE}")}
        accepted = {key for (key,) in rows}
        assert {key for (key,) in refused} == every - accepted
        return accepted

    def plan(self, predicate: Predicate) -> str:
        condition = SQLiteCompiler(schema.tags_table(TABLE)).compile(predicate)
        statement = f"EXPLAIN QUERY PLAN SELECT count(*) FROM {TABLE} WHERE {condition.text}"
        return "\n".join(row[3] for row in self.connection.execute(statement, condition.values))


@pytest.fixture
def table() -> Iterator[StatusTable]:
    made = StatusTable()
    yield made
    made.connection.close()


def test_every_case(table: StatusTable) -> None:
    documents = {f"doc-{number}": case["metadata"] for number, case in enumerate(CASES)}
    table.fill(documents)
    for number, case in enumerate(CASES):
        assert (f"doc-{number}" in table.matching(document_predicate(case["filter"]))) is case["matches"]


@settings(deadline=None, max_examples=200)
@given(st.lists(metadatas(), max_size=6), predicates | filters().map(document_predicate))
def test_conditions_are_the_same_as_evaluation(documents: list[Any], predicate: Predicate) -> None:
    table = StatusTable()
    table.fill({f"doc-{number}": metadata for number, metadata in enumerate(documents)})
    rows = {f"doc-{number}": normal_form(item, doc_id=f"doc-{number}") for number, item in enumerate(documents)}
    assert table.matching(predicate) == {key for key, row in rows.items() if evaluate(predicate, row)}
    table.connection.close()


@pytest.mark.parametrize(
    "predicate",
    [
        Compare("source_path", Operator.EQ, ""),
        In("source_path", ("x", "w/x/y", "")),
        In("doc_type", ("pdf", "")),
        Not(In("doc_type", ("pdf", "note"))),
        In("modified_at", (0, 7)),
        In("filter_dated", (True, False)),
        Not(In("full_doc_id", ("doc-0", "nul\0inside", "lone \ud800"))),
        Compare("full_doc_id", Operator.EQ, "lone \ud800"),
        Compare("full_doc_id", Operator.EQ, "doc-1"),
        Under("source_path", "x%_"),
    ],
    ids=repr,
)
def test_conditions_that_filters_do_not_make(table: StatusTable, predicate: Predicate) -> None:
    paths = ("", "x", "x/y", "x%_", "x%_/y", "xab/y", "w/x/y")
    documents: dict[str, Any] = {
        f"doc-{number}": {"user_source_path": path, "user_doc_type": kind, "user_modified_at": "1970-01-01T00:00:00Z"}
        for number, (path, kind) in enumerate((path, kind) for path in paths for kind in ("", "pdf", "note"))
    }
    documents["doc-x"] = None
    table.fill(documents)
    rows = {key: normal_form(metadata, doc_id=key) for key, metadata in documents.items()}
    assert table.matching(predicate) == {key for key, row in rows.items() if evaluate(predicate, row)}


def test_fields_of_objects_are_refused() -> None:
    with pytest.raises(UnsupportedFilterError, match="tenant_tag"):
        SQLiteCompiler("t").compile(Compare("tenant_tag", Operator.EQ, "x"))


@pytest.mark.parametrize(
    ("given_filter", "index"),
    [
        ({"required_tags": ["t7"]}, "SEARCH tags_of_status_doc_status USING PRIMARY KEY (tag=?)"),
        ({"required_tags": ["t7", "t8"], "required_tags_mode": "or"}, "USING PRIMARY KEY (tag=?)"),
        ({"date_filter": {"range": {"end": "1903-01-01T00:00:00Z"}}}, "status_doc_status_dated"),
        ({"doc_types": ["k3"]}, "status_doc_status_type"),
        ({"doc_types": ["k3", "k4"]}, "status_doc_status_type"),
        ({"path_prefixes": ["d3"]}, "status_doc_status_source"),
        ({"modified_after": "2020-02-01T00:00:00Z"}, "status_doc_status_modified"),
        ({"modified_before": "2020-01-02T00:00:00Z"}, "status_doc_status_modified"),
        ({"search_filters": {"document_ids": ["doc-3", "doc-4"]}}, "sqlite_autoindex_status_doc_status_1"),
    ],
    ids=repr,
)
def test_conditions_are_served_by_indexes(table: StatusTable, given_filter: dict[str, Any], index: str) -> None:
    table.fill(
        {
            f"doc-{number}": {
                "user_tags": [f"t{number % 40}"],
                "user_start_date": f"{1900 + number % 100}-01-01T00:00:00Z",
                "user_doc_type": f"k{number % 30}",
                "user_source_path": f"d{number % 50}/{number}",
                "user_modified_at": f"2020-01-{1 + number % 28:02}T00:00:00Z",
            }
            for number in range(500)
        }
    )
    table.connection.execute("ANALYZE")
    plan = table.plan(document_predicate(given_filter))
    assert index in plan, plan
    assert f"SCAN {TABLE}" not in plan, plan


def test_the_list_of_tags_follows_every_change(table: StatusTable) -> None:
    def listed() -> list[tuple[str, str]]:
        tags = schema.tags_table(TABLE)
        return table.connection.execute(
            f"SELECT t.tag, s.key FROM {tags} AS t LEFT JOIN {TABLE} AS s ON s.id = t.document ORDER BY 1, 2"
        ).fetchall()

    table.put("x", {"user_tags": ["a", "b"]})
    table.put("y", {})
    assert listed() == [("a", "x"), ("b", "x")]
    table.put("x", {"user_tags": ["b", "c"]})
    table.put("y", {"user_tags": ["a"]})
    assert listed() == [("a", "y"), ("b", "x"), ("c", "x")]
    table.connection.execute(f"DELETE FROM {TABLE} WHERE key = 'x'")
    assert listed() == [("a", "y")]
    table.connection.execute(f"DELETE FROM {TABLE}")
    assert listed() == []


async def test_older_files_are_brought_up_to_date(open_workspace: Callable[[], Workspace], tmp_path: Path) -> None:
    first = open_workspace()
    corpus = await Corpus.open(first)
    await corpus.put("x", {"user_tags": ["a"]})
    await corpus.put("y", {})
    await corpus.add_chunks("x", [1, 2])
    await corpus.add_chunks("nobody", [3])
    await first.close()
    with sqlite3.connect(tmp_path / FILE_NAME) as file:
        tags = schema.tags_table(TABLE)
        file.execute(f"DROP TABLE {tags}")
        for name in ("inserted", "updated", "deleted"):
            file.execute(f"DROP TRIGGER {tags}_{name}")
        for table in (TABLE, "vectors_chunks", "vectors_entities", "vectors_relationships"):
            file.execute(f"DROP INDEX {table}_document")
            file.execute(f"ALTER TABLE {table} DROP COLUMN document")
        file.execute("DELETE FROM texts")
        file.execute("PRAGMA user_version=1")
    file.close()
    again = await Corpus.open(open_workspace())
    again.documents, again.chunk_rows = corpus.documents, corpus.chunk_rows
    await again.check({"required_tags": ["a"]})
    await again.check({"forbidden_tags": ["a"]})
    await again.put("y", {"user_tags": ["a"]})
    await again.add_chunks("y", [4])
    await again.check({"required_tags": ["a"]})


# --- whole columns ---------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.integers(-(2**63), 2**63 - 1),
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4),
        ),
        max_size=12,
    ),
    st.sampled_from([1, 3, 100]),
)
def test_columns_come_back_as_they_are(rows: list[tuple[int, str]], window: int) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE x (id INTEGER PRIMARY KEY, n INTEGER, s TEXT)")
    connection.execute("CREATE INDEX x_s ON x (s, n) WHERE s <> ''")
    for place, (number, text) in enumerate(rows):
        connection.execute("INSERT INTO x VALUES (?, ?, ?)", (1 + place * 2, number, text))
    before, bulk._ROWS = bulk._ROWS, window
    try:
        read = read_columns(connection, Source("x"), numbers=["t.id", "t.n"], texts=["t.s"])
        none = read_columns(connection, Source("x", condition="t.id < 0"), numbers=["t.id"], texts=["t.s"])
        indexed = Source("x", condition="t.s <> ''", index="x_s")
        of_index = read_columns(connection, indexed, numbers=["t.n", "t.id"], texts=["t.s"])
    finally:
        bulk._ROWS = before
        connection.close()
    assert read.numbers[0].tolist() == [1 + place * 2 for place in range(len(rows))]
    assert read.numbers[1].tolist() == [number for number, _ in rows]
    assert read.texts[0] == [text for _, text in rows]
    assert (len(none.numbers[0]), none.texts) == (0, [[]])
    found = zip(of_index.numbers[0].tolist(), of_index.texts[0], strict=True)
    assert sorted(found) == sorted((number, text) for number, text in rows if text)


# --- memory ----------------------------------------------------------------------------------------------------------


def database_of(corpus: Corpus) -> Database:
    database: Database = corpus.chunks.database  # type: ignore[attr-defined]
    return database


async def test_without_a_filter_nothing_is_read_or_built(
    open_workspace: Callable[[], Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = await small_corpus(open_workspace())
    database = database_of(corpus)
    statements: list[str] = []
    make = sqlite3.connect

    def traced(*args: Any, **options: Any) -> sqlite3.Connection:
        connection = make(*args, **options)
        connection.set_trace_callback(statements.append)
        return connection

    database._idle.clear()
    monkeypatch.setattr(sqlite3, "connect", traced)
    before = await corpus.chunks.query("", 100, QUESTION)
    await corpus.entities.query("", 100, QUESTION)
    await corpus.relations.query("", 3, QUESTION)
    await corpus.evidence.of_objects(ObjectKind.ENTITY, ["Hub"])
    await corpus.evidence.sources_of_objects(ObjectKind.ENTITY, ["Hub"])
    assert statements
    assert [text for text in statements if "status" in text or "tenant" in text.split("FROM")[-1]] == []
    await corpus.put("doc-9", {"user_tags": ["a"]})
    await corpus.status.get_facts(["doc-9"])
    assert database.filters is None
    # A filter in between changes nothing either.
    await corpus.check({"required_tags": ["a"]})
    assert await corpus.chunks.query("", 100, QUESTION) == before


async def test_only_what_a_filter_needs_is_read(open_workspace: Callable[[], Workspace]) -> None:
    corpus = await small_corpus(open_workspace())
    await corpus.chunks.query("", 1, QUESTION, metadata_filter=TAGGED)
    memory = database_of(corpus).filters
    assert memory is not None
    assert memory.documents is not None
    assert memory.documents.missing_parts(as_filter({"doc_types": ["pdf"]}))
    assert (memory.evidence, list(memory.labels), list(memory.partitions)) == (None, ["vectors_chunks"], [])
    await corpus.entities.query("", 1, QUESTION, tenant_tag="")
    assert (memory.evidence, list(memory.labels), list(memory.partitions)) == (
        None,
        ["vectors_chunks"],
        ["vectors_entities"],
    )
    await corpus.entities.query("", 1, QUESTION, metadata_filter=TAGGED)
    assert memory.evidence is not None
    assert set(memory.labels) == {"vectors_chunks", "vectors_entities"}


async def test_our_own_writes_read_nothing_again(
    open_workspace: Callable[[], Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = await small_corpus(open_workspace())
    await corpus.check({"required_tags": ["a"]})
    await corpus.check({"doc_types": ["pdf"]})
    loads: list[str] = []
    monkeypatch.setattr(FilterMemory, "load", lambda *_: loads.append("load"))
    for number in range(10):
        doc_id = f"doc-1{number}"
        await corpus.put(doc_id, {"user_tags": ["a"] if number % 2 else []})
        await corpus.add_chunks(doc_id, [100 + number])
        await corpus.say(entity("Hub", doc_id, 0), entity(f"new {number}", doc_id, 0))
        await corpus.add_object_vectors([*NAMES, "Hub", f"new {number}"])
        await corpus.check({"required_tags": ["a"]})
    await corpus.delete("doc-11")
    await corpus.check({"required_tags": ["a"]})
    await corpus.evidence.drop_of_document("doc-13", [""])
    corpus.said = [row for row in corpus.said if row.document_id != "doc-13"]
    await corpus.check({"required_tags": ["a"]})
    assert loads == []


async def test_what_another_process_writes_is_found(open_workspace: Callable[[], Workspace], tmp_path: Path) -> None:
    corpus = await small_corpus(open_workspace())
    await corpus.check({"required_tags": ["a"]})
    in_another_process(
        """
from tests.conformance.test_filters import Corpus, entity
corpus = await Corpus.open(workspace)
await corpus.put("doc-2", {"user_tags": ["a"]})
await corpus.put("doc-0", {"user_tags": ["b"]})
await corpus.add_chunks("doc-2", [77])
await corpus.say(entity("Cy", "doc-2", 9))
await corpus.check({"forbidden_tags": ["zzz"], "search_filters": {"document_ids": ["nobody"]}})
""",
        tmp_path,
    )
    corpus.documents |= {"doc-2": {"user_tags": ["a"]}, "doc-0": {"user_tags": ["b"]}}
    corpus.chunk_rows["chunk-0077"] = ("doc-2", 77)
    corpus.said.append(entity("Cy", "doc-2", 9))
    await corpus.check({"required_tags": ["a"]})
    assert await corpus.status.get_facts(["doc-0"])
    # Ours, before any filter has looked, must not hide theirs.
    in_another_process(
        """
from tests.conformance.test_filters import Corpus
await (await Corpus.open(workspace)).put("doc-3", {"user_tags": ["a"]})
""",
        tmp_path,
    )
    corpus.documents["doc-3"] = {"user_tags": ["a"]}
    await corpus.put("doc-1", {})
    await corpus.check({"required_tags": ["a"]})


async def test_many_deleted_documents_are_read_out_of_memory(
    open_workspace: Callable[[], Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filter_writes, "_MAX_REMOVED", 3)
    corpus = await small_corpus(open_workspace())
    await corpus.check({"required_tags": ["a"]})
    for number in range(12):
        await corpus.put(f"doc-2{number}", {"user_tags": ["a"]})
        await corpus.delete(f"doc-2{number}")
        await corpus.check({"required_tags": ["a"]})
        memory = database_of(corpus).filters
        assert memory is not None
        assert memory.documents is not None
        assert len(memory.documents) < 14


async def test_facts_that_a_reader_found_early_do_not_hide_a_change(open_workspace: Callable[[], Workspace]) -> None:
    """A reader may see a commit before memory has followed it; what it remembers must not stand in for the change."""
    corpus = await small_corpus(open_workspace())
    await corpus.check({"required_tags": ["a"]})
    memory = database_of(corpus).filters
    assert memory is not None
    assert memory.documents is not None
    new = {"user_tags": ["z"]}
    facts = _Stored.of("doc-3", status_row("doc-3", new)).seen[1]
    memory.documents.remember(memory.documents.revision, {"doc-3": facts})
    await corpus.put("doc-3", new)
    await corpus.check({"required_tags": ["z"]})


async def test_a_failing_hook_drops_memory_and_answers_stay_right(
    open_workspace: Callable[[], Workspace], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    corpus = await small_corpus(open_workspace())
    await corpus.check({"required_tags": ["a"]})
    memory = database_of(corpus).filters
    assert memory is not None

    def fail(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(type(memory.documents), "put", fail)
    await corpus.put("doc-3", {"user_tags": ["a"]})
    assert "could not follow a commit" in caplog.text
    monkeypatch.undo()
    await corpus.check({"required_tags": ["a"]})


async def test_searches_in_threads_are_filtered_too(
    open_workspace: Callable[[], Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = await small_corpus(open_workspace())
    threads: set[str] = set()
    search = vector.search

    def watched(*arguments: Any) -> Any:
        threads.add(threading.current_thread().name.partition("_")[0])
        return search(*arguments)

    monkeypatch.setattr(vector, "search", watched)
    await corpus.check({"required_tags": ["a"]})
    assert threads == {"MainThread"}
    threads.clear()
    monkeypatch.setattr(vector, "_THREAD_FROM", 0)
    await corpus.check({"required_tags": ["a"]})
    assert threads == {"sqlite-reader"}
