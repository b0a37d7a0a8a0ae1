"""One file of each format: its text, its tables, and what is left out."""

from __future__ import annotations

import sys

import pytest

from lightrag.exceptions import MissingDependencyError
from lightrag.parser.registry import parse_content, parse_file
from lightrag.parser.result import FileContent
from tests.parser import corpus

OFFICE = {
    "docx": corpus.docx,
    "pptx": corpus.pptx,
    "xlsx": corpus.xlsx,
    "epub": corpus.epub,
    "odt": corpus.odt,
    "rtf": corpus.rtf,
    "html": corpus.html,
    "eml": corpus.eml,
    "pdf": corpus.pdf,
}


def rows_of(text: str) -> list[list[str]]:
    """Return the cells of every line that is a row of a Markdown table."""
    return [
        [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        for line in text.split("\n")
        if line.startswith("|") and not set(line) <= set("|- :")
    ]


@pytest.mark.parametrize("suffix", OFFICE)
def test_text_and_table(suffix: str) -> None:
    parsed = parse_content(FileContent(f"report.{suffix}", OFFICE[suffix]()))
    assert parsed.warnings == ()
    assert parsed.engine == "legacy"
    rows = rows_of(parsed.text)
    assert rows[: len(corpus.TABLE)] == corpus.TABLE
    if suffix == "pdf":
        assert corpus.LATIN_SENTENCE in parsed.text
    elif suffix != "xlsx":
        assert corpus.SENTENCE in parsed.text
    assert "\r" not in parsed.text


@pytest.mark.parametrize("suffix", ["docx", "pptx", "html", "eml", "odt"])
def test_headings(suffix: str) -> None:
    text = parse_file(f"report.{suffix}", OFFICE[suffix]())
    assert any(line.lstrip("# ") == "Annual report" for line in text.split("\n") if line.startswith("#"))


def test_order_of_a_word_document() -> None:
    text = parse_file("a.docx", corpus.docx())
    places = [text.index(part) for part in ("# Annual report", "dredged", "## Ports", "| Port |", "After the table.")]
    assert places == sorted(places)


def test_notes_of_slides_are_kept_with_the_number_of_the_slide() -> None:
    text = parse_file("a.pptx", corpus.pptx())
    assert "Slide 2: Mention the cost.\nThank the pilots." in text
    assert "Slide 1" not in text


def test_sheets_are_headings_and_cells_are_escaped() -> None:
    text = parse_file("a.xlsx", corpus.xlsx())
    assert text.index("## Ports") < text.index("Left\\|right") < text.index("## Ships") < text.index("1931-04-01")


def test_web_pages_lose_scripts_styles_and_navigation_but_not_their_title() -> None:
    text = parse_file("a.html", corpus.html())
    assert text.startswith("# Annual report & outlook\n")
    assert not any(part in text for part in ("alert", "color: red", "Home", "---\n\n## title"))


def test_chapters_are_in_order() -> None:
    text = parse_file("a.epub", corpus.epub())
    assert text.index("Chapter 1") < text.index("Chapter 2")


def test_a_page_of_a_pdf_that_is_a_picture_is_named() -> None:
    parsed = parse_content(FileContent("a.pdf", corpus.picture_pdf(text_on_first_page=True)))
    assert "Only this page has text." in parsed.text
    assert parsed.warnings == ("pages without text, empty or pictures: 2",)


def test_a_pdf_with_the_right_password() -> None:
    data = corpus.pdf(password="secret")
    assert corpus.LATIN_SENTENCE in parse_file("a.pdf", data, passwords=["wrong", "secret"])


def test_an_odd_pdf_is_read_by_the_second_reader() -> None:
    odd = corpus.pdf(table=False).replace(b"/Root", b"/Roof")
    parsed = parse_content(FileContent("a.pdf", odd))
    assert corpus.LATIN_SENTENCE in parsed.text
    assert parsed.warnings == ("the file is damaged; it was read by a simpler reader, without headings and tables",)


@pytest.mark.parametrize("suffix", OFFICE)
def test_without_the_extra_the_message_names_it(suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("kreuzberg", "kreuzberg.exceptions", "pypdf"):
        monkeypatch.setitem(sys.modules, package, None)
    name = f"a.{suffix}"
    if suffix == "eml":
        # A letter is read without it; only what is attached is not.
        parsed = parse_content(FileContent(name, corpus.eml()))
        assert corpus.SENTENCE in parsed.text
        assert "lightrag-hku[documents]" in parsed.warnings[0]
        return
    with pytest.raises(MissingDependencyError, match=r"lightrag-hku\[documents\]") as caught:
        parse_file(name, OFFICE[suffix]())
    assert f"'{name}'" in str(caught.value)
