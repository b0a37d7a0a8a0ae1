"""Files to ingest: which, under which source path, with which metadata."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from lightrag.cli.source_files import Search, SourceFile, described, find_files
from lightrag.exceptions import FilterSyntaxError, InputError


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "here"
    for name in ("archive/a.md", "archive/b.txt", "archive/deep/c.md", "archive/.hidden.md", "archive/.git/d.md"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (root / "archive" / "a.md.meta.json").write_text("{}")
    (root / "archive" / "link.md").symlink_to(root / "archive" / "a.md")
    monkeypatch.chdir(root)
    return root


def names(*paths: str | Path, **search: Any) -> list[str]:
    return [file.source_path for file in find_files([Path(path) for path in paths], Search(**search))]


def test_a_folder_and_its_files_come_to_the_same(tree: Path) -> None:
    assert names("archive") == ["archive/a.md", "archive/b.txt"]
    assert names("archive/b.txt", "archive/a.md") == ["archive/b.txt", "archive/a.md"]
    assert names(*sorted(Path("archive").glob("[ab].*"))) == names("archive")


def test_folders_below_and_patterns(tree: Path) -> None:
    assert names("archive", recursive=True) == ["archive/a.md", "archive/b.txt", "archive/deep/c.md"]
    assert names("archive", recursive=True, patterns=["*.md"]) == ["archive/a.md", "archive/deep/c.md"]
    assert names("archive/b.txt", patterns=["*.md"]) == ["archive/b.txt"]


def test_paths_are_seen_from_here(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert names(tree / "archive") == ["archive/a.md", "archive/b.txt"]
    assert names("./archive/../archive/a.md") == ["archive/a.md"]
    monkeypatch.chdir(tree / "archive")
    assert names(".", recursive=True) == ["a.md", "b.txt", "deep/c.md"]
    monkeypatch.chdir(tree / "archive" / "deep")
    assert names("..") == ["archive/a.md", "archive/b.txt"]
    assert names("../a.md") == ["a.md"]


def test_a_root_may_be_named(tree: Path) -> None:
    assert names("archive/deep", root=Path("archive")) == ["deep/c.md"]
    with pytest.raises(InputError, match="does not lie in --root"):
        names("archive/a.md", root=Path("archive/deep"))


def test_each_file_is_taken_once(tree: Path) -> None:
    assert names("archive", "archive/a.md", tree / "archive") == ["archive/a.md", "archive/b.txt"]


def test_two_files_of_one_path_are_refused(tree: Path, tmp_path: Path) -> None:
    other = tmp_path / "there"
    other.mkdir()
    (other / "x.md").write_text("1")
    (tree / "x.md").write_text("2")
    with pytest.raises(InputError, match=r"both have the source path 'x\.md'.*--root"):
        names("x.md", other / "x.md")


def test_what_does_not_exist_is_refused(tree: Path) -> None:
    with pytest.raises(InputError, match=r"'nothing\.md' does not exist"):
        names("nothing.md")


def test_a_link_that_is_named_is_taken_where_it_lies(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.md").write_text("elsewhere")
    (tree / "archive" / "out.md").symlink_to(tmp_path / "elsewhere.md")
    assert names("archive/out.md") == ["archive/out.md"]
    assert names("archive/out.md", root=Path("archive")) == ["out.md"]


def test_a_pipe_is_refused(tree: Path) -> None:
    if not hasattr(os, "mkfifo"):
        return
    os.mkfifo(tree / "archive" / "pipe.md")
    assert "archive/pipe.md" not in names("archive")
    with pytest.raises(InputError, match=r"'archive/pipe\.md' is no file and no folder"):
        names("archive/pipe.md")


def metadata(path: Path, own: Any, shared: dict[str, Any]) -> dict[str, Any]:
    os.utime(path, (1_700_000_000.5, 1_700_000_000.5))
    path.with_name(path.name + ".meta.json").write_text(own if isinstance(own, str) else json.dumps(own))
    (file,) = find_files([path], Search())
    return described(file, shared).metadata


def test_path_and_time_come_from_the_file(tree: Path) -> None:
    assert metadata(Path("archive/a.md"), {}, {}) == {
        "tags": [],
        "meta": {},
        "source_path": "archive/a.md",
        "modified_at": "2023-11-14T22:13:20.500000+00:00",
    }


def test_what_is_said_of_one_file_wins_over_what_is_said_of_all(tree: Path) -> None:
    own = {"tags": ["a"], "meta": {"x": 1, "y": 2}, "doc_type": "act", "modified_at": "2020-01-01T00:00:00Z"}
    shared = {"tags": ["b"], "meta": {"y": 3, "z": 4}, "doc_type": "letter", "start_date": "1930-01-01T00:00:00Z"}
    assert metadata(Path("archive/a.md"), own, shared) == {
        "tags": ["b", "a"],
        "meta": {"x": 1, "y": 2, "z": 4},
        "doc_type": "act",
        "start_date": "1930-01-01T00:00:00Z",
        "source_path": "archive/a.md",
        "modified_at": "2020-01-01T00:00:00Z",
    }


def test_dates_of_two_origins_are_not_mixed(tree: Path) -> None:
    shared = {"start_date": "1930-01-01T00:00:00Z", "end_date": "1930-12-31T00:00:00Z"}
    found = metadata(Path("archive/a.md"), {"start_date": "1940-01-01T00:00:00Z", "end_date": None}, shared)
    assert found["start_date"] == "1940-01-01T00:00:00Z"
    assert "end_date" not in found


def test_a_name_as_long_as_the_system_allows_has_no_metadata_file(tree: Path) -> None:
    path = tree / f"{'n' * 252}.md"
    path.write_text("x")
    assert described(SourceFile(path, path.name), {"doc_type": "note"}).metadata["doc_type"] == "note"


@pytest.mark.parametrize("own", ["{", "[]", '{"tag": ["a"]}', '{"start_date": "1930-01-01"}', '{"tags": "a"}'])
def test_a_metadata_file_that_cannot_be_used_is_named(tree: Path, own: str) -> None:
    with pytest.raises(FilterSyntaxError, match=r"metadata file 'archive/a\.md\.meta\.json'"):
        metadata(Path("archive/a.md"), own, {})
