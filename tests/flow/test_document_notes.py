"""Dates and tags of documents in the prompt: only when asked for, and within the budget."""

from __future__ import annotations

from lightrag import QueryParam
from tests.flow.conftest import EngineFactory

TEXT = "The harbour act.\nAda Quay -> Velmouth: Ada Quay levies dues in Velmouth\n"
METADATA = {"start_date": "1903-04-01T00:00:00+00:00", "tags": ["type:act"], "meta": {"secret": "never shown"}}


async def test_the_model_sees_dates_and_tags_only_when_asked(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await engine.ainsert(TEXT, file_paths="acts/harbour.md", metadata=METADATA)
    await engine.ainsert("Velmouth is a town.", file_paths="note.md")
    plain = QueryParam(mode="naive", only_need_prompt=True)
    noted = QueryParam(mode="naive", only_need_prompt=True, include_document_metadata=True)
    without, with_notes = await engine.aquery("dues in Velmouth", plain), await engine.aquery("dues in Velmouth", noted)
    assert isinstance(without, str)
    assert isinstance(with_notes, str)
    assert "1903" not in without
    assert "type:act" not in without
    assert "acts/harbour.md (from 1903-04-01T00:00:00+00:00; tags: type:act)" in with_notes
    assert "note.md (undated)" in with_notes
    assert "`undated`" in with_notes
    assert "never shown" not in with_notes


async def test_references_of_the_result_carry_them_too(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await engine.ainsert(TEXT, file_paths="acts/harbour.md", metadata=METADATA)
    noted = await engine.aquery_data("Velmouth", QueryParam(mode="mix", include_document_metadata=True))
    assert noted["data"]["references"] == [
        {
            "reference_id": "1",
            "file_path": "acts/harbour.md",
            "start_date": "1903-04-01T00:00:00+00:00",
            "end_date": None,
            "tags": ["type:act"],
        }
    ]
    plain = await engine.aquery_data("Velmouth", QueryParam(mode="mix"))
    assert plain["data"]["references"] == [{"reference_id": "1", "file_path": "acts/harbour.md"}]
