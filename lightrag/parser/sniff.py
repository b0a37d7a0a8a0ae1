"""What a file is, told from its bytes, for its name may be wrong."""

from __future__ import annotations

import re
import zipfile

from lightrag.exceptions import InputError
from lightrag.parser.archives import open_archive, read_entry

HEAD_BYTES = 4096
"""So many bytes are enough to tell whether a file is binary; archives need all of theirs to tell which format."""

_ZIP = b"PK\x03\x04"
_EMPTY_ZIP = b"PK\x05\x06"
_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_RTF = b"{\\rtf"
_PDF = b"%PDF-"
# Readers accept a PDF that begins within the first kilobyte.
_PDF_WINDOW = 1024
_UTF8_MARK = b"\xef\xbb\xbf"
_HTML = re.compile(rb"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
# An encrypted office file is such a container with this one stream; the names in it are UTF-16.
_ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")

_NEVER_PARSED = (
    (b"\x89PNG\r\n\x1a\n", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"II*\x00", "a picture (TIFF)"),
    (b"MM\x00*", "a picture (TIFF)"),
    (b"\x1f\x8b\x08", "a compressed file (gzip)"),
    (b"7z\xbc\xaf\x27\x1c", "an archive (7z)"),
    (b"Rar!\x1a\x07", "an archive (RAR)"),
    (b"BZh91AY&SY", "a compressed file (bzip2)"),
    (b"\xfd7zXZ\x00", "a compressed file (xz)"),
    (b"\x28\xb5\x2f\xfd", "a compressed file (Zstandard)"),
    (b"\x7fELF", "a program (ELF)"),
    (b"SQLite format 3\x00", "a database (SQLite)"),
)
# Letters that text may begin with too count only with a NUL near by.
_NEVER_PARSED_IF_BINARY = (
    (b"MZ", "a program (Windows)"),
    (b"BM", "a picture (BMP)"),
    (b"GIF8", "a picture (GIF)"),
    (b"RIFF", "a media file (RIFF)"),
    (b"PAR1", "a data file (Parquet)"),
)

_OOXML_FOLDERS = (("word/", "docx"), ("ppt/", "pptx"), ("xl/", "xlsx"))
_MEDIA_TYPES = {
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.text-template": "odt",
    "application/epub+zip": "epub",
}
_LONGEST_MEDIA_TYPE = 200


def looks_binary(head: bytes) -> bool:
    """Tell whether a file begins like a binary format, so that it must not be parsed in the main process."""
    return (
        head.startswith((_ZIP, _EMPTY_ZIP, _OLE, _RTF))
        or _PDF in head[:_PDF_WINDOW]
        or _refused_kind(head[:HEAD_BYTES]) is not None
    )


def sniff(data: bytes, source: str) -> str | None:
    """Return the format of a file: ``pdf``, ``docx``, ``pptx``, ``xlsx``, ``odt``, ``epub``, ``rtf`` or ``html``.

    Args:
        data: All its bytes.
        source: Names the file in messages.

    Returns:
        The format, or ``None`` if nothing gives it away, as with all plain text.

    Raises:
        InputError: It is something that is never parsed: a picture, a program, an archive that is no document, a zip
            bomb, a document protected by a password.
    """
    if data.startswith((_ZIP, _EMPTY_ZIP)):
        with open_archive(data, source) as archive:
            return _archive_format(archive, source)
    if data.startswith(_RTF):
        return "rtf"
    # A mail that carries a PDF has its mark far behind; text about the format may have it anywhere near the front.
    position = data.find(_PDF, 0, _PDF_WINDOW)
    if position == 0 or (position > 0 and b"%%EOF" in data[-_PDF_WINDOW:]):
        return "pdf"
    if data.startswith(_OLE):
        raise _ole_refusal(data, source)
    refused = _refused_kind(data[:HEAD_BYTES])
    if refused is not None:
        raise InputError(f"{source!r} is {refused} by its content, whatever its name says; it cannot be parsed")
    return "html" if _begins_like_html(data[:HEAD_BYTES]) else None


def _begins_like_html(head: bytes) -> bool:
    # Comments are skipped by hand: a pattern that may repeat them tries every way of joining them.
    rest = head.removeprefix(_UTF8_MARK).lstrip()
    while rest.startswith(b"<!--"):
        _, closed, rest = rest.partition(b"-->")
        if not closed:
            return False
        rest = rest.lstrip()
    return _HTML.match(rest) is not None


def _refused_kind(head: bytes) -> str | None:
    for mark, kind in _NEVER_PARSED:
        if head.startswith(mark):
            return kind
    for mark, kind in _NEVER_PARSED_IF_BINARY:
        if head.startswith(mark) and 0 in head[:64]:
            return kind
    return None


def _archive_format(archive: zipfile.ZipFile, source: str) -> str:
    names = archive.namelist()
    if "mimetype" in names and archive.getinfo("mimetype").file_size <= _LONGEST_MEDIA_TYPE:
        media_type = read_entry(archive, "mimetype", source).decode("ascii", "replace").strip()
        found = _MEDIA_TYPES.get(media_type)
        if found == "odt" and b"encryption-data" in _manifest(archive, source):
            raise InputError(f"{source!r} is protected by a password; save it without one")
        if found is not None:
            return found
        raise InputError(f"{source!r} is a document of the type {media_type!r}, which cannot be parsed")
    if "[Content_Types].xml" in names:
        for folder, found in _OOXML_FOLDERS:
            if any(name.startswith(folder) for name in names):
                return found
    raise InputError(f"{source!r} is a zip archive, and no document; unpack it and add the files in it")


def _manifest(archive: zipfile.ZipFile, source: str) -> bytes:
    name = "META-INF/manifest.xml"
    return read_entry(archive, name, source) if name in archive.namelist() else b""


def _ole_refusal(data: bytes, source: str) -> InputError:
    if _ENCRYPTED_STREAM in data:
        return InputError(f"{source!r} is protected by a password; save it without one")
    return InputError(
        f"{source!r} is in the binary Office format of before 2007 (.doc, .xls, .ppt, .msg); save it as .docx, .xlsx, "
        ".pptx or .eml"
    )
