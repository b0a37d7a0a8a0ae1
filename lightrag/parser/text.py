"""Plain text, and everything that is text already: logs, tables, configuration, program sources."""

from __future__ import annotations

import codecs

from lightrag.exceptions import InputError

# UTF-32 LE begins with the mark of UTF-16 LE, so it stands first.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Text may hold a stray NUL; a tenth of them is UTF-16 without its mark, or no text at all.
_MAX_NUL_SHARE = 0.1


def decode_text(data: bytes | str, source: str = "text") -> str:
    r"""Return the text of a file, with ``\n`` as line end and without a byte order mark.

    Args:
        data: UTF-8 with or without byte order mark, or UTF-16 or UTF-32 with one. A ``str`` is text already.
        source: Names the file in messages.

    Raises:
        InputError: The bytes are in none of these encodings. Other encodings are not guessed, because a wrong
            guess gives wrong letters that nobody notices.
    """
    if isinstance(data, str):
        return unify_line_ends(data.removeprefix("\ufeff"))
    encoding, body = "utf-8", data
    for mark, name in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            encoding, body = name, data[len(mark) :]
            break
    if encoding == "utf-8" and body.count(0) > len(body) * _MAX_NUL_SHARE:
        raise InputError(f"{source!r} is binary, or UTF-16 without a byte order mark; save it as UTF-8")
    try:
        return unify_line_ends(body.decode(encoding))
    except UnicodeDecodeError as error:
        raise InputError(
            f"{source!r} is not {encoding.upper()}: byte {body[error.start]:#04x} at position {error.start} "
            f"({error.reason}); allowed are UTF-8, and UTF-16 or UTF-32 with a byte order mark"
        ) from error


def unify_line_ends(text: str) -> str:
    r"""Return a text whose lines all end with ``\n``."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def parse_text(source: str, data: bytes) -> str:
    """Parse a plain text file.

    Raises:
        InputError: Its encoding is not supported.
    """
    return decode_text(data, source)
