"""PDF: text with headings, tables that have ruled lines, and a second reader for files that are not quite right."""

from __future__ import annotations

from lightrag.exceptions import InputError
from lightrag.parser.extraction import ProtectedError, extract
from lightrag.parser.pdf_reader import open_pdf, reader_errors
from lightrag.parser.pdf_tables import insert_tables, ruled_tables
from lightrag.parser.result import FileContent, ParsedText
from lightrag.parser.text import unify_line_ends

_MEDIA_TYPE = "application/pdf"
_SHOWN_PAGES = 10


def parse_pdf(content: FileContent) -> ParsedText:
    """Parse a PDF: Markdown with headings, and tables where ruled lines show them.

    Raises:
        InputError: It is damaged, protected by a password, or has no text because its pages are pictures.
        MissingDependencyError: The extra ``documents`` is not installed.
    """
    source = content.source
    try:
        result = extract(content, _MEDIA_TYPE)
    except ProtectedError:
        raise
    except InputError:
        return _parse_with_second_reader(
            content, InputError(f"{source!r} is damaged: it begins like a PDF, but cannot be read as one")
        )
    text = unify_line_ends(result.content)
    pages = result.pages or []
    blank = [int(page["page_number"]) for page in pages if not page["content"].strip()]
    if not text.strip():
        return _parse_with_second_reader(content, _no_text(source, len(pages)))
    warnings = [_blank_pages(blank)] if blank else []
    reader = open_pdf(content)
    if reader is not None:
        text = insert_tables(text, ruled_tables(reader))
    return ParsedText(text, tuple(warnings))


def _no_text(source: str, pages: int) -> InputError:
    what = "its page is a picture" if pages == 1 else f"its {pages} pages are pictures" if pages else "it has no pages"
    return InputError(
        f"{source!r} holds no text: {what}. Recognise the text first, or parse it with an engine that does, 'docling' "
        "or 'mineru'"
    )


def _blank_pages(numbers: list[int]) -> str:
    shown = ", ".join(str(number) for number in numbers[:_SHOWN_PAGES])
    more = f" and {len(numbers) - _SHOWN_PAGES} more" if len(numbers) > _SHOWN_PAGES else ""
    return f"pages without text, empty or pictures: {shown}{more}"


def _parse_with_second_reader(content: FileContent, refusal: InputError) -> ParsedText:
    """Parse what the first reader could not.

    Raises:
        InputError: The second reader finds no text either.
    """
    reader = open_pdf(content)
    if reader is None:
        raise refusal
    texts: list[str] = []
    broken: list[int] = []
    for number in range(len(reader.pages)):
        try:
            texts.append(unify_line_ends(reader.pages[number].extract_text()).strip())
        except reader_errors():
            broken.append(number + 1)
    text = "\n\n".join(page for page in texts if page)
    if not text:
        raise refusal if broken else _no_text(content.source, len(reader.pages))
    warnings = ["the file is damaged; it was read by a simpler reader, without headings and tables"]
    if broken:
        warnings.append(f"damaged pages were left out: {', '.join(map(str, broken[:_SHOWN_PAGES]))}")
    return ParsedText(text, tuple(warnings))
