"""Documents of office programs: text, spreadsheets, slides, books."""

from __future__ import annotations

import posixpath
import zipfile
from xml.etree import ElementTree

from lightrag.exceptions import InputError
from lightrag.parser.archives import open_archive, read_entry
from lightrag.parser.extraction import extract_text
from lightrag.parser.result import FileContent, ParsedText

_OOXML = "application/vnd.openxmlformats-officedocument"
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_PRESENTATION = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_RELATION_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_NOTES_RELATION = "/relationships/notesSlide"


def parse_docx(content: FileContent) -> ParsedText:
    """Parse a Word document; headings and tables are kept, running headers are not.

    Raises:
        InputError: It is damaged or holds no text.
        MissingDependencyError: The extra ``documents`` is not installed.
    """
    return ParsedText(extract_text(content, f"{_OOXML}.wordprocessingml.document"))


def parse_xlsx(content: FileContent) -> ParsedText:
    """Parse an Excel workbook: each sheet becomes a heading and a table.

    Raises:
        InputError: It is damaged or holds no text.
        MissingDependencyError: The extra ``documents`` is not installed.
    """
    return ParsedText(extract_text(content, f"{_OOXML}.spreadsheetml.sheet"))


def parse_odt(content: FileContent) -> ParsedText:
    """Parse an OpenDocument text; headings and tables are kept.

    Raises:
        InputError: It is damaged or holds no text.
        MissingDependencyError: The extra ``documents`` is not installed.
    """
    return ParsedText(extract_text(content, "application/vnd.oasis.opendocument.text"))


def parse_epub(content: FileContent) -> ParsedText:
    """Parse an electronic book, chapter by chapter.

    Raises:
        InputError: It is damaged or holds no text.
        MissingDependencyError: The extra ``documents`` is not installed.
    """
    return ParsedText(extract_text(content, "application/epub+zip"))


def parse_rtf(content: FileContent) -> ParsedText:
    """Parse Rich Text.

    Raises:
        InputError: It is damaged or holds no text.
        MissingDependencyError: The extra ``documents`` is not installed.
    """
    return ParsedText(extract_text(content, "application/rtf"))


def parse_pptx(content: FileContent) -> ParsedText:
    """Parse a PowerPoint presentation: slides with their tables, then the speaker's notes.

    Raises:
        InputError: It is damaged or holds no text.
        MissingDependencyError: The extra ``documents`` is not installed.
    """
    text = extract_text(content, f"{_OOXML}.presentationml.presentation")
    # The library leaves the notes out of its Markdown.
    try:
        with open_archive(content.data, content.source) as archive:
            notes = _speaker_notes(archive, content.source)
    except InputError as error:
        return ParsedText(text, (f"the speaker's notes were left out: {error}",))
    if not notes:
        return ParsedText(text)
    lines = "\n\n".join(f"Slide {number}: {note}" for number, note in notes)
    return ParsedText(f"{text.rstrip()}\n\n## Speaker notes\n\n{lines}\n")


def _speaker_notes(archive: zipfile.ZipFile, source: str) -> list[tuple[int, str]]:
    """Return number of slide and notes, in the order in which the slides are shown."""
    targets = _relations(archive, "ppt/presentation.xml", source)
    notes: list[tuple[int, str]] = []
    slides = _xml(archive, "ppt/presentation.xml", source).iter(f"{_PRESENTATION}sldId")
    for number, slide in enumerate(slides, start=1):
        _, path = targets.get(slide.get(_RELATION_ID, ""), ("", ""))
        for kind, target in _relations(archive, path, source).values():
            if kind.endswith(_NOTES_RELATION):
                text = _notes_text(_xml(archive, target, source))
                if text:
                    notes.append((number, text))
    return notes


def _relations(archive: zipfile.ZipFile, part: str, source: str) -> dict[str, tuple[str, str]]:
    """Return kind and path of what a part refers to, by the ids it uses."""
    folder, name = posixpath.split(part)
    listed = f"{folder}/_rels/{name}.rels"
    if listed not in archive.namelist():
        return {}
    return {
        relation.get("Id", ""): (
            relation.get("Type", ""),
            posixpath.normpath(posixpath.join(folder, relation.get("Target", ""))).lstrip("/"),
        )
        for relation in _xml(archive, listed, source)
        if relation.get("TargetMode") != "External"
    }


def _xml(archive: zipfile.ZipFile, name: str, source: str) -> ElementTree.Element:
    data = read_entry(archive, name, source)
    # Office programs never write a document type, and only with one can XML define entities that grow.
    if b"<!DOCTYPE" in data:
        raise InputError(f"{source!r} is damaged: its part {name!r} has a document type")
    try:
        return ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise InputError(f"{source!r} is damaged: its part {name!r} is not XML ({error})") from error


def _notes_text(notes: ElementTree.Element) -> str:
    """Return the text of the notes; slide number and date, which stand on the same page, are left out."""
    paragraphs: list[str] = []
    for shape in notes.iter(f"{_PRESENTATION}sp"):
        placeholder = shape.find(f".//{_PRESENTATION}ph")
        if placeholder is None or placeholder.get("type") != "body":
            continue
        for paragraph in shape.iter(f"{_DRAWING}p"):
            text = "".join(run.text or "" for run in paragraph.iter(f"{_DRAWING}t")).strip()
            if text:
                paragraphs.append(text)
    return "\n".join(paragraphs)
