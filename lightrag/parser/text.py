"""Plain text, and everything that is text already: logs, configuration, program sources, Markdown."""

from __future__ import annotations

from lightrag.parser.encodings import decode
from lightrag.parser.result import FileContent, ParsedText


def decode_text(data: bytes | str, source: str = "text") -> str:
    r"""Return the text of a file, with ``\n`` as line end and without a byte order mark.

    Args:
        data: Text in any encoding that :func:`~lightrag.parser.encodings.decode` knows. A ``str`` is text already.
        source: Names the file in messages.

    Raises:
        InputError: The bytes are no text.
        MissingDependencyError: The encoding has to be guessed, and the package that does is not installed.
    """
    if isinstance(data, str):
        return unify_line_ends(data.removeprefix("\ufeff"))
    return unify_line_ends(decode(data, source).text)


def unify_line_ends(text: str) -> str:
    r"""Return a text whose lines all end with ``\n``."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def read_text(content: FileContent, declared: str | None = None) -> ParsedText:
    """Decode a file, and warn when its encoding was a guess or some of it is broken.

    Args:
        content: A text file.
        declared: Encoding that the file claims, if it does.

    Raises:
        InputError: The bytes are no text.
        MissingDependencyError: The encoding has to be guessed, and the package that does is not installed.
    """
    decoded = decode(content.data, content.source, declared)
    warnings = [f"the encoding was guessed to be {decoded.encoding}"] if decoded.guessed else []
    if decoded.replaced:
        warnings.append(f"broken characters were replaced by U+FFFD: {decoded.replaced}")
    return ParsedText(unify_line_ends(decoded.text), tuple(warnings))


def parse_text(content: FileContent) -> ParsedText:
    """Parse a plain text file.

    Raises:
        InputError: The bytes are no text.
        MissingDependencyError: The encoding has to be guessed, and the package that does is not installed.
    """
    return read_text(content)
