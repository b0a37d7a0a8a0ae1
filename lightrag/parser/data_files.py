"""JSON, XML and YAML: text whose structure says what its values mean, so all of it is kept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from lightrag.parser.result import FileContent, ParsedText
from lightrag.parser.text import read_text

# Without an end it takes the rest of its line: trying again at every later quotation mark would cost the square.
_STRING = r'"(?:[^"\\\n]++|\\.)*+"?'
_TOKEN = re.compile(rf"{_STRING}|[\[\]{{}}:,]|[^\s\[\]{{}}:,\"]+")
_ESCAPED_STRING = re.compile(_STRING)
_LONGEST_LINE = 1000
# More than that shows nobody where a line belongs, and would make a deep file grow by its depth for every value.
_DEEPEST_INDENT = 20
_XML_ENCODING = re.compile(rb"""^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")


def parse_json(content: FileContent) -> ParsedText:
    r"""Parse JSON: letters written as ``\uXXXX`` become letters, and a file that is one long line gets lines.

    Numbers, order and repeated keys stay as they are. A file that is not valid JSON stays text, with a warning.

    Raises:
        InputError: The bytes are no text.
        MissingDependencyError: The encoding has to be guessed, and the package that does is not installed.
    """
    parsed = read_text(content)
    if not parsed.text.strip():
        return parsed
    try:
        # Only whether it can be read: what it gives would lose repeated keys and the digits of numbers.
        json.loads(parsed.text, parse_int=len, parse_float=len)
    except (ValueError, RecursionError) as error:
        return replace(parsed, warnings=(*parsed.warnings, f"it is not valid JSON ({error}) and was kept as text"))
    text = _with_letters(parsed.text)
    if any(len(line) > _LONGEST_LINE for line in text.split("\n")):
        text = "".join(_indented(text))
    return replace(parsed, text=text)


def parse_json_lines(content: FileContent) -> ParsedText:
    r"""Parse a file with one JSON value per line; letters written as ``\uXXXX`` become letters.

    Raises:
        InputError: The bytes are no text.
        MissingDependencyError: The encoding has to be guessed, and the package that does is not installed.
    """
    parsed = read_text(content)
    return replace(parsed, text=_with_letters(parsed.text))


def parse_xml(content: FileContent) -> ParsedText:
    """Parse XML, in the encoding that it declares; elements and attributes stay.

    Nothing is expanded, so no entity can grow or fetch anything.

    Raises:
        InputError: The bytes are no text.
        MissingDependencyError: The encoding has to be guessed, and the package that does is not installed.
    """
    found = _XML_ENCODING.match(content.data[:300])
    return read_text(content, found[1].decode("ascii") if found else None)


def _with_letters(text: str) -> str:
    return _ESCAPED_STRING.sub(_letters, text) if "\\u" in text else text


def _letters(found: re.Match[str]) -> str:
    literal = found[0]
    if "\\u" not in literal:
        return literal
    try:
        value = json.loads(literal)
    except ValueError:
        return literal
    # Half of a surrogate pair is no character and must stay an escape.
    return literal if any("\ud800" <= character <= "\udfff" for character in value) else json.dumps(
        value, ensure_ascii=False
    )  # fmt: skip


def _indented(text: str) -> Iterator[str]:
    """Yield valid JSON again, with a line for every member of an object or array."""
    depth, opened = 0, False

    def margin() -> str:
        return f"\n{' ' * min(depth, _DEEPEST_INDENT)}"

    for found in _TOKEN.finditer(text):
        token = found[0]
        if token in ("}", "]"):
            depth -= 1
            yield token if opened else f"{margin()}{token}"
            opened = False
            continue
        if opened:
            yield margin()
        opened = token in ("{", "[")
        if opened:
            depth += 1
        yield f",{margin()}" if token == "," else ": " if token == ":" else token
