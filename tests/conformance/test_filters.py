"""Stores that know the documents of their workspace filter by them: exactly, with full pages, whatever happens.

A store that does not is gated by its caller; it must refuse a filter rather than ignore it.
"""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lightrag.contracts.doc_status import BaseDocStatusStorage
from lightrag.contracts.evidence import (
    CORRECTION_DOCUMENT_ID,
    BaseEvidenceStorage,
    Evidence,
    EvidenceSource,
    ObjectKind,
    missing_document_metadata,
    relation_key,
    statement_document,
)
from lightrag.contracts.vector import BaseVectorStorage
from lightrag.exceptions import UnsupportedFilterError
from lightrag.predicates import evaluate
from lightrag.query_filters import (
    VectorQueryFilter,
    as_filter,
    build_backend_filter_expr,
    document_facts,
    document_matches_filter,
    normal_form,
)
from tests.conformance.families import DIMENSION, FAMILIES, Family, Workspace
from tests.property.filter_strategies import filters, metadatas

CASES = json.loads((Path(__file__).parents[1] / "data" / "document_filter_cases.json").read_text())["cases"]
NAMES = ("Ada", "Bo", "Cy", "Dee")
SCOPE = "tenant:1"


def by_angle(place: int) -> np.ndarray:
    """Vectors that are less and less similar to the first one, the question."""
    vector = np.zeros(DIMENSION, dtype=np.float32)
    vector[0], vector[1] = np.cos(place / 1000), np.sin(place / 1000)
    return vector


QUESTION = by_angle(0)


def status_row(doc_id: str, metadata: Any, status: str = "processed") -> dict[str, Any]:
    return {
        "content_summary": "",
        "content_length": 0,
        "file_path": "p",
        "status": status,
        "created_at": f"2024-{doc_id}",
        "updated_at": "2024",
        "metadata": metadata,
    }


