"""What callers of the published package say when they enqueue, report and retry, on both families of storages."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from lightrag import LightRAG
from lightrag.contracts.sources import SourceUnique
from lightrag.exceptions import AccessDeniedError, InputError, PipelineBusyError, StorageError
from lightrag.graph.check import graph_consistency
from lightrag.kg.sqlite.kv import SQLiteKVStorage
from tests.fakes.facts import FactModel

FILES = {
    "kv_storage": "JsonKVStorage",
    "doc_status_storage": "JsonDocStatusStorage",
    "graph_storage": "NetworkXStorage",
    "vector_storage": "NanoVectorDBStorage",
}
Make = Callable[..., Awaitable[LightRAG]]


@pytest.fixture(params=[{}, FILES], ids=["sqlite", "files"])
def make(request: pytest.FixtureRequest, make_engine: Make) -> Make:
    async def in_family(model: Any = None, **fields: Any) -> LightRAG:
        return await make_engine(model, **{**request.param, **fields})

    return in_family


LONG = "\n".join(f"Ann{number} -> Oslo: lives in house {number}" for number in range(40))


async def test_options_of_each_document_are_followed(make: Make) -> None:
    model = FactModel()
    engine = await make(model)
    await engine.apipeline_enqueue_documents(
        [LONG, f"{LONG} and so on", "Bob -> Rome: visits"],
        ["plain", "cut", "chunks-only"],
        ["a.md", "b.md", "c.md"],
        "track",
        "raw",
        None,
        ["", "R", "F!"],
        [{}, {"recursive_character": {"chunk_token_size": 60, "chunk_overlap_token_size": 0}}, {}],
    )
    await engine.apipeline_process_enqueue_documents()
    rows = await engine.aget_docs_by_track_id("track")
    assert {doc_id: row.status.value for doc_id, row in rows.items()} == dict.fromkeys(
        ("plain", "cut", "chunks-only"), "processed"
    )
    assert (rows["plain"].chunks_count or 0) == 1
    assert (rows["cut"].chunks_count or 0) > 5
    assert rows["cut"].metadata["chunk_method"] == "recursive_character"
    assert rows["cut"].metadata["process_options"] == "R"
    assert rows["chunks-only"].metadata["skip_kg"] is True
    labels = await engine.get_graph_labels()
    assert "Ann3" in labels
    assert "Bob" not in labels


async def test_a_size_for_one_document_reaches_a_chunking_function(make: Make) -> None:
    seen: list[tuple[int, int]] = []

    def chunker(_tokenizer: Any, text: str, _by: Any, _only: Any, overlap: int, size: int) -> list[dict[str, Any]]:
        seen.append((overlap, size))
        return [{"content": text, "tokens": 1, "chunk_order_index": 0}]

    engine = await make(chunking_func=chunker)
    await engine.apipeline_enqueue_documents(
        ["Ann -> Oslo: a", "Bob -> Oslo: b"],
        chunk_options=[{"chunk_token_size": 50, "chunk_overlap_token_size": 7}, {}],
        process_options=["", "C"],
    )
    await engine.apipeline_process_enqueue_documents()
    assert seen == [(7, 50), (100, 1200)]


async def test_a_file_is_named_by_either_argument(make: Make, tmp_path: Path) -> None:
    (tmp_path / "one.[-F].txt").write_text("Ann -> Oslo: lives there")
    (tmp_path / "two.txt").write_text("Bob -> Rome: lives there")
    engine = await make()
    await engine.apipeline_enqueue_documents(
        [str(tmp_path / "two.txt"), ""],
        file_paths=["folder/two.txt", str(tmp_path / "one.[-F].txt")],
        docs_format="pending_parse",
        parse_engine=["legacy", "legacy"],
        process_options=["!", ""],
    )
    await engine.apipeline_process_enqueue_documents()
    one = await engine.doc_status.get_doc_by_file_path("one.txt")
    two = await engine.doc_status.get_doc_by_file_path("folder/two.txt")
    assert one is not None
    assert two is not None
    assert one[1].metadata["chunk_method"] == "fixed_token"
    assert one[1].metadata["source_file"] == "one.[-F].txt"
    assert two[1].metadata["parse_engine"] == "legacy"
    assert await engine.get_graph_labels() == ["Ann", "Oslo"]


@pytest.mark.parametrize(
    ("engine_name", "suffix", "message"),
    [
        ("docling", "md", "parse_engine 'docling' asks for .* DOCLING_ENDPOINT"),
        ("native", "txt", "'native' does not parse '.txt'"),
        ("nobody", "txt", "parse_engine 'nobody' is unknown"),
    ],
)
async def test_an_engine_that_cannot_parse_the_file_is_refused(
    make: Make, tmp_path: Path, engine_name: str, suffix: str, message: str
) -> None:
    file = tmp_path / f"two.{suffix}"
    file.write_text("Bob -> Rome: lives there")
    engine = await make()
    with pytest.raises(InputError, match=message):
        await engine.apipeline_enqueue_documents(str(file), docs_format="pending_parse", parse_engine=engine_name)
    assert await engine.get_processing_status() == {}


async def test_what_only_a_vision_model_could_do_is_told(make: Make) -> None:
    engine = await make()
    await engine.apipeline_enqueue_documents("Ann -> Oslo: x", ids="a", process_options="it")
    await engine.apipeline_process_enqueue_documents()
    row = (await engine.aget_docs_by_ids("a"))["a"]
    assert row.status == "processed"
    assert "'it' ask for a vision model, which this engine has not" in row.metadata["parse_warnings"][0]


# --- room and admissions ---------------------------------------------------------------------------------------------


async def test_announced_documents_have_room(make: Make) -> None:
    engine = await make(max_pending_documents=2)
    token = await engine.areserve_admission(2)
    assert engine.pipeline_status()["pending_enqueues"] == 2
    with pytest.raises(PipelineBusyError, match="2 documents wait and 1 arrive; max_pending_documents is 2"):
        await engine.apipeline_enqueue_documents("Ann -> Oslo: x", ids="a")
    with pytest.raises(PipelineBusyError):
        await engine.apipeline_enqueue_documents("Ann -> Oslo: x", ids="a", admission_token="made-up")
    with pytest.raises(PipelineBusyError):
        await engine.areserve_admission()
    await engine.apipeline_enqueue_documents(["Ann -> Oslo: x", "Bob -> Oslo: x"], admission_token=token)
    engine.release_admission(token)
    assert engine.pipeline_status()["pending_enqueues"] == 0
    await engine.apipeline_enqueue_documents("Cyd -> Oslo: x", from_scan=True)
    assert await engine.get_processing_status() == {"pending": 3}


# --- files that could not be read ------------------------------------------------------------------------------------


async def test_unreadable_files_are_on_record(make: Make) -> None:
    engine = await make()
    await engine.ainsert("Ann -> Oslo: x", ids="read", file_paths="a/read.pdf")
    await engine.apipeline_enqueue_error_documents(
        [
            {
                "file_path": "a/bad.pdf",
                "error_description": "cannot be read",
                "original_error": "Boom: page 3",
                "file_size": 123,
            },
            {"file_path": "a/read.pdf"},
            {},
            {},
        ],
        "track",
    )
    rows = await engine.aget_docs_by_track_id("track")
    assert len(rows) == 4
    assert {row.status.value for row in rows.values()} == {"failed"}
    assert all(doc_id.startswith("error-") for doc_id in rows)
    found = await engine.doc_status.get_doc_by_file_path("a/bad.pdf")
    assert found is not None
    bad = found[1]
    assert (bad.content_summary, bad.error_msg, bad.content_length) == ("cannot be read", "Boom: page 3", 123)
    assert bad.metadata["error_type"] == "file_extraction_error"
    assert (bad.chunks_count, bad.chunks_list) == (0, [])
    # The path goes on to stand for the document that was read.
    unique = await engine.doc_status.resolve_doc_source_strict("a/read.pdf")
    assert isinstance(unique, SourceUnique)
    assert unique.doc_id == "read"
    # Nothing of it can be tried again, and its name is taken until the row is deleted.
    assert await engine.aretry_failed_documents() == 0
    assert await engine.apipeline_enqueue_documents("Bob -> Rome: x", file_paths="a/bad.pdf") is None
    assert (await engine.adelete_by_doc_id(found[0])).status == "success"
    assert await engine.apipeline_enqueue_documents("Bob -> Rome: x", file_paths="a/bad.pdf") is not None


async def test_a_file_that_fails_again_has_one_row(make: Make) -> None:
    engine = await make()
    for reason in ("first", "second"):
        await engine.apipeline_enqueue_error_documents([{"file_path": "bad.pdf", "original_error": reason}])
    assert await engine.get_processing_status() == {"failed": 1}
    found = await engine.doc_status.get_doc_by_file_path("bad.pdf")
    assert found is not None
    assert found[1].error_msg == "second"
    assert (found[1].track_id or "").startswith("error_")
    assert found[1].content_summary == "File extraction failed"


@pytest.mark.parametrize(("entry", "message"), [(3, r"\[0\] is 3"), ({"file_size": "1"}, "'file_size'.* must be int")])
async def test_an_entry_that_cannot_be_read_is_refused(make: Make, entry: Any, message: str) -> None:
    engine = await make()
    with pytest.raises(InputError, match=message):
        await engine.apipeline_enqueue_error_documents([entry, {"file_path": "b.pdf"}])
    assert await engine.get_processing_status() == {}


async def test_a_file_that_cannot_be_parsed_says_so_in_its_row(make: Make, tmp_path: Path) -> None:
    (tmp_path / "broken.docx").write_bytes(b"PK\x03\x04 and then nothing")
    engine = await make()
    await engine.apipeline_enqueue_documents(str(tmp_path / "broken.docx"), ids="b", docs_format="pending_parse")
    await engine.apipeline_process_enqueue_documents()
    row = (await engine.aget_docs_by_ids("b"))["b"]
    assert row.status == "failed"
    assert row.content_summary.startswith("[File Extraction] ")
    assert (row.metadata["error_type"], row.metadata["error_stage"]) == ("file_extraction_error", "parse")


@pytest.mark.parametrize("name", ["n" * 300 + ".txt", "a\0.txt", "", "."])
async def test_a_name_that_no_file_can_have_is_told(make: Make, name: str) -> None:
    engine = await make()
    with pytest.raises(InputError, match="does not exist or is no file"):
        await engine.apipeline_enqueue_documents(name, docs_format="pending_parse")


async def test_a_name_that_is_no_text_is_told(make: Make, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.txt")
    try:
        path.write_bytes(b"text")
    except OSError:
        return  # a file system of Unicode names only
    engine = await make()
    with pytest.raises(InputError, match=r"a name that is not UTF-8.*rename it"):
        await engine.apipeline_enqueue_documents(str(path), docs_format="pending_parse")


# --- trying again ----------------------------------------------------------------------------------------------------


class Down(FactModel):
    """A model that can be out of order."""

    down = True

    async def __call__(self, prompt: str, system_prompt: str | None = None, **kwargs: Any) -> str:
        if self.down:
            raise RuntimeError("model down")
        return await super().__call__(prompt, system_prompt, **kwargs)


async def test_failed_documents_are_reset_and_tried_once(make: Make) -> None:
    model = Down()
    engine = await make(model)
    await engine.ainsert(["Ann -> Oslo: x", "Bob -> Rome: y"], ids=["a", "b"])
    await engine.apipeline_enqueue_error_documents([{"file_path": "bad.pdf"}])
    assert await engine.get_processing_status() == {"failed": 3}
    assert await engine.apipeline_reset_failed_for_scan("request-1", scan_owner_token="any")
    assert await engine.get_processing_status() == {"failed": 1, "pending": 2}
    assert "request request-1: 2 failed documents" in engine.pipeline_status()["latest_message"]
    model.down = False
    await engine.apipeline_process_enqueue_documents()
    assert await engine.get_processing_status() == {"failed": 1, "processed": 2}
    assert await engine.apipeline_reset_failed_for_scan("request-1")


async def test_nothing_is_reset_while_documents_are_processed(make: Make) -> None:
    going = asyncio.Event()
    goes_on = asyncio.Event()

    class Slow(FactModel):
        async def __call__(self, prompt: str, system_prompt: str | None = None, **kwargs: Any) -> str:
            going.set()
            await goes_on.wait()
            return await super().__call__(prompt, system_prompt, **kwargs)

    engine = await make(Slow())
    running = asyncio.create_task(engine.ainsert("Ann -> Oslo: x", ids="a"))
    await going.wait()
    assert not await engine.apipeline_reset_failed_for_scan("request-1")
    goes_on.set()
    await running
    assert await engine.apipeline_reset_failed_for_scan("request-1")


# --- custom chunks that broke off ------------------------------------------------------------------------------------


async def test_notes_of_another_program_are_taken_back(make: Make) -> None:
    engine = await make()
    await engine.ainsert(["Ann -> Oslo: x", "Eve -> Oslo: z"], ids=["there", "other"], file_paths=["t.md", "o.md"])
    stores = engine.context.stores
    there = await stores.doc_status.get_by_id("there")
    assert there is not None
    before = {**there}
    # As the published package leaves it when the model fails within ainsert_custom_chunks.
    await stores.full_docs.upsert({"new": {"content": "Cyd -> Rome: y"}})
    row = {"content": "Cyd -> Rome: y", "tokens": 3, "chunk_order_index": 0, "file_path": "unknown_source"}
    for doc_id, chunk_id in (("new", "chunk-new"), ("there", "chunk-more")):
        await stores.text_chunks.upsert({chunk_id: {**row, "full_doc_id": doc_id}})
        await stores.chunks.upsert({chunk_id: {"content": row["content"], "full_doc_id": doc_id, "file_path": "x"}})
    failed = {**there, "status": "failed", "error_msg": "C[1/1]: model down"}
    patch = {"schema_version": 1, "mode": "patch", "chunk_ids": ["chunk-more"], "phase": "failed"}
    create = {**patch, "mode": "create", "chunk_ids": ["chunk-new"]}
    await stores.doc_status.upsert(
        {
            "there": {**failed, "metadata": {**there["metadata"], "custom_chunk_patch": patch}},
            "new": {
                **failed,
                "file_path": "unknown_source",
                "content_hash": "h",
                "chunks_list": [],
                "metadata": {"custom_chunk_patch": create},
            },
        }
    )
    outcome = await engine.arollback_failed_custom_chunk_patches()
    assert outcome["rolled_back_count"] == 2
    assert set(outcome["rolled_back_sample"]) == {"there", "new"}
    assert (outcome["failed_count"], outcome["failed_sample"]) == (0, [])
    assert await stores.doc_status.get_by_id("new") is None
    assert await stores.full_docs.get_by_id("new") is None
    assert await stores.text_chunks.get_by_ids(["chunk-new", "chunk-more"]) == [None, None]
    assert await stores.chunks.get_by_ids(["chunk-new", "chunk-more"]) == [None, None]
    after = await stores.doc_status.get_by_id("there")
    assert after is not None
    changed = {"updated_at", "error_msg"}
    assert {name: value for name, value in after.items() if name not in changed} == {
        name: value for name, value in before.items() if name not in changed
    }
    assert await engine.get_graph_labels() == ["Ann", "Eve", "Oslo"]
    assert await graph_consistency(engine.context) == []
    assert (await engine.arollback_failed_custom_chunk_patches())["rolled_back_count"] == 0


async def test_what_a_broken_off_patch_put_into_the_graph_goes_with_it(make: Make) -> None:
    engine = await make()
    await engine.ainsert_custom_chunks("Ann -> Oslo: x\nBob -> Oslo: y", ["Ann -> Oslo: x", "Bob -> Oslo: y"], "doc")
    stores = engine.context.stores
    row = await stores.doc_status.get_by_id("doc")
    assert row is not None
    first, second = row["chunks_list"]
    patch = {"mode": "patch", "chunk_ids": [second]}
    await stores.doc_status.upsert(
        {"doc": {**row, "status": "failed", "metadata": {**row["metadata"], "custom_chunk_patch": patch}}}
    )
    assert (await engine.arollback_failed_custom_chunk_patches())["rolled_back_count"] == 1
    assert await engine.get_graph_labels() == ["Ann", "Oslo"]
    after = (await engine.aget_docs_by_ids("doc"))["doc"]
    assert (after.status.value, after.chunks_list, after.chunks_count) == ("processed", [first], 1)
    assert await graph_consistency(engine.context) == []


# --- strict reads and limited access ---------------------------------------------------------------------------------


async def test_strict_reads_can_be_required(make_engine: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = await make_engine(pipeline_require_strict_storage_reads=True)
    await engine.finalize_storages()
    monkeypatch.setattr(SQLiteKVStorage, "supports_strict_point_reads", False)
    with pytest.raises(StorageError, match=r"SQLiteKVStorage.*pipeline_require_strict_storage_reads"):
        await engine.initialize_storages()
    assert not engine.is_open


async def test_with_limited_access_none_of_it_is_offered(make_engine: Make) -> None:
    engine = await make_engine()
    view: Any = engine.restricted(["team:red"])
    for refused in (
        view.apipeline_enqueue_error_documents([{"file_path": "a"}]),
        view.apipeline_reset_failed_for_scan("r"),
        view.arollback_failed_custom_chunk_patches(),
        view.alist_source_conflicts(),
        view.arepair_source_conflict(None),
    ):
        with pytest.raises(AccessDeniedError):
            await refused
