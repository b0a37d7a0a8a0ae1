"""The demo's program: it reads once, then only asks; what goes wrong it tells in plain words."""

import json
from collections.abc import Callable
from functools import partialmethod
from pathlib import Path
from typing import Any

import pytest

from demo import run as demo
from lightrag import LightRAG, QueryParam

DOCUMENTS = {
    "archive/bridge.md": "Ottoline Brandreth designed Hallowgate Bridge. The bridge was opened on 29 September 1934.",
    "letters/ferry.txt": "Jonas Ketterick kept the Velmouth ferry for years. He took no fares on the last night.",
}
QUESTION = {"id": "designer", "question": "Who designed Hallowgate Bridge?", "expect_sources": ["archive/bridge.md"]}
LIMITED = {
    "id": "letters",
    "label": "letters",
    "question": "Who kept the Velmouth ferry?",
    "filter": {"path_prefixes": ["letters"]},
    "eligible": ["letters/ferry.txt"],
    "expect_sources": ["letters/ferry.txt"],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small demo of its own."""
    monkeypatch.setattr(demo, "DEMO", tmp_path)
    monkeypatch.setattr(demo, "WORK", tmp_path / ".work")
    write(tmp_path, DOCUMENTS, [QUESTION])
    return tmp_path


def write(
    folder: Path,
    documents: dict[str, str],
    questions: list[dict[str, object]],
    limited: list[dict[str, object]] | None = None,
    readers: list[dict[str, object]] | None = None,
) -> None:
    for path, text in documents.items():
        (folder / "corpus" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "corpus" / path).write_text(text, encoding="utf-8")
    metadata = {path: {"tags": ["lang:en"], "source_path": path} for path in documents}
    (folder / "corpus" / "metadata.json").write_text(json.dumps(metadata), encoding="utf-8")
    asked = {"first_demo": questions, "archive_filters": limited or [], "reader_scopes": readers or []}
    (folder / "questions.json").write_text(json.dumps(asked), encoding="utf-8")


def test_answers_with_references_and_says_who_answers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.main(["--check"]) == 0
    shown = capsys.readouterr().out
    assert "offline reader" in shown
    assert "Ottoline Brandreth designed Hallowgate Bridge" in shown
    assert "archive/bridge.md" in shown
    assert "Adding: 2 of 2" in shown
    assert "Read 2 documents" in shown


def test_second_run_only_asks(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.main([]) == 0
    capsys.readouterr()
    assert demo.main(["--check"]) == 0
    shown = capsys.readouterr().out
    assert "Adding" not in shown
    assert "Reading" not in shown
    assert "Found 2 documents" in shown


def test_interrupted_run_is_taken_up_again(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def interrupted(*_arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(demo, "process", interrupted)
        assert demo.main([]) == 130
    capsys.readouterr()
    assert demo.main(["--check"]) == 0
    shown = capsys.readouterr().out
    assert "Adding" not in shown
    assert "Reading: 2 of 2" in shown


def test_changed_corpus_is_read_anew(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.main([]) == 0
    write(folder, {**DOCUMENTS, "archive/keeper.md": "Jonas Ketterick is the keeper of Hallowgate Bridge."}, [QUESTION])
    capsys.readouterr()
    assert demo.main(["--check"]) == 0
    assert "Read 3 documents" in capsys.readouterr().out


def test_check_fails_when_the_expected_source_is_not_cited(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, DOCUMENTS, [{**QUESTION, "expect_sources": ["archive/other.md"]}])
    assert demo.main([]) == 0
    assert demo.main(["--check"]) == 1
    assert "archive/other.md" in capsys.readouterr().err


def test_limited_questions_show_what_they_are_limited_to(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, DOCUMENTS, [QUESTION], [LIMITED])
    assert demo.main(["--check"]) == 0
    shown = capsys.readouterr().out.split("Only letters", 1)[1]
    assert "1 of 2 documents are eligible" in shown
    assert "letters/ferry.txt" in shown
    assert "Jonas Ketterick kept the Velmouth ferry" in shown
    assert "bridge" not in shown


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"eligible": ["archive/bridge.md"]}, "is limited to letters/ferry.txt, not to archive/bridge.md"),
        ({"expect_sources": ["archive/bridge.md"]}, "did not find archive/bridge.md"),
    ],
)
def test_check_fails_when_other_documents_are_eligible_or_found(
    folder: Path, capsys: pytest.CaptureFixture[str], change: dict[str, object], told: str
) -> None:
    write(folder, DOCUMENTS, [QUESTION], [{**LIMITED, **change}])
    assert demo.main([]) == 0
    assert demo.main(["--check"]) == 1
    assert told in capsys.readouterr().err


def test_check_fails_when_an_answer_draws_on_a_document_that_is_not_eligible(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, DOCUMENTS, [], [LIMITED])
    monkeypatch.setattr(demo.LightRAG, "aquery_llm", partialmethod(unlimited, demo.LightRAG.aquery_llm))
    assert demo.main(["--check"]) == 1
    assert "draws on archive/bridge.md, which is not eligible" in capsys.readouterr().err


async def unlimited(rag: LightRAG, ask: Callable[..., Any], question: str, _param: QueryParam) -> Any:
    return await ask(rag, question, QueryParam(mode="naive"))


def test_missing_file_is_told_in_plain_words(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "corpus" / "letters" / "ferry.txt").unlink()
    assert demo.main([]) == 1
    told = capsys.readouterr().err
    assert "ferry.txt" in told
    assert "Traceback" not in told


def test_failed_document_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(prompt: str, **_options: object) -> str:
        raise RuntimeError("the model is not there")

    with monkeypatch.context() as patch:
        patch.setattr(demo, "offline_complete", broken)
        assert demo.main([]) == 1
    told = capsys.readouterr().err
    assert "2 of 2 documents could not be read" in told
    assert "archive/bridge.md" in told
    assert "the model is not there" in told
    assert demo.main(["--check"]) == 0


READER: dict[str, object] = {
    "question": "How long does the ferry need?",
    "label": "after chapter 1",
    "filter": {"required_tags": ["known-in-chapter:01"]},
    "eligible": ["letters/ferry.txt"],
    "must_mention": [],
    "must_not_mention": ["Hallowgate"],
}


def test_a_reader_knows_the_own_chapters_only(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, DOCUMENTS, [QUESTION], readers=[READER])
    metadata = {path: {"tags": ["known-in-chapter:02"], "source_path": path} for path in DOCUMENTS}
    metadata["letters/ferry.txt"]["tags"].append("known-in-chapter:01")
    (folder / "corpus" / "metadata.json").write_text(json.dumps(metadata), encoding="utf-8")
    assert demo.main(["--check"]) == 0
    assert "A reader, after chapter 1" in capsys.readouterr().out
    write(folder, DOCUMENTS, [QUESTION], readers=[{**READER, "must_not_mention": ["ferry"]}])
    (folder / "corpus" / "metadata.json").write_text(json.dumps(metadata), encoding="utf-8")
    assert demo.main(["--check"]) == 1
    assert "reveals ['ferry']" in capsys.readouterr().err
