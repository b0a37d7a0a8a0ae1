"""Faults that users of other tools have reported about dates: here the right behaviour, through the engine."""

from __future__ import annotations

import asyncio
import tempfile
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lightrag import LightRAG, QueryParam
from lightrag.exceptions import FilterSyntaxError
from lightrag.query_filters import public_metadata
from tests.fakes.facts import FactModel, make_embedding
from tests.fakes.filtering import WAYS, files_found, open_in_way
from tests.flow.conftest import EngineFactory

QUESTION = "What did the Hub do in Velmouth?"


def about_hub(word: str) -> str:
    return f"A page of {word}.\nHub -> Velmouth: {word} tells what the Hub did in Velmouth\n"


async def fill(engine: LightRAG, documents: dict[str, dict[str, Any]]) -> None:
    for name, metadata in documents.items():
        await engine.ainsert(about_hub(name), ids=name, file_paths=name, metadata=metadata)


async def within(engine: LightRAG, start: str | None, end: str | None, mode: str = "overlap") -> set[str]:
    """Return the documents that a window finds, which must be the same through chunks and through the graph."""
    dates = {"range": {"start": start, "end": end}, "range_mode": mode}
    by_chunks = await files_found(engine, QUESTION, QueryParam(mode="naive", date_filter=dates))
    assert await files_found(engine, QUESTION, QueryParam(mode="local", date_filter=dates)) == by_chunks
    return by_chunks


# One instant in every form that ISO-8601 allows and people send.
NOON_FORMS = [
    "1930-06-15T12:00:00Z",
    "1930-06-15T12:00:00z",
    "1930-06-15t12:00:00+00:00",
    "1930-06-15T12:00:00+0000",
    "1930-06-15T12:00:00.000Z",
    "1930-06-15T12:00:00,000000+00",
    "1930-06-15T14:00:00+02:00",
    "1930-06-15T12:19:32+00:19:32",
    "1930-06-14T24:00:00-12:00",
    "1930-06-15T12Z",
    "1930-06-15T12:00Z",
    "19300615T120000Z",
    "1930-W24-7T12:00:00Z",
    "1930-166T12:00:00Z",
    "1930-06-15T07:00:00\u221205:00",
]


@pytest.mark.parametrize("way", WAYS)
async def test_every_form_of_one_instant_is_that_instant(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    engine = await open_in_way(make_engine, monkeypatch, way)
    documents = {f"n{number}": {"start_date": form, "end_date": form} for number, form in enumerate(NOON_FORMS)}
    await fill(engine, documents)
    for form in NOON_FORMS:
        for mode in ("overlap", "contains", "contained_by"):
            assert await within(engine, form, form, mode) == set(documents), (form, mode)
    before, after = "1930-06-15T11:59:59.999999Z", "1930-06-15T12:00:00.000001Z"
    assert await within(engine, None, before) == await within(engine, after, None) == set()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1930-06-15T12:00:00", "must include a timezone offset or Z"),
        ("1930-06-15", "must include a timezone offset or Z"),
        ("1930-06-15T12:00:60Z", "leap seconds"),
        ("1930-06-15T24:00:01Z", "no ISO-8601 date"),
        ("1930-13-01T00:00:00Z", "no ISO-8601 date"),
        ("1930-02-30T00:00:00Z", "no ISO-8601 date"),
        ("15.06.1930", "no ISO-8601 date"),
        ("1930-06-15 12:00:00Z", "no ISO-8601 date"),
        ("1930-06-15T12:00:00 +02:00", "no ISO-8601 date"),
        ("1930-06-15T12:00:00+02:60", "no ISO-8601 date"),
        ("0000-01-01T00:00:00Z", "no ISO-8601 date"),
        ("9999-12-31T24:00:00Z", "no ISO-8601 date"),
        ("", "no ISO-8601 date"),
    ],
)
async def test_what_is_no_such_date_is_refused_at_the_door(make_engine: EngineFactory, text: str, message: str) -> None:
    engine = await make_engine()
    await fill(engine, {"alpha": {"start_date": "1930-01-01T00:00:00Z"}})
    with pytest.raises(FilterSyntaxError, match=message) as refused:
        await engine.ainsert("x", metadata={"start_date": text})
    assert "2020-01-15T00:00:00Z" in str(refused.value)
    for bounds in ({"start": text}, {"end": text}):
        with pytest.raises(FilterSyntaxError, match=message):
            await engine.aquery_data(QUESTION, QueryParam(date_filter={"range": bounds}))
    with pytest.raises(FilterSyntaxError, match=message):
        await engine.aquery_data(QUESTION, QueryParam(modified_after=text))
    with pytest.raises(FilterSyntaxError, match=message):
        await engine.aupdate_document_metadata("alpha", {"end_date": text})
    assert (await engine.get_processing_status()) == {"processed": 1}


