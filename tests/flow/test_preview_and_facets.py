"""What a filter would leave, and what there is to filter by."""

from __future__ import annotations

from typing import Any

import pytest

from lightrag import LightRAG, QueryParam
from lightrag.query.facets import MAX_BARS, Bar, Facets, count_facets
from lightrag.query.preview import MAX_EXAMPLES, preview
from lightrag.query_filters import VectorQueryFilter, document_facts
from tests.fakes.facts import FactModel
from tests.flow.conftest import EngineFactory

DOCUMENTS: dict[str, dict[str, Any]] = {
    "act": {
        "start_date": "1903-04-01T00:00:00+01:00",
        "end_date": "1905-03-31T00:00:00Z",
        "tags": ["type:act", "lang:en", "draft"],
        "doc_type": "pdf",
        "source_path": "acts/1903/a.pdf",
        "meta": {"secret": "x"},
    },
    "open": {"start_date": "1905-01-01T00:00:00Z", "tags": ["type:act"], "source_path": "acts/1905/o.md"},
    "until": {"end_date": "1904-06-01T00:00:00Z", "tags": ["type:a:b"], "source_path": "top.md"},
    "letter": {"tags": ["type:letter", "draft"], "doc_type": "note", "source_path": "letters/l.md"},
    "bare": {},
}


@pytest.fixture
async def engine(make_engine: EngineFactory) -> LightRAG:
    """An engine with the documents, a refused duplicate, a failed document and a waiting one, all richly tagged."""
    opened = await make_engine(
        FactModel(lambda task, prompt: "no rows" if task == "extract" and "bad" in prompt else None)
    )
    for name, metadata in DOCUMENTS.items():
        await opened.ainsert(
            f"{name} one\n{name} two",
            split_by_character="\n",
            split_by_character_only=True,
            ids=name,
            file_paths=f"{name}.md",
            metadata=metadata or None,
        )
    noise = {**DOCUMENTS["act"], "tags": ["noise"]}
    await opened.ainsert("act one\nact two", file_paths="copy.md", metadata=noise)
    await opened.ainsert("bad", ids="bad", metadata=noise)
    await opened.apipeline_enqueue_documents("waiting", ids="waiting", document_metadata=noise)
    return opened


# --- preview -------------------------------------------------------------------------------------------------------


async def test_no_filter_leaves_everything(engine: LightRAG) -> None:
    found = await engine.afilter_preview(QueryParam())
    assert found.active is False
    assert (found.eligible_documents, found.total_documents, found.eligible_chunks) == (5, 5, 10)
    assert [row["doc_id"] for row in found.examples] == ["bare", "letter", "until", "open", "act"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"required_tags": ["type:act"]}, ["open", "act"]),
        ({"forbidden_tags": ["draft"]}, ["bare", "until", "open"]),
        ({"date_filter": {"shape": "bounded"}}, ["act"]),
        ({"date_filter": {"undated": "only"}}, ["bare", "letter"]),
        ({"path_prefixes": ["acts"]}, ["open", "act"]),
        ({"doc_types": ["note", "pdf"]}, ["letter", "act"]),
        ({"required_tags": ["noise"]}, []),
        ({"search_filters": {"document_ids": ["act", "bad"]}}, ["act"]),
        ({"search_filters": {"labels": ["place"]}}, ["bare", "letter", "until", "open", "act"]),
    ],
)
async def test_a_preview_counts_and_names_what_a_question_would_draw_on(
    engine: LightRAG, fields: dict[str, Any], expected: list[str]
) -> None:
    found = await engine.afilter_preview(QueryParam(**fields))
    assert found.active is True
    assert (found.eligible_documents, found.total_documents) == (len(expected), 5)
    assert found.eligible_chunks == 2 * len(expected)
    assert [row["doc_id"] for row in found.examples] == expected
    result = await engine.aquery_data("one", QueryParam(mode="naive", **fields))
    assert result["metadata"]["filter"]["eligible_documents"] == len(expected)


async def test_documents_outside_of_what_a_caller_may_see_are_not_counted(engine: LightRAG) -> None:
    limit = VectorQueryFilter(required_tags=["type:act"])
    narrowed = VectorQueryFilter(required_tags=["type:act"], forbidden_tags=["draft"])
    for wanted, number in ((limit, 2), (narrowed, 1)):
        found = await preview(engine.context, wanted, limit)
        assert (found.eligible_documents, found.total_documents) == (number, 2)


