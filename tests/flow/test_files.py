"""Files through the pipeline: parsed, routed by hints, and refused with a plain reason."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from lightrag import QueryParam
from tests.flow.conftest import EngineFactory
from tests.flow.test_enqueue_arguments import FILES
from tests.parser import corpus

TEXT = "# Harbour\n\nAda Quay -> Velmouth: Ada Quay surveyed Velmouth\n"


async def outcome(engine, track_id: str):
    return {row.file_path: row for row in (await engine.aget_docs_by_track_id(track_id)).values()}


async def test_files_are_parsed_and_faults_are_told(make_engine: EngineFactory, tmp_path: Path) -> None:
    engine = await make_engine()
    files = {
        "notes/harbour.md": TEXT.encode(),
        "table.csv": b"who,what\nAda,surveys\n",
        "utf16.txt": TEXT.replace("Quay", "Marsh").encode("utf-16"),
        "broken.pdf": b"%PDF-1.7 nothing",
        "rubbish.txt": bytes(range(256)) * 8,
        "empty.txt": b" \n",
        "copy.md": TEXT.encode(),
    }
    paths = []
    for name, data in files.items():
        path = tmp_path / "inputs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        paths.append(str(path))
    track_id = await engine.apipeline_enqueue_documents(
        paths, file_paths=list(files), docs_format="pending_parse", document_metadata={"tags": ["kind:file"]}
    )
    await engine.apipeline_process_enqueue_documents()
    rows = await outcome(engine, track_id)
    status = {name: row.status.value for name, row in rows.items()}
    assert status["notes/harbour.md"] == status["table.csv"] == status["utf16.txt"] == "processed"
    for name in ("broken.pdf", "rubbish.txt", "empty.txt", "copy.md"):
        assert status[name] == "failed"
        assert rows[name].error_msg
        assert "Traceback" not in rows[name].error_msg
    assert rows["copy.md"].metadata["is_duplicate"] is True
    assert all(row.metadata["user_tags"] == ["kind:file"] for row in rows.values())
    data = await engine.aquery_data("Who surveyed Velmouth?", QueryParam(mode="mix"))
    assert {item["file_path"] for item in data["data"]["references"]} >= {"notes/harbour.md", "utf16.txt"}


async def test_a_hint_in_the_name_chooses_how(make_engine: EngineFactory, tmp_path: Path) -> None:
    engine = await make_engine()
    path = tmp_path / "plain.md"
    path.write_text(TEXT, encoding="utf-8")
    track_id = await engine.apipeline_enqueue_documents(
        str(path), file_paths="notes/plain.[legacy-R!].md", docs_format="pending_parse"
    )
    await engine.apipeline_process_enqueue_documents()
    rows = await outcome(engine, track_id)
    assert list(rows) == ["notes/plain.md"]
    assert rows["notes/plain.md"].status == "processed"
    assert rows["notes/plain.md"].metadata["chunk_method"] == "recursive_character"
    assert await engine.get_graph_labels() == []


FAULTS = {
    "password.pdf": (lambda: corpus.pdf(password="secret"), "is protected by a password"),
    "pictures.pdf": (corpus.picture_pdf, "holds no text: its page is a picture"),
    "bomb.docx": (lambda: corpus.docx_with(bytes(30_000_000), zipfile.ZIP_DEFLATED), "bomb"),
    "letter.pdf": (lambda: b"Dear Ada, this is no PDF.", "is not PDF by its content"),
    "broken.xlsx": (lambda: corpus.xlsx()[:500], "is damaged"),
}


@pytest.mark.parametrize("family", [{}, FILES], ids=["sqlite", "files"])
async def test_files_that_cannot_be_read_fail_with_a_plain_reason(
    make_engine: EngineFactory, tmp_path: Path, family: dict[str, str]
) -> None:
    engine = await make_engine(**family)
    for name, (make, _) in FAULTS.items():
        (tmp_path / name).write_bytes(make())
    track_id = await engine.apipeline_enqueue_documents(
        [str(tmp_path / name) for name in FAULTS], docs_format="pending_parse"
    )
    assert track_id is not None
    await engine.apipeline_process_enqueue_documents()
    rows = await outcome(engine, track_id)
    assert set(rows) == set(FAULTS)
    for name, (_, reason) in FAULTS.items():
        assert rows[name].status == "failed"
        message = rows[name].error_msg
        assert reason in message, (name, message)
        assert f"'{name}'" in message
        assert "Traceback" not in message
        assert rows[name].content_summary.startswith("[File Extraction] ")
