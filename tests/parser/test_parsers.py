"""Reading text and Markdown files."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lightrag.exceptions import InputError
from lightrag.parser.registry import PARSERS, is_supported, parse_file, supported_extensions
from lightrag.parser.text import decode_text

TEXT = "Überschrift\n\n日本語 👩‍🚀\n"


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
        codecs.BOM_UTF32_LE + TEXT.encode("utf-32-le"),
        codecs.BOM_UTF32_BE + TEXT.encode("utf-32-be"),
        TEXT.replace("\n", "\r\n").encode(),
        TEXT.replace("\n", "\r").encode(),
        "\ufeff" + TEXT,
    ],
)
def test_encodings_and_line_ends(data: bytes | str) -> None:
    assert decode_text(data) == TEXT


def test_a_text_that_breaks_its_own_byte_order_mark_is_refused_with_a_reason() -> None:
    with pytest.raises(InputError, match=r"'a\.txt'.*UTF-16-LE"):
        parse_file("a.txt", codecs.BOM_UTF16_LE + b"a")


def test_binary_data_is_refused() -> None:
    with pytest.raises(InputError, match=r"'a\.txt'"):
        parse_file("a.txt", b"\x7fELF\x00\x00\x00\x01\x00\x00\x00")


def test_a_stray_nul_is_left_to_the_cleaning_of_text() -> None:
    text = "A sentence of English words. " * 5 + "\x00 one NUL"
    assert parse_file("a.txt", text.encode()) == text


def test_markdown_keeps_marks_and_front_matter() -> None:
    text = "---\ntitle: A letter\ndate: 1926-03-02\n---\n\n# Heading\n\n*Text*\n"
    assert parse_file("folder/Letter.MD", text.encode()) == text


def test_empty_files_are_empty_text() -> None:
    assert parse_file("a.md", b"") == ""
    assert parse_file("a.txt", codecs.BOM_UTF8) == ""


@pytest.mark.parametrize("name", ["a.exe", "noextension", "a.txt.zip", ".md/x", ""])
def test_unknown_suffixes_name_the_supported_ones(name: str) -> None:
    assert not is_supported(name)
    with pytest.raises(InputError, match=r"\.md.*\.txt"):
        parse_file(name, b"text")


def test_suffixes_are_lower_case_with_a_dot_and_sorted() -> None:
    assert supported_extensions() == sorted(PARSERS)
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in PARSERS)
    assert is_supported("C:\\docs\\Notes.TXT")


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_give_text_or_an_input_error(data: bytes) -> None:
    try:
        text = parse_file("a.txt", data)
    except InputError:
        return
    assert "\r" not in text
