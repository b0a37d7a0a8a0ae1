"""The parsers by suffix, and plain text and Markdown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightrag.exceptions import InputError
from lightrag.parser.registry import PARSERS, is_light, is_supported, parse_content, parse_file, supported_extensions
from lightrag.parser.result import FileContent
from tests.parser import corpus


def test_markdown_keeps_marks_and_front_matter() -> None:
    text = "---\ntitle: A letter\ndate: 1926-03-02\n---\n\n# Heading\n\n*Text*\n"
    assert parse_file("folder/Letter.MD", text.encode()) == text


def test_source_code_is_text() -> None:
    code = 'def dredge(depth: int) -> None:\n    """Größe."""\n'
    assert parse_file("dredge.py", code.encode()) == code


def test_empty_text_files_are_empty_text() -> None:
    assert parse_file("a.md", b"") == ""
    assert parse_file("a.csv", b"") == ""
    assert parse_file("a.json", b"") == ""


@pytest.mark.parametrize("name", ["a.exe", "noextension", "a.txt.zip", ".md/x", ""])
def test_unknown_suffixes_name_the_supported_ones(name: str) -> None:
    assert not is_supported(name)
    with pytest.raises(InputError, match=r"\.md.*\.txt"):
        parse_file(name, b"text")


def test_suffixes_are_lower_case_with_a_dot_and_sorted() -> None:
    assert supported_extensions() == sorted(PARSERS)
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in PARSERS)
    assert is_supported("C:\\docs\\Notes.TXT")


def test_everything_that_the_contract_lists_is_parsed() -> None:
    listed = (
        "txt md mdx pdf docx pptx xlsx rtf odt tex epub html htm csv json xml yaml yml log conf ini properties sql bat "
        "sh c h cpp hpp py java js ts swift go rb php css scss less"
    )
    assert {f".{suffix}" for suffix in listed.split()} <= PARSERS.keys()


@pytest.mark.parametrize(
    ("name", "data", "light"),
    [
        ("a.txt", b"text", True),
        ("a.csv", b"a,b", True),
        ("a.json", b"{}", True),
        ("a.html", b"<p>", False),
        ("a.pdf", b"%PDF-1.4", False),
        ("a.txt", b"%PDF-1.4", False),
        ("a.md", b"PK\x03\x04", False),
        ("a.txt", corpus.ole()[:4096], False),
        ("a.txt", b"MZ is how this text begins", True),
    ],
)
def test_only_text_stays_in_the_main_process(name: str, data: bytes, light: bool) -> None:
    assert is_light(name, data) is light


@given(st.binary(max_size=200), st.sampled_from([".txt", ".md", ".csv", ".json", ".jsonl", ".xml"]))
def test_any_bytes_give_text_or_an_input_error(data: bytes, suffix: str) -> None:
    try:
        parsed = parse_content(FileContent(f"a{suffix}", data))
    except InputError:
        return
    assert "\r" not in parsed.text
