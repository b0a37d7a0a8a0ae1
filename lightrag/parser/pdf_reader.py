"""The second reader of PDF, pypdf: plainer than the first, but more patient, and it tells where things are."""

from __future__ import annotations

import logging
from io import BytesIO
from typing import TYPE_CHECKING

from lightrag.exceptions import MissingDependencyError
from lightrag.parser.result import FileContent

if TYPE_CHECKING:
    from pypdf import PdfReader


def reader_errors() -> tuple[type[Exception], ...]:
    """Return what the reader raises on broken files, which is not limited to its own errors."""
    from pypdf.errors import DependencyError, PyPdfError

    return (
        *(PyPdfError, DependencyError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError),
        *(RecursionError, NotImplementedError, AssertionError, OSError),
    )


def open_pdf(content: FileContent) -> PdfReader | None:
    """Open a PDF; ``None`` where even this reader cannot.

    Raises:
        MissingDependencyError: The reader is not installed.
    """
    try:
        from pypdf import PdfReader
    except ImportError as error:
        raise MissingDependencyError("pypdf", "documents", f"Parsing of {content.source!r}") from error
    # It logs every oddity that it works around.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(BytesIO(content.data), strict=False)
        if reader.is_encrypted and not any(reader.decrypt(password) for password in ("", *content.passwords)):
            return None
        return reader if len(reader.pages) else None
    except reader_errors():
        return None