@dataclass
class Corpus:
    """The stores that filters concern, and beside them what they must answer."""

    status: BaseDocStatusStorage
    evidence: BaseEvidenceStorage
    chunks: BaseVectorStorage
    entities: BaseVectorStorage
    relations: BaseVectorStorage
    documents: dict[str, Any] = field(default_factory=dict)
    chunk_rows: dict[str, tuple[str, int]] = field(default_factory=dict)
    said: list[Evidence] = field(default_factory=list)

    @classmethod
    async def open(cls, workspace: Workspace) -> Corpus:
        fields = ("full_doc_id", "entity_name", "graph_node_id", "src_id", "tgt_id", "tenant_tag")
        vectors = [await workspace.vectors(name, fields=fields) for name in ("chunks", "entities", "relationships")]
        return cls(await workspace.doc_status(), await workspace.evidence(), *vectors)

    @property
    def filters(self) -> bool:
        stores = (self.chunks, self.entities, self.relations, self.evidence)
        return all(store.filters_by_documents for store in stores)

    # --- changing ----------------------------------------------------------------------------------------------------

    async def put(self, doc_id: str, metadata: Any, status: str = "processed") -> None:
        await self.status.upsert({doc_id: status_row(doc_id, metadata, status)})
        self.documents[doc_id] = metadata

    async def forget(self, doc_id: str) -> None:
        """Delete the status row alone: rows elsewhere still name the document."""
        await self.status.delete([doc_id])
        self.documents.pop(doc_id, None)

    async def delete(self, doc_id: str) -> None:
        async with self.status.transaction():
            gone = [key for key, (owner, _) in self.chunk_rows.items() if owner == doc_id]
            await self.chunks.delete(gone)
            await self.evidence.drop_documents([doc_id])
            await self.status.delete([doc_id])
        for key in gone:
            del self.chunk_rows[key]
        self.said = [row for row in self.said if row.document_id != doc_id]
        self.documents.pop(doc_id, None)

    async def add_chunks(self, doc_id: str, places: Sequence[int]) -> None:
        rows = {f"chunk-{place:04}": (doc_id, place) for place in places}
        await self.chunks.upsert(
            {
                key: {"content": key, "full_doc_id": owner, "vector": by_angle(place)}
                for key, (owner, place) in rows.items()
            }
        )
        self.chunk_rows |= rows

    async def say(self, *rows: Evidence) -> None:
        await self.evidence.add(rows)
        for row in rows:
            self._say(row)

    def _say(self, row: Evidence) -> None:
        for place, known in enumerate(self.said):
            if (known.kind, known.object_id, known.chunk_id) == (row.kind, row.object_id, row.chunk_id):
                self.said[place] = row
                return
        self.said.append(row)

    async def add_object_vectors(self, names: Sequence[str]) -> None:
        await self.entities.upsert(
            {
                f"ent-{name}": {
                    "content": name,
                    "entity_name": name,
                    "graph_node_id": name,
                    "vector": by_angle(1 + place),
                }
                for place, name in enumerate(names)
            }
        )
        pairs = [(first, second) for first in names for second in names if first < second]
        await self.relations.upsert(
            {
                f"rel-{first}-{second}": {
                    "content": "r",
                    "src_id": second,
                    "tgt_id": first,
                    "vector": by_angle(1 + place),
                }
                for place, (first, second) in enumerate(pairs)
            }
        )

    # --- what the answers must be ------------------------------------------------------------------------------------

    def accepts(self, doc_id: str, wanted: VectorQueryFilter) -> bool:
        if doc_id == CORRECTION_DOCUMENT_ID:
            return False
        metadata = self.documents[doc_id] if doc_id in self.documents else missing_document_metadata(doc_id)
        return document_matches_filter(metadata, wanted, doc_id=doc_id)

    def eligible(self, kind: ObjectKind, wanted: VectorQueryFilter) -> dict[str, list[Evidence]]:
        found: dict[str, list[Evidence]] = {}
        for row in self.said:
            if row.kind is kind and self.accepts(row.document_id, wanted):
                found.setdefault(row.object_id, []).append(row)
        return found

    def dropped(self, kind: ObjectKind, wanted: VectorQueryFilter) -> set[str]:
        """Objects that a search leaves out although they have eligible evidence."""
        return {
            row.object_id
            for row in self.said
            if row.kind is kind and row.document_id != CORRECTION_DOCUMENT_ID
            for other, excluded in wanted.object_exclusions
            if self.accepts(row.document_id, other) is not excluded
        }

    async def check(self, given_filter: dict[str, Any], counts: Sequence[int] = (1, 3, 1000)) -> None:
        wanted = as_filter(given_filter)
        ranked = sorted((place, key) for key, (owner, place) in self.chunk_rows.items() if self.accepts(owner, wanted))
        for count in counts:
            found = await self.chunks.query("", count, QUESTION, metadata_filter=wanted)
            assert [row["id"] for row in found] == [key for _, key in ranked][:count]
        entities = self.eligible(ObjectKind.ENTITY, wanted)
        hits = await self.entities.query("", 1000, QUESTION, metadata_filter=wanted)
        expected = entities.keys() - self.dropped(ObjectKind.ENTITY, wanted)
        assert {row["entity_name"] for row in hits} == expected & await names_of(self.entities, "entity_name")
        relations = self.eligible(ObjectKind.RELATION, wanted)
        hits = await self.relations.query("", 1000, QUESTION, metadata_filter=wanted)
        stored = {row["id"] for row in await self.relations.query("", 1000, QUESTION)}
        shown = relations.keys() - self.dropped(ObjectKind.RELATION, wanted)
        keys = {f"rel-{'-'.join(sorted(key.split(chr(30))))}" for key in shown}
        assert {row["id"] for row in hits} == keys & stored
        for kind, expected in ((ObjectKind.ENTITY, entities), (ObjectKind.RELATION, relations)):
            await self._check_evidence(kind, wanted, expected)
        processed = {
            doc_id: document_facts(metadata)
            for doc_id, metadata in sorted(self.documents.items())
            if self.accepts(doc_id, wanted)
        }
        assert await self.status.count_eligible(wanted) == len(processed)
        facts = await self.status.all_facts(wanted)
        assert (facts, list(facts)) == (processed, list(processed))
        page, total = await self.status.get_docs_paginated(
            page_size=200, sort_field="id", sort_direction="asc", metadata_filter=wanted
        )
        assert ([doc_id for doc_id, _ in page], total) == (list(processed)[:200], len(processed))

    async def _check_evidence(
        self, kind: ObjectKind, wanted: VectorQueryFilter, expected: dict[str, list[Evidence]]
    ) -> None:
        objects = list({row.object_id: None for row in self.said if row.kind is kind} | {"nobody": None})
        assert await self.evidence.eligible_objects(kind, objects, wanted) == expected.keys()
        assert await self.evidence.excluded_objects(kind, objects, wanted) == {
            row.object_id
            for row in self.said
            if row.kind is kind
            and row.document_id != CORRECTION_DOCUMENT_ID
            and not self.accepts(row.document_id, wanted)
        }
        for limit in (None, 1, 2):
            rows = await self.evidence.eligible_of_objects(kind, objects, wanted, newest=limit)
            newest = {key: own[-limit:] if limit else own for key, own in expected.items()}
            said = {key: [(row.chunk_id, row.description) for row in own] for key, own in rows.items()}
            assert said == {key: [(row.chunk_id, row.description) for row in own] for key, own in newest.items()}
            sources = await self.evidence.eligible_sources(kind, objects, wanted, limit=limit)
            assert sources == {
                key: [EvidenceSource(row.chunk_id, row.document_id, row.file_path) for row in own[:limit]]
                for key, own in expected.items()
            }


