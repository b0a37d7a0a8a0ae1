"""The files of the parsing corpus, each made when it is asked for."""

from __future__ import annotations

import datetime
import io
import struct
import zipfile
from email.message import EmailMessage
from typing import Any
from xml.sax.saxutils import escape

TABLE = [["Port", "Depth"], ["Orlmark", "12 m"], ["Tessin", "9 m"]]
SENTENCE = "The harbour of Orlmark was dredged in 1931. Größe: 日本語."
LATIN_SENTENCE = "The harbour of Orlmark was dredged in 1931. Größe."
_OPEN_DOCUMENT = "urn:oasis:names:tc:opendocument:xmlns"


def pdf(*, pages: int = 1, password: str | None = None, table: bool = True) -> bytes:
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Table

    styles = getSampleStyleSheet()
    story: list[Any] = []
    for number in range(1, pages + 1):
        story += [Paragraph(f"Report {number}", styles["Heading1"]), Paragraph(LATIN_SENTENCE, styles["BodyText"])]
        if table:
            story.append(Table(TABLE, style=[("GRID", (0, 0), (-1, -1), 1, (0, 0, 0))]))
        story += [Paragraph("After the table.", styles["BodyText"]), PageBreak()]
    buffer = io.BytesIO()
    encrypt = StandardEncryption(password, ownerPassword="owner") if password else None
    SimpleDocTemplate(buffer, encrypt=encrypt).build(story)
    return buffer.getvalue()


def picture_pdf(*, text_on_first_page: bool = False) -> bytes:
    from PIL import Image
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    if text_on_first_page:
        canvas.drawString(100, 700, "Only this page has text.")
        canvas.showPage()
    canvas.drawImage(ImageReader(Image.new("RGB", (200, 100), "red")), 100, 500)
    canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def odd_pdf() -> bytes:
    """A PDF whose text the strict reader refuses to open, because the root of its objects is missing."""
    content = b"BT /F1 12 Tf 72 700 Td (Dredged in 1931) Tj ET"
    return (
        b"%PDF-1.4\n1 0 obj\n<< /Type /Pages /Kids [2 0 R] /Count 1 >>\nendobj\n"
        b"2 0 obj\n<< /Type /Page /Parent 1 0 R /MediaBox [0 0 612 792] /Contents 3 0 R "
        b"/Resources << /Font << /F1 4 0 R >> >> >>\nendobj\n3 0 obj\n<< /Length "
        + str(len(content)).encode()
        + b" >>\nstream\n"
        + content
        + b"\nendstream\nendobj\n4 0 obj\n<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>\nendobj\n"
        b"5 0 obj\n<< /Type /Catalog /Pages 1 0 R >>\nendobj\ntrailer\n<< /Root 9 0 R /Size 6 >>\n%%EOF\n"
    )


def docx(*, empty: bool = False) -> bytes:
    from docx import Document

    document = Document()
    if not empty:
        document.add_heading("Annual report", 1)
        document.add_paragraph(SENTENCE)
        document.add_heading("Ports", 2)
        table = document.add_table(rows=len(TABLE), cols=2)
        for row, values in enumerate(TABLE):
            for column, value in enumerate(values):
                table.cell(row, column).text = value
        document.add_paragraph("After the table.")
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def pptx() -> bytes:
    from pptx import Presentation
    from pptx.util import Inches

    presentation = Presentation()
    first = presentation.slides.add_slide(presentation.slide_layouts[5])
    first.shapes.title.text = "Annual report"
    table = first.shapes.add_table(len(TABLE), 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    for row, values in enumerate(TABLE):
        for column, value in enumerate(values):
            table.cell(row, column).text = value
    second = presentation.slides.add_slide(presentation.slide_layouts[1])
    second.shapes.title.text = "Outlook"
    second.placeholders[1].text = SENTENCE
    second.notes_slide.notes_text_frame.text = "Mention the cost.\nThank the pilots."
    buffer = io.BytesIO()
    presentation.save(buffer)
    return buffer.getvalue()


def xlsx() -> bytes:
    from openpyxl import Workbook

    workbook = Workbook()
    ports = workbook.active
    ports.title = "Ports"
    for row in [*TABLE, ["Left|right", 9.5]]:
        ports.append(row)
    ships = workbook.create_sheet("Ships")
    ships.append(["Ship", "Built"])
    ships.append(["Aurora", datetime.date(1931, 4, 1)])
    buffer = io.BytesIO()
    workbook.save(buffer)
    return buffer.getvalue()


def epub() -> bytes:
    from ebooklib import epub as book_format

    book = book_format.EpubBook()
    book.set_identifier("harbours")
    book.set_title("Harbours")
    book.set_language("en")
    chapters = []
    for number in (1, 2):
        chapter = book_format.EpubHtml(title=f"Chapter {number}", file_name=f"chapter{number}.xhtml")
        chapter.content = f"<h1>Chapter {number}</h1><p>{SENTENCE}</p>{html_table()}"
        book.add_item(chapter)
        chapters.append(chapter)
    book.toc = chapters
    book.spine = ["nav", *chapters]
    book.add_item(book_format.EpubNcx())
    book.add_item(book_format.EpubNav())
    buffer = io.BytesIO()
    book_format.write_epub(buffer, book)
    return buffer.getvalue()


def odt(*, encrypted: bool = False) -> bytes:
    secret = '<manifest:encryption-data manifest:checksum="x"/>' if encrypted else ""
    manifest = (
        '<?xml version="1.0"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        '<manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.text"/>'
        f'<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml">{secret}'
        "</manifest:file-entry></manifest:manifest>"
    )
    cells = "".join(
        "<table:table-row>"
        + "".join(f"<table:table-cell><text:p>{value}</text:p></table:table-cell>" for value in row)
        + "</table:table-row>"
        for row in TABLE
    )
    content = (
        '<?xml version="1.0" encoding="UTF-8"?>'
        f'<office:document-content xmlns:office="{_OPEN_DOCUMENT}:office:1.0" '
        f'xmlns:text="{_OPEN_DOCUMENT}:text:1.0" xmlns:table="{_OPEN_DOCUMENT}:table:1.0" office:version="1.2">'
        "<office:body><office:text>"
        f'<text:h text:outline-level="1">Annual report</text:h><text:p>{SENTENCE}</text:p>'
        f'<table:table table:name="Ports"><table:table-column table:number-columns-repeated="2"/>{cells}</table:table>'
        "</office:text></office:body></office:document-content>"
    )
    return archive(
        {
            "mimetype": b"application/vnd.oasis.opendocument.text",
            "META-INF/manifest.xml": manifest.encode(),
            "content.xml": content.encode(),
        }
    )


def rtf() -> bytes:
    rows = "".join(rf"\trowd\cellx1000\cellx2000\intbl {row[0]}\cell {row[1]}\cell\row" for row in TABLE)
    text = r"The harbour of Orlmark was dredged in 1931. Gr\'f6\'dfe: \u26085?\u26412?\u-30050?."
    head = r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Times;}}"
    return (head + r"{\pard\b Annual report\b0\par}{\pard " + text + r"\par}{" + rows + "}}").encode("ascii")