async def test_naive_datetimes_of_code_are_refused_too(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    naive = datetime(1930, 6, 15)  # noqa: DTZ001
    with pytest.raises(FilterSyntaxError, match="timezone offset or Z"):
        await engine.ainsert("x", metadata={"start_date": naive})
    with pytest.raises(FilterSyntaxError, match="timezone offset or Z"):
        await engine.aquery_data(QUESTION, QueryParam(date_filter={"range": {"start": naive}}))


@pytest.mark.parametrize("way", WAYS)
async def test_a_bound_in_another_offset_is_the_same_bound(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    engine = await open_in_way(make_engine, monkeypatch, way)
    await fill(engine, {"day": {"start_date": "1930-06-15T00:00:00+02:00", "end_date": "1930-06-15T23:59:59+02:00"}})
    # Its first and last instant in other offsets, and one microsecond beyond.
    assert await within(engine, "1930-06-14T20:00:00-02:00", "1930-06-14T22:00:00Z") == {"day"}
    assert await within(engine, "1930-06-15T21:59:59Z", None) == {"day"}
    assert await within(engine, "1930-06-14T22:00:00Z", "1930-06-15T21:59:59Z", "contained_by") == {"day"}
    assert await within(engine, None, "1930-06-14T21:59:59.999999Z") == set()
    assert await within(engine, "1930-06-15T21:59:59.000001Z", None) == set()
    assert await within(engine, "1930-06-14T22:00:00.000001Z", "1930-06-15T21:59:59Z", "contained_by") == set()


@pytest.mark.parametrize("way", WAYS)
async def test_a_null_bound_is_no_bound(make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    engine = await open_in_way(make_engine, monkeypatch, way)
    documents: dict[str, dict[str, Any]] = {
        "from": {"start_date": "1930-01-01T00:00:00Z", "end_date": None},
        "to": {"start_date": None, "end_date": "1930-01-01T00:00:00Z"},
        "none": {"start_date": None, "end_date": None},
    }
    await fill(engine, documents)
    assert await within(engine, None, None) == {"from", "to"}
    assert await within(engine, "1931-01-01T00:00:00Z", None) == {"from"}
    assert await within(engine, None, "1929-01-01T00:00:00Z") == {"to"}
    assert await within(engine, "1930-01-01T00:00:00Z", None, "contained_by") == {"from"}
    assert await within(engine, None, "1930-01-01T00:00:00Z", "contained_by") == {"to"}
    # No document covers all time, and one without an end covers every window without one.
    assert await within(engine, None, None, "contains") == set()
    assert await within(engine, "1940-01-01T00:00:00Z", None, "contains") == {"from"}


async def test_the_start_must_not_lie_after_the_end_by_instant(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    # By the clock the start is earlier, by the instant an hour later.
    late, early = "1930-06-15T10:00:00-02:00", "1930-06-15T11:00:00Z"
    with pytest.raises(FilterSyntaxError, match="lies after the end"):
        await engine.ainsert("x", metadata={"start_date": late, "end_date": early})
    with pytest.raises(FilterSyntaxError, match="lies after the end"):
        await engine.aquery_data(QUESTION, QueryParam(date_filter={"range": {"start": late, "end": early}}))
    with pytest.raises(FilterSyntaxError, match="lies after"):
        await engine.aquery_data(QUESTION, QueryParam(modified_after=late, modified_before=early))
    # By the clock the start is later, by the instant two hours earlier: that is fine.
    await fill(engine, {"alpha": {"start_date": "1930-06-15T12:00:00+02:00", "end_date": "1930-06-15T11:00:00-01:00"}})
    assert await within(engine, "1930-06-15T12:00:00+02:00", "1930-06-15T11:00:00-01:00", "contained_by") == {"alpha"}


@pytest.mark.parametrize(
    "text",
    [
        "2030-03-30T00:00:00+01:00",
        "1903-04-01T00:00:00-05:30",
        "1899-12-31T23:59:59+00:19:32",
        "2020-01-15T00:00:00Z",
        "2020-01-15T00:00:00+00:00",
        "2020-01-15T00:00:00.123456+14:00",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59.999999-12:00",
        "1969-12-31T23:59:59.999999Z",
    ],
)
async def test_a_stored_date_comes_back_letter_for_letter(make_engine: EngineFactory, text: str) -> None:
    engine = await make_engine(enable_vector_metadata_filters=True)
    await fill(engine, {"alpha": {"start_date": text, "end_date": text, "modified_at": text}})
    row = (await engine.aget_docs_by_ids("alpha"))["alpha"]
    public = public_metadata(row.metadata)
    assert (public["start_date"], public["end_date"], public["modified_at"]) == (text, text, text)
    for node in await engine.chunk_entity_relation_graph.get_all_nodes():
        assert (node["filter_start_date"], node["filter_end_date"]) == (text, text)
    (chunk,) = await engine.chunks_vdb.get_by_ids(["alpha-chunk-000"])
    assert chunk is not None
    assert (chunk["filter_start_date"], chunk["filter_end_date"]) == (text, text)
    param = QueryParam(mode="naive", include_document_metadata=True)
    (reference,) = (await engine.aquery_data(QUESTION, param))["data"]["references"]
    assert (reference["start_date"], reference["end_date"]) == (text, text)
    assert await within(engine, text, text) == {"alpha"}


@pytest.mark.parametrize("way", WAYS)
async def test_the_first_and_last_years_and_those_before_1970(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    engine = await open_in_way(make_engine, monkeypatch, way)
    first, last = "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"
    await fill(
        engine,
        {
            "first": {"start_date": first, "end_date": first},
            "last": {"start_date": last, "end_date": last},
            "all": {"start_date": first, "end_date": last},
            "open": {"start_date": first},
            "moon": {"start_date": "1969-07-20T20:17:40Z", "end_date": "1969-07-20T20:17:40Z"},
        },
    )
    assert await within(engine, None, first) == {"first", "all", "open"}
    assert await within(engine, last, None) == {"last", "all", "open"}
    assert await within(engine, first, last, "contains") == {"all", "open"}
    assert await within(engine, first, last, "contained_by") == {"first", "last", "all", "moon"}
    # The end of the calendar is a date; no end reaches beyond it.
    assert await within(engine, first, None, "contains") == {"open"}
    assert await within(engine, "1969-07-20T20:17:40Z", "1969-12-31T23:59:59.999999Z") == {"all", "open", "moon"}


async def test_midnight_may_be_written_as_the_end_of_the_day(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await fill(engine, {"alpha": {"start_date": "1930-06-14T24:00:00Z", "end_date": "1930-06-15T24:00:00+00:00"}})
    row = (await engine.aget_docs_by_ids("alpha"))["alpha"]
    assert row.metadata["user_start_date"] == "1930-06-15T00:00:00Z"
    assert row.metadata["user_end_date"] == "1930-06-16T00:00:00+00:00"
    assert await within(engine, "1930-06-14T24:00:00Z", "1930-06-15T24:00:00Z", "contained_by") == {"alpha"}


OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.builds(
    lambda moment, zone: moment.astimezone(zone),
    st.datetimes(datetime(1900, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    OFFSETS,
)


@settings(max_examples=10, deadline=None)
@given(
    st.lists(st.tuples(MOMENTS, MOMENTS).map(sorted), min_size=2, max_size=5), st.tuples(MOMENTS, MOMENTS).map(sorted)
)
def test_dates_in_any_offset_are_compared_by_instant(spans: list[list[datetime]], window: list[datetime]) -> None:
    opens, closes = window
    expected = {
        "overlap": {str(n) for n, (start, end) in enumerate(spans) if start <= closes and end >= opens},
        "contains": {str(n) for n, (start, end) in enumerate(spans) if start <= opens and end >= closes},
        "contained_by": {str(n) for n, (start, end) in enumerate(spans) if start >= opens and end <= closes},
    }

    async def check(directory: str) -> None:
        engine = LightRAG(
            working_dir=directory,
            llm_model_func=FactModel(),
            embedding_func=make_embedding(),
            entity_extract_max_gleaning=0,
            vector_db_storage_cls_kwargs={"cosine_better_than_threshold": -1.0},
        )
        await engine.initialize_storages()
        try:
            documents = {str(n): {"start_date": start, "end_date": end} for n, (start, end) in enumerate(spans)}
            await fill(engine, documents)
            for mode, found in expected.items():
                assert await within(engine, opens.isoformat(), closes.isoformat(), mode) == found
        finally:
            await engine.finalize_storages()

    with tempfile.TemporaryDirectory() as directory:
        asyncio.run(check(directory))