async def names_of(store: BaseVectorStorage, name: str) -> set[str]:
    return {row[name] for row in await store.query("", 1000, QUESTION)}


def entity(name: str, doc_id: str, chunk: int, text: str = "") -> Evidence:
    return Evidence(ObjectKind.ENTITY, name, f"{doc_id}-{chunk}", doc_id, text or f"{name} {chunk}", "x")


def relation(first: str, second: str, doc_id: str, chunk: int) -> Evidence:
    key = relation_key(first, second)
    return Evidence(
        ObjectKind.RELATION, key, f"{doc_id}-{chunk}", doc_id, f"{first} {second} {chunk}", "", "k", 1.0, "p"
    )


async def filtering(workspace: Workspace) -> Corpus:
    corpus = await Corpus.open(workspace)
    if not corpus.filters:
        pytest.skip("does not know the documents: the caller gates what it returns")
    return corpus


async def small_corpus(workspace: Workspace) -> Corpus:
    corpus = await filtering(workspace)
    for number, metadata in enumerate(
        (
            {"user_tags": ["a"], "user_start_date": "2020-01-01T00:00:00+00:00"},
            {"user_tags": ["a", "b"], "user_end_date": "2019-01-01T00:00:00+00:00"},
            {"user_tags": [SCOPE], "user_source_path": "x/y/z", "user_doc_type": "pdf"},
            {},
        )
    ):
        doc_id = f"doc-{number}"
        await corpus.put(doc_id, metadata)
        await corpus.add_chunks(doc_id, [place * 4 + number for place in range(5)])
        for chunk in range(3):
            await corpus.say(entity("Hub", doc_id, chunk), entity(NAMES[number], doc_id, chunk))
            await corpus.say(relation("Hub", NAMES[number], doc_id, chunk))
    await corpus.add_object_vectors([*NAMES, "Hub"])
    return corpus


# --- exactness -------------------------------------------------------------------------------------------------------


async def test_all_cases(workspace: Workspace) -> None:
    corpus = await filtering(workspace)
    documents = {f"doc-{number:03}": case["metadata"] for number, case in enumerate(CASES)}
    await corpus.status.upsert({doc_id: status_row(doc_id, metadata) for doc_id, metadata in documents.items()})
    corpus.documents = dict(documents)
    rows = {f"chunk-{place:04}": (doc_id, place) for place, doc_id in enumerate(documents)}
    await corpus.chunks.upsert(
        {key: {"content": key, "full_doc_id": owner, "vector": by_angle(place)} for key, (owner, place) in rows.items()}
    )
    corpus.chunk_rows = rows
    said = [entity(f"e{number // 7}", doc_id, 0) for number, doc_id in enumerate(documents)]
    said += [relation(f"e{number // 5}", "e0x", doc_id, 0) for number, doc_id in enumerate(documents)]
    await corpus.evidence.add(said)
    corpus.said = said
    await corpus.add_object_vectors(["e0x", *(f"e{number}" for number in range(4))])
    for number, case in enumerate(CASES):
        wanted, doc_id = as_filter(case["filter"]), f"doc-{number:03}"
        found = await corpus.chunks.query("", 1000, QUESTION, metadata_filter=wanted)
        accepted = {doc for doc, metadata in documents.items() if document_matches_filter(metadata, wanted, doc_id=doc)}
        assert {row["full_doc_id"] for row in found} == accepted
        assert (doc_id in accepted) is case["matches"]
        _, total = await corpus.status.get_docs_paginated(metadata_filter=wanted)
        assert total == await corpus.status.count_eligible(wanted) == len(accepted)
        if number % 10 == 0:
            await corpus.check(case["filter"], counts=(1, 7))