def html_table() -> str:
    first, *others = TABLE
    head = "".join(f"<th>{value}</th>" for value in first)
    rows = "".join("<tr>" + "".join(f"<td>{value}</td>" for value in row) + "</tr>" for row in others)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def html(*, charset: str = "utf-8", declare: bool = True, sentence: str = SENTENCE) -> bytes:
    meta = f'<meta charset="{charset}">' if declare else ""
    page = (
        f"<!DOCTYPE html><html><head>{meta}<title>Annual report &amp; outlook</title><style>p {{color: red}}</style>"
        "<script>alert('never')</script></head><body><nav><a href='/'>Home</a></nav><h1>Annual report</h1>"
        f"<p>The <b>town</b>. {escape(sentence)}</p>{html_table()}</body></html>"
    )
    return page.encode(charset)


def letter(*, body: str | None = SENTENCE, charset: str = "utf-8") -> EmailMessage:
    message = EmailMessage()
    message["From"] = "Ada <ada@example.org>"
    message["To"] = "bob@example.org"
    message["Subject"] = "Hafen größe"
    message["Date"] = "Tue, 02 Mar 1926 10:00:00 +0100"
    if body is not None:
        message.set_content(body, charset=charset)
    return message


def eml() -> bytes:
    message = letter()
    message.add_alternative("<p>The same in HTML</p>", subtype="html")
    message.add_attachment(
        docx(),
        maintype="application",
        subtype="vnd.openxmlformats-officedocument.wordprocessingml.document",
        filename="report.docx",
    )
    return message.as_bytes()


def archive(entries: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        for name, data in entries.items():
            file.writestr(name, data)
    return buffer.getvalue()


def docx_with(document_xml: bytes, compression: int) -> bytes:
    """A Word document with another body."""
    with zipfile.ZipFile(io.BytesIO(docx())) as original:
        entries = {name: original.read(name) for name in original.namelist()}
    return archive({**entries, "word/document.xml": document_xml}, compression)


def large_docx(megabytes: int) -> bytes:
    """A Word document that is large without being packed, so that it is no zip bomb but needs much memory."""
    with zipfile.ZipFile(io.BytesIO(docx())) as original:
        xml = original.read("word/document.xml")
    paragraph = b"<w:p><w:r><w:t>The harbour of Orlmark was dredged.</w:t></w:r></w:p>"
    place = xml.index(b"<w:body>") + len(b"<w:body>")
    body = paragraph * (megabytes * 1_000_000 // len(paragraph))
    return docx_with(xml[:place] + body + xml[place:], zipfile.ZIP_STORED)


def with_promised_size(data: bytes, name: str, size: int) -> bytes:
    """The same archive, its directory saying that one entry unpacks to so many bytes."""
    signature = data.index(b"PK\x01\x02")
    while True:
        name_length = struct.unpack_from("<H", data, signature + 28)[0]
        if data[signature + 46 : signature + 46 + name_length] == name.encode():
            return data[: signature + 24] + struct.pack("<I", size) + data[signature + 28 :]
        signature = data.index(b"PK\x01\x02", signature + 4)


def ole(stream: str = "WordDocument") -> bytes:
    """The beginning of a container of the Office programs of before 2007, and of encrypted files of today."""
    return bytes.fromhex("d0cf11e0a1b11ae1") + bytes(504) + stream.encode("utf-16-le") + bytes(512)
