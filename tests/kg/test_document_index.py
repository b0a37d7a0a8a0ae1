"""The index of documents and the masks that it makes are exactly the truth, whatever happens to the documents."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lightrag.contracts.evidence import CORRECTION_DOCUMENT_ID, statement_document
from lightrag.exceptions import UnsupportedFilterError
from lightrag.kg import document_columns, document_index
from lightrag.kg.document_columns import Dates, DocumentColumns, Part, Sources
from lightrag.kg.document_index import DocumentIndex
from lightrag.kg.masks import DOCUMENT_FIELDS, MaskCompiler
from lightrag.predicates import Compare, In, Not, Operator, Predicate, Under, evaluate, fields_of
from lightrag.query_filters import (
    DocumentFacts,
    as_filter,
    document_facts,
    document_matches_filter,
    facts_match_filter,
    facts_to_row,
    normal_form,
)
from tests.property.filter_strategies import filters, metadatas, predicates

CASES = json.loads((Path(__file__).parents[1] / "data" / "document_filter_cases.json").read_text())["cases"]
IDS = [f"doc-{number}" for number in range(6)]


def loaded(documents: dict[str, Any], parts: frozenset[Part] = document_columns.PARTS) -> DocumentIndex:
    """An index that took its documents over in columns, as from a database."""
    index = DocumentIndex()
    index.load(list(documents), np.ones(len(documents), dtype=np.bool_))
    fill(index, documents, parts)
    return index


def fill(index: DocumentIndex, documents: dict[str, Any], parts: frozenset[Part]) -> None:
    rows = [normal_form(metadata) for metadata in documents.values()]

    def numbers(field: str) -> Any:
        return np.array([row[field] for row in rows], dtype=np.int64)

    dated = np.flatnonzero([row["filter_dated"] for row in rows])
    names = ("start_ms", "start_us", "end_ms", "end_us")
    dates = Dates(dated, *(numbers(f"filter_{name}")[dated] for name in names))
    sources = Sources([row["doc_type"] for row in rows], [row["source_path"] for row in rows], numbers("modified_at"))
    tags: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        for tag in row["filter_tags"]:
            tags.setdefault(tag, []).append(place)
    index.fill(
        list(documents),
        dates=dates if Part.DATES in parts else None,
        tags={tag: np.array(places) for tag, places in tags.items()} if Part.TAGS in parts else None,
        sources=sources if Part.SOURCES in parts else None,
    )


def accepted(index: DocumentIndex, given: dict[str, Any], doc_ids: list[str]) -> list[bool]:
    ordinals = index.ordinals(doc_ids)
    mask = index.mask(as_filter(given))
    assert mask.shape == (len(index),)
    return mask[ordinals].tolist()


@pytest.mark.parametrize("number", range(len(CASES)))
def test_every_case(number: int) -> None:
    case = CASES[number]
    one = DocumentIndex()
    one.put("doc", document_facts(case["metadata"]), processed=True)
    for index in (one, loaded({"doc": case["metadata"]})):
        assert accepted(index, case["filter"], ["doc"]) == [case["matches"]]
        assert index.count(as_filter(case["filter"])) == case["matches"]


def test_all_cases_at_once() -> None:
    documents = {f"doc-{number}": case["metadata"] for number, case in enumerate(CASES)}
    index = loaded(documents)
    for case in CASES:
        expected = [document_matches_filter(metadata, case["filter"]) for metadata in documents.values()]
        assert accepted(index, case["filter"], list(documents)) == expected


changes = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.sampled_from(IDS), metadatas()),
        st.tuples(st.just("remove"), st.sampled_from(IDS), st.none()),
        st.tuples(st.just("meet"), st.sampled_from(IDS), st.none()),
    ),
    max_size=14,
)


@settings(deadline=None, max_examples=300)
@given(st.dictionaries(st.sampled_from(IDS), metadatas(), max_size=6), changes, st.lists(filters(), max_size=4))
def test_masks_are_the_truth_through_all_changes(
    documents: dict[str, Any], steps: list[tuple[str, str, Any]], asked: list[dict[str, Any]]
) -> None:
    index = loaded(documents)
    known = dict(documents)
    for action, doc_id, metadata in [("ask", "", None), *steps]:
        if action == "put":
            index.put(doc_id, document_facts(metadata), processed=True)
            known[doc_id] = metadata
        elif action == "remove":
            index.remove([doc_id])
            known.pop(doc_id, None)
        elif action == "meet":
            index.ordinals([doc_id])
        for given_filter in asked:
            wanted = as_filter(given_filter)
            truth = {doc: document_matches_filter(known.get(doc), wanted, doc_id=doc) for doc in IDS}
            assert accepted(index, given_filter, IDS) == list(truth.values())
            assert index.count(wanted) == sum(truth[doc] for doc in known)


@settings(deadline=None, max_examples=300)
@given(predicates, st.lists(metadatas(), max_size=8))
def test_every_predicate_is_the_same_as_its_evaluation(predicate: Predicate, documents: list[Any]) -> None:
    columns = DocumentColumns()
    rows = [facts_to_row(document_facts(metadata)) for metadata in documents]
    for metadata in documents:
        columns.add(document_facts(metadata))
    mask = MaskCompiler(columns).compile(predicate)
    assert mask.tolist() == [evaluate(predicate, row) for row in rows]


@pytest.mark.parametrize(
    "predicate",
    [
        Compare("source_path", Operator.EQ, "x/y"),
        Compare("source_path", Operator.EQ, ""),
        In("source_path", ("x", "x/y", "nowhere")),
        Under("source_path", "x"),
        Not(Under("source_path", "x/y")),
        Compare("doc_type", Operator.EQ, ""),
        In("doc_type", ("pdf", "")),
    ],
    ids=str,
)
def test_paths_and_types(predicate: Predicate) -> None:
    paths = ["", "x", "x/y", "x/y/z", "x/yz", "x0", "w/x/y", "x-/y"]
    facts = [DocumentFacts(source_path=path, doc_type=kind) for path in paths for kind in ("", "pdf", "note")]
    columns = DocumentColumns()
    for number, item in enumerate(facts):
        columns.add(item)
        if number == 9:
            columns._paths._sort_if_due()
    expected = [evaluate(predicate, facts_to_row(item)) for item in facts]
    assert MaskCompiler(columns).compile(predicate).tolist() == expected
    assert any(expected)


def test_many_paths_are_sorted_and_found() -> None:
    columns = DocumentColumns()
    paths = [f"folder-{number % 40}/{number % 7}/{number}.txt" for number in range(5000)]
    for path in paths:
        columns.add(DocumentFacts(source_path=path))
    for folder in ("folder-3", "folder-3/5", "folder", "folder-39/0/39.txt", "folder-1"):
        found = sorted(columns.under(folder).tolist())
        assert found == [row for row, path in enumerate(paths) if path == folder or path.startswith(folder + "/")]


def test_documents_only_have_the_fields_of_documents() -> None:
    with pytest.raises(UnsupportedFilterError, match="tenant_tag"):
        MaskCompiler(DocumentColumns()).compile(Compare("tenant_tag", Operator.EQ, "a"))
    assert set(normal_form(None)) - {"filter_start_date", "filter_end_date"} == DOCUMENT_FIELDS


def test_parts_are_filled_when_a_filter_needs_them() -> None:
    documents = {
        "a": {"user_tags": ["t"], "user_start_date": "2020-01-01T00:00:00Z", "user_source_path": "x/a"},
        "b": {"user_tags": [], "user_doc_type": "pdf"},
    }
    index = loaded(documents, frozenset())
    by_tag, by_path = as_filter({"required_tags": ["t"]}), as_filter({"path_prefixes": ["x"]})
    assert index.missing_parts(by_tag) == {Part.TAGS}
    with pytest.raises(LookupError, match="tags"):
        index.mask(by_tag)
    # Documents that come before a part is filled have it afterwards.
    documents["c"] = {"user_tags": ["t"], "user_source_path": "x/c"}
    index.put("c", document_facts(documents["c"]), processed=False)
    statement = statement_document("t")
    index.ordinals([statement])
    fill(index, documents, frozenset({Part.TAGS}))
    assert index.missing_parts(by_tag) == frozenset()
    assert accepted(index, {"required_tags": ["t"]}, ["a", "b", "c", statement]) == [True, False, True, True]
    assert index.missing_parts(by_path) == {Part.SOURCES}
    fill(index, documents, frozenset({Part.SOURCES}))
    assert accepted(index, {"path_prefixes": ["x"]}, ["a", "b", "c"]) == [True, False, True]
    assert index.count(by_tag) == 1


def test_what_people_say() -> None:
    index = loaded({"a": {"user_tags": ["tenant:1"]}})
    ids = ["a", CORRECTION_DOCUMENT_ID, statement_document(""), statement_document("tenant:1")]
    assert accepted(index, {"required_tags": ["tenant:1"]}, ids) == [True, False, False, True]
    assert accepted(index, {"forbidden_tags": ["tenant:1"]}, ids) == [False, False, True, False]
    assert accepted(index, {}, ids) == [True, False, True, True]
    assert index.count(as_filter({})) == 1


def test_what_a_filter_excludes() -> None:
    index = loaded({"a": {"user_tags": ["t"]}, "b": None})
    ids = ["a", "b", "never stored", CORRECTION_DOCUMENT_ID]
    for given_filter, excluded in (({"required_tags": ["t"]}, [False, True, True, False]), ({}, [False] * 4)):
        wanted = as_filter(given_filter)
        ordinals = index.ordinals(ids)
        assert index.mask(wanted, excluded=True)[ordinals].tolist() == excluded
        assert not (index.mask(wanted, excluded=True) & index.mask(wanted)).any()


def test_a_mask_is_kept_until_something_changes() -> None:
    index = loaded({"a": {"user_tags": ["t"]}, "b": None})
    wanted = as_filter({"required_tags": ["t"]})
    first = index.mask(wanted)
    assert index.mask(as_filter({"required_tags": ["T", "t"]})) is first
    with pytest.raises(ValueError, match="read-only"):
        first[0] = False
    index.put("a", document_facts({"user_tags": ["t"]}), processed=True)
    again = index.mask(wanted)
    index.put("a", document_facts({"user_tags": ["t"]}), processed=False)
    assert index.mask(wanted) is again
    assert index.count(wanted) == 0
    index.put("b", document_facts({"user_tags": ["t"]}), processed=True)
    assert index.mask(wanted).tolist() == [True, True]
    assert first.tolist() == [True, False]


def test_rows_nobody_uses_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_index, "_MIN_UNUSED_ROWS", 8)
    index = loaded(dict.fromkeys(IDS))
    for number in range(200):
        metadata = {"user_tags": [f"t{number % 5}"], "user_source_path": f"x/{number % 3}", "user_doc_type": "pdf"}
        if number % 2:
            metadata["user_start_date"] = f"2020-01-{1 + number % 28:02}T00:00:00Z"
        index.put(IDS[number % len(IDS)], document_facts(metadata), processed=True)
        assert index._columns.count <= 2 * len(index) + 9
    last = {IDS[number % len(IDS)]: number for number in range(200)}
    for tag in range(5):
        assert accepted(index, {"required_tags": [f"t{tag}"]}, IDS) == [last[doc] % 5 == tag for doc in IDS]
    for folder in range(3):
        assert accepted(index, {"path_prefixes": [f"x/{folder}"]}, IDS) == [last[doc] % 3 == folder for doc in IDS]
    assert accepted(index, {"date_filter": {"undated": "only"}}, IDS) == [last[doc] % 2 == 0 for doc in IDS]


def test_facts_are_remembered_only_if_nothing_changed_since() -> None:
    index = loaded({"a": {"user_tags": ["t"]}, "b": None})
    facts = document_facts({"user_tags": ["t"]})
    assert index.facts(["a", "x"]) == {}
    index.remember(index.revision, {"a": facts, "x": facts})
    assert index.facts(["a", "x"]) == {"a": facts}
    began = index.revision
    index.put("b", facts, processed=True)
    index.remember(began, {"b": DocumentFacts()})
    assert index.facts(["b"]) == {"b": facts}


def test_readers_see_whole_states_while_documents_change() -> None:
    index = DocumentIndex()
    tags = [f"t{number}" for number in range(4)]
    wanted = [as_filter({"required_tags": [tag]}) for tag in tags]
    index.put("x", document_facts({"user_tags": [tags[0]]}), processed=True)
    wrong: list[Any] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            with index.lock:
                hits = [int(index.mask(one)[index.ordinals(["x"])[0]]) for one in wanted]
            if sum(hits) != 1:
                wrong.append(hits)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(3000):
        index.put("x", document_facts({"user_tags": [tags[number % 4]]}), processed=True)
        index.put(f"y{number % 50}", document_facts({"user_tags": [tags[number % 3]]}), processed=True)
    stop.set()
    for reader in readers:
        reader.join()
    assert wrong == []


def test_fields_of_filters_are_covered_by_the_parts() -> None:
    filter = as_filter({"search_filters": {"document_ids": ["a"]}})
    index = loaded({"a": None, "b": None}, frozenset())
    assert index.missing_parts(filter) == frozenset()
    assert index.mask(filter).tolist() == [True, False]
    assert fields_of(Compare("full_doc_id", Operator.EQ, "a")) <= DOCUMENT_FIELDS
    assert facts_match_filter(DocumentFacts(), filter, doc_id="a")