FILTERS: tuple[dict[str, Any], ...] = (
    {"required_tags": ["a"]},
    {"required_tags": ["a", "b"]},
    {"required_tags": ["b", SCOPE], "required_tags_mode": "or"},
    {"forbidden_tags": ["a"]},
    {"required_tags": ["a"], "kg_evidence_policy": "strict_drop"},
    {"forbidden_tags": ["b"], "apply_forbidden_tags_to_kg": True},
    # Contradicts itself, so that it accepts nothing without a look at tags.
    {"required_tags": ["a"], "forbidden_tags": ["a"], "apply_forbidden_tags_to_kg": True},
    {"scope_tag": SCOPE},
    {"date_filter": {"range": {"start": "2019-06-01T00:00:00Z"}, "undated": "include_or"}},
    {"date_filter": {"undated": "only"}, "forbidden_tags": [SCOPE]},
    {"path_prefixes": ["x"]},
    {"doc_types": ["pdf"], "path_prefixes": ["x/y"]},
    {"search_filters": {"document_ids": ["doc-1", "doc'2", "nobody"]}},
    {"search_filters": {"labels": ["x"]}},
    {"required_tags": ["nobody-has-it"]},
)


@pytest.mark.parametrize("given_filter", FILTERS, ids=repr)
async def test_a_small_corpus(workspace: Workspace, given_filter: dict[str, Any]) -> None:
    await (await small_corpus(workspace)).check(given_filter)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 4), metadatas()),
        st.tuples(st.just("forget"), st.integers(0, 4), st.none()),
        st.tuples(st.just("delete"), st.integers(0, 4), st.none()),
        st.tuples(st.just("chunks"), st.integers(0, 4), st.lists(st.integers(0, 30), unique=True, max_size=4)),
        st.tuples(st.just("say"), st.integers(0, 4), st.lists(st.integers(0, 11), unique=True, max_size=4)),
        st.tuples(st.just("vectors"), st.integers(1, 4), st.none()),
        st.tuples(st.just("drop objects"), st.integers(0, 3), st.none()),
        st.tuples(st.just("rename"), st.integers(0, 3), st.integers(0, 3)),
        st.tuples(st.just("person"), st.integers(0, 3), st.sampled_from([CORRECTION_DOCUMENT_ID, "", SCOPE])),
        st.tuples(st.just("reopen"), st.just(0), st.none()),
    ),
    max_size=14,
)


