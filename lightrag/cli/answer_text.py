"""The text of an answer as it comes, without the list of references that models end with: a table shows the same."""

from __future__ import annotations

import re

_HEADING = re.compile(r"\s*^#{1,6} References[ \t]*(?:\n|\Z)", re.MULTILINE)
_LIST = re.compile(r"(?:\s*[-*] \[\d+\][^\n]*)*\s*")


class AnswerText:
    """Takes pieces and gives back what can be printed.

    Attributes:
        whole: All that has been printed.
    """

    def __init__(self) -> None:
        self.whole = ""
        self._kept = ""

    def add(self, piece: str) -> str:
        """Take a piece, and return what can be printed now."""
        self._kept += piece
        found = _HEADING.search(self._kept)
        return self._print(self._settled() if found is None else found.start())

    def end(self) -> str:
        """Return the rest, without a list of references and nothing behind it."""
        found = _HEADING.search(self._kept)
        if found is not None and _LIST.fullmatch(self._kept[found.end() :]):
            self._kept = self._kept[: found.start()]
        return self._print(len(self._kept.rstrip()))

    def _settled(self) -> int:
        """Return how much cannot become a heading, or the white space before one, any more."""
        begin = self._kept.rfind("\n") + 1
        line = self._kept[begin:]
        end = begin if _may_become_heading(line) else len(self._kept)
        return len(self._kept[:end].rstrip())

    def _print(self, end: int) -> str:
        text, self._kept = self._kept[:end], self._kept[end:]
        self.whole += text
        return text


def _may_become_heading(line: str) -> bool:
    words = line.lstrip("#")
    return not line or (1 <= len(line) - len(words) <= 6 and " References".startswith(words.rstrip()))