async def test_an_example_shows_what_a_person_knows_a_document_by(engine: LightRAG) -> None:
    (act,) = (await engine.afilter_preview(QueryParam(date_filter={"shape": "bounded"}))).examples
    assert act == {
        "doc_id": "act",
        "file_path": "act.md",
        "start_date": "1903-04-01T00:00:00+01:00",
        "end_date": "1905-03-31T00:00:00Z",
        "tags": ["type:act", "lang:en", "draft"],
    }


async def test_only_a_few_are_named_the_newest_first(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    names = [f"d{number:02}" for number in range(MAX_EXAMPLES + 3)]
    for name in names:
        await engine.ainsert(name, ids=name, metadata={"tags": ["act"]})
    found = await engine.afilter_preview(QueryParam(required_tags=["act"]))
    assert found.eligible_documents == len(names)
    assert [row["doc_id"] for row in found.examples] == names[::-1][:MAX_EXAMPLES]


async def test_an_empty_corpus(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    found = await engine.afilter_preview(QueryParam(required_tags=["act"]))
    assert (found.active, found.eligible_documents, found.total_documents, found.examples) == (True, 0, 0, [])
    assert await engine.afacets() == Facets(documents=0)


# --- facets --------------------------------------------------------------------------------------------------------


async def test_facets_of_everything(engine: LightRAG) -> None:
    facets = await engine.afacets()
    # By count, then by name.
    assert list(facets.tags["type"]) == ["act", "a:b", "letter"]
    assert list(facets.doc_types) == ["", "note", "pdf"]
    assert facets == Facets(
        documents=5,
        # The facet is what stands before the first colon.
        tags={"": {"draft": 2}, "type": {"act": 2, "a:b": 1, "letter": 1}, "lang": {"en": 1}},
        doc_types={"": 3, "note": 1, "pdf": 1},
        folders={"acts": 2, "acts/1903": 1, "acts/1905": 1, "letters": 1},
        # An open bound counts at the bound that is known.
        histogram=[Bar(1903, 1, 1), Bar(1904, 1, 2), Bar(1905, 1, 2)],
        undated=2,
    )


async def test_facets_of_what_a_filter_leaves(engine: LightRAG) -> None:
    facets = await engine.afacets(QueryParam(required_tags=["type:act"], forbidden_tags=["draft"]))
    assert facets == Facets(
        documents=1,
        tags={"type": {"act": 1}},
        doc_types={"": 1},
        folders={"acts": 1, "acts/1905": 1},
        histogram=[Bar(1905, 1, 1)],
        undated=0,
    )
    assert await engine.afacets(QueryParam(required_tags=["noise"])) == Facets(documents=0)
    assert await engine.afacets(QueryParam()) == await engine.afacets()


async def test_every_facet_is_a_filter_that_finds_as_many(engine: LightRAG) -> None:
    facets = await engine.afacets()
    fields: list[tuple[dict[str, Any], int]] = []
    for facet, values in facets.tags.items():
        for value, number in values.items():
            fields.append(({"required_tags": [f"{facet}:{value}" if facet else value]}, number))
    fields += [({"doc_types": [kind]}, number) for kind, number in facets.doc_types.items() if kind]
    fields += [({"path_prefixes": [folder]}, number) for folder, number in facets.folders.items()]
    fields.append(({"date_filter": {"undated": "only"}}, facets.undated))
    assert len(fields) == 12
    for one, number in fields:
        assert (await engine.afilter_preview(QueryParam(**one))).eligible_documents == number, one


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([], []),
        ([("1900", "1900")], [Bar(1900, 1, 1)]),
        ([("1900", "1959")], [Bar(year, 1, 1) for year in range(1900, 1960)]),
        ([("1900", "1960")], [Bar(year, 10, 1) for year in range(1900, 1970, 10)]),
        (
            [("1899", "1899"), ("2000", "2001")],
            [Bar(1890, 10, 1), *(Bar(year, 10, 0) for year in range(1900, 2000, 10)), Bar(2000, 10, 1)],
        ),
        ([("0001", "2024")], [Bar(year, 100, 1) for year in range(0, 2100, 100)]),
        ([("0001", "9999")], [Bar(year, 1000, 1) for year in range(0, 10_000, 1000)]),
        ([("1900", None), (None, "1902"), (None, None)], [Bar(1900, 1, 1), Bar(1901, 1, 0), Bar(1902, 1, 1)]),
    ],
)
def test_bars_of_the_histogram(spans: list[tuple[str | None, str | None]], expected: list[Bar]) -> None:
    rows = []
    for start, end in spans:
        row = {"user_start_date": f"{start}-06-01T00:00:00Z"} if start else {}
        rows.append(document_facts({**row, "user_end_date": f"{end}-06-01T00:00:00Z"} if end else row))
    histogram = count_facets(rows).histogram
    assert histogram == expected
    assert len(histogram) <= MAX_BARS