async def act(corpus: Corpus, action: str, number: int, value: Any) -> None:
    doc_id, name = f"doc-{number}", NAMES[number % 4]
    if action == "put":
        await corpus.put(doc_id, value or {})
    elif action == "forget":
        await corpus.forget(doc_id)
    elif action == "delete":
        await corpus.delete(doc_id)
    elif action == "chunks":
        await corpus.add_chunks(doc_id, value)
    elif action == "say":
        rows = [entity(NAMES[code % 4], doc_id, code // 4) for code in value]
        rows += [relation(NAMES[code % 4], NAMES[(code + 1) % 4], doc_id, code // 4) for code in value]
        await corpus.say(*rows)
    elif action == "vectors":
        await corpus.add_object_vectors(NAMES[:number])
    elif action == "drop objects":
        await corpus.evidence.drop_objects(ObjectKind.ENTITY, [name])
        corpus.said = [row for row in corpus.said if (row.kind, row.object_id) != (ObjectKind.ENTITY, name)]
    elif action == "rename":
        await corpus.evidence.reassign(ObjectKind.ENTITY, {name: NAMES[value]})
        rows = await corpus.evidence.of_objects(ObjectKind.ENTITY, NAMES)
        others = [row for row in corpus.said if row.kind is ObjectKind.RELATION]
        corpus.said = others + sorted((row for own in rows.values() for row in own), key=lambda row: row.sequence)
    elif action == "person":
        document = value if value == CORRECTION_DOCUMENT_ID else statement_document(value)
        await corpus.say(entity(name, document, 0))


async def live(family: Family, steps: list[tuple[str, int, Any]], asked: list[dict[str, Any]], early: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(family, Path(folder))
        try:
            corpus = await Corpus.open(workspace)
            if early and asked:
                await corpus.check(asked[0])
            for action, number, value in steps:
                if action == "reopen":
                    await workspace.close()
                    again = await Corpus.open(workspace)
                    again.documents, again.chunk_rows, again.said = corpus.documents, corpus.chunk_rows, corpus.said
                    corpus = again
                else:
                    await act(corpus, action, number, value)
                if early:
                    for given_filter in asked:
                        await corpus.check(given_filter, counts=(2,))
            for given_filter in asked:
                await corpus.check(given_filter)
        finally:
            await workspace.close()


@pytest.mark.parametrize("name", [family.name for family in FAMILIES])
def test_answers_through_all_changes(name: str) -> None:
    family = next(family for family in FAMILIES if family.name == name)
    if family.unavailable:
        pytest.skip(family.unavailable)

    @settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
    @given(STEPS, st.lists(filters(), min_size=1, max_size=3), st.booleans())
    def run(steps: list[tuple[str, int, Any]], asked: list[dict[str, Any]], early: bool) -> None:
        asyncio.run(live(family, steps, asked, early))

    if asyncio.run(can_filter(family)):
        run()
    else:
        pytest.skip("does not know the documents: the caller gates what it returns")


async def can_filter(family: Family) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(family, Path(folder))
        try:
            return (await Corpus.open(workspace)).filters
        finally:
            await workspace.close()


@pytest.mark.parametrize("matching", [0, 1, 19, 20, 21, 200, 900, 2000])
async def test_pages_are_full_and_right_at_every_selectivity(workspace: Workspace, matching: int) -> None:
    corpus = await filtering(workspace)
    rng = np.random.default_rng(matching)
    vectors = rng.standard_normal((2000, DIMENSION)).astype(np.float32)
    # Many rows are equally similar, so that ids decide.
    vectors[rng.integers(0, 2000, 600)] = vectors[0]
    chosen = {f"doc-{number:04}" for number in rng.choice(2000, matching, replace=False)}
    names = [f"doc-{number:04}" for number in range(2000)]
    await corpus.status.upsert({name: status_row(name, {"user_tags": ["t"] * (name in chosen)}) for name in names})
    await corpus.chunks.upsert(
        {
            f"c-{name}": {"content": name, "full_doc_id": name, "vector": vector}
            for name, vector in zip(names, vectors, strict=True)
        }
    )
    wanted = as_filter({"required_tags": ["t"]})
    target = vectors[1]
    everything = await corpus.chunks.query("", 5000, target)
    expected = [(row["id"], row["distance"]) for row in everything if row["full_doc_id"] in chosen]
    assert len(expected) == matching
    for count in (1, 20, 5000):
        found = await corpus.chunks.query("", count, target, metadata_filter=wanted)
        assert [(row["id"], row["distance"]) for row in found] == expected[:count]


# --- partitions ------------------------------------------------------------------------------------------------------


async def test_only_rows_of_a_partition(workspace: Workspace) -> None:
    corpus = await Corpus.open(workspace)
    for tag in ("", SCOPE, "tenant:2"):
        await corpus.entities.upsert(
            {
                f"{tag}-{number}": {
                    "content": "x",
                    "entity_name": "Ada",
                    "graph_node_id": f"Ada\x1f{tag}" if tag else "Ada",
                    "tenant_tag": tag,
                    "vector": by_angle(number),
                }
                for number in range(10)
            }
        )

    async def found(tag: str | None, count: int = 100, **options: Any) -> list[str]:
        rows = await corpus.entities.query("", count, QUESTION, tenant_tag=tag, **options)
        return [row["id"] for row in rows]

    assert len(await found(None)) == 30
    for tag in ("", SCOPE, "tenant:2"):
        assert await found(tag) == [f"{tag}-{number}" for number in range(10)]
        assert await found(tag, 4) == [f"{tag}-{number}" for number in range(4)]
    assert await found("tenant:3") == []
    await corpus.entities.upsert({f"{SCOPE}-0": {"content": "x", "tenant_tag": "tenant:3", "vector": by_angle(0)}})
    await corpus.entities.delete([f"{SCOPE}-1"])
    assert await found("tenant:3") == [f"{SCOPE}-0"]
    assert await found(SCOPE) == [f"{SCOPE}-{number}" for number in range(2, 10)]
    if not corpus.filters:
        return
    await corpus.put("doc-0", {"user_tags": ["t"]})
    await corpus.say(entity(f"Ada\x1f{SCOPE}", "doc-0", 0))
    wanted = as_filter({"required_tags": ["t"]})
    assert await found(SCOPE, metadata_filter=wanted) == [f"{SCOPE}-{number}" for number in range(2, 10)]
    assert await found("", metadata_filter=wanted) == []


# --- changes ---------------------------------------------------------------------------------------------------------


async def test_metadata_counts_at_once(workspace: Workspace) -> None:
    corpus = await small_corpus(workspace)
    await corpus.check({"required_tags": ["a"]})
    await corpus.put("doc-3", {"user_tags": ["a"]})
    await corpus.check({"required_tags": ["a"]})
    await corpus.status.update_doc_status_fields({"doc-0": {"metadata": {"user_tags": ["c"]}}})
    corpus.documents["doc-0"] = {"user_tags": ["c"]}
    await corpus.check({"required_tags": ["a"]})
    await corpus.check({"required_tags": ["c"]})
    await corpus.status.update_doc_status_fields({"doc-0": {"status": "failed"}})
    assert await corpus.status.count_eligible(as_filter({"required_tags": ["c"]})) == 0
    assert await corpus.status.all_facts(as_filter({"required_tags": ["c"]})) == {}
    # What was found of a failed document may still be asked for.
    assert len(await corpus.chunks.query("", 100, QUESTION, metadata_filter=as_filter({"required_tags": ["c"]}))) == 5


async def test_facts(workspace: Workspace) -> None:
    corpus = await small_corpus(workspace)
    ids = ["doc-0", "doc-2", "nobody", statement_document(SCOPE), CORRECTION_DOCUMENT_ID]
    for _ in range(2):
        facts = await corpus.status.get_facts(ids)
        expected = [corpus.documents.get(doc_id) or missing_document_metadata(doc_id) for doc_id in ids]
        assert facts == {doc_id: document_facts(row) for doc_id, row in zip(ids, expected, strict=True)}
        await corpus.check({"required_tags": ["a"]})
    await corpus.put("doc-0", {"user_tags": ["new"], "user_modified_at": "2020-01-01T00:00:00.000007+02:00"})
    assert (await corpus.status.get_facts(["doc-0"]))["doc-0"] == document_facts(corpus.documents["doc-0"])
    assert await corpus.status.get_facts([]) == {}


async def test_dropping_everything(workspace: Workspace) -> None:
    corpus = await small_corpus(workspace)
    wanted = {"forbidden_tags": ["a"]}
    await corpus.check(wanted)
    await corpus.status.drop()
    corpus.documents = {}
    await corpus.check(wanted)
    await corpus.evidence.drop()
    corpus.said = []
    await corpus.check(wanted)
    await corpus.chunks.drop()
    await corpus.entities.drop()
    corpus.chunk_rows = {}
    await corpus.check(wanted)
    await corpus.put("doc-1", {"user_tags": ["a"]})
    await corpus.add_chunks("doc-1", [1, 2])
    await corpus.say(entity("Ada", "doc-1", 0))
    await corpus.add_object_vectors(["Ada"])
    await corpus.check(wanted)
    await corpus.check({"required_tags": ["a"]})


async def test_a_unit_of_work_is_seen_whole_or_not_at_all(workspace: Workspace) -> None:
    """A document is replaced again and again by one with other tags; no search sees a mixture."""
    corpus = await filtering(workspace)
    wanted = [as_filter({"required_tags": [f"t{number}"]}) for number in range(3)]
    done = asyncio.Event()

    async def replace(number: int) -> None:
        async with corpus.status.transaction():
            await corpus.status.upsert({"doc": status_row("doc", {"user_tags": [f"t{number % 3}"]})})
            await corpus.chunks.upsert(
                {
                    f"c{place}": {"content": f"v{number % 3}", "full_doc_id": "doc", "vector": by_angle(place)}
                    for place in range(5)
                }
            )
            await corpus.evidence.add([entity("Ada", "doc", number % 3)])

    async def write() -> None:
        for number in range(150):
            await replace(number)
        done.set()

    async def read() -> None:
        generator = random.Random(1)
        while not done.is_set():
            number = generator.randrange(3)
            found = await corpus.chunks.query("", 10, QUESTION, metadata_filter=wanted[number])
            assert len(found) in (0, 5)
            await corpus.evidence.eligible_of_objects(ObjectKind.ENTITY, ["Ada"], wanted[number])
            await asyncio.sleep(0)

    await replace(0)
    await asyncio.gather(write(), read(), read())
    assert len(await corpus.chunks.query("", 10, QUESTION, metadata_filter=wanted[149 % 3])) == 5


async def test_two_openers_of_one_workspace_see_each_other(open_workspace: Callable[..., Workspace]) -> None:
    corpus = await small_corpus(open_workspace())
    other = await Corpus.open(open_workspace())
    wanted = as_filter({"required_tags": ["a"]})
    assert await other.status.count_eligible(wanted) == 2
    await corpus.put("doc-9", {"user_tags": ["a"]})
    await corpus.add_chunks("doc-9", [99])
    assert await other.status.count_eligible(wanted) == 3
    assert "chunk-0099" in [row["id"] for row in await other.chunks.query("", 100, QUESTION, metadata_filter=wanted)]


# --- without documents -----------------------------------------------------------------------------------------------


async def test_a_store_alone_refuses_filters(family: Family, open_workspace: Callable[..., Workspace]) -> None:
    """Without the status of documents beside it a store cannot know what a filter accepts, and says so."""
    filled = await small_corpus(open_workspace())
    await filled.status.finalize()
    wanted = as_filter({"required_tags": ["a"]})
    assert not filled.chunks.filters_by_documents
    assert not filled.evidence.filters_by_documents
    if not filled.chunks.supports_metadata_filters:
        with pytest.raises(UnsupportedFilterError, match="chunks"):
            await filled.chunks.query("", 5, QUESTION, metadata_filter=wanted)
    with pytest.raises(UnsupportedFilterError):
        await filled.evidence.eligible_objects(ObjectKind.ENTITY, ["Ada"], wanted)
    with pytest.raises(UnsupportedFilterError):
        await filled.evidence.eligible_of_objects(ObjectKind.ENTITY, ["Ada"], wanted)
    with pytest.raises(UnsupportedFilterError):
        await filled.evidence.eligible_sources(ObjectKind.ENTITY, ["Ada"], wanted)
    with pytest.raises(UnsupportedFilterError):
        await filled.evidence.excluded_objects(ObjectKind.ENTITY, ["Ada"], wanted)
    await filled.status.initialize()
    assert filled.filters
    await filled.check({"required_tags": ["a"]})


# --- stamped rows ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("namespace", ["chunks", "entities"])
async def test_stamped_rows_are_found_as_their_fields_say(workspace: Workspace, namespace: str) -> None:
    """A store that filters by fields of its rows finds what matches, and all without fields; the caller judges them.

    Rows of objects carry the union of their documents, which the coarser predicate of summaries looks at.
    """
    store = await workspace.vectors(namespace)
    if not store.supports_metadata_filters:
        pytest.skip("cannot filter by itself: the caller gates what it returns")
    chance = random.Random(3)
    flags = ("has_undated_evidence", "has_open_start", "has_open_end")
    fields: dict[str, dict[str, Any]] = {"unstamped": {}}
    for number, case in enumerate(chance.sample(CASES, 150)):
        fields[f"row-{number}"] = normal_form(case["metadata"], doc_id=f"doc-{number}")
        if namespace == "entities":
            fields[f"row-{number}"] |= {flag: chance.random() < 0.2 for flag in flags}
    await store.upsert(
        {key: {"content": key, "vector": by_angle(place), **row} for place, (key, row) in enumerate(fields.items())}
    )
    places = [
        {"path_prefixes": ["a"]},
        {"doc_types": ["pdf", ""]},
        {"search_filters": {"document_ids": ["doc-3", "doc-4"]}},
    ]
    for given_filter in [*(case["filter"] for case in chance.sample(CASES, 80)), *places]:
        wanted = as_filter(given_filter)
        asked = build_backend_filter_expr(wanted, for_summaries=namespace == "entities")
        expected = [key for key, row in fields.items() if evaluate(asked, row)]
        assert "unstamped" in expected
        found = await store.query("", len(fields), QUESTION, metadata_filter=wanted)
        assert [row["id"] for row in found] == expected, given_filter
