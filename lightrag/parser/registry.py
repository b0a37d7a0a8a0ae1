"""The parsers by file name suffix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from lightrag.exceptions import InputError
from lightrag.parser import mail, office
from lightrag.parser.data_files import parse_json, parse_json_lines, parse_xml
from lightrag.parser.delimited import parse_delimited
from lightrag.parser.markdown import parse_markdown
from lightrag.parser.pdf import parse_pdf
from lightrag.parser.result import FileContent, ParsedText, Parser
from lightrag.parser.sniff import looks_binary, sniff
from lightrag.parser.text import parse_text
from lightrag.parser.web_page import parse_html


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file.

    Attributes:
        name: What it is called in messages.
        parse: Its parser.
        isolated: Whether it is parsed in a process of its own, for a hostile file could exhaust or crash the parser.
        is_binary: Whether every file of this kind can be told by its first bytes.
    """

    name: str
    parse: Parser
    isolated: bool = True
    is_binary: bool = True


def _parse_mail(content: FileContent) -> ParsedText:
    return mail.parse_mail(content, _parse_attachment)


def _parse_attachment(content: FileContent) -> ParsedText:
    if not is_supported(content.source):
        raise InputError(f"{content.source!r} is of a type that cannot be parsed")
    if suffix_of(content.source) == ".eml":
        return mail.parse_mail(content, mail.refuse_nested)
    return parse_content(content)


_TEXT = Format("text", parse_text, isolated=False, is_binary=False)
_FORMATS: dict[str, Format] = {
    "markdown": Format("Markdown", parse_markdown, isolated=False, is_binary=False),
    "table": Format("a table", parse_delimited, isolated=False, is_binary=False),
    "json": Format("JSON", parse_json, isolated=False, is_binary=False),
    "jsonl": Format("JSON lines", parse_json_lines, isolated=False, is_binary=False),
    "xml": Format("XML", parse_xml, isolated=False, is_binary=False),
    "html": Format("a web page", parse_html, is_binary=False),
    "eml": Format("a letter", _parse_mail, is_binary=False),
    "pdf": Format("PDF", parse_pdf),
    "docx": Format("a Word document", office.parse_docx),
    "pptx": Format("a PowerPoint presentation", office.parse_pptx),
    "xlsx": Format("an Excel workbook", office.parse_xlsx),
    "odt": Format("an OpenDocument text", office.parse_odt),
    "epub": Format("an EPUB book", office.parse_epub),
    "rtf": Format("Rich Text", office.parse_rtf),
}

_TEXT_SUFFIXES = (
    ".txt", ".text", ".log", ".yaml", ".yml", ".toml", ".conf", ".ini", ".properties", ".sql", ".tex", ".bat", ".sh",
    ".c", ".h", ".cpp", ".hpp", ".py", ".java", ".js", ".ts", ".swift", ".go", ".rb", ".rs", ".php", ".css", ".scss",
    ".less",
)  # fmt: skip
_SUFFIXES: dict[str, tuple[str, ...]] = {
    "markdown": (".md", ".mdx", ".markdown"),
    "table": (".csv", ".tsv"),
    "json": (".json",),
    "jsonl": (".jsonl",),
    "xml": (".xml",),
    "html": (".html", ".htm", ".xhtml"),
    **{name: (f".{name}",) for name in ("eml", "pdf", "docx", "pptx", "xlsx", "odt", "epub", "rtf")},
}

PARSERS: dict[str, Format] = {
    **dict.fromkeys(_TEXT_SUFFIXES, _TEXT),
    **{suffix: _FORMATS[name] for name, suffixes in _SUFFIXES.items() for suffix in suffixes},
}
"""Every suffix that the built-in engine parses."""


def suffix_of(source: str) -> str:
    """Return the suffix of a path in small letters, its dot included; ``""`` if it has none."""
    return PurePosixPath(source.replace("\\", "/")).suffix.lower()


def supported_extensions() -> list[str]:
    """Return the suffixes that can be parsed, sorted."""
    return sorted(PARSERS)


def is_supported(source: str) -> bool:
    """Tell whether there is a parser for a file name."""
    return suffix_of(source) in PARSERS


def is_light(source: str, head: bytes) -> bool:
    """Tell whether a file is plain text that may be parsed in the main process.

    Args:
        source: Its path.
        head: Its first bytes, at least :data:`~lightrag.parser.sniff.HEAD_BYTES` of them if it has that many.

    Raises:
        InputError: There is no parser for the suffix.
    """
    return not _format_of(source).isolated and not looks_binary(head)


def parse_content(content: FileContent) -> ParsedText:
    """Parse a file in this process.

    A file whose bytes are those of another format than its suffix says is parsed as what it is, with a warning.

    Args:
        content: The file; its suffix chooses the parser.

    Raises:
        InputError: There is no parser for the suffix, or the file is damaged, protected by a password, a zip bomb, of a
            kind that is never parsed, or holds no text.
        MissingDependencyError: The extra ``documents`` is needed and not installed.
    """
    expected = _format_of(content.source)
    found = sniff(content.data, content.source)
    actual = _FORMATS[found] if found is not None else None
    if actual is None or actual is expected or not (actual.is_binary or expected.is_binary):
        if expected.is_binary and actual is None:
            raise InputError(
                f"{content.source!r} is not {expected.name} by its content, whatever its name says; it begins with "
                f"{content.data[:12]!r}"
                if content.data
                else f"{content.source!r} is empty"
            )
        return expected.parse(content)
    parsed = actual.parse(content)
    warning = f"it is {actual.name} by its content, whatever its name says, and was parsed as that"
    return replace(parsed, warnings=(warning, *parsed.warnings))


def parse_file(source: str, data: bytes, passwords: Iterable[str] = ()) -> str:
    r"""Return the text of a file, parsed in this process.

    Args:
        source: Its path; the suffix chooses the parser.
        data: Its bytes.
        passwords: Tried on an encrypted PDF.

    Returns:
        The text, with ``\n`` as line end; empty for an empty text file.

    Raises:
        InputError: There is no parser for the suffix, or the bytes are not what it promises.
        MissingDependencyError: The extra ``documents`` is needed and not installed.
    """
    return parse_content(FileContent(source, data, tuple(passwords))).text


def _format_of(source: str) -> Format:
    found = PARSERS.get(suffix_of(source))
    if found is None:
        raise InputError(f"{source!r} cannot be parsed; supported are {', '.join(supported_extensions())}")
    return found
