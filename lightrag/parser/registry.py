"""The parsers by file name suffix."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from lightrag.exceptions import InputError
from lightrag.parser.markdown import parse_markdown
from lightrag.parser.text import parse_text

# parser(source path, bytes) -> text. Raises InputError when the bytes are not what the suffix promises.
Parser = Callable[[str, bytes], str]

_TEXT_SUFFIXES = (
    ".txt", ".text", ".log", ".csv", ".tsv", ".json", ".jsonl", ".xml", ".yaml", ".yml", ".toml", ".conf", ".ini",
    ".properties", ".sql", ".tex", ".bat", ".sh", ".c", ".h", ".cpp", ".hpp", ".py", ".java", ".js", ".ts", ".swift",
    ".go", ".rb", ".rs", ".php", ".css", ".scss", ".less",
)  # fmt: skip
_MARKDOWN_SUFFIXES = (".md", ".mdx", ".markdown")

PARSERS: dict[str, Parser] = {
    **dict.fromkeys(_TEXT_SUFFIXES, parse_text),
    **dict.fromkeys(_MARKDOWN_SUFFIXES, parse_markdown),
}


def suffix_of(source: str) -> str:
    """Return the suffix of a path in small letters, its dot included; ``""`` if it has none."""
    return PurePosixPath(source.replace("\\", "/")).suffix.lower()


def supported_extensions() -> list[str]:
    """Return the suffixes that can be parsed, sorted."""
    return sorted(PARSERS)


def is_supported(source: str) -> bool:
    """Tell whether there is a parser for a file name."""
    return suffix_of(source) in PARSERS


def parse_file(source: str, data: bytes) -> str:
    r"""Return the text of a file.

    Args:
        source: Its path; the suffix chooses the parser.
        data: Its bytes.

    Returns:
        The text, with ``\n`` as line end; may be empty.

    Raises:
        InputError: There is no parser for the suffix, or the bytes are not what it promises.
    """
    parser = PARSERS.get(suffix_of(source))
    if parser is None:
        raise InputError(f"{source!r} cannot be parsed; supported are {', '.join(supported_extensions())}")
    return parser(source, data)
