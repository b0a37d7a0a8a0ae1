"""Files that cannot be parsed: each with a plain reason that names the file."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Callable

import pytest

from lightrag.exceptions import InputError
from lightrag.parser.archives import MAX_ENTRIES
from lightrag.parser.registry import parse_content, parse_file
from lightrag.parser.result import FileContent
from tests.parser import corpus

FAULTS: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "password PDF": ("a.pdf", lambda: corpus.pdf(password="secret"), "is protected by a password"),
    "encrypted Office file": ("a.docx", lambda: corpus.ole("EncryptedPackage"), "is protected by a password"),
    "encrypted ODT": ("a.odt", lambda: corpus.odt(encrypted=True), "is protected by a password"),
    "picture-only PDF": ("a.pdf", corpus.picture_pdf, "holds no text: its page is a picture"),
    "empty Word document": ("a.docx", lambda: corpus.docx(empty=True), "holds no text"),
    "empty web page": ("a.html", lambda: b"<html><body></body></html>", "holds no text"),
    "half a PDF": ("a.pdf", lambda: half(corpus.pdf()), "is damaged: it begins like a PDF"),
    "rubbish after the mark of PDF": ("a.pdf", lambda: b"%PDF-1.4\n" + b"rubbish" * 50, "is damaged"),
    "half a Word document": ("a.docx", lambda: half(corpus.docx()), "is damaged: the end of its archive is missing"),
    "half a presentation": ("a.pptx", lambda: half(corpus.pptx()), "is damaged"),
    "half a workbook": ("a.xlsx", lambda: half(corpus.xlsx()), "is damaged"),
    "half a book": ("a.epub", lambda: half(corpus.epub()), "is damaged"),
    "half an ODT": ("a.odt", lambda: half(corpus.odt()), "is damaged"),
    "Word document with a damaged part": ("a.docx", lambda: corpus.docx_with(b"<w:doc", zipfile.ZIP_STORED), "a.docx"),
    "RTF without text": ("a.rtf", lambda: b"{\\rtf1 }", "holds no text"),
    "text named PDF": ("a.pdf", lambda: b"hello", "is not PDF by its content"),
    "text named Word document": ("a.docx", lambda: b"hello", "is not a Word document by its content"),
    "nothing named PDF": ("a.pdf", lambda: b"", "'a.pdf' is empty"),
    "text named letter": ("a.eml", lambda: b"hello", "is not a letter"),
    "picture named text": ("a.txt", lambda: b"\x89PNG\r\n\x1a\n" + bytes(100), r"is a picture \(PNG\) by its content"),
    "program named PDF": ("a.pdf", lambda: b"MZ" + bytes(100), r"is a program \(Windows\) by its content"),
    "zip named Word document": ("a.docx", lambda: corpus.archive({"a.txt": b"x"}), "is a zip archive, and no document"),
    "presentation of OpenDocument": (
        "a.odt",
        lambda: corpus.archive({"mimetype": b"application/vnd.oasis.opendocument.presentation"}),
        "of the type 'application/vnd.oasis.opendocument.presentation'",
    ),
    "Word document of before 2007": ("a.docx", corpus.ole, "of before 2007"),
    "rubbish named text": ("a.txt", lambda: bytes(range(256)) * 8, "no text in any other known encoding"),
}


def half(data: bytes) -> bytes:
    return data[: len(data) // 2]


@pytest.mark.parametrize("fault", FAULTS)
def test_fault(fault: str) -> None:
    name, make, message = FAULTS[fault]
    with pytest.raises(InputError, match=message) as caught:
        parse_file(name, make())
    assert f"'{name}'" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_wrong_password_is_said_to_be() -> None:
    with pytest.raises(InputError, match="the passwords given do not open it"):
        parse_file("a.pdf", corpus.pdf(password="secret"), passwords=["wrong"])


def test_a_name_with_the_word_password_is_no_protected_file() -> None:
    with pytest.raises(InputError, match="is damaged"):
        parse_file("password.pdf", half(corpus.pdf()))


def test_zip_bomb_by_ratio() -> None:
    bomb = corpus.docx_with(b"<w:document>" + bytes(20_000_000), zipfile.ZIP_DEFLATED)
    with pytest.raises(InputError, match=r"'a\.docx' is refused as a zip bomb: it unpacks to \d+ times its size"):
        parse_file("a.docx", bomb)


def test_zip_bomb_by_size() -> None:
    bomb = corpus.with_promised_size(corpus.docx(), "word/document.xml", 600_000_000)
    with pytest.raises(InputError, match="refused as a zip bomb: it unpacks to 600,"):
        parse_file("a.docx", bomb)


def test_zip_bomb_by_number_of_entries() -> None:
    bomb = corpus.archive({str(number): b"" for number in range(MAX_ENTRIES + 1)})
    with pytest.raises(InputError, match="refused as a zip bomb: it has more than 10,000 entries"):
        parse_file("a.docx", bomb)


def test_well_packed_small_documents_are_no_bombs() -> None:
    packed = corpus.archive({"mimetype": b"application/epub+zip", "x": bytes(5_000_000)}, zipfile.ZIP_DEFLATED)
    with pytest.raises(InputError) as caught:
        parse_file("a.epub", packed)
    assert "bomb" not in str(caught.value)


def test_an_entry_larger_than_promised_is_not_unpacked() -> None:
    liar = corpus.with_promised_size(corpus.odt(), "META-INF/manifest.xml", 10)
    with pytest.raises(InputError, match=r"its part 'META-INF/manifest\.xml' cannot be read"):
        parse_file("a.odt", liar)


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.docx", corpus.pdf, "PDF"),
        ("a.txt", corpus.pdf, "PDF"),
        ("a.pdf", corpus.docx, "a Word document"),
        ("a.xlsx", corpus.docx, "a Word document"),
        ("a.docx", corpus.html, "a web page"),
        ("a.md", corpus.rtf, "Rich Text"),
    ],
)
def test_a_wrong_suffix_does_not_matter_but_is_said(name: str, data: Callable[[], bytes], kind: str) -> None:
    parsed = parse_content(FileContent(name, data()))
    assert "The harbour of Orlmark was dredged" in parsed.text or "The **town**" in parsed.text
    assert parsed.warnings[0] == f"it is {kind} by its content, whatever its name says, and was parsed as that"


def test_text_about_formats_is_text() -> None:
    for text in ("<html> is how a page begins", "The mark of a PDF is %PDF-1.4, as everyone knows.", "PK is a name"):
        assert parse_file("a.md", text.encode()) == text


def test_xml_that_grows_is_not_read_in_presentations() -> None:
    import io

    with zipfile.ZipFile(io.BytesIO(corpus.pptx())) as original:
        entries = {name: original.read(name) for name in original.namelist()}
    notes = next(name for name in entries if name.startswith("ppt/notesSlides/notesSlide"))
    entries[notes] = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "' + b"b" * 1000 + b'">]><a>&b;&b;</a>'
    parsed = parse_content(FileContent("a.pptx", corpus.archive(entries)))
    assert corpus.SENTENCE in parsed.text
    assert "the speaker's notes were left out" in parsed.warnings[0]
    assert "has a document type" in parsed.warnings[0]


@pytest.mark.parametrize("suffix", ["docx", "pptx", "xlsx", "epub", "odt", "pdf", "rtf", "html", "eml"])
def test_damage_anywhere_gives_text_or_a_reason(suffix: str) -> None:
    data = getattr(corpus, suffix)()
    chance = random.Random(suffix)
    reasons = []
    for _ in range(25):
        damaged = bytearray(data)
        for _ in range(chance.choice([1, 5, 30, 200])):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        try:
            parse_file(f"a.{suffix}", bytes(damaged))
        except InputError as error:
            reasons.append(str(error))
    assert all(f"'a.{suffix}'" in reason for reason in reasons)
