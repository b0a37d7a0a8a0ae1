"""Nothing of an excluded document is seen in any mode, and everything eligible still is (I1, I3, I4, I5, I7).

Every document carries a marker word of its own in its text and so in the descriptions that the model gives of entities
and relations; shared hubs tie all documents together.
"""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lightrag import LightRAG, QueryParam
from lightrag.query_filters import document_matches_filter
from tests.fakes.facts import FactModel, make_embedding

MARKER = re.compile(r"marker\d+x")
MODES = ("local", "global", "hybrid", "naive", "mix")
QUESTION = "What links the Hub and Ada and Velmouth?"
YEARS = st.sampled_from(["1910-01-01T00:00:00Z", "1928-06-01T00:00:00+01:00", "1935-12-31T23:59:59-05:00"])
TAGS = st.lists(st.sampled_from(["act", "letter", "draft", "lang:en"]), max_size=3, unique=True)


@st.composite
def metadata(draw: st.DrawFn) -> dict[str, Any]:
    start, end = draw(st.none() | YEARS), draw(st.none() | YEARS)
    if start and end and start > end:
        start, end = end, start
    fields: dict[str, Any] = {"tags": draw(TAGS), "doc_type": draw(st.sampled_from(["pdf", "note"]))}
    return {**fields, **({"start_date": start} if start else {}), **({"end_date": end} if end else {})}


@st.composite
def filters(draw: st.DrawFn) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if draw(st.booleans()):
        fields["date_filter"] = {
            "range": draw(st.sampled_from([None, {"start": "1920-01-01T00:00:00Z", "end": "1930-01-01T00:00:00Z"}])),
            "range_mode": draw(st.sampled_from(["overlap", "contains", "contained_by"])),
            "shape": draw(st.sampled_from(["any", "dated", "bounded", "has_start", "has_end"])),
            "undated": draw(st.sampled_from(["exclude", "include_or", "only"])),
        }
    fields["required_tags"] = draw(TAGS)
    fields["required_tags_mode"] = draw(st.sampled_from(["and", "or"]))
    fields["forbidden_tags"] = draw(st.lists(st.sampled_from(["draft", "act"]), max_size=1))
    fields["doc_types"] = draw(st.lists(st.sampled_from(["pdf", "note"]), max_size=1))
    fields["kg_evidence_policy"] = draw(st.sampled_from(["prune_evidence", "strict_drop"]))
    return fields


def text_of(number: int) -> str:
    marker = f"marker{number}x"
    return (
        f"{marker} opens the document.\n"
        f"the Hub -> Ada: {marker} tells how the Hub paid Ada\n"
        f"the Hub -> Velmouth: {marker} tells how the Hub built Velmouth\n"
        f"Ada -> Place {number % 3}: {marker} tells how Ada came to the place\n"
    )


def marker_numbers(text: str) -> set[int]:
    return {int(found[6:-1]) for found in MARKER.findall(text)}


async def check(documents: list[dict[str, Any]], fields: dict[str, Any], **engine_fields: Any) -> None:
    with tempfile.TemporaryDirectory() as directory:
        model = FactModel()
        engine = LightRAG(
            working_dir=directory,
            llm_model_func=model,
            embedding_func=make_embedding(),
            entity_extract_max_gleaning=0,
            **engine_fields,
        )
        await engine.initialize_storages()
        try:
            for number, given_metadata in enumerate(documents):
                await engine.ainsert(
                    text_of(number), ids=f"d{number}", file_paths=f"{number}.md", metadata=given_metadata
                )
            rows = await engine.doc_status.get_by_ids([f"d{number}" for number in range(len(documents))])
            eligible = {number for number, row in enumerate(rows) if document_matches_filter(row["metadata"], fields)}
            for mode in MODES:
                # Unfiltered first: its cached answer must not come back under the filter.
                await engine.aquery(QUESTION, QueryParam(mode=mode))
                await check_mode(engine, model, fields, mode, eligible)
        finally:
            await engine.finalize_storages()


async def check_mode(engine: LightRAG, model: FactModel, fields: dict[str, Any], mode: str, eligible: set[int]) -> None:
    everything = {"chunk_top_k": 50, "top_k": 50, **fields}
    data = await engine.aquery_data(QUESTION, QueryParam(mode=mode, **everything))
    assert marker_numbers(json.dumps(data)) <= eligible
    context = await engine.aquery(QUESTION, QueryParam(mode=mode, only_need_context=True, **everything))
    assert isinstance(context, str)
    assert marker_numbers(context) <= eligible
    asked = len(model.calls)
    for _ in range(2):
        answer = await engine.aquery(QUESTION, QueryParam(mode=mode, **everything))
        assert isinstance(answer, str)
        assert marker_numbers(answer) <= eligible
    prompts = "".join(prompt + system for _, prompt, system in model.calls[asked:])
    assert marker_numbers(prompts) <= eligible
    files = set(re.findall(r"(\d+)\.md", json.dumps(data)))
    assert {int(path) for path in files} <= eligible
    if not eligible:
        assert data["status"] == "failure"
    elif mode == "naive":
        assert marker_numbers(json.dumps(data)) == eligible


@pytest.mark.parametrize("pushdown", [False, True])
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(metadata(), min_size=1, max_size=6), filters())
def test_no_marker_of_an_excluded_document(
    pushdown: bool, documents: list[dict[str, Any]], fields: dict[str, Any]
) -> None:
    asyncio.run(check(documents, fields, enable_vector_metadata_filters=pushdown))


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(metadata(), min_size=2, max_size=6), filters())
def test_the_same_where_descriptions_are_summarised(documents: list[dict[str, Any]], fields: dict[str, Any]) -> None:
    asyncio.run(check(documents, fields, force_llm_summary_on_merge=2))
