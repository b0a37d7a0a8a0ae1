"""The library that reads office documents, web pages and PDF: kreuzberg."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightrag.exceptions import InputError, MissingDependencyError
from lightrag.parser.result import FileContent
from lightrag.parser.text import unify_line_ends

if TYPE_CHECKING:
    from kreuzberg import ExtractionResult

_PASSWORD_WORDS = ("password", "encrypted")


class ProtectedError(InputError):
    """A document is encrypted, and none of the passwords opens it."""


def extract(content: FileContent, media_type: str) -> ExtractionResult:
    """Extract a document as Markdown.

    Args:
        content: The document.
        media_type: What it is.

    Raises:
        ProtectedError: It needs another password.
        InputError: It cannot be read.
        MissingDependencyError: The library is not installed.
        MemoryError: The process has no memory left for it.
    """
    try:
        from kreuzberg import ExtractionConfig, PageConfig, PdfConfig, extract_bytes_sync
        from kreuzberg.exceptions import KreuzbergError
    except ImportError as error:
        raise MissingDependencyError("kreuzberg", "documents", f"Parsing of {content.source!r}") from error
    config = ExtractionConfig(
        # Its cache would be a folder of texts that nobody deletes with their documents.
        use_cache=False,
        output_format="markdown",
        # Would drop lines that it finds of low quality.
        enable_quality_processing=False,
        pages=PageConfig(extract_pages=True) if media_type == "application/pdf" else None,
        pdf_options=PdfConfig(passwords=list(content.passwords)) if content.passwords else None,
    )
    try:
        return extract_bytes_sync(content.data, media_type, config)
    except (KreuzbergError, ValueError, RuntimeError, OSError) as error:
        if "out of memory" in str(error).lower():
            raise MemoryError(f"{content.source!r} needs more memory to be parsed than there is") from error
        raise _refusal(content, error) from error


def extract_text(content: FileContent, media_type: str) -> str:
    """Return a document as Markdown; the arguments and errors are those of :func:`extract`.

    Raises:
        InputError: It cannot be read, or holds no text.
        MissingDependencyError: The library is not installed.
    """
    text = unify_line_ends(extract(content, media_type).content)
    if not text.strip():
        raise InputError(f"{content.source!r} holds no text")
    return text


def _refusal(content: FileContent, error: Exception) -> InputError:
    message = str(getattr(error, "message", "") or error)
    if any(word in message.lower() for word in _PASSWORD_WORDS):
        tried = " (the passwords given do not open it)" if content.passwords else ""
        return ProtectedError(
            f"{content.source!r} is protected by a password{tried}; save it without one, or set PDF_DECRYPT_PASSWORD "
            "if it is a PDF"
        )
    return InputError(f"{content.source!r} is damaged or not what its name says: {message}")
