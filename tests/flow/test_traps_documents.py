"""Faults that users of other tools reported about documents and scopes: here the right behaviour, by the engine."""

from __future__ import annotations

from typing import Any

import pytest

from lightrag import LightRAG, QueryParam
from tests.fakes.audit import disagreements
from tests.fakes.facts import FactModel
from tests.fakes.filtering import FILES
from tests.flow.conftest import EngineFactory

SHARED = "Ada -> Velmouth: Ada surveyed the harbour of Velmouth"
PARAGRAPHS = ("The first letter begins here.", SHARED, "The second letter begins here.")


@pytest.fixture(params=["sqlite", "files"])
def make_engine(request: pytest.FixtureRequest, make_engine: EngineFactory) -> EngineFactory:
    """Open engines on every graph store that there is."""
    storages = FILES if request.param == "files" else {}

    async def make(model: FactModel | None = None, **fields: Any) -> LightRAG:
        return await make_engine(model, **{**storages, **fields})

    return make


async def texts_found(engine: LightRAG, **fields: Any) -> list[tuple[str, str]]:
    data = (await engine.aquery_data("Ada Velmouth harbour letter", QueryParam(mode="naive", **fields)))["data"]
    return sorted((chunk["file_path"], chunk["content"]) for chunk in data.get("chunks", []))


async def test_a_paragraph_of_two_documents_stays_when_one_of_them_goes(make_engine: EngineFactory) -> None:
    model = FactModel()
    engine = await make_engine(model)
    first, shared, second = PARAGRAPHS
    await engine.ainsert(
        [f"{first}\n\n{shared}", f"{shared}\n\n{second}"],
        split_by_character="\n\n",
        split_by_character_only=True,
        ids=["doc-1", "doc-2"],
        file_paths=["1.md", "2.md"],
    )
    before = await texts_found(engine)
    assert [path for path, text in before if text == shared] == ["1.md", "2.md"]
    # The reply of the model about the paragraph was asked for once, and belongs to both.
    await engine.adelete_by_doc_id("doc-1", delete_llm_cache=True)
    assert await texts_found(engine) == [pair for pair in before if pair[0] == "2.md"]
    info = await engine.get_entity_info("Ada")
    assert (info["source_id"], info["graph_data"]["file_path"]) == ("doc-2-chunk-000", "2.md")
    assert await disagreements(engine) == []
    await engine.adelete_by_doc_id("doc-2", delete_llm_cache=True)
    assert await engine.get_graph_labels() == []
    assert await texts_found(engine) == []


async def test_a_repetition_of_a_path_goes_and_what_it_repeated_stays(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await engine.ainsert(SHARED, ids="live", file_paths="a/letter.md", metadata={"tags": ["kept"]})
    track_id = await engine.ainsert([SHARED, "Bo -> Rome: other"], file_paths=["a/letter.md", "a/letter.md"])
    refused = await engine.aget_docs_by_track_id(track_id)
    assert {row.file_path for row in refused.values()} == {"a/letter.md"}
    for doc_id in refused:
        assert doc_id.startswith("dup-")
        assert (await engine.adelete_by_doc_id(doc_id, delete_llm_cache=True)).status == "success"
    assert await texts_found(engine, required_tags=["kept"]) == [("a/letter.md", SHARED)]
    assert await engine.get_graph_labels() == ["Ada", "Velmouth"]
    assert await disagreements(engine) == []
    # The path is still that of the document that was there first.
    again = await engine.ainsert("Cy -> Rome: third", file_paths="a/letter.md")
    assert all(doc_id.startswith("dup-") for doc_id in await engine.aget_docs_by_track_id(again))


async def test_a_document_of_two_prefixes_is_in_both_scopes(make_engine: EngineFactory) -> None:
    engine = await make_engine(
        enable_kg_scope_materialization=True, scope_tag_prefixes=["tenant:", "known-in-chapter:"]
    )
    for doc_id, text, tags in (
        ("both", "Ada -> Oslo: both", ["tenant:1", "known-in-chapter:03"]),
        ("tenant", "Ada -> Rome: tenant", ["tenant:1", "draft"]),
        ("chapter", "Ada -> Lima: chapter", ["known-in-chapter:03"]),
    ):
        await engine.ainsert(text, ids=doc_id, file_paths=doc_id, metadata={"tags": tags})
    assert await engine.get_graph_labels(tenant_tag="tenant:1") == ["Ada", "Oslo", "Rome"]
    assert await engine.get_graph_labels(tenant_tag="known-in-chapter:03") == ["Ada", "Lima", "Oslo"]
    # In any-mode a scope is no alternative to another tag: it is where the question is asked.
    param: dict[str, Any] = {"required_tags": ["tenant:1", "draft", "nothing"], "required_tags_mode": "or"}
    for mode in ("local", "mix", "naive"):
        data = (await engine.aquery_data("Ada Oslo Rome Lima", QueryParam(mode=mode, **param)))["data"]
        assert {chunk["file_path"] for chunk in data["chunks"]} == {"tenant"}
        assert {entity["entity_name"] for entity in data["entities"]} <= {"Ada", "Rome"}
    # A scope is there for as long as a document is in it.
    await engine.adelete_by_doc_id("tenant")
    assert set(await engine.alist_scopes()) == {"tenant:1", "known-in-chapter:03"}
    await engine.adelete_by_doc_id("both")
    assert set(await engine.alist_scopes()) == {"known-in-chapter:03"}
    assert await disagreements(engine) == []


async def test_an_emoji_on_the_border_of_two_chunks_is_in_neither_by_half(make_engine: EngineFactory) -> None:
    engine = await make_engine(chunk_token_size=5, chunk_overlap_token_size=1)
    family = "👩‍👩‍👧‍👦"
    await engine.ainsert(f"Ada {family * 12} Velmouth", ids="doc-e", file_paths="e.md")
    rows = await engine.context.stores.text_chunks.scan()
    contents = [str(row["content"]) for _, row in rows]
    assert len(contents) > 2
    assert not any("\ufffd" in text for text in contents)
    assert not any(text.startswith("\u200d") or text.endswith("\u200d") for text in contents)
    await engine.ainsert(SHARED, ids="doc-2", file_paths="2.md")
    assert {row.status.value for row in (await engine.aget_docs_by_ids(["doc-e", "doc-2"])).values()} == {"processed"}


@pytest.mark.parametrize("reply", ["```python\nprint('entities')\n```", "a <|> b", "</think>", "I cannot do that."])
async def test_a_reply_without_a_record_is_a_failure_and_no_empty_document(
    make_engine: EngineFactory, reply: str
) -> None:
    engine = await make_engine(FactModel(lambda task, _: reply if task == "extract" else None))
    await engine.ainsert(SHARED, ids="doc-1", file_paths="1.md")
    row = (await engine.aget_docs_by_ids("doc-1"))["doc-1"]
    assert row.status.value == "failed"
    assert row.error_msg is not None
    assert row.error_msg.startswith("C[1/1]: doc-1-chunk-000: ")
    assert await engine.get_graph_labels() == []
