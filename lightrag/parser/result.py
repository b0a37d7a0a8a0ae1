"""What parsers take and give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

BUILT_IN = "legacy"
"""Name of the built-in engine, as file name hints and rules have it."""


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file that is to be parsed.

    Attributes:
        source: Its path; names it in messages.
        data: Its bytes.
        passwords: Tried on an encrypted PDF, in order.
    """

    source: str
    data: bytes
    passwords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedText:
    r"""The text of a file.

    Attributes:
        text: Text or Markdown, with ``\n`` as line end.
        warnings: What a reader of the text should know: a guessed encoding, pages that are pictures, parts left out.
        engine: Engine that parsed it: ``legacy`` (the built-in one), ``docling`` or ``mineru``.
    """

    text: str
    warnings: tuple[str, ...] = ()
    engine: str = BUILT_IN


# Raises InputError when the bytes are not what the parser reads, and MissingDependencyError when its package is not
# installed.
Parser = Callable[[FileContent], ParsedText]
