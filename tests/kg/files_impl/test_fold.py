"""When files are written anew, what that costs, and what a failure in the middle leaves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lightrag.contracts.evidence import ObjectKind, relation_key
from lightrag.kg.files import atomic, fold, folder
from lightrag.kg.files.journal import JOURNAL_NAME, Journal
from tests.conformance.crash_child import Corpus
from tests.conformance.families import family_named
from tests.conformance.test_crash import live_and_die
from tests.kg.files_impl.workspace import content_of, workspace_in


async def test_killed_while_the_journal_is_folded_into_the_files(tmp_path: Path) -> None:
    await live_and_die(family_named("files"), tmp_path, ["-m", "tests.kg.files_impl.fold_child"])


class Counter:
    """Bytes written to the journal and to files."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.journal = self.files = self.folds = 0
        append, aside, run = Journal.append, atomic.write_aside, fold.fold

        def counting_append(journal: Journal, contents: list[bytes]) -> None:
            self.journal += sum(map(len, contents))
            append(journal, contents)

        def counting_aside(path: Path, pieces: list[bytes]) -> Path:
            written = aside(path, pieces)
            self.files += written.stat().st_size
            return written

        def counting_fold(which: folder.DataFolder) -> None:
            self.folds += 1
            run(which)

        monkeypatch.setattr(Journal, "append", counting_append)
        monkeypatch.setattr(fold, "write_aside", counting_aside)
        monkeypatch.setattr(folder, "fold", counting_fold)


async def test_the_cost_of_a_document_does_not_grow_with_the_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fold, "_MIN_JOURNAL", 50_000)
    counter = Counter(monkeypatch)
    corpus = Corpus(workspace_in(tmp_path))
    await corpus.open()
    costs = []
    for number in range(300):
        before = counter.journal
        await corpus.write(number)
        costs.append(counter.journal - before)
    assert max(costs[-50:]) <= 1.1 * max(costs[:50])
    # Files grow by a half or more from one fold to the next.
    assert 2 <= counter.folds <= 8
    await corpus.workspace.close()
    on_disk = sum(map(len, content_of(tmp_path).values()))
    assert counter.files <= 4 * on_disk


async def test_small_workspaces_are_written_when_they_are_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter = Counter(monkeypatch)
    workspace = workspace_in(tmp_path)
    store = await workspace.kv()
    for number in range(20):
        await store.upsert({f"k{number}": {"n": number}})
        await store.index_done_callback()
    assert counter.folds == 0
    assert not (tmp_path / "kv_store_full_docs.json").exists()
    await workspace.close()
    assert counter.folds == 1
    rows = json.loads((tmp_path / "kv_store_full_docs.json").read_text())
    assert [row["n"] for row in rows.values()] == list(range(20))
    assert [path.name for path in tmp_path.iterdir()] == ["kv_store_full_docs.json"]


async def test_a_folder_that_was_only_read_is_not_touched(tmp_path: Path) -> None:
    first = Corpus(workspace_in(tmp_path))
    await first.open()
    await first.write(1)
    await first.workspace.close()
    before = content_of(tmp_path)
    second = Corpus(workspace_in(tmp_path))
    await second.open()
    assert await second.status.get_by_id("n1")
    await second.workspace.close()
    assert content_of(tmp_path) == before


async def test_a_fold_that_fails_is_not_tried_again_with_every_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(fold, "_MIN_JOURNAL", 2000)
    store = await workspace_in(tmp_path).kv()
    with monkeypatch.context() as patched:
        counter = Counter(patched)
        patched.setattr(fold, "write_aside", lambda path, pieces: (path / "no folder").read_bytes())
        for number in range(40):
            await store.upsert({f"k{number}": {"text": "x" * 200}})
    assert 2 <= counter.folds <= 4
    assert "the journal is kept" in caplog.text
    await store.finalize()
    assert len(json.loads((tmp_path / "kv_store_full_docs.json").read_text())) == 40


@pytest.mark.parametrize("succeeding", range(11))
async def test_a_fold_that_breaks_off_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, succeeding: int
) -> None:
    """Some files are new and some old when the process dies; the journal is carried out over both."""
    first = Corpus(workspace_in(tmp_path))
    await first.open()
    for number in range(4):
        await first.write(number)
    await first.workspace.close()
    second = Corpus(workspace_in(tmp_path))
    await second.open()
    await second.write(5)
    await second.delete(1)
    await second.evidence.reassign(ObjectKind.ENTITY, {"n2": "renamed"})
    replaced: list[Path] = []
    real = Path.replace

    def replace(path: Path, target: Path) -> Path:
        if len(replaced) >= succeeding:
            raise OSError("the process dies here")
        replaced.append(target)
        return real(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", replace)
        await second.workspace.close()
    assert (tmp_path / JOURNAL_NAME).exists()
    third = Corpus(workspace_in(tmp_path))
    await third.open()
    assert [key for key, _ in await third.status.scan()] == ["n0", "n2", "n3", "n5"]
    assert await third.graph.get_all_labels() == sorted(await third.vectors.scan_ids())
    assert "n1" not in await third.graph.get_all_labels()
    assert await third.graph.get_node("hub2") == {"last": 5}
    assert await third.evidence.scan_objects(ObjectKind.ENTITY, after="n") == ["n0", "n3", "n5", "renamed"]
    assert await third.evidence.scan_objects(ObjectKind.RELATION) == sorted(
        relation_key(f"hub{number % 3}", f"n{number}") for number in (0, 2, 3, 5)
    )
    assert not third.evidence.outside_changes()
    await third.workspace.close()
    assert not (tmp_path / JOURNAL_NAME).exists()
