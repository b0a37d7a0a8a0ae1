"""Names of uploads are safe, files are created once, and nothing is written outside the folder."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightrag.api.files import MAX_NAME_BYTES, MAX_PATH_BYTES, PARSED_FOLDER, WORKSPACE_MARK, InputFolder, safe_path
from lightrag.exceptions import DuplicateError, InputError


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("report.md", "report.md"),
        ("../../x.md", "x.md"),
        ("/etc/passwd.md", "passwd.md"),
        ("C:\\Users\\me\\x.md", "x.md"),
        ("..\\..\\x.md", "x.md"),
        ("a\0b.md", "ab.md"),
        ("a\r\nb.md", "ab.md"),
        ("  two  words .md ", "two words .md"),
        (".hidden.md", "hidden.md"),
        ("a:b*c?.md", "a_b_c_.md"),
        ("\u202egnp.md", "gnp.md"),
        ("Re\u0301sume\u0301.md", "R\u00e9sum\u00e9.md"),
        ("\U0001f4c4 notes \U0001f600.md", "\U0001f4c4 notes \U0001f600.md"),
        ("שלום.md", "שלום.md"),
        ("con.md", "_con.md"),
        ("LPT1", "_LPT1"),
        ("console.md", "console.md"),
        ("letters/1926/a.md", "letters/1926/a.md"),
        ("letters\\1926\\a.md", "letters/1926/a.md"),
        ("./letters//./a.md", "letters/a.md"),
        (".git/con/a.md", "git/_con/a.md"),
        ("a/\u202e/\0/b.md", "a/b.md"),
        ("a/../b/x.md", "x.md"),
        (" /etc/x.md", "x.md"),
        ("c: /x.md", "x.md"),
        ("~/x.md", "~/x.md"),
        ("b/__parsed__/x.md", "b/__parsed__/x.md"),
    ],
)
def test_names(raw: str, name: str) -> None:
    assert safe_path(raw) == name


@pytest.mark.parametrize(
    "raw",
    ["", ".", "..", "/", "a/", "a/..", "\0", "\u202e", "x.md.meta.json", "a/x.md.meta.json", "\u200d",
     "__parsed__/x.md", "__PARSED__\\x.md", "_\u202e_parsed__/x.md", "folder/" * 150 + "x.md"],
)  # fmt: skip
def test_unusable_names(raw: str) -> None:
    with pytest.raises(InputError, match="file name"):
        safe_path(raw)


def test_long_names_keep_their_suffix_and_stay_apart() -> None:
    first, second = safe_path("x" * 300 + "a.md"), safe_path("x" * 300 + "b.md")
    assert first != second
    for name in (first, second, safe_path("日" * 300 + ".md"), safe_path("a." + "b" * 300)):
        assert len(name.encode()) <= MAX_NAME_BYTES
    assert first.endswith(".md")


@given(st.text(max_size=400) | st.lists(st.text(max_size=30), max_size=8).map("/".join))
def test_any_name_is_a_safe_relative_path(raw: str) -> None:
    try:
        path = safe_path(raw)
    except InputError:
        return
    assert "\\" not in path
    assert len(path.encode()) <= MAX_PATH_BYTES
    for part in path.split("/"):
        assert not any(unicodedata.category(character) in {"Cc", "Cs"} for character in part)
        assert 0 < len(part.encode()) <= MAX_NAME_BYTES
        assert not part.startswith((".", " "))
    assert path.split("/")[0] != PARSED_FOLDER
    assert safe_path(path) == path


class Blocks:
    def __init__(self, *blocks: bytes) -> None:
        self.blocks = list(blocks)

    async def read(self, size: int) -> bytes:
        return self.blocks.pop(0) if self.blocks else b""


async def test_store_creates_once(tmp_path: Path) -> None:
    folder = InputFolder(str(tmp_path), "")
    path = await folder.store("a.md", Blocks(b"one", b"two").read, 100)
    assert path.read_bytes() == b"onetwo"
    with pytest.raises(DuplicateError):
        await folder.store("a.md", Blocks(b"other").read, 100)
    assert path.read_bytes() == b"onetwo"


async def test_a_file_where_a_folder_should_be(tmp_path: Path) -> None:
    folder = InputFolder(str(tmp_path), "")
    await folder.store("a.md", Blocks(b"one").read, 100)
    for name in ("a.md/b.md", "a.md/c/b.md"):
        with pytest.raises(DuplicateError, match="name of its folder"):
            await folder.store(name, Blocks(b"two").read, 100)


async def test_store_leaves_nothing_of_a_file_that_is_too_large(tmp_path: Path) -> None:
    folder = InputFolder(str(tmp_path), "")
    with pytest.raises(InputError, match="too large"):
        await folder.store("a.md", Blocks(b"x" * 60, b"x" * 60).read, 100)
    assert not list(tmp_path.iterdir())


async def test_store_never_follows_a_link(tmp_path: Path) -> None:
    target = tmp_path / "outside"
    target.write_text("untouched")
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    (inputs / "a.md").symlink_to(target)
    with pytest.raises((DuplicateError, InputError)):
        await InputFolder(str(inputs), "").store("a.md", Blocks(b"x").read, 100)
    assert target.read_text() == "untouched"


@pytest.mark.parametrize("name", ["../x.md", "a/../../x.md", "/etc/passwd", "a\0b"])
def test_paths_stay_within(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="leads out"):
        InputFolder(str(tmp_path), "").within(name)


@pytest.mark.parametrize("workspace", ["..", ".", "a/b", "a\\b", PARSED_FOLDER])
def test_workspace_is_a_name(tmp_path: Path, workspace: str) -> None:
    with pytest.raises(InputError, match="workspace"):
        InputFolder(str(tmp_path), workspace)


def test_listing_archiving_and_removing(tmp_path: Path) -> None:
    for name in ("b.md", "a/x.md", ".hidden", "b.md.meta.json", f"{PARSED_FOLDER}/old.md", f"{PARSED_FOLDER}/b.md"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    (tmp_path / "link.md").symlink_to(tmp_path / "b.md")
    folder = InputFolder(str(tmp_path), "")
    found = {file.name: file for file in folder.files()}
    assert sorted(found) == ["a/x.md", "b.md"]
    for file in found.values():
        folder.archive(file)
    assert not list(folder.files())
    archived = {
        path.relative_to(tmp_path / PARSED_FOLDER).as_posix() for path in (tmp_path / PARSED_FOLDER).rglob("*.*")
    }
    assert archived == {"old.md", "b.md", "b_001.md", "b_001.md.meta.json", "a/x.md"}
    assert folder.remove("a/x.md")
    assert not folder.remove("a/x.md")
    assert not folder.remove("../outside.md")


async def test_folder_of_another_workspace_is_no_part_of_this_one(tmp_path: Path) -> None:
    own, other = InputFolder(str(tmp_path), ""), InputFolder(str(tmp_path), "red")
    own.mark()
    other.mark()
    await own.store("a/x.md", Blocks(b"own").read, 100)
    theirs = await other.store("x.md", Blocks(b"theirs").read, 100)
    assert [file.name for file in own.files()] == ["a/x.md"]
    assert [file.name for file in other.files()] == ["x.md"]
    for name in ("red/x.md", "red/new/y.md", "a/../red/x.md"):
        with pytest.raises(InputError, match="'red' belongs to another workspace"):
            await own.store(name, Blocks(b"x").read, 100)
    assert not own.remove("red/x.md")
    (tmp_path / "way").symlink_to(tmp_path / "red")
    assert not own.remove("way/x.md")
    assert theirs.read_bytes() == b"theirs"
    assert other.remove("x.md")
    # Neither a document of the name of the mark nor clearing takes it away.
    for folder, name in ((other, WORKSPACE_MARK), (own, f"red/{WORKSPACE_MARK}")):
        assert not folder.remove(name)
    await other.store("y.md", Blocks(b"y").read, 100)
    assert other.clear() == 1
    assert (tmp_path / "red" / WORKSPACE_MARK).read_text() == "red\n"
