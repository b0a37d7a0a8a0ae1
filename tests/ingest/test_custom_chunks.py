"""Documents whose chunks are given: extraction as usual, all or nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from lightrag.contracts.evidence import ObjectKind
from lightrag.exceptions import DuplicateError, InputError, ModelError, PipelineBusyError
from lightrag.graph.check import graph_consistency
from lightrag.ingest.custom_chunks import insert_custom_chunks
from lightrag.ingest.custom_documents import CustomOptions
from tests.fakes.facts import FactModel
from tests.graph.workspace import NO_SUMMARIES, Fact, Workspace, open_workspace

FIRST = "Ada Quay -> Velmouth: Ada Quay surveyed the harbour of Velmouth"
SECOND = "Velmouth -> Hallow Bridge: Velmouth paid for the Hallow Bridge"
TEXT = f"{FIRST}\n{SECOND}"


@pytest.fixture
def model() -> FactModel:
    return FactModel()


@pytest.fixture
async def workspace(model: FactModel) -> AsyncIterator[Workspace]:
    opened = await open_workspace(**NO_SUMMARIES, extract=model, entity_extract_max_gleaning=0)
    yield opened
    assert await graph_consistency(opened.context) == []


async def insert(workspace: Workspace, chunks: Any, text: Any = TEXT, **options: Any) -> str:
    return await insert_custom_chunks(
        workspace.context, workspace.state, text, chunks, CustomOptions(**options) if options else None
    )


async def test_the_given_chunks_are_extracted_and_stored(workspace: Workspace, model: FactModel) -> None:
    stores = workspace.context.stores
    doc_id = await insert(workspace, [FIRST, "  ", SECOND, FIRST], file_path="acts/bridge.md")
    row = await stores.doc_status.get_by_id(doc_id)
    assert row is not None
    assert (row["status"], row["chunks_count"], row["file_path"]) == ("processed", 2, "acts/bridge.md")
    assert row["content_summary"] == TEXT
    assert row["metadata"]["chunk_method"] == "custom_chunks"
    chunks = await stores.text_chunks.get_by_ids(row["chunks_list"])
    assert [(chunk["content"], chunk["chunk_order_index"]) for chunk in chunks if chunk] == [(FIRST, 0), (SECOND, 1)]
    assert await workspace.names() == ["Ada Quay", "Hallow Bridge", "Velmouth"]
    assert model.count("extract") == 2
    assert (await stores.full_docs.get_by_id(doc_id) or {})["content"] == TEXT
    assert await workspace.delete(doc_id) == "success"
    assert await workspace.names() == []
    assert await stores.text_chunks.is_empty()
    assert await stores.full_docs.is_empty()


async def test_two_documents_with_one_chunk_keep_their_own(workspace: Workspace) -> None:
    one = await insert(workspace, [FIRST], "one text")
    await insert(workspace, [FIRST], "another text")
    assert await workspace.context.stores.chunks.count() == 2
    await workspace.delete(one)
    assert await workspace.context.stores.chunks.count() == 1
    assert await workspace.names() == ["Ada Quay", "Velmouth"]


THIRD = "Velmouth -> Ada Quay: Velmouth named a pier after Ada Quay"


async def test_further_chunks_are_added_to_the_document_of_that_id(workspace: Workspace, model: FactModel) -> None:
    await insert(workspace, [FIRST], doc_id="mine", metadata={"tags": ["kept"]})
    paid = model.count("extract")
    await insert(workspace, [FIRST, SECOND, THIRD], "another text", doc_id="mine")
    assert model.count("extract") == paid + 2
    stores = workspace.context.stores
    row = await stores.doc_status.get_by_id("mine")
    assert row is not None
    assert (row["status"], row["chunks_count"], row["metadata"]["user_tags"]) == ("processed", 3, ["kept"])
    chunks = await stores.text_chunks.get_by_ids(row["chunks_list"])
    assert [(chunk["content"], chunk["chunk_order_index"]) for chunk in chunks if chunk] == [
        (FIRST, 0),
        (SECOND, 1),
        (THIRD, 2),
    ]
    assert (await stores.full_docs.get_by_id("mine") or {})["content"] == TEXT
    assert await workspace.names() == ["Ada Quay", "Hallow Bridge", "Velmouth"]
    assert await graph_consistency(workspace.context) == []
    await insert(workspace, [SECOND], doc_id="mine")
    assert await stores.doc_status.get_by_id("mine") == row
    await workspace.delete("mine")
    assert await workspace.names() == []
    assert await stores.text_chunks.is_empty()
    assert await stores.chunks.count() == 0


async def test_chunks_are_added_to_a_document_of_any_kind(workspace: Workspace) -> None:
    await workspace.add("d1", [Fact("A", "B", "met")])
    await workspace.add("d2", [Fact("Velmouth", "Ada Quay", "elected")])
    await insert(workspace, [FIRST], doc_id="d1")
    assert await workspace.names() == ["A", "Ada Quay", "B", "Velmouth"]
    assert {row.document_id for row in await workspace.evidence(ObjectKind.ENTITY, "Velmouth")} == {"d1", "d2"}
    assert await graph_consistency(workspace.context) == []
    await workspace.delete("d1")
    assert await workspace.names() == ["Ada Quay", "Velmouth"]


async def test_chunks_that_fail_leave_the_document_as_it_was(workspace: Workspace, model: FactModel) -> None:
    await insert(workspace, [FIRST], doc_id="mine")
    before = await workspace.context.stores.doc_status.get_by_id("mine")

    def fail(task: str, prompt: str) -> str | None:
        raise ModelError("gone")

    model.intercept = fail
    with pytest.raises(ModelError, match="gone"):
        await insert(workspace, [SECOND], doc_id="mine")
    assert await workspace.context.stores.doc_status.get_by_id("mine") == before
    assert await workspace.names() == ["Ada Quay", "Velmouth"]


async def test_other_metadata_for_a_document_that_is_there_are_refused(workspace: Workspace) -> None:
    await insert(workspace, [FIRST], doc_id="mine", metadata={"tags": ["one"]})
    with pytest.raises(InputError, match=r"other metadata \(user_tags\); change them with aupdate_document_metadata"):
        await insert(workspace, [SECOND], doc_id="mine", metadata={"tags": ["two"]})
    await insert(workspace, [SECOND], doc_id="mine", metadata={"tags": ["one"]})
    assert await workspace.context.stores.chunks.count() == 2


async def test_a_failing_extraction_stores_nothing_and_what_was_paid_is_kept(
    workspace: Workspace, model: FactModel
) -> None:
    def fail(task: str, prompt: str) -> str | None:
        if "Hallow" in prompt:
            raise ModelError("gone")
        return None

    model.intercept = fail
    with pytest.raises(ModelError, match=r"C\[2/2\].*gone"):
        await insert(workspace, [FIRST, SECOND])
    stores = workspace.context.stores
    assert not await stores.llm_response_cache.is_empty()
    assert await stores.doc_status.is_empty()
    assert await stores.full_docs.is_empty()
    assert await stores.text_chunks.is_empty()
    paid = model.count("extract")
    model.intercept = None
    await insert(workspace, [FIRST, SECOND])
    assert model.count("extract") == paid + 1


@pytest.mark.parametrize(
    ("chunks", "text", "message"),
    [
        ([FIRST], " \x00", "full_text"),
        ([FIRST], None, "full_text"),
        ([" ", "\x00"], TEXT, "at least one chunk"),
        ([], TEXT, "at least one chunk"),
        ([FIRST, 5], TEXT, r"text_chunks\[1\] is 5"),
    ],
)
async def test_bad_input_is_named(workspace: Workspace, chunks: Any, text: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        await insert(workspace, chunks, text)
    assert await workspace.context.stores.doc_status.is_empty()


async def test_a_document_that_is_not_processed_gets_no_chunks(workspace: Workspace) -> None:
    await insert(workspace, [FIRST], doc_id="one")
    await workspace.context.stores.doc_status.update_doc_status_fields({"one": {"status": "failed"}})
    with pytest.raises(DuplicateError, match=r"'one' exists already .status failed.; chunks can be added to it when"):
        await insert(workspace, [SECOND], doc_id="one")
    await workspace.context.stores.doc_status.update_doc_status_fields({"one": {"status": "processed"}})
    workspace.state.destructive_busy = True
    with pytest.raises(PipelineBusyError):
        await insert(workspace, [FIRST], "third")
