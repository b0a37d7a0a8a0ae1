"""The demo's program: it reads once, then only asks; what goes wrong it tells in plain words."""

import json
from pathlib import Path

import pytest

from demo import run as demo

DOCUMENTS = {
    "archive/bridge.md": "Ottoline Brandreth designed Hallowgate Bridge. The bridge was opened on 29 September 1934.",
    "letters/ferry.txt": "Jonas Ketterick kept the Velmouth ferry for years. He took no fares on the last night.",
}
QUESTION = {"id": "designer", "question": "Who designed Hallowgate Bridge?", "expect_sources": ["archive/bridge.md"]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small demo of its own."""
    monkeypatch.setattr(demo, "DEMO", tmp_path)
    monkeypatch.setattr(demo, "WORK", tmp_path / ".work")
    write(tmp_path, DOCUMENTS, [QUESTION])
    return tmp_path


def write(folder: Path, documents: dict[str, str], questions: list[dict[str, object]]) -> None:
    for path, text in documents.items():
        (folder / "corpus" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "corpus" / path).write_text(text, encoding="utf-8")
    metadata = {path: {"tags": ["lang:en"]} for path in documents}
    (folder / "corpus" / "metadata.json").write_text(json.dumps(metadata), encoding="utf-8")
    (folder / "questions.json").write_text(json.dumps({"first_demo": questions}), encoding="utf-8")


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
